import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { counted } from '../../text/number.ts';
import { inTime, within } from '../in-time.ts';
import type { Counts, Keeper } from '../keeper/keeper.ts';
import { openKeeper, type Place } from '../keeper/place.ts';
import type { Missed } from '../rebuild/missed.ts';
import { marking, newMark } from '../receiving/own-mark.ts';
import { type Receipt, type Receiver, startReceiver } from '../receiving/receiver.ts';
import { type Admin, metricsText, type SinkTally, startAdmin, type Tally } from './admin.ts';
import { accepting, catchUp } from './catching.ts';
import type { Configured } from './config.ts';
import { type Current, laterSecrets, reloading, warnOfPrograms } from './reloading.ts';
import { announce } from './running.ts';
import { type Sinks, startSinks } from './sinks.ts';
import { createTroubles, type Troubles } from './troubles.ts';

export type ServeOptions = {
  readonly first: Configured;
  /** The configuration as it is now; throws where it has mistakes. */
  readonly read: () => Promise<Configured>;
  readonly placeOf: (configured: Configured) => Place;
  /** Never an empty list. */
  readonly secretsOf: (configured: Configured) => Promise<readonly string[]>;
  /** Those that svc has stored by now. */
  readonly storedSecrets: () => Promise<readonly string[]>;
  /** What never arrived, given the configuration of the moment. */
  readonly missed?: (current: () => Configured) => Promise<Missed>;
};

/** What was done until the end, and what is left. */
export type Served = {
  readonly tally: Tally;
  readonly sinks: readonly ({ readonly name: string; readonly waiting: number | null } & SinkTally)[];
};

/** SIGTERM may take 25 s in all. */
const drainMs = 20_000;
const closeMs = 3_000;
const trimMs = 60_000;

type Up = {
  readonly keeper: Keeper;
  readonly sinks: Sinks;
  readonly receiver: Receiver;
  readonly admin: Admin | undefined;
  readonly tally: Tally;
  readonly troubles: Troubles;
  /** Ends what other commands know of it. */
  readonly silence: () => Promise<void>;
  readonly current: Current;
  readonly missed: Missed | undefined;
};

/**
 * Receives until `ctx.signal` fires; then it lets the sinks have what waits, and tells the sum. Where another instance
 * took over the inbox it ends at once, and throws the Failure that says who.
 */
export async function serve(ctx: Context, options: ServeOptions): Promise<Served> {
  const up = await bringUp(ctx, options);
  const stopTrimming = trimming(up.keeper);
  const stopReloading = reloading(ctx, options, up);
  const { lost } = up.keeper;
  const over = AbortSignal.any([ctx.signal, lost]);
  const catching = up.missed && catchUp(ctx, up.missed, { ...up, signal: over });
  await new Promise<void>((resolve) => {
    if (over.aborted) resolve();
    over.addEventListener('abort', () => resolve(), { once: true });
  });
  if (!lost.aborted)
    ctx.notice('Ending: svc delivers what was accepted, for at most 25 s. The rest stays in the inbox.');
  stopReloading();
  stopTrimming();
  await up.receiver.close();
  await within(ctx.clock, 500, catching ?? Promise.resolve());
  await up.sinks.drain(lost.aborted ? 0 : drainMs);
  up.troubles.end();
  const counts = await within(ctx.clock, closeMs / 3, up.keeper.counts());
  await up.admin?.close();
  await within(ctx.clock, closeMs, up.keeper.close());
  await within(ctx.clock, closeMs / 3, up.silence());
  if (lost.aborted) throw lost.reason;
  const sinks = up.sinks.closing().map((tallied) => ({
    ...tallied,
    waiting: counts ? (counts.get(tallied.name)?.waiting ?? 0) : null,
  }));
  return { tally: up.tally, sinks };
}

async function bringUp(ctx: Context, options: ServeOptions): Promise<Up> {
  const { first } = options;
  const { listen, admin: wanted, keep } = first.config;
  const current: Current = { secrets: await options.secretsOf(first), configured: first };
  const keeper = await openKeeper(ctx, options.placeOf(first), keep);
  const tally: Tally = { accepted: 0, unreadable: 0, rejected: 0, repeats: 0 };
  const { clock, notice } = ctx;
  const troubles = createTroubles({ clock, notice, probe: keeper.probe });
  const mark = newMark(ctx);
  const marked: Context = Object.create(ctx, { exchange: { value: marking(ctx.exchange, mark) } });
  let sinks: Sinks | undefined;
  let receiver: Receiver | undefined;
  try {
    await look(ctx, keeper, first);
    await warnOfPrograms(ctx, first);
    const missed = await options.missed?.(() => current.configured);
    const inbox = missed ? await accepting(keeper, missed) : keeper;
    sinks = await startSinks(marked, keeper, first, troubles);
    receiver = await startReceiver({
      host: listen.host,
      port: listen.port,
      portHint: 'Set another one in the configuration: listen.port. 0 takes any free one.',
      path: () => current.configured.config.listen.path,
      maxConnections: () => current.configured.config.listen.max_connections,
      secrets: () => current.secrets,
      readSecrets: laterSecrets(ctx, current, options),
      inbox,
      clock: ctx.clock,
      newId: () => `unreadable_${Buffer.from(ctx.random(6)).toString('hex')}`,
      sinksFor: sinks.for,
      mark,
      onReceipt: (receipt) => {
        count(tally, receipt);
        if (receipt.kind === 'rejected') troubles.rejected(receipt.why);
        if ('arrival' in receipt) sinks?.wake();
      },
      onTrouble: troubles.inbox,
    });
    const admin =
      wanted &&
      (await startAdmin({ ...wanted, ready: readiness(ctx, keeper), metrics: metricsOf(tally, keeper, sinks) }));
    // A state folder that cannot be written is no reason to receive nothing.
    const silence = await announce(ctx.files.state, { config: first.file }).catch(() => async () => {});
    ctx.notice(`Listening on ${receiver.url}, inbox in ${keeper.place}`);
    if (admin) ctx.notice(`Admin on ${admin.url}: /healthz /readyz /metrics`);
    return { keeper, sinks, receiver, admin, tally, troubles, silence, current, missed };
  } catch (error) {
    troubles.end();
    await receiver?.close();
    await sinks?.drain(0);
    await keeper.close();
    throw error;
  }
}

/** A database that is not there yet is waited for; one that does not let svc in is a mistake to fix. */
async function look(ctx: Context, keeper: Keeper, { config }: Configured): Promise<void> {
  try {
    const counts = await keeper.counts();
    const named = new Set(config.sinks.map(({ name }) => name));
    for (const [sink, { waiting }] of counts) {
      if (named.has(sink) || waiting === 0) continue;
      ctx.notice(`${counted(waiting, 'event')} wait for ${sink}, which the configuration does not name any more.`);
    }
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'network') throw error;
    ctx.notice(`${error.message} Until that is fixed deliveries are held, so that the service sends them again.`);
  }
}

function count(tally: Tally, { kind }: Receipt): void {
  if (kind === 'accepted' || kind === 'unreadable') tally.accepted++;
  if (kind === 'unreadable') tally.unreadable++;
  if (kind === 'repeat') tally.repeats++;
  if (kind === 'rejected') tally.rejected++;
}

/** Asked at most once a second, however often somebody looks. */
function readiness({ clock }: Context, keeper: Keeper): () => Promise<void> {
  let asked = Number.NEGATIVE_INFINITY;
  let answer: Promise<void> = Promise.resolve();
  return () => {
    if (clock.ticks() - asked < 1_000) return answer;
    asked = clock.ticks();
    answer = inTime(clock, 3_000, keeper.probe());
    answer.catch(() => {});
    return answer;
  };
}

function metricsOf(tally: Tally, keeper: Keeper, sinks: Sinks): () => Promise<string> {
  return async () => {
    let counts: ReadonlyMap<string, Counts> | undefined;
    try {
      const known = await keeper.counts();
      const none = [...sinks.tallies.keys()].map((name) => [name, { waiting: 0, dead: 0 }] as const);
      counts = new Map([...none, ...known]);
    } catch {
      // The totals are told all the same.
    }
    return metricsText({ tally, sinks: sinks.tallies, counts });
  };
}

function trimming(keeper: Keeper): () => void {
  const timer = setInterval(() => void keeper.trim().catch(() => {}), trimMs);
  timer.unref();
  return () => clearInterval(timer);
}
