import { asFailure } from '../../batch/ending.ts';
import type { Progress } from '../../batch/pace.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import type { Failure } from '../../errors.ts';
import { type EndedRows, endedRows } from '../journal/ended-table.ts';
import { partOf, type RowLine } from '../journal/lines.ts';
import type { Journal } from '../journal/open-journal.ts';
import { countBesides } from '../rows/besides.ts';
import { isRepeatable, keysBehind, type Plan, type Planned } from '../rows/plan.ts';
import type { Outcome } from './outcome.ts';
import { keptSecret, type Secrets } from './secrets.ts';
import type { Sending } from './sending.ts';

type DoneLine = Extract<RowLine, { done: object }>;

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

type Counts = {
  resumedRows: number;
  doneNow: number;
  /** Of those: drafts. */
  draftedNow: number;
  /** Of rows that were not found: the longest look, and all candidates. */
  looked: Looked;
  /** Rows that the policy forbade, with those behind them: how many, and why the first. */
  forbidden: Forbidden | undefined;
  /** Rows that take a place of --max-sends: they are done, or on their way. */
  sends: number;
  /** Rows that --max-sends keeps back. */
  capped: number;
  /** Of those: rows that may be done already. */
  cappedUnsure: number;
  /** Rows without one between them at which the service failed, or whose outcome is unknown. */
  problems: number;
};

const nothingYet: Counts = {
  resumedRows: 0,
  doneNow: 0,
  draftedNow: 0,
  looked: { seconds: 0, candidates: [] },
  forbidden: undefined,
  sends: 0,
  capped: 0,
  cappedUnsure: 0,
  problems: 0,
};

/** How far a run has come. */
export type RunState = ReturnType<typeof beginRun>;

export function beginRun(job: Job) {
  const { ctx, journal, sending } = job;
  const began = ctx.clock.ticks();
  const elapsed = () => Math.round(ctx.clock.ticks() - began);
  const writings = new Set<Promise<void>>();
  let stopped: Failure | undefined;
  let trouble: Failure | undefined;
  let requestsNoted = 0;
  const stop = (error: unknown): void => {
    stopped ??= asFailure(error, 'The run');
  };
  const unknown: Planned[] = [];
  return {
    ...nothingYet,
    job,
    /** By position in the file. */
    ended: endedRows(),
    /** With --retry-unknown: rows that may be done, and go once more. */
    mayGo: new Set<string>(),
    /** Rows of this run whose outcome is not known. */
    unknown,
    /** Records of rows that are not done: why a row behind that place in the file must not go first. */
    doubted: new Map<string, { readonly index: number; readonly why: string }>(),
    /** Lines that say that a row is done, of which a copy may still arrive: they wait until a later row is sent. */
    deferred: new Map<string, { readonly planned: Planned; readonly line: DoneLine }>(),
    /** The latest row of each record for which a later row had to wait, with what the service answered. */
    proofs: new Map<string, { readonly planned: Planned; readonly answer: unknown }>(),
    /** What they did beside their own requests. */
    besides: countBesides(job.plan.row),
    elapsed,
    /** What the run has cost since the last call. */
    cost() {
      const requests = sending.requests - requestsNoted;
      requestsNoted += requests;
      return { requests, ms: elapsed() };
    },
    stop,
    stopped: () => stopped ?? trouble,
    /** The service fails at one row after another: the run ends, unless a last look shows that all of them are done. */
    troubled(why: Failure) {
      trouble ??= why;
    },
    overcome() {
      trouble = undefined;
    },
    isOver: () => stopped !== undefined || trouble !== undefined || ctx.signal.aborted,
    /** Writes a line for which nobody waits: a row of which it is lost is looked for by the next run. */
    keep(line: RowLine) {
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
    if (isRepeatable(plan) && job.sending.late.mayArrive(planned.keys))
      runState.deferred.set(row, { planned, line: done });
    else keep(withLate(runState, planned, done));
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
    runState.keep(withLate(runState, planned, line));
  }
}

/** Other runs must know which records a copy may still write to. */
export function withLate({ job }: RunState, planned: Planned, { done }: DoneLine): DoneLine {
  const keys = keysBehind(job.plan, planned, done.id);
  return { done: job.sending.late.isOurs(keys) ? { ...done, keys, at: job.ctx.clock.now().toISOString() } : done };
}

function tellProgress(runState: RunState): void {
  const { job, ended, resumedRows } = runState;
  job.onProgress({ done: ended.size, total: job.plan.sendable, resumed: resumedRows, ms: runState.elapsed() });
}
