import type { Context } from '../../context.ts';
import { Failure, messageOf } from '../../errors.ts';
import { oneByOne } from '../../promise/one-by-one.ts';
import { listed } from '../../text/listed.ts';
import { counted, number } from '../../text/number.ts';
import { readInTime, readingAgain } from '../receive/later-secrets.ts';
import type { Door } from '../receive/options.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import type { Configured } from './config.ts';
import { storesSecrets, withLater } from './doors.ts';
import { missingPrograms } from './missing.ts';
import type { ServeOptions } from './options.ts';
import { queuesOf } from './queues.ts';
import type { Sinks } from './sinks.ts';

/** Changed by a reload. */
export type Current = { doors: readonly Door[]; configured: Configured };

type Running = {
  readonly current: Current;
  readonly sinks: Pick<Sinks, 'change'>;
  readonly store: Pick<InboxStore, 'counts'>;
};

type Ports = Pick<Context, 'clock' | 'env' | 'notice' | 'onHangup'>;
type Options = Pick<ServeOptions, 'read' | 'doorsOf' | 'placeOf'>;

/** Adds what was stored since. Only a reload forgets secrets: a forged delivery must not make a good one unknown. */
export function laterSecrets(ctx: Context, current: Current, { laterDoors }: ServeOptions) {
  const again = readingAgain(ctx, async () => {
    const { configured } = current;
    const later = await laterDoors(configured);
    if (current.configured === configured) current.doors = withLater(current.doors, later);
  });
  return async (): Promise<boolean> => !storesSecrets(current.configured.config) || (await again());
}

/** Reads the configuration again when it is told to. A bad one, or one that takes 8 s, is refused, and the old one stays. */
export function reloading(ctx: Ports, options: Options, { current, sinks, store }: Running): () => void {
  const inTurn = oneByOne();
  let isOver = false;
  const reload = async () => {
    if (isOver) return;
    let isChanged = false;
    try {
      const next = await readInTime(ctx.clock, options.read());
      const doors = await readInTime(ctx.clock, options.doorsOf(next));
      for (const name of needRestart(current.configured, next, options)) {
        ctx.notice(`${name} changes only with a restart. Until then the old value stays.`);
      }
      const { host, port } = current.configured.config.listen;
      const { admin, inbox, keep } = current.configured.config;
      const listen = { ...next.config.listen, host, port };
      // At once: what a new door is sent meanwhile would not be sent again.
      await sinks.change(next, () => {
        isChanged = true;
        current.doors = doors;
        current.configured = { ...next, config: { ...next.config, listen, admin, inbox, keep } };
      });
      if (isOver) return;
      // A database that is away says so elsewhere.
      const counts = await store.counts().catch(() => undefined);
      if (counts) tellLeft(ctx, counts, next);
      ctx.notice(`The configuration was read again: ${counted(next.config.sinks.length, 'sink')}.`);
      await warnOfPrograms(ctx, next);
    } catch (error) {
      const details = error instanceof Failure ? Object.entries(error.fields ?? {}) : [];
      const lines = details.flatMap(([line, texts]) => texts.map((text) => ` ${line}: ${text}`));
      const fact = isChanged ? 'was read again, and not all of it works' : 'was refused, and the old one stays';
      ctx.notice(`The configuration ${fact}. ${messageOf(error)}${lines.join('')}`);
    }
  };
  const unlisten = ctx.onHangup?.(() => void inTurn(reload));
  return () => {
    isOver = true;
    unlisten?.();
  };
}

/** Its sink fails, and is tried again, until the program is there. */
export async function warnOfPrograms(ctx: Pick<Context, 'env' | 'notice'>, configured: Configured): Promise<void> {
  for (const missing of await missingPrograms(configured, ctx.env.PATH)) ctx.notice(`Warning: ${missing}`);
}

type AllCounts = Awaited<ReturnType<InboxStore['counts']>>;

/** Events of a sink or an account that is gone from the configuration stay, and nobody delivers them. */
export function tellLeft({ notice }: Pick<Context, 'notice'>, counts: AllCounts, { config }: Configured): void {
  const queues = queuesOf(config);
  for (const [queue, { waiting }] of counts) {
    if (!queues.has(queue) && waiting > 0)
      notice(`${waitingFor(queue, waiting)}, which the configuration does not name any more.`);
  }
}

const waitingFor = (queue: string, count: number): string =>
  `${counted(count, 'event')} ${count === 1 ? 'waits' : 'wait'} for ${queue}`;

/** What an earlier run has left to do, the longest queues first. */
export function tellWaiting({ notice }: Pick<Context, 'notice'>, counts: AllCounts, { config }: Configured): void {
  const queues = queuesOf(config);
  const waiting = [...counts].flatMap(([queue, { waiting: count }]) =>
    queues.has(queue) && count > 0 ? [{ queue, count }] : [],
  );
  if (waiting.length === 0) return;
  const [first, ...others] = waiting.sort((a, b) => b.count - a.count);
  const more = others.slice(0, 4).map(({ queue, count }) => `${number(count)} for ${queue}`);
  const rest = others.length > 4 ? [`some for ${counted(others.length - 4, 'more queue')}`] : [];
  notice(`${listed([waitingFor(first?.queue ?? '', first?.count ?? 0), ...more, ...rest])}.`);
}

function needRestart(before: Configured, after: Configured, { placeOf }: Options): string[] {
  const differs = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other);
  const [old, fresh] = [before.config, after.config];
  return [
    differs(old.listen.host, fresh.listen.host) && 'listen.host',
    differs(old.listen.port, fresh.listen.port) && 'listen.port',
    differs(old.admin, fresh.admin) && 'admin',
    differs(placeOf(before), placeOf(after)) && 'inbox',
    differs(old.keep, fresh.keep) && 'keep',
  ].filter((name) => name !== false);
}
