import { getAccount, updateBranding } from '../../api/account.ts';
import type { TopGroup } from '../../command/command.ts';
import { fromOperation } from '../../command/from-operation.ts';

export const account: TopGroup = {
  commands: [fromOperation('get', getAccount, { examples: ['svc account get', 'svc account get --json'] })],
};

export const branding: TopGroup = {
  commands: [
    fromOperation('update', updateBranding, {
      update: true,
      // What it does not name was so before, as far as anybody knows.
      done: ({ updated }, _, { changed }) =>
        Array.isArray(updated) && updated.length === 0
          ? `The service took the branding and named nothing as changed: ${changed}.`
          : `The branding is changed: ${changed}.`,
      examples: [
        "svc branding update --primary-color '#1a2b3c' --from-name 'Acme Support'",
        'svc branding update --social linkedin=https://www.linkedin.com/company/acme',
      ],
    }),
  ],
};
