import { scopes as everyScope } from '../../api/operation.ts';
import { areRivals, environmentKinds, variablesOf } from '../../auth/at-hand.ts';
import { nameOf } from '../../auth/credentials.ts';
import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { readConfig } from '../../config/config-file.ts';
import { parseServiceUrl, withScheme } from '../../config/service-url.ts';
import type { Config, Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { traced } from '../../http/call/call.ts';
import { judgeAt } from '../../login/judge-credential.ts';
import type { LoggedIn } from '../../login/login.ts';
import { titleOf } from '../../login/report.ts';
import { localTime } from '../../output/cells.ts';
import type { View } from '../../output/view.ts';
import { sanitize } from '../../text/sanitize.ts';

/** These flags of an OAuth login say nothing about a secret that is stored as it is. */
const ofOAuth = ['clientId', 'redirectUri', 'noBrowser', 'scope'];

export const authLogin = defineCommand({
  name: 'login',
  summary: 'Log in, in the browser or with a key',
  details:
    'Opens the browser, where you allow svc to act for one account. The OAuth client is registered beforehand: its id ' +
    'comes from --client-id or SVC_CLIENT_ID, its secret from SVC_CLIENT_SECRET, a prompt or standard input. ' +
    'On a machine without a browser give --no-browser: svc prints the address, and you paste back the one that your ' +
    'browser was sent to. With --with-api-key or --with-m2m-token svc stores a secret that you already have.',
  flags: {
    clientId: param.text('Id of the registered OAuth client', { placeholder: 'ID' }),
    scope: {
      ...param.texts('What to ask for; repeatable (default: all 14 scopes)', { placeholder: 'SCOPE' }),
      choices: everyScope,
    },
    redirectUri: param.text('Another registered redirect URI (default: http://127.0.0.1:8976/callback)', {
      placeholder: 'URI',
    }),
    noBrowser: param.toggle('Print the address; paste the redirected one back'),
    withApiKey: param.toggle('Store an API key, read from standard input or asked for', {
      conflicts: ['withM2mToken', ...ofOAuth],
    }),
    withM2mToken: param.toggle('Store a machine-to-machine token, read from standard input or asked for', {
      conflicts: ofOAuth,
    }),
    insecureStorage: param.toggle('Keep the secrets in a file that only you can read, not in the system keyring'),
  },
  examples: [
    'echo "$SVC_API_KEY" | svc login --with-api-key',
    'svc login --scope identity --scope contacts:read --scope contacts:write',
    'svc login --profile work --no-browser',
  ],
  async run(outer, { flags, settings }) {
    const kind = kindOf(flags);
    const [{ stdinLines }, flows, { parseScopes }] = await Promise.all([
      import('../../login/stdin-lines.ts'),
      import('../../login/login.ts'),
      import('../../login/oauth-login.ts'),
    ]);
    const scopes = parseScopes(flags.scope);
    refuseUnset(outer, settings, kind, flags.clientId);
    const baseUrl = settings.baseUrl ?? (await askBaseUrl(outer));
    const ctx = await traced(outer, settings);
    const lines = stdinLines(outer.stdin);
    const common = {
      ctx,
      settings,
      baseUrl,
      lines,
      place: flags.insecureStorage ? 'file' : 'best',
      judge: judgeAt(outer, settings, baseUrl),
    } as const;
    try {
      const { clientId, redirectUri, noBrowser } = flags;
      const done =
        kind === 'oauth'
          ? await flows.loginWithBrowser({ ...common, scopes, clientId, redirectUri, browser: !noBrowser })
          : await flows.loginWithSecret({ ...common, kind });
      return loggedIn(done, outer, settings, await readConfig(outer.files));
    } finally {
      lines.stop();
    }
  },
});

function kindOf({ withApiKey, withM2mToken }: { readonly withApiKey: boolean; readonly withM2mToken: boolean }) {
  if (withApiKey) return 'api_key';
  return withM2mToken ? 'm2m' : 'oauth';
}

/** Where nobody can be asked, all that is not set is named at once. Standard input may be open, so it is not read for that. */
function refuseUnset(
  { ask, env }: Context,
  { baseUrl, clientId, noInput }: Settings,
  kind: ReturnType<typeof kindOf>,
  given: string | undefined,
): void {
  const lacksClient = kind === 'oauth' && (given ?? clientId) === undefined;
  if ((ask.canAsk && !noInput) || (baseUrl && !lacksClient)) return;
  const unset = [
    ...(baseUrl
      ? []
      : [['The address of the service is not set.', 'Give --base-url URL or set SVC_BASE_URL.'] as const]),
    ...(lacksClient
      ? [['The id of the OAuth client is not known.', 'Give --client-id ID or set SVC_CLIENT_ID.'] as const]
      : []),
  ];
  const secret =
    kind !== 'oauth'
      ? `The ${nameOf(kind)} is read from standard input.`
      : 'The client secret is that of SVC_CLIENT_SECRET, or read from standard input.';
  const others = [
    ...(lacksClient ? ['Without a client: svc login --with-api-key'] : []),
    ...(baseUrl ? [] : ['To try svc without an account: svc sandbox start']),
  ];
  throw new Failure('usage', unset.map(([fact]) => fact).join(' '), {
    hint: [
      [...unset.map(([, way]) => way), ...(env.SVC_CLIENT_SECRET && kind === 'oauth' ? [] : [secret])].join(' '),
      ...others,
    ].join('\n'),
  });
}

/** People type an address without its scheme; what cannot be one is asked for again. */
async function askBaseUrl(ctx: Context): Promise<string> {
  for (;;) {
    const typed = (await ctx.ask.text('Address of the service (base URL):')).trim();
    try {
      return parseServiceUrl(withScheme(typed) ?? typed, 'The address');
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      ctx.notice([error.message, error.hint].filter(Boolean).join(' '));
    }
  }
}

/** The account is named; what was not granted, and what remains to be done, follows as notes. */
function loggedIn(done: LoggedIn, ctx: Context, { profile }: Settings, config: Config): View {
  const { status, setupUrl, doubt, endsAt } = done;
  const [credential] = status.credentials;
  const whose = status.account
    ? `Logged in to ${sanitize(status.account.name)} (account ${status.account.id})`
    : `Logged in (the account is not known: ${doubt ? 'the service did not say' : 'this credential may not read it'})`;
  const kept = credential && `${titleOf(credential.kind)}, kept in the ${credential.store}`;
  const text = `${whose} as profile ${profile}. ${kept}.\n`;
  const notes: string[] = [];
  const before = status.account_before;
  if (before) notes.push(`Profile ${profile} was of ${sanitize(before.name)} (account ${before.id}) before.`);
  if (doubt) {
    notes.push(
      `Warning: the login is kept, but its account could not be read: ${sanitize(doubt.message)}`,
      `To look again: svc auth status${profile === 'default' ? '' : ` --profile ${profile}`}`,
    );
  }
  if (endsAt !== undefined) {
    notes.push(`Warning: the service gave no refresh token, so this login ends at ${localTime(endsAt)}.`);
  }
  const missing = credential?.missing_scopes ?? [];
  if (missing.length > 0) {
    notes.push(
      `Not granted: ${missing.join(', ')}.`,
      `To ask for more: svc auth refresh${missing.map((scope) => ` --scope ${scope}`).join('')}`,
    );
  }
  if (setupUrl) notes.push(`The account has no active plan yet. Finish the setup at: ${setupUrl}`);
  const variables = variablesOf(
    environmentKinds(ctx.env).filter((kind) => credential && areRivals(kind, credential.kind)),
  );
  if (variables) {
    notes.push(`${variables} is set and overrides this login; unset it to use the login.`);
  }
  const usual = config.default_profile ?? 'default';
  if (profile !== usual) notes.push(`Without --profile svc uses ${usual}. To change that: svc auth switch ${profile}`);
  return { data: { shape: 'record', record: status }, said: text, notes };
}
