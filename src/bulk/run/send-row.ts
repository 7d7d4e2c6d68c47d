import type { Operation } from '../../api/operation.ts';
import { unwrap } from '../../command/answered.ts';
import { Failure, interruption } from '../../errors.ts';
import { type CallOptions, call, isDrafted, type Known, lookFor, type Service } from '../../http/call/call.ts';
import { madeIds } from '../../http/exchange/made.ts';
import { settleRecord, syncRecord } from '../../http/exchange/recorder.ts';
import type { Undecided } from '../../http/exchange/settle.ts';
import type { Before } from '../../http/look/before.ts';
import { isOwnLimit } from '../../retry/own-word.ts';
import { fieldsIn } from '../../text/record.ts';
import { likeOf } from '../history/alike.ts';
import type { Before as WrittenBefore } from '../journal/lines.ts';
import { isRepeatable, keysBehind, type Planned } from '../rows/plan.ts';
import { laterSteps, secondStep } from '../rows/second-step.ts';
import { type Done, type Outcome, outcomeOf, stillOpen } from './outcome.ts';
import { note, noteListed, type Sending, through, unsureOf, type Watch } from './sending.ts';
import { supplied } from './supplied.ts';
import { asWritten, beforeIn, knownAt, knownBefore, type Moment, momentNow } from './there.ts';

/** Writes down that the rows will leave, before the first of them does: one wait for the disk for all of them. */
export async function mean(sending: Sending, rows: readonly Planned[]): Promise<void> {
  const { journal, row, unsure } = sending;
  const { safety, params } = row.operation;
  // What may be done twice needs no trace, and where the record is read before each row, that takes longer than the disk.
  // Of what may be done already that stays written down.
  const fresh = rows.filter(({ ref }) => !unsure.has(ref));
  const [first] = fresh;
  if (!first || safety === 'repeatable' || (safety === 'verify' && params) || !journal.tellsKills) return;
  try {
    const known = safety === 'verify' ? await knownBefore(sending, first.input) : undefined;
    const meant = { rows: fresh.map(({ ref, line }) => ({ row: ref, line })), ...asWritten(sending, known) };
    await Promise.all([journal.write({ meant }), syncRecord(sending.outer)]);
  } catch (error) {
    // Each row meets the same failure when it is sent, and ends the run by it.
    if (!(error instanceof Failure)) throw error;
  }
}

/** One row on its way. */
type Trip = { hasLeft: boolean; mayArrive: boolean; before: Before | undefined; left?: Moment };

/** Sends a row, and writes down that it leaves before it does. */
export async function send(sending: Sending, planned: Planned): Promise<Outcome> {
  const { journal, options, doubtful, row } = sending;
  const { operation } = row;
  const trip: Trip = { hasLeft: false, mayArrive: false, before: undefined };
  const service = through(sending, watchOf(sending, planned, trip));
  const unsure = sending.unsure.get(planned.ref);
  const wasOpen = unsure !== undefined && isRepeatable(sending);
  try {
    const { input, sender } = await supplied(service, row, planned);
    let known: Known | undefined;
    if (operation.safety === 'verify' && !(await isDrafted(sending.outer, operation))) {
      trip.before = await knownBefore(sending, input, trip);
      known = trip.before && !planned.keys.some((key) => doubtful.has(key)) ? trip.before : 'nothing';
    }
    const sees = (ids: readonly number[]) => noteListed(sending, trip.before ?? { ids: [] }, ids);
    const leaves: CallOptions['leaves'] = (doubt) => {
      // Of attempts that surely did nothing the time does not count.
      if (doubt === undefined) trip.left = momentNow(sending, trip.before);
    };
    const answer = await call(sender, operation, input, { ...options, before: known, sees, leaves, wasSent: wasOpen });
    const id = idOf(operation, answer, planned);
    if (id !== null && operation.makes) note(sending, id, answer, trip.left);
    // Twice is once.
    if (wasOpen) await settleRecord(service, { row: planned.ref, operation: operation.id, id });
    return await finished(sending, { ...planned, input }, { id, answer, isAgain: wasOpen });
  } catch (error) {
    const outcome = stillOpen(outcomeOf(error, { hasLeft: trip.hasLeft, broken: journal.failure() }), unsure);
    if (outcome.status === 'unknown') for (const key of planned.keys) doubtful.add(key);
    const now = (outcome.status === 'unknown' && outcome.now) || outcome.status;
    if (now === 'unsent' && trip.hasLeft) await writeBack(sending, planned);
    return outcome;
  }
}

/** `isAgain`: an earlier run may have done what follows. */
type There = {
  readonly id: number | null;
  readonly answer: unknown;
  readonly isAgain: boolean;
  readonly from?: number;
  /** Whether svc was killed when that step was about to leave, or had left. */
  readonly mayBeDone?: boolean;
};

/** The record is there; what is to follow is done too, or told. */
export async function finished(sending: Sending, planned: Planned, there: There): Promise<Done> {
  const { row, options } = sending;
  const { input, ref, line } = planned;
  const { id, answer, isAgain, from = 0, mayBeDone = false } = there;
  // Most rows are whole with their one request.
  if (!row.after && !input.follows) return { status: 'done', id, answer };
  const keys = keysBehind(sending, planned, id);
  const { late, outer } = sending;
  const onUnsettled = () => late.note(keys, planned.request);
  const service = { ...through(sending, undefined, ref), onUnsettled };
  const ready = async () => {
    if ((await late.pass(keys, planned.request)) === 'interrupted') throw interruption(outer.ctx.signal);
  };
  const left = await secondStep(service, { row, input, id, answer, options, ready });
  if (isAgain && !left && row.after) await settleRecord(service, { row: ref, operation: row.after.operation.id, id });
  const { follows: steps = [] } = input;
  if (left || steps.length === 0) return { status: 'done', id, answer, ...left };
  const cost = { requests: 0, ms: 0 };
  const mark = (step: number, may?: string) =>
    sending.journal.write({
      done: {
        row: ref,
        line,
        id,
        ...cost,
        step,
        ...(may === undefined ? { rest: true, keys, at: nowIn(outer) } : { error: may, doubt: true }),
      },
    });
  try {
    return {
      status: 'done',
      id,
      answer,
      ...(await laterSteps(service, { steps, from, isLeft: isAgain, mayBeDone, options, mark, ready })),
    };
  } catch (error) {
    // The row itself is done: that its journal cannot be written any more ends the run.
    if (!(error instanceof Failure)) throw error;
    return { status: 'done', id, answer, error: `it is sent, but what follows was not done: ${error.message}` };
  }
}

const nowIn = ({ ctx }: Service): string => ctx.clock.now().toISOString();

/** Keeps the journal true: `sent` before the row leaves, `back` where it surely had no effect. */
const watchOf = (sending: Sending, planned: Planned, trip: Trip): Watch => ({
  row: planned.ref,
  follows: planned.input.follows ?? [],
  async drafting() {
    const { journal } = sending;
    const { ref: row, line } = planned;
    const like = isRepeatable(sending) ? {} : { like: likeOf(sending.row, planned) };
    await journal.write({ drafting: { row, line, batch: journal.batch, ...like, ...unsureOf(sending, row) } });
    journal.check();
  },
  async leaving() {
    const { ref, line, keys } = planned;
    const rowStatus = sending.journal.rowStatuses.get(ref);
    const unsure = unsureOf(sending, ref);
    // What an earlier attempt has made is there by now.
    const atFirst = unsure && rowStatus && 'before' in rowStatus && rowStatus.before !== null ? rowStatus : undefined;
    const before = atFirst ? beforeIn(atFirst) : asWritten(sending, trip.before);
    const known = isRepeatable(sending) ? { keys } : { like: likeOf(sending.row, planned) };
    const sent = { row: ref, line, ...before, ...known, ...unsure };
    const isMeant = rowStatus?.status === 'meant';
    // As durable as the journal's own line.
    const synced = isMeant || isRepeatable(sending) ? undefined : syncRecord(sending.outer);
    await Promise.all([sending.journal.write({ sent }), synced]);
    // Behind the line: whoever takes the journal over from here on sees it, and does not send the row.
    sending.journal.check();
    trip.hasLeft = true;
  },
  async settled(answer) {
    const isNothing = 'lost' in answer ? answer.lost === 'before-sending' : isOwnLimit(answer);
    // An earlier attempt may still arrive.
    if (!isNothing || trip.mayArrive) return;
    await writeBack(sending, planned);
    trip.hasLeft = false;
  },
  unsettled() {
    trip.mayArrive = true;
    if (isRepeatable(sending)) sending.late.note(planned.keys, planned.request);
  },
});

const writeBack = ({ journal }: Sending, { ref, line }: Planned): Promise<void> =>
  journal.write({ back: { row: ref, line } });

/** Looks for what an earlier request for the row may have made; undefined where it cannot be looked for. */
export async function find(
  sending: Sending,
  planned: Planned,
  before: WrittenBefore,
  settleMs: number,
): Promise<Done | Undecided | undefined> {
  const { operation } = sending.row;
  if (operation.safety !== 'verify') return undefined;
  const findings = await lookFor(through(sending), operation, planned.input, {
    before: knownAt(sending, before),
    settleMs,
  });
  if (!('found' in findings)) return findings;
  const id = idOf(operation, findings.found, planned);
  if (id !== null) note(sending, id, findings.found);
  await settleRecord(sending.outer, { row: planned.ref, operation: operation.id, id });
  return finished(sending, planned, { id, answer: findings.found, isAgain: true });
}

/** The id of what was made, else of what was changed. */
function idOf(operation: Operation, answer: unknown, { id }: Pick<Planned, 'id'>): number | null {
  const [made] = madeIds(operation, answer);
  if (made !== undefined) return made;
  const { id: answered } = operation.method === 'POST' ? fieldsIn(unwrap(operation, answer)) : {};
  return typeof answered === 'number' ? answered : (id ?? null);
}
