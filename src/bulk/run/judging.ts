import { Failure } from '../../errors.ts';
import { isOfRecord, type Planned } from '../rows/plan.ts';
import type { Outcome } from './outcome.ts';
import type { Looked, RunState } from './run-state.ts';

/** So many rows in a row that the service failed at, or whose outcome is unknown, mean that it is in trouble. */
const mostProblems = 3;

/** What the outcome of a row means for those behind it. */
export function judge(runState: RunState, planned: Planned, outcome: Outcome): void {
  const { job, unknown, stop, troubled } = runState;
  const failure = outcome.status === 'done' ? outcome.doubt : outcome.failure;
  if (outcome.status === 'unknown') {
    unknown.push(planned);
    noteLook(runState, failure?.looked);
  }
  // What was to follow may still arrive, too.
  const status = outcome.status === 'done' && outcome.doubt ? 'unknown' : outcome.status;
  if (status === 'unknown' || status === 'unsent') holdLater(runState, planned, status);
  // What this attempt says of the service, whatever is open of an earlier one.
  const now = (outcome.status === 'unknown' && outcome.now) || outcome.status;
  const isProblem =
    now === 'unknown' ||
    (now === 'done' && failure !== undefined) ||
    (now === 'unsent' && failure?.kind === 'failed' && !failure.isHeld);
  runState.problems = isProblem ? runState.problems + 1 : 0;
  if (now === 'unsent' && failure) {
    const { rows = 0, failure: first = failure } = runState.forbidden ?? {};
    // A rule of the policy may forbid one row and not the next.
    if (failure.kind === 'policy') {
      if (outcome.status === 'unsent') runState.forbidden = { rows: rows + 1, failure: first };
      runState.sends--;
    } else if (!isProblem) stop(failure);
  }
  if (runState.problems >= mostProblems && failure) troubled(hasProblem(failure));
  if (failure?.isUnrecorded) stop(failure);
  if (job.journal.failure()) stop(job.journal.failure());
}

/** Later rows for the record of this one, which is not done, stay unsent. */
export function holdLater({ job, doubted }: RunState, planned: Planned, status: 'unknown' | 'unsent'): void {
  if (!isOfRecord(job.plan.row, planned)) return;
  const { index, keys } = planned;
  for (const key of keys) {
    const first = doubted.get(key);
    if (!first || index < first.index) doubted.set(key, { index, why: whyBehind[status] });
  }
}

/** Whether the row has a place of --max-sends. One that stays unsent takes none, so that each run comes further. */
export function hasPlace(runState: RunState, planned: Planned): boolean {
  if (runState.sends < runState.job.maxSends) {
    runState.sends++;
    return true;
  }
  keepBack(runState, planned);
  return false;
}

export function keepBack(runState: RunState, { ref }: Planned): void {
  runState.capped++;
  if (runState.job.sending.unsure.has(ref)) runState.cappedUnsure++;
}

/** Whether the row must not go, since an earlier one for its record is not done. */
export function isLeftBehind(runState: RunState, planned: Planned): boolean {
  const { doubted, ended, forbidden } = runState;
  const { index, line, keys } = planned;
  const first = keys.map((key) => doubted.get(key)).find((one) => one && one.index < index);
  if (!first) return false;
  ended.set(index, { status: 'unsent', line, error: first.why });
  // By another of its keys a row may be behind this one alone.
  holdLater(runState, planned, 'unsent');
  if (forbidden && first.why === whyBehind.unsent) runState.forbidden = { ...forbidden, rows: forbidden.rows + 1 };
  return true;
}

export function noteLook(runState: RunState, look: Looked | undefined): void {
  if (!look) return;
  const { seconds, candidates } = runState.looked;
  runState.looked = {
    seconds: Math.max(seconds, look.seconds),
    candidates: [...new Set([...candidates, ...look.candidates])],
  };
}

/** The earlier one, which may still arrive or which the next run sends, would overwrite it, or be read behind it. */
const whyBehind = {
  unknown: 'not sent: it is not known yet whether an earlier row for the same record was done',
  unsent: 'not sent: an earlier row for the same record was not sent',
} as const;

const hasProblem = (failure: Failure): Failure =>
  new Failure(failure.kind, `The service fails at one row after another: ${failure.message}`, {
    hint: failure.hint,
    status: failure.status,
    cause: failure,
  });
