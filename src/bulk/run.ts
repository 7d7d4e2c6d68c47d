import { type Failure, interruption } from '../errors.ts';
import { someOf } from '../text/each.ts';
import { beginCourse, type Course, type Job, judge, type Looked, settle, undefer } from './course.ts';
import type { EndedRows } from './ended-table.ts';
import { type Lanes, openLanes } from './lanes.ts';
import { afterLateCopies, expectCopies, proveLast } from './order.ts';
import type { Planned } from './plan.ts';
import { finishSteps, lookAgain, pastOf, recoverOpen } from './recover.ts';

export type Totals = {
  /** By position in the file. */
  readonly ended: EndedRows;
  readonly requests: number;
  readonly resumedRows: number;
  /** Rows that this run itself has done. */
  readonly doneNow: number;
  readonly ms: number;
  /** For how long a row was looked for that was not found, at most, and the ids of records that may be such rows. */
  readonly looked: Looked;
  /** Why it ended before the last row. */
  readonly stopped: Failure | undefined;
  /** The journal is gone: the next run would take all rows for new ones. */
  readonly isForgotten?: boolean;
};

/** So many rows are written down at a time before the first of them leaves: one wait for the disk for all of them. */
const rowsAhead = 32;

/**
 * Sends the rows that the journal does not know as settled, up to `concurrency` at once. Two rows about the same record,
 * or that could be taken for one another, are never in flight together and keep their order.
 */
export async function runPlan(job: Job): Promise<Totals> {
  const { ctx, plan, journal, sender } = job;
  const course = beginCourse(job);
  const { ended, stop, stopped } = course;
  const lanes = openLanes({ ctx, concurrency: job.concurrency, isOver: course.isOver });
  try {
    await expectCopies(course);
    await recoverOpen(course);
    await finishSteps(course);
    const rows = rowsToGo(course);
    let next = meant(course, rows);
    for (let batch = await next; batch.length > 0; batch = await next) {
      // Meanwhile the next ones are read and written down.
      next = meant(course, rows);
      next.catch(stop);
      for (const planned of batch) await start(course, lanes, planned);
    }
  } catch (error) {
    stop(error);
  }
  await lanes.settled();
  await lookAgain(course).catch(stop);
  await proveLast(course).catch(stop);
  for (const [row, { line }] of [...journal.fates.standing('meant')]) course.keep({ back: { row, line } });
  await course.kept();
  const hasRest = someOf(ended.values(), (one) => 'rest' in one);
  if (!stopped() && ctx.signal.aborted && (hasRest || ended.size < plan.sendable)) stop(interruption(ctx.signal));
  const isWhole =
    ended.size === plan.sendable && !hasRest && !someOf(ended.values(), ({ status }) => status === 'unsent');
  // What may still arrive then overwrites nothing: it says what the record holds already.
  undefer(course, ({ keys }) => (!stopped() && isWhole) || !sender.late.mayArrive(keys));
  const rejects = isWhole ? job.rejects?.(ended) : undefined;
  const finished = { at: ctx.clock.now().toISOString(), ...(rejects !== undefined && { rejects }) };
  if (!stopped() && isWhole) await journal.write({ finished }).catch(stop);
  return {
    ended,
    requests: journal.past.requests + sender.requests(),
    resumedRows: course.resumedRows,
    doneNow: course.doneNow,
    ms: journal.past.ms + course.elapsed(),
    looked: course.looked,
    stopped: stopped(),
  };
}

/** The rows that this run sends. What earlier runs have settled is counted on the way. */
async function* rowsToGo(course: Course): AsyncGenerator<Planned, void, undefined> {
  const { job, ended } = course;
  let sends = 0;
  for await (const batch of job.plan.read()) {
    for (const planned of batch) {
      const past = ended.has(planned.index) ? 'left open' : pastOf(course, planned);
      if (past === 'left open') continue;
      if (past) {
        ended.set(planned.index, past);
        course.resumedRows++;
      } else if (sends < job.maxSends) {
        sends++;
        yield planned;
      }
    }
  }
}

/** The next rows, written down on disk. */
async function meant(course: Course, rows: AsyncGenerator<Planned, void, undefined>): Promise<readonly Planned[]> {
  const batch: Planned[] = [];
  while (batch.length < rowsAhead) {
    const { value, done } = await rows.next();
    if (done) break;
    batch.push(value);
  }
  if (batch.length > 0 && !course.isOver()) await course.job.sender.mean(batch);
  return batch;
}

async function start(course: Course, lanes: Lanes, planned: Planned): Promise<void> {
  const { job, ended, doubted } = course;
  await lanes.start([...planned.keys, ...(planned.answerKeys ?? [])], async () => {
    try {
      const [error] = planned.keys.flatMap((key) => doubted.get(key) ?? []);
      if (error !== undefined) {
        ended.set(planned.index, { status: 'unsent', line: planned.line, error });
        return;
      }
      if (!(await afterLateCopies(course, planned))) return;
      const outcome = await job.sender.send(planned);
      judge(course, planned, outcome);
      await settle(course, planned, outcome);
    } catch (error) {
      course.stop(error);
    }
  });
}
