import { type Lanes, openLanes } from '../../batch/lanes.ts';
import { type Failure, interruption } from '../../errors.ts';
import { someOf } from '../../text/each.ts';
import type { EndedRows } from '../journal/ended-table.ts';
import type { Planned } from '../rows/plan.ts';
import { hasPlace, isLeftBehind, judge, keepBack } from './judging.ts';
import { afterLateCopies, expectCopies, proveLast } from './order.ts';
import { finishSteps, lookAgain, pastOf, recoverOpen, tellOpen } from './recover.ts';
import { beginRun, type Forbidden, type Job, type Looked, type RunState, settle, undefer } from './run-state.ts';
import { mean, send } from './send-row.ts';

export type Totals = {
  /** By position in the file. */
  readonly ended: EndedRows;
  readonly requests: number;
  readonly resumedRows: number;
  /** Rows that this run itself has done. */
  readonly doneNow: number;
  /** Of those: drafts. */
  readonly draftedNow: number;
  /** What rows of this run did beside their own requests; of a dry run: would do. */
  readonly besides: readonly string[];
  readonly ms: number;
  /** For how long a row was looked for that was not found, at most, and the ids of records that may be such rows. */
  readonly looked: Looked;
  /** Why it ended before the last row. */
  readonly stopped: Failure | undefined;
  readonly forbidden?: Forbidden;
  /** Rows of which nobody knows whether they are done, and for which svc cannot look as they stand in the file. */
  readonly unreadable?: number;
  /** Rows that --max-sends kept back. */
  readonly capped?: number;
  /** Of those: rows that may be done already. */
  readonly cappedUnsure?: number;
  /** The journal is gone: the next run would take all rows for new ones. */
  readonly isForgotten?: boolean;
  /** Another login has sent some of the rows, and the same command without flags would be refused. */
  readonly isOfStrangers?: boolean;
  /** Of the drafts that it made. */
  readonly batch?: string;
};

/** So many rows are written down at a time before the first of them leaves: one wait for the disk for all of them. */
const rowsAhead = 32;

/**
 * Sends the rows that the journal does not know as settled, up to `concurrency` at once. Two rows about the same record,
 * or that could be taken for one another, are never in flight together and keep their order.
 */
export async function runPlan(job: Job): Promise<Totals> {
  const { ctx, plan, journal, sending } = job;
  const runState = beginRun(job);
  const { ended, stop, stopped } = runState;
  const lanes = openLanes({ ctx, concurrency: job.concurrency, isOver: runState.isOver });
  try {
    await expectCopies(runState);
    await recoverOpen(runState);
    await finishSteps(runState);
    const rows = rowsToGo(runState);
    let next = meant(runState, rows);
    for (let batch = await next; batch.length > 0; batch = await next) {
      // Meanwhile the next ones are read and written down.
      next = meant(runState, rows);
      next.catch(stop);
      for (const planned of batch) await start(runState, lanes, planned);
    }
  } catch (error) {
    stop(error);
  }
  await lanes.settled();
  await lookAgain(runState).catch(stop);
  await proveLast(runState).catch(stop);
  // Until then a row that became a draft, or was rejected, still stands as one that was only meant to go.
  await runState.kept();
  for (const [row, { line }] of [...journal.rowStatuses.standing('meant')]) runState.keep({ back: { row, line } });
  await runState.kept();
  const hasRest = someOf(ended.values(), (one) => 'rest' in one);
  if (!stopped() && ctx.signal.aborted && (hasRest || ended.size < plan.sendable)) stop(interruption(ctx.signal));
  const isWhole =
    ended.size === plan.sendable && !hasRest && !someOf(ended.values(), ({ status }) => status === 'unsent');
  if (isWhole && !someOf(ended.values(), ({ status }) => status === 'unknown')) runState.overcome();
  // What may still arrive then overwrites nothing: it says what the record holds already.
  undefer(runState, ({ keys }) => (!stopped() && isWhole) || !sending.late.mayArrive(keys));
  const rejects = isWhole ? job.rejects?.(ended) : undefined;
  const finished = { at: ctx.clock.now().toISOString(), ...(rejects !== undefined && { rejects }) };
  if (!stopped() && isWhole) await journal.write({ finished }).catch(stop);
  await tellOpen(runState).catch(stop);
  return {
    ended,
    requests: journal.past.requests + sending.requests,
    resumedRows: runState.resumedRows,
    doneNow: runState.doneNow,
    draftedNow: runState.draftedNow,
    besides: runState.besides.all(),
    ms: journal.past.ms + runState.elapsed(),
    looked: runState.looked,
    stopped: stopped(),
    capped: runState.capped,
    cappedUnsure: runState.cappedUnsure,
    ...(runState.forbidden && { forbidden: runState.forbidden }),
  };
}

/** The rows that this run sends. What earlier runs have settled is counted on the way. */
async function* rowsToGo(runState: RunState): AsyncGenerator<Planned, void, undefined> {
  const { job, ended } = runState;
  for await (const batch of job.plan.read()) {
    for (const planned of batch) {
      const past = ended.has(planned.index) ? 'left open' : pastOf(runState, planned);
      if (past === 'left open') continue;
      if (past) {
        ended.set(planned.index, past);
        runState.resumedRows++;
      } else if (runState.sends < job.maxSends) yield planned;
      else keepBack(runState, planned);
    }
  }
}

/** The next rows, written down on disk. */
async function meant(runState: RunState, rows: AsyncGenerator<Planned, void, undefined>): Promise<readonly Planned[]> {
  const batch: Planned[] = [];
  while (batch.length < rowsAhead) {
    const { value, done } = await rows.next();
    if (done) break;
    batch.push(value);
  }
  if (batch.length > 0 && !runState.isOver()) await mean(runState.job.sending, batch);
  return batch;
}

async function start(runState: RunState, lanes: Lanes, planned: Planned): Promise<void> {
  const { job } = runState;
  await lanes.start([...planned.keys, ...(planned.answerKeys ?? [])], async () => {
    try {
      if (isLeftBehind(runState, planned) || !hasPlace(runState, planned)) return;
      if (!(await afterLateCopies(runState, planned))) return;
      const outcome = await send(job.sending, planned);
      judge(runState, planned, outcome);
      await settle(runState, planned, outcome);
    } catch (error) {
      runState.stop(error);
    }
  });
}
