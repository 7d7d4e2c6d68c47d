import type { Context } from '../../context.ts';
import { createFilter } from '../deliver/filter.ts';
import { openSink } from '../deliver/kinds.ts';
import type { Sink } from '../deliver/sink.ts';
import { type DeliveryWorker, type Retry, startDeliveryWorker, type WorkerOptions } from '../deliver/worker.ts';
import type { InboxStore, Settled } from '../store/inbox-store.ts';
import type { SinkTally } from './admin.ts';
import type { Configured, ServeConfig, SinkConfig } from './config.ts';
import { refuseOwnFile } from './own-files.ts';
import type { Problems } from './problems.ts';

/** The sinks of the configuration at work. */
export type Sinks = {
  /** Which sinks are to get an event. What has no known event goes to those that take every event. */
  for(event: string | null): readonly string[];
  wake(): void;
  /** Goes over to another configuration; what did not change goes on undisturbed. */
  change(to: Configured): Promise<void>;
  drain(graceMs: number): Promise<void>;
  readonly tallies: ReadonlyMap<string, SinkTally>;
  /** The same at the end, with each event once: one that died and was delivered later is delivered. */
  closing(): readonly ({ readonly name: string } & SinkTally)[];
};

type Running = { readonly worker: DeliveryWorker; readonly written: string; readonly sink: Sink };

/** How long a sink that is changed or removed may take over what it has in hand. */
const changeMs = 10_000;

export async function startSinks(
  ctx: Context,
  store: InboxStore,
  first: Configured,
  problems: Problems,
): Promise<Sinks> {
  let config: ServeConfig = first.config;
  const place = store.isShared ? { url: '' } : { folder: store.place };
  const running = new Map<string, Running>();
  const tallies = new Map<string, SinkTally>();
  const dead = new Map<string, Set<string>>();
  const onSettled = (name: string, settled: Settled) => {
    const tally = tallies.get(name);
    const { state } = settled.outcome;
    if (tally && (state === 'delivered' || state === 'failed' || state === 'dead' || state === 'skipped'))
      tally[state]++;
    const ids = dead.get(name) ?? new Set();
    if (state === 'dead') dead.set(name, ids.add(settled.id));
    else if (state === 'delivered' || state === 'skipped') ids.delete(settled.id);
    problems.settled(name, settled);
  };
  const start = async (sink: SinkConfig, retry: Retry, folder: string): Promise<Running> => {
    if (!tallies.has(sink.name)) tallies.set(sink.name, { delivered: 0, failed: 0, dead: 0, skipped: 0 });
    const opened = await openSink(sink, {
      exchange: ctx.exchange,
      clock: ctx.clock,
      env: ctx.env,
      name: sink.name,
      timeoutMs: sink.timeout,
      folder,
      hidden: () => config.secrets.env,
      refuse: (path) => refuseOwnFile(ctx, { file: first.file, folder, place }, { name: sink.name, path }),
    });
    const { startLanes } = sink.concurrency > 1 ? await import('../deliver/lanes.ts') : {};
    const options: WorkerOptions = {
      sink: opened,
      store,
      retry,
      clock: ctx.clock,
      ...(sink.filter !== undefined && { filter: createFilter(sink.filter, problems.filter) }),
      onSettled,
      onProblem: (_, error) => problems.inbox(error),
    };
    const worker = startLanes ? startLanes(options, sink.concurrency) : startDeliveryWorker(options);
    return { worker, written: written(sink, retry, folder), sink: opened };
  };
  const change = async ({ config: next, folder }: Configured) => {
    config = next;
    const retry = retryOf(next);
    const wanted = new Map(next.sinks.map((sink) => [sink.name, sink]));
    await Promise.all(
      [...running].map(async ([name, { worker, written: before, sink: opened }]) => {
        const sink = wanted.get(name);
        if (sink && written(sink, retry, folder) === before) return;
        await worker.stop(changeMs);
        await opened.close?.();
        running.delete(name);
      }),
    );
    for (const sink of next.sinks) {
      if (!running.has(sink.name)) running.set(sink.name, await start(sink, retry, folder));
    }
  };
  await change(first);
  return {
    for: (event) =>
      config.sinks
        .filter(({ events }) => events === undefined || events.some((each) => each === event))
        .map(({ name }) => name),
    wake: () => {
      for (const { worker } of running.values()) worker.wake();
    },
    change,
    drain: async (graceMs) => {
      const ended = [...running.values()].map(async ({ worker, sink }) => {
        await worker.drain(graceMs);
        await sink.close?.();
      });
      await Promise.all(ended);
    },
    tallies,
    closing: () => [...tallies].map(([name, tally]) => ({ name, ...tally, dead: dead.get(name)?.size ?? 0 })),
  };
}

const retryOf = ({ retry }: ServeConfig): Retry => ({
  attempts: retry.attempts,
  maxAgeMs: retry.max_age,
  pauseMs: retry.pause,
});

/** What the sink does not depend on is left out: its events are asked for each time. */
const written = ({ events: _, ...sink }: SinkConfig, retry: Retry, folder: string): string =>
  JSON.stringify([sink, retry, folder]);
