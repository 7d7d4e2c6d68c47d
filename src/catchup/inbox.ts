import { join } from 'node:path';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { withLock } from '../disk/lock.ts';
import { choose, lookedIn, openConfigured } from '../webhooks/serve/configured.ts';
import { carryOut } from '../webhooks/store/folder/requests.ts';
import { claimSlot, slotHolder, slots, slotsFolder } from '../webhooks/store/folder/slot.ts';
import { received } from '../webhooks/store/folder/view.ts';
import type { Arrival } from '../webhooks/store/line.ts';
import { fileStarts, type StartStore } from '../webhooks/store/starts.ts';
import type { SendResults } from './send.ts';

/** Where rebuilt events go. */
export type Inbox = {
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
export async function inboxFor(ctx: Context, settings: Settings, given: string | undefined): Promise<Inbox> {
  const root = slotsFolder(ctx.files.state, settings.profile);
  if (given === undefined && (await isListening(root))) return listenerInbox(ctx, root);
  const { config, about } = await choose(ctx, given);
  return config === undefined ? listenerInbox(ctx, root) : serveInbox(ctx, settings, { config, about });
}

async function isListening(root: string): Promise<boolean> {
  for (const folder of await slots(root)) if ((await slotHolder(folder)) !== undefined) return true;
  return false;
}

/** `added`: for each whether it was stored now. */
const resultsOf = (arrivals: readonly Arrival[], added: readonly boolean[]): SendResults =>
  new Map(arrivals.map(({ id }, at) => [id, added[at] === false ? 'repeated' : 'sent']));

type Named = { readonly config: string; readonly about: readonly string[] };

async function serveInbox(ctx: Context, settings: Settings, { config, about }: Named): Promise<Inbox> {
  const { admin, configured } = await openConfigured(ctx, settings, config);
  const { sinks = [], secrets } = configured?.config ?? {};
  const sinksFor = (event: string | null) =>
    sinks.filter(({ events }) => !events || events.some((each) => each === event)).map(({ name }) => name);
  return {
    seeAll: admin.received,
    starts: admin.starts,
    env: secrets?.env ?? [],
    next: 'svc webhooks serve passes them on.',
    about,
    async take(arrivals) {
      const added = await admin.addAll(arrivals.map((one) => ({ ...one, sinks: sinksFor(one.event) })));
      return resultsOf(
        arrivals,
        added.map((each) => each === 'stored'),
      );
    },
    close: () => admin.close(),
  };
}

/** A listener that runs takes them; else they wait for the next one. */
function listenerInbox(ctx: Context, root: string): Inbox {
  const waiting = { clock: ctx.clock, signal: ctx.signal, progress: ctx.progress, notice: ctx.notice };
  const what = 'the inbox of svc webhooks listen';
  return {
    seeAll: (see) => received(root, see),
    starts: fileStarts(root, ctx.clock),
    env: ['SVC_WEBHOOK_SECRET'],
    next: 'svc webhooks listen --forward-to URL passes them on.',
    about: [lookedIn(root)],
    // Each of two that run at once would have a slot of its own, and both would count what they store.
    take: (arrivals) =>
      withLock(join(root, 'catch-up.lock'), { ...waiting, maxWaitMs: 60_000, what }, async () => {
        const there = new Set((await received(root, ({ id }) => id)).map(({ value }) => value));
        const fresh = arrivals.filter(({ id }) => !there.has(id));
        const results = resultsOf(fresh, await handOver(ctx, root, fresh));
        return new Map([
          ...resultsOf(
            arrivals,
            arrivals.map(() => false),
          ),
          ...results,
        ]);
      }),
    close: async () => {},
  };
}

/** For each whether it was stored now. */
async function handOver(ctx: Context, root: string, arrivals: readonly Arrival[]): Promise<readonly boolean[]> {
  if (arrivals.length === 0) return [];
  for (const folder of await slots(root)) {
    if ((await slotHolder(folder)) === undefined) continue;
    let isTaken = true;
    const alone = async () => {
      isTaken = false;
      return [];
    };
    const carried = await carryOut({ kind: 'add', arrivals }, { folder, sleep: (ms) => ctx.clock.sleep(ms), alone });
    // Where it ended meanwhile, the next one takes them.
    if (isTaken) return carried ?? [];
  }
  const slot = await claimSlot(root, { limit: Number.MAX_SAFE_INTEGER });
  try {
    // Where to, the next listener decides.
    const added = arrivals.map((one) => slot.inbox.add({ ...one, owed: true }));
    return (await Promise.all(added)).map((each) => each === 'stored');
  } finally {
    await slot.leave();
  }
}
