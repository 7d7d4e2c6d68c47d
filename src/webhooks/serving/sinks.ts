import { resolve } from 'node:path';
import type { Context } from '../../context.ts';
import type { Keeper, Settled } from '../keeper/keeper.ts';
import { createFilter } from '../sinks/filter.ts';
import { type Pump, type Retry, startPump } from '../sinks/pump.ts';
import type { Sink } from '../sinks/sink.ts';
import type { SinkTally } from './admin.ts';
import type { Configured, ServeConfig, SinkConfig } from './config.ts';
import type { Around } from './own-files.ts';
import type { Troubles } from './troubles.ts';

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

type Running = { readonly pump: Pump; readonly written: string };

/** How long a sink that is changed or removed may take over what it has in hand. */
const changeMs = 10_000;

export async function startSinks(ctx: Context, keeper: Keeper, first: Configured, troubles: Troubles): Promise<Sinks> {
  let config: ServeConfig = first.config;
  const place = keeper.isShared ? { url: '' } : { folder: keeper.place };
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
    troubles.settled(name, settled);
  };
  const start = async (sink: SinkConfig, retry: Retry, folder: string): Promise<Running> => {
    if (!tallies.has(sink.name)) tallies.set(sink.name, { delivered: 0, failed: 0, dead: 0, skipped: 0 });
    const pump = startPump({
      sink: await sinkOf(ctx, sink, { file: first.file, folder, place, hidden: () => config.secrets.env }),
      keeper,
      retry,
      clock: ctx.clock,
      ...(sink.filter !== undefined && { filter: createFilter(sink.filter, troubles.filter) }),
      onSettled,
      onTrouble: (_, error) => troubles.inbox(error),
    });
    return { pump, written: written(sink, retry, folder) };
  };
  const change = async ({ config: next, folder }: Configured) => {
    config = next;
    const retry = retryOf(next);
    const wanted = new Map(next.sinks.map((sink) => [sink.name, sink]));
    await Promise.all(
      [...running].map(async ([name, { pump, written: before }]) => {
        const sink = wanted.get(name);
        if (sink && written(sink, retry, folder) === before) return;
        await pump.stop(changeMs);
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
      for (const { pump } of running.values()) pump.wake();
    },
    change,
    drain: async (graceMs) => {
      await Promise.all([...running.values()].map(({ pump }) => pump.drain(graceMs)));
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

type AroundSink = Around & { readonly hidden: () => readonly string[] };

async function sinkOf(ctx: Context, config: SinkConfig, around: AroundSink): Promise<Sink> {
  const { exchange, clock } = ctx;
  const { name, timeout: timeoutMs, http, exec, file } = config;
  if (http) {
    const { httpSink } = await import('../sinks/http.ts');
    return httpSink({ name, url: http.url, timeoutMs }, exchange);
  }
  if (file) {
    const { fileSink } = await import('../sinks/file.ts');
    const { refuseOwnFile } = await import('./own-files.ts');
    const refuse = () => refuseOwnFile(ctx, around, { name, path: file.path });
    return fileSink({ name, path: resolve(around.folder, file.path), timeoutMs, refuse });
  }
  const [program = '', ...args] = exec?.command ?? [];
  const given = Object.fromEntries((exec?.env ?? []).map((variable) => [variable, ctx.env[variable]]));
  const { programSink } = await import('../sinks/program.ts');
  return programSink(
    { name, command: [program, ...args], folder: around.folder, timeoutMs, hidden: around.hidden, given },
    clock,
  );
}
