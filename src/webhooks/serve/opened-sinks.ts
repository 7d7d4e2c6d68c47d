import type { Context } from '../../context.ts';
import { openSink } from '../deliver/kinds.ts';
import type { Retry } from '../deliver/retry.ts';
import type { Sink } from '../deliver/sink.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import type { Configured, ServeConfig, SinkConfig } from './config.ts';
import { secretVariables } from './doors.ts';
import { refuseOwnFile } from './own-files.ts';

/** `written`: all that it depends on, as the configuration says it. */
export type Opened = { readonly sink: Sink; readonly written: string };

/** By the sink's name. */
export type OpenedSinks = ReadonlyMap<string, Opened>;

type Opener = (to: Configured, opened: OpenedSinks) => Promise<OpenedSinks>;

/** Opens the sinks of a configuration; those that did not change are the ones that are open. Where one fails none stays open. */
export function sinkOpener(ctx: Context, store: Pick<InboxStore, 'isShared' | 'place'>, file: string): Opener {
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
  return async (to, opened) => {
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
export async function letGo(some: OpenedSinks, others: OpenedSinks): Promise<void> {
  const gone = [...some].filter(([name, one]) => others.get(name) !== one);
  await Promise.all(gone.map(([, { sink }]) => sink.close?.().catch(() => {})));
}

export const retryOf = ({ retry }: ServeConfig): Retry => ({
  attempts: retry.attempts,
  maxAgeMs: retry.max_age,
  pauseMs: retry.pause,
});

/** What the sink does not depend on is left out: its events are asked for each time. */
const written = ({ events: _, ...sink }: SinkConfig, { config, folder }: Configured): string =>
  JSON.stringify([sink, retryOf(config), folder]);
