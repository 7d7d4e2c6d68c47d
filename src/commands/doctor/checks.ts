import { listChangelog } from '../../api/changelog.ts';
import { listFeedback } from '../../api/feedback.ts';
import type { CredentialKind, Operation } from '../../api/operation.ts';
import { listTickets } from '../../api/tickets.ts';
import { credentialsAtHand } from '../../auth/at-hand.ts';
import { heldByProfile, loginCommand, readStored } from '../../auth/credentials.ts';
import { onlyWith, openSession } from '../../auth/session.ts';
import { typeable } from '../../config/advice.ts';
import { readConfig } from '../../config/config-file.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure, interruption } from '../../errors.ts';
import { call, connect, type Service } from '../../http/call/call.ts';
import { judgeCredential } from '../../login/judge-credential.ts';
import { missingScopes } from '../../login/report.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import type { Check } from './check.ts';
import { machineChecks } from './machine.ts';

/** A check whose name is told beside it. */
type Verdict = Omit<Check, 'name'>;

const fine = (message: string): Verdict => ({ ok: true, message, fix: null });
const wrong = (message: string, fix: string): Verdict => ({ ok: false, message, fix });

/** What `doctor` checks, in the order in which one would fix it. Nothing here throws. */
export async function checkUp(ctx: Context, settings: Settings): Promise<readonly Check[]> {
  const checks: Check[] = [];
  ctx.progress('Looking at: this machine');
  checks.push(...(await machineChecks(ctx, settings)));
  const add = async (name: string, look: () => Promise<Verdict> | Verdict): Promise<boolean> => {
    ctx.progress(`Looking at: ${name}`);
    const verdict = await attempt(look);
    if (ctx.signal.aborted) throw interruption(ctx.signal);
    checks.push({ name, ...verdict, fix: verdict.fix && typeable(verdict.fix, settings.carried) });
    return verdict.ok;
  };

  const isReadable = await add('config', async () => {
    const config = await readConfig(ctx.files);
    const saved = [...(await heldByProfile(ctx.tokens)).keys()];
    if (Object.keys(config.profiles ?? {}).length === 0) {
      return { ...fine(`No profile is saved yet; the next login saves ${settings.profile}.`), isNeutral: true };
    }
    return fine(
      `Profile ${settings.profile}; ${saved.length > 0 ? `saved: ${saved.sort().join(', ')}` : 'no login is saved'}.`,
    );
  });
  // It may name the service and the profile. Without it neither is known to be missing, and no login could be saved.
  const isTold = isReadable || settings.baseUrl !== undefined;
  const reachable = isTold && (await add('base URL', () => reach(ctx, settings)));
  if (settings.baseUrl && reachable) await add('clock', () => compareClocks(ctx, settings));
  const atHand = await credentialsAtHand(ctx, settings).catch(() => []);
  if (atHand.length === 0 && isReadable) {
    await add('credential', () =>
      wrong(`Profile ${settings.profile} is not logged in.`, `Run: ${loginCommand('oauth', settings.profile)}`),
    );
  }
  for (const { kind, from } of reachable ? atHand : []) {
    await add(names[kind], () => judge(ctx, settings, kind, from));
  }
  if (reachable && atHand.some(({ kind }) => kind !== 'm2m')) await add('modules', () => lookAtModules(ctx, settings));
  ctx.progress(undefined);
  return checks;
}

const names: Record<CredentialKind, string> = { api_key: 'API key', oauth: 'OAuth login', m2m: 'M2M token' };

async function attempt(look: () => Promise<Verdict> | Verdict): Promise<Verdict> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // Whoever reads this has just run it.
    return wrong(error.message, error.hint?.replace(/, or run: svc doctor$/u, '.') ?? 'Run: svc help');
  }
}

/** Any answer at all will do, also a 401: something that speaks HTTP is there. */
async function reach(ctx: Context, { baseUrl, timeoutMs }: Settings): Promise<Verdict> {
  if (!baseUrl) return wrong('No base URL is known.', 'Set SVC_BASE_URL, or run: svc login --base-url URL');
  const answer = await ctx.exchange(probe(ctx, baseUrl, timeoutMs));
  if ('lost' in answer)
    return wrong(`${baseUrl} cannot be reached: ${answer.detail}`, 'Check the address, the network and the proxy.');
  if (/^\s*</u.test(answer.body))
    return wrong(`${baseUrl} answers with a web page.`, 'Give the address of the API with --base-url.');
  // The service asks for a credential there; it never says that there is no such path.
  if (answer.status === 404) {
    return wrong(
      `${baseUrl} is not the service: it has no account (HTTP 404).`,
      'Check the base URL and its path prefix.',
    );
  }
  return fine(`${baseUrl} answers.`);
}

const probe = ({ signal }: Context, baseUrl: string, timeoutMs: number) => ({
  method: 'GET',
  url: `${baseUrl}/platform/account`,
  headers: { accept: 'application/json' },
  timeoutMs: Math.min(timeoutMs, 10_000),
  signal,
});

async function compareClocks(ctx: Context, { baseUrl = '', timeoutMs }: Settings): Promise<Verdict> {
  const answer = await ctx.exchange(probe(ctx, baseUrl, timeoutMs));
  const theirs = 'lost' in answer ? Number.NaN : Date.parse(answer.headers.date ?? '');
  if (Number.isNaN(theirs)) return fine('The service does not tell its time.');
  const apart = Math.round((ctx.clock.now().getTime() - theirs) / 1000);
  if (Math.abs(apart) <= 60) return fine('This machine and the service agree on the time.');
  const how = `${Math.abs(apart)} s ${apart > 0 ? 'ahead of' : 'behind'}`;
  return wrong(`This machine's clock is ${how} the service's.`, 'Set the clock; expiry times are judged by it.');
}

async function judge(ctx: Context, settings: Settings, kind: CredentialKind, from: string): Promise<Verdict> {
  const session = await openSession(ctx, settings);
  const service = await connect(ctx, settings, onlyWith(session, kind));
  const { valid, account, refusal } = await judgeCredential(service, kind);
  const login = loginCommand(kind, settings.profile);
  if (!valid) {
    const fix = from === 'environment' ? 'Check the variable that holds it.' : `Run: ${login}`;
    return wrong(refusal?.message ?? 'It is not accepted.', fix);
  }
  if (account && !account.billing_active) {
    return wrong(
      `Account ${account.name} has no active plan.`,
      `Finish the setup at: ${account.setup_url ?? 'the product'}`,
    );
  }
  const owner = account ? `It works, for ${account.name}.` : 'It works.';
  if (kind !== 'oauth' || from === 'environment') return fine(owner);
  const lacking = missingScopes((await readStored(ctx.tokens, settings.profile, 'oauth'))?.scopes ?? []);
  return fine(
    lacking.length > 0 ? `${owner} Scopes not granted: ${lacking.join(' ')}.` : `${owner} Every scope is granted.`,
  );
}

const probes: Readonly<Record<string, Operation>> = {
  Support: listTickets,
  Changelog: listChangelog,
  'Feedback board': listFeedback,
};

/** A module that is off is no fault of the set-up, so it is told and not held against it. */
async function lookAtModules(ctx: Context, settings: Settings): Promise<Verdict> {
  const service = await connect(ctx, settings);
  const off: string[] = [];
  for (const [name, operation] of Object.entries(probes)) {
    if (!(await isOn(service, operation))) off.push(name);
  }
  return fine(
    off.length === 0 ? 'Every module that svc checked is on.' : `Off, or the scope is missing: ${off.join(', ')}.`,
  );
}

const isOn = (service: Service, operation: Operation): Promise<boolean> =>
  call(service, operation, { query: { per_page: 1 } }).then(() => true, insteadOf(['forbidden'], false));
