import { join } from 'node:path';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { waitingFor, withLock } from '../disk/lock/lock.ts';
import { Failure } from '../errors.ts';
import { loginOf } from '../http/call/login-account.ts';
import { shellWord } from '../text/shell-word.ts';
import { readServeConfig } from '../webhooks/serve/config.ts';
import { adminOf, choose, lookedIn } from '../webhooks/serve/configured.ts';
import { queuesFor } from '../webhooks/serve/queues.ts';
import { sharesOf } from '../webhooks/store/folder/owner.ts';
import { carryOut } from '../webhooks/store/folder/requests.ts';
import { claimSlot, slotHolder, slots } from '../webhooks/store/folder/slot.ts';
import { receivedIn } from '../webhooks/store/folder/view.ts';
import type { Arrival } from '../webhooks/store/line.ts';
import { inboxOf, type ListenInbox, listenInbox, listenStarts } from '../webhooks/store/listen-inbox.ts';
import type { StartStore } from '../webhooks/store/starts.ts';
import { accountAdmin, asProfile, chosenAccount, secretsOfAccount } from './accounts.ts';
import type { SendResults } from './send.ts';

/** Where rebuilt events go. */
export type Inbox = {
  /** Whose records are read: the profile of the account. */
  readonly ctx: Context;
  readonly settings: Settings;
  readonly seeAll: (see: (arrival: Arrival) => undefined) => Promise<unknown>;
  readonly starts: StartStore;
  readonly env: readonly string[];
  readonly take: (arrivals: readonly Arrival[]) => Promise<SendResults>;
  /** What becomes of them. */
  readonly next: string;
  /** Which inbox it is, where --config did not say so. */
  readonly about: readonly string[];
  close(): Promise<void>;
};

/** That of --config, else of the `listen` that runs, else of the `serve` that runs, else the one that the next `listen` has. */
export async function inboxFor(ctx: Context, settings: Settings, { given, account }: Wanted): Promise<Inbox> {
  const { root, parts } = await listenInbox(ctx, settings);
  const { config, about } =
    given === undefined && (await isListening(parts))
      ? { config: undefined, about: [] }
      : await choose(ctx, settings, given);
  if (config !== undefined) return serveInbox(ctx, settings, { config, about, account });
  chosenAccount(undefined, account);
  return listenerInbox(ctx, settings, { root, starts: await listenStarts(ctx, settings) });
}

type Rooted = { readonly root: string };

type Wanted = { readonly given: string | undefined; readonly account: string | undefined };

async function isListening(parts: ListenInbox['parts']): Promise<boolean> {
  for (const { folder } of parts) if ((await slotHolder(folder)) !== undefined) return true;
  return false;
}

/** `added`: for each whether it was stored now. */
const resultsOf = (arrivals: readonly Arrival[], added: readonly boolean[]): SendResults =>
  new Map(arrivals.map(({ id }, at) => [id, added[at] === false ? 'repeated' : 'sent']));

type Named = Pick<Inbox, 'about'> & Pick<Wanted, 'account'> & { readonly config: string };

async function serveInbox(ctx: Context, settings: Settings, { config, about, account: name }: Named): Promise<Inbox> {
  const configured = await readServeConfig(ctx, config);
  const account = chosenAccount(configured.config, name);
  if (account && account.profile === undefined)
    throw new Failure('usage', `The account ${account.name} has no profile, so its records cannot be read.`, {
      hint: `Name its profile in ${config}. To make one: svc login --profile NAME`,
    });
  const own = account?.profile === undefined ? { ctx, settings } : await asProfile(ctx, settings, account.profile);
  const whole = await adminOf(ctx, settings, configured);
  const admin = accountAdmin(whole, account?.name);
  const sinksFor = (event: string | null) => queuesFor(configured.config, event, account?.name);
  return {
    ...own,
    seeAll: admin.seeAll,
    starts: admin.starts,
    env: secretsOfAccount(configured.config, account?.name),
    next: (await isServed(ctx, configured.file))
      ? 'svc webhooks serve passes them on.'
      : `They wait in the inbox. To pass them on, start: svc webhooks serve --config ${shellWord(config)}`,
    about,
    async take(arrivals) {
      const added = await admin.addAll(arrivals.map((one) => ({ ...one, sinks: sinksFor(one.event) })));
      const stored = added.map((each) => each === 'stored');
      return resultsOf(arrivals, stored);
    },
    close: () => whole.close(),
  };
}

/** Whether one of this state folder runs with the configuration. */
async function isServed({ files }: Context, config: string): Promise<boolean> {
  const { runningServes } = await import('../webhooks/serve/running.ts');
  return (await runningServes(files.state)).some((one) => one.config === config);
}

/** A listener that runs takes them; else they wait for the next one. */
function listenerInbox(ctx: Context, settings: Settings, { root, starts }: Pick<Inbox, 'starts'> & Rooted): Inbox {
  const waiting = { ...waitingFor(ctx, 'the inbox of svc webhooks listen'), maxWaitMs: 60_000 };
  return {
    ctx,
    settings,
    seeAll: async (see) => receivedIn((await inboxOf(root, await loginOf(ctx, settings))).parts, see),
    starts,
    env: ['SVC_WEBHOOK_SECRET'],
    next: 'svc webhooks listen --forward-to URL passes them on.',
    about: [lookedIn(root)],
    // Each of two that run at once would have a slot of its own, and both would count what they store.
    take: (arrivals) =>
      withLock(join(root, 'catch-up.lock'), waiting, async () => {
        const ids = new Set(arrivals.map(({ id }) => id));
        const login = await loginOf(ctx, settings);
        const { parts } = await inboxOf(root, login);
        const { seen } = await receivedIn(parts, ({ id }) => (ids.has(id) ? id : undefined));
        const there = new Set(seen.map(({ value }) => value));
        const fresh = arrivals.filter(({ id }) => !there.has(id));
        const stored = await handOver(ctx, { root, login }, fresh);
        const none = arrivals.map(() => false);
        return new Map([...resultsOf(arrivals, none), ...resultsOf(fresh, stored)]);
      }),
    close: async () => {},
  };
}

/** For each whether it was stored now. */
async function handOver(
  ctx: Context,
  { root, login }: Rooted & Pick<ListenInbox, 'login'>,
  arrivals: readonly Arrival[],
): Promise<readonly boolean[]> {
  if (arrivals.length === 0) return [];
  for (const { folder, isOwn } of await sharesOf(await slots(root), login)) {
    if (!isOwn || (await slotHolder(folder)) === undefined) continue;
    let isTaken = true;
    const alone = async () => {
      isTaken = false;
      return [];
    };
    const carried = await carryOut({ kind: 'add', arrivals }, { folder, sleep: (ms) => ctx.clock.sleep(ms), alone });
    // Where it ended meanwhile, the next one takes them.
    if (isTaken) return carried ?? [];
  }
  const slot = await claimSlot(root, { limit: Number.MAX_SAFE_INTEGER, ...login });
  try {
    // Where to, the next listener decides.
    const added = arrivals.map((one) => slot.inbox.add({ ...one, owed: true }));
    return (await Promise.all(added)).map((each) => each === 'stored');
  } finally {
    await slot.leave();
  }
}
