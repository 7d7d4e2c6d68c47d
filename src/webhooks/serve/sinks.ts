import type { Context } from '../../context.ts';
import { createFilter } from '../deliver/filter.ts';
import { openSink } from '../deliver/kinds.ts';
import type { Retry } from '../deliver/retry.ts';
import type { Sink } from '../deliver/sink.ts';
import { startDeliveryWorker } from '../deliver/worker.ts';
import type { DeliveryWorker, WorkerOptions } from '../deliver/worker-state.ts';
import type { InboxStore, Settled } from '../store/inbox-store.ts';
import type { SinkTally } from './admin.ts';
import type { Configured } from './config.ts';
import type { ServeConfig, SinkConfig } from './config-schema.ts';
import { secretVariables } from './doors.ts';
import { refuseOwnFile } from './own-files.ts';
import type { Problems } from './problems.ts';
import { queuesFor, queuesOf } from './queues.ts';

export type Sinks = Awaited<ReturnType<typeof startSinks>>;

/** `retrying`: of those that wait, how many were refused by now. */
export type Closing = { readonly name: string; readonly retrying: number } & SinkTally;

/** How long a sink that is changed or removed may take over what it has in hand. */
const changeMs = 10_000;

/** The sinks of a configuration at work. */
type Working = {
  readonly ctx: Context;
  readonly problems: Problems;
  readonly store: WorkerOptions['store'];
  readonly openSinks: ReturnType<typeof sinkOpener>;
  readonly settling: ReturnType<typeof tallying>;
  /** By queue. */
  readonly running: Map<string, { readonly worker: DeliveryWorker; readonly opened: Opened }>;
  config: ServeConfig;
  opened: OpenedSinks;
  /** It was told to end. */
  isOver: boolean;
};

/** The sinks of the configuration at work. Of several accounts each has a queue of its own at each sink. */
export async function startSinks(ctx: Context, store: InboxStore, first: Configured, problems: Problems) {
  const working: Working = {
    ctx,
    problems,
    store: watched(store, problems),
    openSinks: sinkOpener(ctx, store, first.file),
    settling: tallying(problems),
    running: new Map(),
    config: first.config,
    opened: new Map(),
    isOver: false,
  };
  await change(working, first, () => {});
  const { running } = working;
  const { tallies, dead, retrying } = working.settling;
  return {
    for: (event: string | null, account?: string): readonly string[] => queuesFor(working.config, event, account),
    wake: (): void => {
      for (const { worker } of running.values()) worker.wake();
    },
    change: (to: Configured, onChanged: () => void): Promise<void> => change(working, to, onChanged),
    drain: async (graceMs: number): Promise<void> => {
      working.isOver = true;
      await Promise.all([...running.values()].map(({ worker }) => worker.drain(graceMs)));
      await letGo(working.opened, new Map());
    },
    /** By queue. */
    tallies,
    /** The same at the end, with each event once: one that died and was delivered later is delivered. */
    closing: (): readonly Closing[] =>
      [...tallies].map(([name, tally]) => ({
        ...{ name, ...tally },
        ...{ dead: dead.get(name)?.size ?? 0, retrying: retrying.get(name)?.size ?? 0 },
      })),
  };
}

/** The inbox. Of each turn at a queue it is told whether that was ours. */
const watched = (store: InboxStore, problems: Problems): WorkerOptions['store'] => ({
  isShared: store.isShared,
  async take(queue, ...asked) {
    const taken = await store.take(queue, ...asked);
    problems.turn(queue, taken !== undefined);
    return taken;
  },
  settle: store.settle,
  leave: store.leave,
});

/**
 * Goes over to another configuration; what did not change goes on undisturbed. Where it rejects, everything does.
 * `onChanged`: nothing can fail any more, and events go to its queues; the sinks that are gone still have something in hand.
 */
async function change(working: Working, to: Configured, onChanged: () => void): Promise<void> {
  const { ctx, problems, store, running, settling } = working;
  // What can fail comes first: where it does, nothing was changed.
  const hasLanes = to.config.sinks.some(({ concurrency }) => concurrency > 1);
  const { startLanes } = hasLanes ? await import('../deliver/lanes.ts') : {};
  const fresh = await working.openSinks(to, working.opened);
  if (working.isOver) return letGo(fresh, working.opened);
  working.config = to.config;
  onChanged();
  const wanted = queuesOf(to.config);
  await Promise.all(
    [...running].map(async ([queue, { worker, opened }]) => {
      const sink = wanted.get(queue);
      if (sink && fresh.get(sink.name) === opened) return;
      await worker.stop(changeMs);
      running.delete(queue);
    }),
  );
  const before = working.opened;
  working.opened = fresh;
  await letGo(before, fresh);
  // Meanwhile svc was told to end: what would begin now nobody would end.
  if (working.isOver) return;
  for (const [queue, { name, filter, concurrency }] of wanted) {
    const opened = fresh.get(name);
    if (!opened || running.has(queue)) continue;
    if (!settling.tallies.has(queue)) settling.tallies.set(queue, { delivered: 0, failed: 0, dead: 0, skipped: 0 });
    const options: WorkerOptions = {
      sink: { ...opened.sink, name: queue },
      store,
      retry: retryOf(to.config),
      clock: ctx.clock,
      filter: filter === undefined ? undefined : createFilter(filter, problems.filter),
      onSettled: settling.onSettled,
      onProblem: (_, error) => problems.inbox(error),
    };
    const worker = startLanes && concurrency > 1 ? startLanes(options, concurrency) : startDeliveryWorker(options);
    running.set(queue, { worker, opened });
  }
}

/** What became of the events of each queue, and which of them are dead, or were refused and are tried again. */
export function tallying(problems: Pick<Problems, 'settled'>) {
  const tallies = new Map<string, SinkTally>();
  const dead = new Map<string, Set<string>>();
  const retrying = new Map<string, Set<string>>();
  const onSettled = (queue: string, settled: Settled) => {
    const tally = tallies.get(queue);
    const { state } = settled.outcome;
    if (tally && (state === 'delivered' || state === 'failed' || state === 'dead' || state === 'skipped'))
      tally[state]++;
    const ids = dead.get(queue) ?? new Set();
    if (state === 'dead') dead.set(queue, ids.add(settled.id));
    // Also one that was refused once more: somebody has taken it back from the dead.
    else ids.delete(settled.id);
    const again = retrying.get(queue) ?? new Set();
    if (state === 'failed') retrying.set(queue, again.add(settled.id));
    else again.delete(settled.id);
    problems.settled(queue, settled);
  };
  return { tallies, dead, retrying, onSettled };
}

/** `written`: all that it depends on, as the configuration says it. */
type Opened = { readonly sink: Sink; readonly written: string };

/** By the sink's name. */
type OpenedSinks = ReadonlyMap<string, Opened>;

/** Opens the sinks of a configuration; those that did not change are the ones that are open. Where one fails none stays open. */
function sinkOpener(ctx: Context, store: Pick<InboxStore, 'isShared' | 'place'>, file: string) {
  // One that was taken out of the configuration is a secret all the same.
  const secrets = new Set<string>();
  const place = store.isShared ? { url: '' } : { folder: store.place };
  const { exchange, clock, env, notice } = ctx;
  const open = (sink: SinkConfig, { config, folder }: Configured): Promise<Sink> =>
    openSink(sink, {
      ...{ exchange, clock, env, notice, folder },
      name: sink.name,
      repeatsMs: config.retry.max_age,
      timeoutMs: sink.timeout,
      hidden: () => [...secrets],
      refuse: (path) => refuseOwnFile(ctx, { file, folder, place }, { name: sink.name, path }),
    });
  return async (to: Configured, opened: OpenedSinks): Promise<OpenedSinks> => {
    for (const name of secretVariables(to.config)) secrets.add(name);
    const fresh = new Map<string, Opened>();
    try {
      for (const sink of to.config.sinks) {
        const known = opened.get(sink.name);
        const now = written(sink, to);
        fresh.set(sink.name, known?.written === now ? known : { sink: await open(sink, to), written: now });
      }
    } catch (error) {
      await letGo(fresh, opened);
      throw error;
    }
    return fresh;
  };
}

/** Closes those that are not among the others. What cannot be closed any more holds up nothing. */
async function letGo(some: OpenedSinks, others: OpenedSinks): Promise<void> {
  const gone = [...some].filter(([name, one]) => others.get(name) !== one);
  await Promise.all(gone.map(([, { sink }]) => sink.close?.().catch(() => {})));
}

const retryOf = ({ retry }: ServeConfig): Retry => ({
  attempts: retry.attempts,
  maxAgeMs: retry.max_age,
  pauseMs: retry.pause,
});

/** What the sink does not depend on is left out: its events are asked for each time. */
const written = ({ events: _, ...sink }: SinkConfig, { config, folder }: Configured): string =>
  JSON.stringify([sink, retryOf(config), folder]);
