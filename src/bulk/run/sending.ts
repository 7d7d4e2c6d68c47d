import { type LateCopies, lateCopies } from '../../batch/late-copies.ts';
import { unwrap } from '../../command/answered.ts';
import { type FollowStep, followsOf } from '../../command/follow.ts';
import type { RowOf } from '../../command/row.ts';
import { type Context, type HttpResponse, type Lost, withContext } from '../../context.ts';
import { type CallOptions, patience, type Service } from '../../http/call/call.ts';
import { ownIds } from '../../http/call/open-writes.ts';
import { madeAt } from '../../http/look/age.ts';
import type { Before } from '../../http/look/before.ts';
import type { NumberTable } from '../../text/number-table.ts';
import { fieldsIn } from '../../text/record.ts';
import { unsureIn } from '../journal/apply-line.ts';
import { leavesCopy } from '../journal/copies.ts';
import type { Journal } from '../journal/open-journal.ts';
import { type Latest, latestMade } from './latest.ts';

/** What a run has learnt of the rows that it has sent so far. */
export type Sending = {
  readonly outer: Service;
  readonly row: RowOf;
  readonly journal: Journal;
  readonly options: CallOptions;
  /** Ids that svc has made already, shared with every look of the run. */
  readonly own: NumberTable;
  /** Of this run alone: a service that was reset since the run before begins its ids again. */
  readonly latest: Latest;
  /** Ids of others that a list has shown since the baseline. */
  readonly others: Set<number>;
  /** Made so far, repetitions and looks included. */
  requests: number;
  baseline?: Promise<Before | undefined>;
  /** What rows call it, where the journal says what it is. */
  baselineKey?: number;
  /** What may be taken for a row of unknown outcome, and the other way round. */
  readonly doubtful: Set<string>;
  /** Rows, by their names, that an earlier run has sent and of which nobody knows whether they are done: what is said of them. */
  readonly unsure: Map<string, string>;
  /** What was sent and may still arrive. */
  readonly late: LateCopies;
};

export function beginSending(outer: Service, row: RowOf, journal: Journal): Sending {
  const own = ownIds(outer, row.operation);
  const options = patience(outer);
  const late = lateCopies(outer.ctx, outer.settings.settleMs);
  const now = { ms: outer.ctx.clock.now().getTime(), isSure: journal.isClockSure };
  const unsure = new Map<string, string>();
  for (const [ref, rowStatus] of journal.rowStatuses.standing('sent', 'unknown'))
    unsure.set(ref, unsureIn(rowStatus) ?? sentBefore);
  const made = { latest: latestMade(), others: new Set<number>() };
  const learnt = { ...made, requests: 0, doubtful: new Set<string>(), unsure, late };
  const sending: Sending = { outer, row, journal, options, own, ...learnt };
  for (const rowStatus of journal.rowStatuses.values()) {
    // An earlier run ended while it was on its way, or soon after.
    if (!leavesCopy(rowStatus, now)) continue;
    const isOver = rowStatus.status === 'done' && !rowStatus.rest;
    late.note(rowStatus.keys, rowStatus.is, isOver);
  }
  for (const { keys, content, isKept } of journal.copies) late.note(keys, content, isKept);
  return sending;
}

const sentBefore = 'It was sent by an earlier run, and svc does not know whether it was done';

/** For the line of an attempt. */
export function unsureOf({ unsure }: Sending, ref: string): { readonly unsure: string } | undefined {
  const said = unsure.get(ref);
  return said === undefined ? undefined : { unsure: said };
}

/** Notes what a row has made. `left`: how many of `latest` there were when it left first, and when that was. */
export function note({ own, others, latest, row }: Sending, id: number, answer: unknown, left?: Left): void {
  own.set(id, 0);
  others.delete(id);
  const ms = madeAt(fieldsIn(unwrap(row.operation, answer)));
  latest.note(id, { since: left?.answers ?? 0, leftMs: left?.dateMs, ms });
}

type Left = { readonly answers: number; readonly dateMs: number | undefined };

/** Notes what a list shows beside what was there at first: all of it was there before each row that leaves from now on. */
export function noteListed({ own, others }: Sending, first: Pick<Before, 'ids'>, ids: readonly number[]): void {
  const known = new Set(first.ids);
  for (const id of ids) if (!known.has(id) && own.get(id) === undefined) others.add(id);
}

/** Told of each request that writes, before it leaves and once it has ended. */
export type Watch = {
  /** The row's name in the journal. */
  readonly row: string;
  readonly follows: readonly FollowStep[];
  /** Before its draft is kept. */
  readonly drafting: () => Promise<void>;
  readonly leaving: () => Promise<void>;
  readonly settled: (answer: HttpResponse | Lost) => Promise<void>;
  /** The attempt was given up on and may still arrive. */
  readonly unsettled: () => void;
};

/**
 * A first Ctrl-C lets what is in flight be answered: the signal ends waits, not requests. `ofRow`: the row that its
 * requests belong to.
 */
export function through(sending: Sending, watch?: Watch, ofRow = watch?.row): Service {
  const { outer, row } = sending;
  const exchange: Context['exchange'] = async (request) => {
    sending.requests++;
    const watching = request.method === row.operation.method ? watch : undefined;
    await watching?.leaving();
    if (!watching) sending.journal.check();
    const answer = await outer.ctx.exchange({ ...request, signal: undefined });
    await watching?.settled(answer);
    return answer;
  };
  const { origin } = outer.ctx;
  // No context stands behind the one of a row: V8 learns the form of each object that does, and forgets what it knew.
  const ctx = withContext(outer.ctx, {
    exchange,
    // The rows are accounted for by the run.
    writes: undefined,
    sends: sendsOf(sending, watch),
    origin: ofRow === undefined ? origin : { ...origin, row: ofRow },
  });
  return { ...outer, ctx, onUnsettled: watch?.unsettled };
}

/** All drafts of a run are one batch, and what is drafted again after a crash is the same draft. */
function sendsOf({ outer, journal }: Sending, watch: Watch | undefined): Context['sends'] {
  const { batch } = journal;
  const ofRow = watch && {
    key: `${batch}/${watch.row}`,
    follows: followsOf(watch.follows),
    onDraft: watch.drafting,
  };
  return outer.ctx.sends?.with({ face: 'bulk', batch, ...ofRow });
}
