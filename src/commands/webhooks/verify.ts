import { sign } from '../../api/signature.ts';
import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { readUserBytes } from '../../disk/place/user-file.ts';
import { Failure } from '../../errors.ts';
import { bare } from '../../output/bare.ts';
import { message } from '../../text/layout.ts';
import { requiredSecrets } from '../../webhooks/subscriptions/secrets.ts';
import { refuseBothFromStdin } from './flags.ts';

const secretStdin = param.toggle('Read the signing secret from standard input (several: one a line)');
const body = param.file('The raw body; - is standard input (the default, unless the secret comes from there)');

export const verifyWebhook = defineCommand({
  name: 'verify',
  summary: 'Check whether a signature fits a body, and if not, say why',
  details:
    'The secret comes from SVC_WEBHOOK_SECRET or --secret-stdin. Exit 0: valid; exit 1: not.\n' +
    'The body must be exactly the bytes that came: a body that was parsed and written again has another signature.',
  flags: {
    signature: param.requiredText('Value of the X-SVC-Signature header', { placeholder: 'HEX' }),
    body,
    secretStdin,
  },
  examples: [
    `echo '{"id":"evt_1"}' | SVC_WEBHOOK_SECRET=sample svc webhooks sign > signature.txt`,
    `echo '{"id":"evt_1"}' | SVC_WEBHOOK_SECRET=sample svc webhooks verify --signature "$(cat signature.txt)"`,
  ],
  async run(ctx, { flags }) {
    const { body = '-' } = flags;
    refuseBothFromStdin(flags.secretStdin, body);
    const secrets = await requiredSecrets(ctx, flags.secretStdin);
    const bytes = await readUserBytes(ctx, body, '--body');
    const { diagnose } = await import('../../webhooks/receive/diagnose.ts');
    const why = diagnose(flags.signature, bytes, secrets) ?? null;
    const told = why === null ? 'Valid.' : `Not valid. ${why}`;
    return {
      read: true,
      data: { shape: 'record', record: { valid: why === null, why } },
      human: ({ paint, width }) => paint(why === null ? 'green' : 'red', message(told, width)),
      plain: () => told,
      outcome: why === null ? undefined : 'failed',
    };
  },
});

export const signWebhook = defineCommand({
  name: 'sign',
  summary: 'Print the signature of a body, as the service would send it',
  details: 'The secret comes from SVC_WEBHOOK_SECRET or --secret-stdin.',
  flags: { body, secretStdin },
  examples: [`echo '{"id":"evt_1"}' | SVC_WEBHOOK_SECRET=sample svc webhooks sign --body -`],
  async run(ctx, { flags }) {
    const { body = '-' } = flags;
    refuseBothFromStdin(flags.secretStdin, body);
    const [secret, another] = await requiredSecrets(ctx, flags.secretStdin);
    if (another !== undefined) throw new Failure('usage', 'Several secrets were given; sign takes one.');
    const signature = sign(secret, await readUserBytes(ctx, body, '--body'));
    return bare({ signature }, signature);
  },
});
