import { credentialKinds } from '../../api/operation.ts';
import { credentialsAtHand } from '../../auth/at-hand.ts';
import { openSession } from '../../auth/session.ts';
import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { traced } from '../../http/call/call.ts';
import { bare } from '../../output/bare.ts';

export const authToken = defineCommand({
  name: 'token',
  summary: 'Print the current bearer token',
  details:
    'The one that svc itself would use: the API key, else the OAuth access token (refreshed if it is about to expire), ' +
    'else the machine-to-machine token. It is a secret: whoever has it can act as you.',
  flags: { kind: param.choice('Print this kind instead of the one that svc would use', credentialKinds) },
  examples: ['curl -H "Authorization: Bearer $(svc auth token)" "$SVC_BASE_URL/platform/account"'],
  async run(outer, { flags, settings }) {
    const ctx = await traced(outer, settings);
    const session = await openSession(ctx, settings);
    const [first] = await credentialsAtHand(ctx, settings);
    const { kind, token } = await session.bearer({ credentials: [flags.kind ?? first?.kind ?? 'api_key'] });
    return bare({ kind, token }, `${token}\n`);
  },
});
