import type { Context } from '../../context.ts';
import { createFilter } from '../deliver/filter.ts';
import { openSink } from '../deliver/kinds.ts';
import type { Sink } from '../deliver/sink.ts';
import { type DeliveryWorker, type Retry, startDeliveryWorker, type WorkerOptions } from '../deliver/worker.ts';
import { ownedBy } from '../event/account.ts';
import type { InboxStore, Settled } from '../store/inbox-store.ts';
import type { SinkTally } from './admin.ts';
import type { Configured, ServeConfig, SinkConfig } from './config.ts';
import { secretVariables } from './doors.ts';
import { refuseOwnFile } from './own-files.ts';
import type { Problems } from './problems.ts';
import { queuesOf } from './queues.ts';

/** The sinks of the configuration at work. Of several accounts each has a queue of its own at each sink. */
export type Sinks = {
  /** The queues that an event goes to. What has no known event goes to the sinks that take every event. */
  for(event: string | null, account?: string): readonly string[];
  wake(): void;
  /** Goes over to another configuration; what did not change goes on undisturbed. */
  change(to: Configured): Promise<void>;
  drain(graceMs: number): Promise<void>;
  /** By queue. */
  readonly tallies: ReadonlyMap<string, SinkTally>;
  /** The same at the end, with each event once: one that died and was delivered later is delivered. */
  closing(): readonly Closing[];
};

/** `retrying`: of those that wait, how many were refused by now. */
export type Closing = { readonly name: string; readonly retrying: number } & SinkTally;

type Running = { readonly worker: DeliveryWorker; readonly written: string };
type Opened = { readonly sink: Sink; readonly written: string };

/** How long a sink that is changed or removed may take over what it has in hand. */
const changeMs = 10_000;

export async function startSinks(
  ctx: Context,
  store: InboxStore,
  first: Configured,
  problems: Problems,
): Promise<Sinks> {
  let config: ServeConfig = first.config;
  // One that was taken out of the configuration is a secret all the same.
  const secrets = new Set<string>();
  const place = store.isShared ? { url: '' } : { folder: store.place };
  const running = new Map<string, Running>();
  const opened = new Map<string, Opened>();
  const { tallies, dead, retrying, onSettled } = tallying(problems);
  const open = async (sink: SinkConfig, folder: string, now: string): Promise<Sink> => {
    const known = opened.get(sink.name);
    if (known) return known.sink;
    const made = await openSink(sink, {
      exchange: ctx.exchange,
      clock: ctx.clock,
      env: ctx.env,
      notice: ctx.notice,
      name: sink.name,
      repeatsMs: config.retry.max_age,
      timeoutMs: sink.timeout,
      folder,
      hidden: () => [...secrets],
      refuse: (path) => refuseOwnFile(ctx, { file: first.file, folder, place }, { name: sink.name, path }),
    });
    opened.set(sink.name, { sink: made, written: now });
    return made;
  };
  const start = async (queue: string, sink: SinkConfig, retry: Retry, folder: string): Promise<Running> => {
    if (!tallies.has(queue)) tallies.set(queue, { delivered: 0, failed: 0, dead: 0, skipped: 0 });
    const now = written(sink, retry, folder);
    const { startLanes } = sink.concurrency > 1 ? await import('../deliver/lanes.ts') : {};
    const options: WorkerOptions = {
      sink: { ...(await open(sink, folder, now)), name: queue },
      store,
      retry,
      clock: ctx.clock,
      ...(sink.filter !== undefined && { filter: createFilter(sink.filter, problems.filter) }),
      onSettled,
      onProblem: (_, error) => problems.inbox(error),
    };
    const worker = startLanes ? startLanes(options, sink.concurrency) : startDeliveryWorker(options);
    return { worker, written: now };
  };
  const change = async ({ config: next, folder }: Configured) => {
    config = next;
    for (const name of secretVariables(next)) secrets.add(name);
    const retry = retryOf(next);
    const wanted = queuesOf(next);
    const isSame = (sink: SinkConfig | undefined, before: string) =>
      sink !== undefined && written(sink, retry, folder) === before;
    await Promise.all(
      [...running].map(async ([queue, { worker, written: before }]) => {
        if (isSame(wanted.get(queue), before)) return;
        await worker.stop(changeMs);
        running.delete(queue);
      }),
    );
    for (const [name, { sink, written: before }] of opened) {
      if (isSame(wanted.get(name), before)) continue;
      opened.delete(name);
      await sink.close?.();
    }
    for (const [queue, sink] of wanted) {
      if (!running.has(queue)) running.set(queue, await start(queue, sink, retry, folder));
    }
  };
  await change(first);
  return {
    for: (event, account) =>
      config.sinks
        .filter(({ events }) => events === undefined || events.some((each) => each === event))
        .map(({ name }) => ownedBy(account, name)),
    wake: () => {
      for (const { worker } of running.values()) worker.wake();
    },
    change,
    drain: async (graceMs) => {
      await Promise.all([...running.values()].map(({ worker }) => worker.drain(graceMs)));
      await Promise.all([...opened.values()].map(({ sink }) => sink.close?.()));
    },
    tallies,
    closing: () =>
      [...tallies].map(([name, tally]) => ({
        ...{ name, ...tally },
        ...{ dead: dead.get(name)?.size ?? 0, retrying: retrying.get(name)?.size ?? 0 },
      })),
  };
}

/** What became of the events of each queue, and which of them are dead, or were refused and are tried again. */
function tallying(problems: Problems) {
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
    else if (state === 'delivered' || state === 'skipped') ids.delete(settled.id);
    const again = retrying.get(queue) ?? new Set();
    if (state === 'failed') retrying.set(queue, again.add(settled.id));
    else again.delete(settled.id);
    problems.settled(queue, settled);
  };
  return { tallies, dead, retrying, onSettled };
}

const retryOf = ({ retry }: ServeConfig): Retry => ({
  attempts: retry.attempts,
  maxAgeMs: retry.max_age,
  pauseMs: retry.pause,
});

/** What the sink does not depend on is left out: its events are asked for each time. */
const written = ({ events: _, ...sink }: SinkConfig, retry: Retry, folder: string): string =>
  JSON.stringify([sink, retry, folder]);
