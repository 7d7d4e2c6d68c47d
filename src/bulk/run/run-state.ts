import { asFailure } from '../../batch/ending.ts';
import type { Progress } from '../../batch/pace.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import type { Journal } from '../history/begin-journal.ts';
import { type EndedRows, endedRows } from '../journal/ended-table.ts';
import { type Line, partOf } from '../journal/lines.ts';
import { type Besides, countBesides } from '../rows/besides.ts';
import { isOfRecord, type Plan, type Planned } from '../rows/plan.ts';
import type { Outcome } from './outcome.ts';
import { keptSecret, type Secrets } from './secrets.ts';
import type { Sending } from './sending.ts';

type DoneLine = Extract<Line, { done: object }>;

export type Job = {
  readonly ctx: Context;
  readonly settings: Settings;
  readonly plan: Plan;
  readonly journal: Journal;
  readonly sending: Sending;
  readonly secrets: Secrets;
  readonly concurrency: number;
  readonly maxSends: number;
  readonly retryUnknown: boolean;
  /** The content of the file of the rejected rows, where one is written. */
  readonly rejects?: (ended: EndedRows) => string;
  readonly onProgress: (progress: Progress) => void;
};

export type Looked = NonNullable<Failure['looked']>;

export type Forbidden = { readonly rows: number; readonly failure: Failure };

/** How far a run has come. */
export type RunState = {
  readonly job: Job;
  /** By position in the file. */
  readonly ended: EndedRows;
  /** Rows of this run whose outcome is not known. */
  readonly unknown: Planned[];
  /** Records of rows that are not done: why a row behind that place in the file must not go first. */
  readonly doubted: Map<string, { readonly index: number; readonly why: string }>;
  /** Lines that say that a row is done, of which a copy may still arrive: they wait until a later row is sent. */
  readonly deferred: Map<string, { readonly planned: Planned; readonly line: DoneLine }>;
  /** The latest row of each record for which a later row had to wait, with what the service answered. */
  readonly proofs: Map<string, { readonly planned: Planned; readonly answer: unknown }>;
  resumedRows: number;
  doneNow: number;
  /** Of those: drafts. */
  draftedNow: number;
  /** What they did beside their own requests. */
  readonly besides: Besides;
  readonly elapsed: () => number;
  /** What the run has cost since the last call. */
  readonly cost: () => { readonly requests: number; readonly ms: number };
  readonly stop: (error: unknown) => void;
  readonly stopped: () => Failure | undefined;
  readonly isOver: () => boolean;
  /** Writes a line for which nobody waits: a row of which it is lost is looked for by the next run. */
  readonly keep: (line: Parameters<Journal['write']>[0]) => void;
  readonly kept: () => Promise<unknown>;
  /** Of rows that were not found: the longest look, and all candidates. */
  looked: Looked;
  /** Rows that the policy forbade, with those behind them: how many, and why the first. */
  forbidden: Forbidden | undefined;
  /** Rows that take a place of --max-sends: they are done, or on their way. */
  sends: number;
  /** Rows that --max-sends keeps back. */
  capped: number;
  /** Rows without one between them at which the service failed, or whose outcome is unknown. */
  problems: number;
};

export function beginRun(job: Job): RunState {
  const { ctx, journal, sending } = job;
  const began = ctx.clock.ticks();
  const elapsed = () => Math.round(ctx.clock.ticks() - began);
  const writings = new Set<Promise<void>>();
  let stopped: Failure | undefined;
  let requestsNoted = 0;
  const stop = (error: unknown) => {
    stopped ??= asFailure(error, 'The run');
  };
  return {
    job,
    ended: endedRows(),
    unknown: [],
    doubted: new Map(),
    deferred: new Map(),
    proofs: new Map(),
    resumedRows: 0,
    doneNow: 0,
    draftedNow: 0,
    besides: countBesides(job.plan.row),
    looked: { seconds: 0, candidates: [] },
    forbidden: undefined,
    sends: 0,
    capped: 0,
    problems: 0,
    elapsed,
    cost() {
      const requests = sending.requests - requestsNoted;
      requestsNoted += requests;
      return { requests, ms: elapsed() };
    },
    stop,
    stopped: () => stopped,
    isOver: () => stopped !== undefined || ctx.signal.aborted,
    keep(line) {
      const writing = journal.write(line).catch(stop);
      writings.add(writing);
      void writing.finally(() => writings.delete(writing));
    },
    kept: () => Promise.all(writings),
  };
}

/** Writes down what became of a row. What the disk does not take is looked for by the next run. */
export async function settle(runState: RunState, planned: Planned, outcome: Outcome): Promise<void> {
  const { job, ended, keep, cost } = runState;
  const { ctx, journal, plan } = job;
  const { ref: row, line, index } = planned;
  if (outcome.status === 'done') {
    runState.doneNow++;
    if (outcome.drafted !== undefined) runState.draftedNow++;
    else if (outcome.error === undefined) runState.besides.add(planned);
    const kept = await keptSecret(job.secrets, outcome.id, outcome.answer);
    const part = partOf(outcome);
    ended.set(index, { status: 'done', line, id: outcome.id, ...kept, ...part });
    const of = plan.row.operation.safety === 'once' && planned.id !== undefined ? { of: planned.id } : {};
    const done: DoneLine = { done: { row, line, id: outcome.id, ...of, ...cost(), ...kept, ...part } };
    // Killed now, the next run must still know that a copy may arrive: to it this row is on its way.
    if (job.sending.late.mayArrive(planned.keys)) runState.deferred.set(row, { planned, line: done });
    else keep(done);
    for (const key of planned.keys)
      if (runState.proofs.has(key)) runState.proofs.set(key, { planned, answer: outcome.answer });
    const { settled } = plan.row;
    if (settled && outcome.id !== null) await settled(ctx, job.settings, { id: outcome.id, answer: outcome.answer });
  } else if (outcome.status === 'unsent') {
    const { kind, message } = outcome.failure;
    const error = (kind === 'failed' || kind === 'policy') && !journal.failure() ? { error: message } : {};
    ended.set(index, { status: 'unsent', line, ...error });
  } else if (outcome.status === 'rejected') {
    ended.set(index, { status: 'rejected', line, error: outcome.error });
    keep({ rejected: { row, line, error: outcome.error, ...cost() } });
  } else {
    ended.set(index, { status: 'unknown', line, error: outcome.error });
    // Nobody has waited for it: it stays `sent`, so that the next run looks for as long as it may be late.
    const isCutShort = outcome.failure?.mayBeDone === true && plan.row.operation.safety === 'verify';
    if (!isCutShort) keep({ unknown: { row, line, error: outcome.error, ...cost() } });
  }
  tellProgress(runState);
}

/** Writes down those of the deferred lines that need not wait any more. */
export function undefer(runState: RunState, isFree: (planned: Planned) => boolean): void {
  for (const [row, { planned, line }] of [...runState.deferred]) {
    if (!isFree(planned)) continue;
    runState.deferred.delete(row);
    runState.keep(line);
  }
}

function tellProgress(runState: RunState): void {
  const { job, ended, resumedRows } = runState;
  job.onProgress({ done: ended.size, total: job.plan.sendable, resumed: resumedRows, ms: runState.elapsed() });
}

/** So many rows in a row that the service failed at, or whose outcome is unknown, mean that it is in trouble. */
const mostProblems = 3;

/** What the outcome of a row means for those behind it. */
export function judge(runState: RunState, planned: Planned, outcome: Outcome): void {
  const { job, unknown, stop } = runState;
  const failure = outcome.status === 'done' ? outcome.doubt : outcome.failure;
  if (outcome.status === 'unknown') {
    unknown.push(planned);
    noteLook(runState, failure?.looked);
  }
  // What was to follow may still arrive, too.
  const status = outcome.status === 'done' && outcome.doubt ? 'unknown' : outcome.status;
  if (status === 'unknown' || status === 'unsent') holdLater(runState, planned, status);
  const isProblem =
    outcome.status === 'unknown' ||
    (outcome.status === 'done' && failure !== undefined) ||
    (outcome.status === 'unsent' && outcome.failure.kind === 'failed' && !outcome.failure.isHeld);
  runState.problems = isProblem ? runState.problems + 1 : 0;
  if (outcome.status === 'unsent') {
    const { rows = 0, failure: first = outcome.failure } = runState.forbidden ?? {};
    // A rule of the policy may forbid one row and not the next.
    if (outcome.failure.kind === 'policy') {
      runState.forbidden = { rows: rows + 1, failure: first };
      runState.sends--;
    } else if (!isProblem) stop(outcome.failure);
  }
  if (runState.problems >= mostProblems && failure) stop(hasProblem(failure));
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
export function hasPlace(runState: RunState): boolean {
  if (runState.sends < runState.job.maxSends) {
    runState.sends++;
    return true;
  }
  runState.capped++;
  return false;
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
