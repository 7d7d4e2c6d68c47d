import { type Context, withContext } from '../../context.ts';
import { isAway } from '../../database/postgres.ts';
import { aborted } from '../../promise/aborted.ts';
import { inTime, within } from '../../promise/in-time.ts';
import { type Door, type Receipt, unreadableId } from '../receive/options.ts';
import { marking, newMark } from '../receive/own-mark.ts';
import { type Receiver, startReceiver } from '../receive/receiver.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import { openInboxStore } from '../store/place.ts';
import { metricsText, startAdmin, type Tally, type Told } from './admin.ts';
import { accepting, catchUp } from './catch-up.ts';
import type { Configured } from './config.ts';
import type { ServeOptions } from './options.ts';
import { createProblems, type Problems } from './problems.ts';
import { type Current, laterSecrets, reloading, tellLeft, tellWaiting, warnOfPrograms } from './reloading.ts';
import { announce } from './running.ts';
import { type Closing, type Sinks, startSinks } from './sinks.ts';

/** What was done until the end, and what is left. */
export type Served = {
  readonly tally: Tally;
  readonly sinks: readonly ({ readonly waiting: number | null } & Closing)[];
};

/** SIGTERM may take 25 s in all. */
const drainMs = 20_000;
const closeMs = 3_000;
const trimMs = 60_000;

/**
 * Receives until `ctx.signal` fires; then it lets the sinks have what waits, and tells the sum. Where another instance
 * took over the inbox it ends at once, and throws the Failure that says who.
 */
export async function serve(ctx: Context, options: ServeOptions): Promise<Served> {
  const up = await bringUp(ctx, options);
  const stopTrimming = trimming(up.store);
  const stopReloading = reloading(ctx, options, up);
  const { lost } = up.store;
  const over = AbortSignal.any([ctx.signal, lost]);
  const catching = up.missed && catchUp(ctx, up.missed, { ...up, signal: over });
  await aborted(over);
  if (!lost.aborted)
    ctx.notice('Ending: svc delivers what was accepted, for at most 25 s. The rest stays in the inbox.');
  stopReloading();
  stopTrimming();
  await up.receiver.close();
  await within(ctx.clock, 500, catching ?? Promise.resolve());
  await up.sinks.drain(lost.aborted ? 0 : drainMs);
  up.problems.end();
  const counts = await within(ctx.clock, closeMs / 3, up.store.counts());
  await up.admin?.close();
  await within(ctx.clock, closeMs, up.store.close());
  await within(ctx.clock, closeMs / 3, up.silence());
  if (lost.aborted) throw lost.reason;
  const hasAccounts = up.current.configured.config.accounts !== undefined;
  const sinks = up.sinks
    .closing()
    .map((tallied) => ({ ...tallied, waiting: counts ? (counts.get(tallied.name)?.waiting ?? 0) : null }))
    // Another instance may have delivered one meanwhile.
    .map((one) => ({ ...one, retrying: Math.min(one.retrying, one.waiting ?? one.retrying) }))
    // Of queues from before there were accounts only what happened in them.
    .filter(
      (one) =>
        !hasAccounts || one.name.includes('/') || Object.values(one).some((each) => each === null || Number(each) > 0),
    );
  return { tally: up.tally, sinks };
}

async function bringUp(ctx: Context, options: ServeOptions) {
  const { first } = options;
  const { listen, admin: wanted, keep } = first.config;
  const current: Current = { doors: await options.doorsOf(first), configured: first };
  const store = await openInboxStore(ctx, options.placeOf(first), keep);
  const tally: Tally = newTally();
  const byAccount = new Map((first.config.accounts ?? []).map(({ name }) => [name, newTally()]));
  const problems = createProblems({ clock: ctx.clock, notice: options.log, probe: store.probe });
  const mark = newMark(ctx);
  const marked = withContext(ctx, { exchange: marking(ctx.exchange, mark) });
  let sinks: Sinks | undefined;
  let receiver: Receiver | undefined;
  try {
    await look(ctx, store, first);
    await warnOfPrograms(ctx, first);
    const missed = await options.missed?.(() => current.configured);
    const inbox = missed ? await accepting(store, missed) : store;
    sinks = await startSinks(marked, store, first, problems);
    receiver = await startReceiver({
      host: listen.host,
      port: listen.port,
      portHint: 'Set another one in the configuration: listen.port. 0 takes any free one.',
      maxConnections: () => current.configured.config.listen.max_connections,
      doors: () => current.doors,
      readSecrets: laterSecrets(ctx, current, options),
      inbox,
      clock: ctx.clock,
      newId: () => unreadableId(ctx),
      sinksFor: sinks.for,
      mark,
      onReceipt: (receipt) => {
        count(tally, receipt);
        const own = receipt.account === undefined ? undefined : tallyOf(byAccount, receipt.account);
        if (own) count(own, receipt);
        if (receipt.kind === 'rejected') problems.rejected(receipt.why, receipt.account);
        if ('arrival' in receipt) sinks?.wake();
      },
      onProblem: problems.inbox,
    });
    const { tallies } = sinks;
    const admin =
      wanted &&
      (await startAdmin({
        ...wanted,
        ready: readiness(ctx, store, problems),
        metrics: () => metricsOf({ tally, byAccount, sinks: tallies }, store),
      }));
    // Ends what other commands know of it. A state folder that cannot be written is no reason to receive nothing.
    const silence = await announce(ctx.files.state, {
      config: first.file,
      ...(!first.config.accounts && { profile: options.profile }),
    }).catch(() => async () => {});
    for (const url of urlsOf(receiver, current.doors)) ctx.notice(`Listening on ${url}, inbox in ${store.place}`);
    if (admin) ctx.notice(`Admin on ${admin.url}: /healthz /readyz /metrics`);
    return { store, sinks, receiver, admin, tally, problems, silence, current, missed };
  } catch (error) {
    problems.end();
    await receiver?.close();
    await sinks?.drain(0);
    await store.close();
    throw error;
  }
}

/** A database that is not there yet is waited for; one that does not let svc in is a mistake to fix. */
async function look(ctx: Context, store: InboxStore, configured: Configured): Promise<void> {
  try {
    const counts = await store.counts();
    tellLeft(ctx, counts, configured);
    tellWaiting(ctx, counts, configured);
  } catch (error) {
    if (!isAway(error)) throw error;
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
function readiness({ clock }: Context, store: InboxStore, { isRefusing }: Problems): () => Promise<void> {
  let asked = Number.NEGATIVE_INFINITY;
  let answer: Promise<void> = Promise.resolve();
  return () => {
    if (clock.ticks() - asked < 1_000) return answer;
    asked = clock.ticks();
    const writable = isRefusing() ? Promise.reject(new Error('A delivery was not taken.')) : store.probe();
    answer = inTime(clock, 3_000, writable);
    answer.catch(() => {});
    return answer;
  };
}

/** Where each account comes in. */
const urlsOf = ({ origin }: Receiver, doors: readonly Door[]): string[] =>
  doors.map(({ path, account }) => `${origin}${path}${account === undefined ? '' : `, account ${account}`}`);

const newTally = (): Tally => ({ accepted: 0, unreadable: 0, rejected: 0, repeats: 0 });

/** Only names of the configuration come here, so nobody can make the list long. */
function tallyOf(byAccount: Map<string, Tally>, account: string): Tally {
  const known = byAccount.get(account) ?? newTally();
  byAccount.set(account, known);
  return known;
}

/** The totals are told also where the inbox does not answer. */
async function metricsOf(totals: Omit<Told, 'counts'>, store: InboxStore): Promise<string> {
  const known = await store.counts().catch(() => undefined);
  const none = [...totals.sinks.keys()].map((name) => [name, { waiting: 0, dead: 0 }] as const);
  return metricsText({ ...totals, counts: known && new Map([...none, ...known]) });
}

function trimming(store: InboxStore): () => void {
  const timer = setInterval(() => void store.trim().catch(() => {}), trimMs);
  timer.unref();
  return () => clearInterval(timer);
}
