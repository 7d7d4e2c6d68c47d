import { candidatesTold } from '../../http/exchange/endings.ts';
import type { Undecided } from '../../http/exchange/settle.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { someOf } from '../../text/each.ts';
import { unsureIn } from '../journal/apply-line.ts';
import { type Ended, endedEarlier, isAnyUnsettled, isUnsettled } from '../journal/ended-table.ts';
import { partOf } from '../journal/lines.ts';
import { isRepeatable, type Planned } from '../rows/plan.ts';
import { holdLater, noteLook } from './judging.ts';
import { type RunState, settle, withLate } from './run-state.ts';
import { find, finished } from './send-row.ts';

/** What the journal says of a row that is over; undefined where it is to be sent. */
export function pastOf(runState: RunState, planned: Planned): Ended | 'left open' | undefined {
  const { journal, plan } = runState.job;
  const rowStatus = journal.rowStatuses.get(planned.ref);
  // Twice is once.
  const mayGo = isRepeatable(plan) || runState.mayGo.has(planned.ref) || journal.mayGo(planned.ref);
  if (isUnsettled(rowStatus)) return mayGo ? undefined : 'left open';
  return endedEarlier(rowStatus, planned.line);
}

/** What a look shows where it does not find it: who may not look has seen nothing. */
type Looked = Undecided | 'unseen' | undefined;

/** Looks for a row that was sent when an earlier run ended, or whose outcome it could not tell. */
async function resolve(runState: RunState, planned: Planned, settleMs: number): Promise<Looked> {
  const { journal, sending } = runState.job;
  const rowStatus = journal.rowStatuses.get(planned.ref);
  const before = rowStatus && 'before' in rowStatus ? rowStatus : { before: null };
  const found = await find(sending, planned, before, settleMs).catch(insteadOf('any', 'unseen' as const));
  if (!found || found === 'unseen' || 'candidates' in found) return found;
  await settle(runState, planned, found);
  return undefined;
}

/** First what was sent when an earlier run was killed, for as long as it may be late; all at once. */
export async function recoverOpen(runState: RunState): Promise<void> {
  const { job, ended, unknown, mayGo, cost } = runState;
  const { ctx, plan, journal, settings, retryUnknown } = job;
  const open = await openRows(runState);
  if (open.length === 0) return;
  const wasSent = (planned: Planned) => journal.rowStatuses.get(planned.ref)?.status === 'sent';
  const began = ctx.clock.ticks();
  const left = new Map<Planned, Looked>();
  const looking = async (planned: Planned) => left.set(planned, await resolve(runState, planned, settings.settleMs));
  await Promise.all(open.filter(wasSent).map(looking));
  const isMissing = open.some((planned) => wasSent(planned) && !ended.has(planned.index));
  if (isMissing && plan.row.operation.safety === 'verify')
    noteLook(runState, {
      seconds: Math.round((ctx.clock.ticks() - began) / 100) / 10,
      candidates: [...left.values()].flatMap(candidatesOf),
    });
  for (const planned of open) {
    if (ended.has(planned.index)) continue;
    const { ref: row, line, index } = planned;
    // A look that was cut short shows nothing.
    const goesAgain = retryUnknown && !ctx.signal.aborted;
    const seen = goesAgain && !wasSent(planned) ? await resolve(runState, planned, 0) : left.get(planned);
    if (ended.has(index)) continue;
    const rowStatus = journal.rowStatuses.get(row);
    const error = rowStatus?.status === 'unknown' ? rowStatus.error : whyOpen(left.get(planned));
    if (rowStatus?.status === 'sent') {
      job.sending.unsure.set(row, unsureIn(rowStatus) ?? error);
      if (!ctx.signal.aborted) await journal.write({ unknown: { row, line, error, ...cost() } });
    }
    // It may be there: only what was looked for goes again.
    if (goesAgain && seen !== 'unseen') {
      mayGo.add(row);
      continue;
    }
    ended.set(index, { status: 'unknown', line, error });
    unknown.push(planned);
  }
}

/** What may be done and was not sent now may be done still: a limit, a refusal or a stop before it says nothing of then. */
export async function tellOpen({ job, ended }: RunState): Promise<void> {
  const { journal, plan, sending } = job;
  const isOpen = (planned: Planned) =>
    sending.unsure.has(planned.ref) &&
    isUnsettled(journal.rowStatuses.get(planned.ref)) &&
    (ended.get(planned.index)?.status ?? 'unsent') === 'unsent';
  if (sending.unsure.size === 0) return;
  for await (const batch of plan.read())
    for (const { ref, line, index } of batch.filter(isOpen))
      ended.set(index, { status: 'unknown', line, error: sending.unsure.get(ref) ?? '' });
}

const candidatesOf = (looked: Looked): readonly number[] =>
  looked === undefined || looked === 'unseen' ? [] : looked.candidates;

/** A record that may be the row's is named, with what to do about it. */
function whyOpen(left: Looked): string {
  if (left === 'unseen') return 'It was sent when svc was killed, and svc could not look for it';
  if (!left || left.candidates.length === 0) return 'It was sent when svc was killed, and svc did not find it';
  return ['It was sent when svc was killed:', candidatesTold(left), left.advice ?? ''].join(' ').trim();
}

async function openRows(runState: RunState): Promise<Planned[]> {
  const { journal, plan } = runState.job;
  const open: Planned[] = [];
  if (!isAnyUnsettled(journal.rowStatuses) || isRepeatable(plan)) return open;
  for await (const batch of plan.read()) {
    open.push(...batch.filter((planned) => pastOf(runState, planned) === 'left open'));
  }
  return open;
}

/** What was unknown may have arrived since. */
export async function lookAgain(runState: RunState): Promise<void> {
  const { job, ended, unknown } = runState;
  const { ctx, journal, plan } = job;
  if (plan.row.operation.safety !== 'verify' || journal.failure()) return;
  for (const planned of unknown) {
    if (ctx.signal.aborted) return;
    const began = ctx.clock.ticks();
    const looked = await resolve(runState, planned, 0);
    if (ended.get(planned.index)?.status === 'done' || looked === 'unseen') continue;
    // A quick look is a look.
    noteLook(runState, {
      seconds: Math.ceil((ctx.clock.ticks() - began) / 100) / 10,
      candidates: candidatesOf(looked),
    });
  }
}

/** Does the second step of rows for which an earlier run was stopped between the two. */
export async function finishSteps(runState: RunState): Promise<void> {
  const { job, ended, keep, cost } = runState;
  const { journal, plan, sending } = job;
  if (!someOf(journal.rowStatuses.standing('done'), ([, rowStatus]) => 'rest' in rowStatus)) return;
  for await (const batch of plan.read()) {
    for (const planned of batch) {
      const rowStatus = journal.rowStatuses.get(planned.ref);
      if (rowStatus?.status !== 'done' || !rowStatus.rest || rowStatus.id === null || runState.isOver()) continue;
      const { id } = rowStatus;
      const { ref: row, line, index } = planned;
      // Of one that was stopped in order it is said why.
      const mayBeDone = rowStatus.error === undefined;
      const there = { id, answer: undefined, isAgain: true, from: rowStatus.step, mayBeDone };
      const part = partOf(await finished(sending, planned, there));
      if (part.drafted !== undefined) {
        runState.doneNow++;
        runState.draftedNow++;
      } else if (part.doubt) holdLater(runState, planned, 'unknown');
      else if (part.error === undefined) runState.besides.add(planned);
      ended.set(index, { status: 'done', line, id, ...part });
      runState.resumedRows++;
      keep(withLate(runState, planned, { done: { row, line, id, ...cost(), ...part } }));
    }
  }
}
