import type { CredentialKind } from '../../api/operation.ts';
import { type AtHand, credentialsAtHand, notLoggedIn } from '../../auth/at-hand.ts';
import { loginCommand, readStored } from '../../auth/credentials.ts';
import { onlyWith } from '../../auth/session.ts';
import { defineCommand } from '../../command/command.ts';
import { readConfig } from '../../config/config-file.ts';
import { credentialVariables } from '../../config/credential-variables.ts';
import { profileConfig, type Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { connect } from '../../http/call/call.ts';
import { judgeCredential } from '../../login/judge-credential.ts';
import {
  type CredentialReport,
  placeOf,
  reportOf,
  type StatusReport,
  servesWhat,
  titleOf,
} from '../../login/report.ts';
import { localTime, rowForPipe } from '../../output/cells.ts';
import type { Terminal } from '../../output/view.ts';
import { sanitize } from '../../text/sanitize.ts';
import { wrap } from '../../text/width.ts';

export const authStatus = defineCommand({
  name: 'status',
  summary: 'Show the account, the credentials and what each may do',
  onlyReads: () => true,
  details: 'Asks the service about every credential at hand. Ends with exit code 4 when none of them works.',
  examples: ['svc whoami', 'svc auth status --json', 'svc auth status --jq .account.name'],
  async run(ctx, { settings }) {
    const atHand = await credentialsAtHand(ctx, settings);
    const service = atHand.length > 0 ? await connect(ctx, settings) : undefined;
    const known = profileConfig(await readConfig(ctx.files), settings.profile).account;
    let account: StatusReport['account'] = null;
    const credentials: CredentialReport[] = [];
    const notes: string[] = [];
    let why: string | undefined;
    for (const { kind, from } of atHand) {
      if (!service) break;
      // A refresh that is refused forgets the login, and where it was.
      const store = from === 'environment' ? from : await placeOf(ctx.tokens, settings.profile, kind);
      const alone = { ...service, session: onlyWith(service.session, kind) };
      const judged = await judgeCredential(alone, kind, account?.id ?? known?.id);
      if (judged.account) account = { id: judged.account.account_id, name: judged.account.name };
      const { valid, refusal } = judged;
      const unreadable = refusal?.isUnread === true;
      credentials.push(await describe(ctx, settings, { kind, store, valid, ...(unreadable && { unreadable }) }));
      if (refusal) {
        const fix = (unreadable && refusal.hint) || fixOf({ kind, from }, settings);
        notes.push(`${titleOf(kind)}: ${refusal.message} ${fix}`);
        why ??= unreadable ? refusal.hint : undefined;
      }
      if (judged.account?.billing_active === false && judged.account.setup_url) {
        notes.push(`The account has no active plan yet. Finish the setup at: ${judged.account.setup_url}`);
      }
    }
    const works = credentials.some(({ valid }) => valid);
    const failure = works ? undefined : await whyNone(ctx, settings, atHand, why);
    const status = { profile: settings.profile, base_url: settings.baseUrl ?? null, account, credentials };
    return {
      read: true,
      data: { shape: 'record', record: status },
      human: (terminal) => forPeople(status, terminal),
      plain: () => forPipe(status),
      notes,
      failure,
    };
  },
});

async function describe(
  { tokens }: Context,
  { profile }: Settings,
  judged: Pick<CredentialReport, 'kind' | 'valid' | 'store' | 'unreadable'>,
): Promise<CredentialReport> {
  if (judged.store === 'environment' || judged.kind !== 'oauth') return reportOf(judged);
  // A refused refresh has forgotten the login meanwhile.
  return reportOf(judged, await readStored(tokens, profile, 'oauth').catch(() => undefined));
}

async function whyNone(
  ctx: Context,
  settings: Settings,
  [first]: readonly AtHand[],
  why: string | undefined,
): Promise<Failure> {
  if (!first) return await notLoggedIn(ctx, settings);
  return new Failure('auth', 'No credential at hand works.', { hint: why ?? fixOf(first, settings) });
}

const fixOf = ({ kind, from }: AtHand, { profile }: Settings): string =>
  from === 'environment' ? `Check ${credentialVariables[kind]}.` : `Run: ${loginCommand(kind, profile)}`;

function forPeople({ profile, base_url, account, credentials }: StatusReport, { paint, width }: Terminal): string {
  // A login of the profile is left alone then.
  const isOthers = credentials.length > 0 && credentials.every(({ store }) => store === 'environment');
  const head = [
    ['Profile', isOthers ? `${profile} (the environment goes before it)` : profile],
    ['Service', base_url ?? 'not known'],
    ['Account', account ? `${sanitize(account.name)} (${account.id})` : 'not known'],
  ].map(([name = '', value]) => `${paint('dim', name)}  ${value}\n`);
  const working = workingOf(credentials);
  const indent = Math.max(0, ...credentials.map(({ kind }) => titleOf(kind).length)) + 2;
  const blocks = credentials.map((credential) => {
    const { kind, valid, store, unreadable } = credential;
    const wrong = unreadable ? 'cannot be read' : 'does not work';
    const state = valid ? paint('green', 'works') : paint('red', wrong);
    const details = detailsOf(credential, working).flatMap((text) => wrap(text, width - indent));
    const lines = details.map((text) => `${' '.repeat(indent)}${text}\n`);
    return `\n${paint('bold', titleOf(kind).padEnd(indent))}${state}, ${store === 'environment' ? 'from' : 'kept in'} the ${store}\n${lines.join('')}`;
  });
  return [...head, ...blocks].join('');
}

/** One that does not work leaves its part to the others. */
const workingOf = (credentials: readonly CredentialReport[]): CredentialKind[] =>
  credentials.flatMap(({ kind, valid }) => (valid ? [kind] : []));

function detailsOf(credential: CredentialReport, working: readonly CredentialKind[]): string[] {
  const { kind, valid, scopes, missing_scopes: missing, expires_at } = credential;
  return [
    valid ? `serves ${servesWhat(credential, working)}` : '',
    kind === 'oauth' && scopes ? `granted: ${scopes.join(' ') || 'nothing'}` : '',
    kind === 'oauth' && missing && missing.length > 0 ? `not granted: ${missing.join(' ')}` : '',
    expires_at ? `until ${localTime(expires_at)}, refreshed by itself` : '',
  ].filter(Boolean);
}

function stateOf({ valid, unreadable }: Pick<CredentialReport, 'valid' | 'unreadable'>): string {
  if (valid) return 'valid';
  return unreadable ? 'unreadable' : 'invalid';
}

/** One name and value a line; a credential's: kind, state, store, expiry, what it serves, scopes granted and not. */
function forPipe({ profile, base_url, account, credentials }: StatusReport): string {
  const working = workingOf(credentials);
  const rows = [
    ['profile', profile],
    ['base_url', base_url ?? ''],
    ['account', account?.name ?? ''],
    ['account_id', account ? String(account.id) : ''],
    ...credentials.map(({ kind, valid, unreadable, store, expires_at, scopes, missing_scopes: missing }) => [
      kind,
      stateOf({ valid, unreadable }),
      store,
      expires_at ?? '',
      valid ? servesWhat({ kind, missing_scopes: missing }, working) : '',
      scopes?.join(' ') ?? '',
      missing?.join(' ') ?? '',
    ]),
  ];
  return rows.map((row) => `${rowForPipe(...row)}\n`).join('');
}
