import { asFailure } from '../batch/ending.ts';
import { openLanes } from '../batch/lanes.ts';
import type { Progress } from '../batch/pace.ts';
import type { Context } from '../context.ts';
import { Failure, interruption } from '../errors.ts';
import { changedMeanwhile } from '../tabular/source.ts';
import { type Chunk, createChunker, digestOfChunk, type KeysOf, lineCount, type Outcome } from './chunks.ts';
import type { Journal } from './journal.ts';
import type { Plan } from './plan.ts';
import { isProblem, type Problem } from './rows.ts';

/** Where chunks go. `send` throws where none of the chunk's rows could be judged. */
export type Target = {
  readonly chunkSize: number;
  readonly keysOf: KeysOf;
  send(chunk: Chunk): Promise<Outcome>;
  /** An earlier run has sent it, and it may still arrive. */
  wasSent?(chunk: Chunk): void;
  /** Requests made so far, repetitions included. */
  requests(): number;
};

/** What was done, over all runs of the file. Rows are counted by lines of the file. */
export type Totals = Awaited<ReturnType<typeof runPlan>>;

type Ports = Pick<Context, 'clock' | 'signal' | 'notice'>;

/** What is to be sent, where, and how many chunks at once. */
export type Job = {
  readonly plan: Plan;
  readonly target: Target;
  readonly journal: Journal;
  readonly concurrency: number;
  readonly onProgress: (progress: Progress) => void;
};

/**
 * Reads again, and sends what the journal does not know as done: up to `concurrency` chunks at once, each written
 * down before it goes out and after it is answered. There is no pause of our own; who waits is the service's limiter.
 *
 * Two rows that the service could take for one contact are never in flight together: the second chunk waits for the
 * first. Within a chunk they stay in the file's order, which the service works through (errors come by index), so no
 * chunk has to be cut for them: a file in which every tenth row says info@example.com goes as fast as any other.
 */
export async function runPlan(ctx: Ports, job: Job) {
  const { plan, target, journal } = job;
  const { name } = plan.table.source;
  const began = ctx.clock.ticks();
  const elapsed = () => Math.round(ctx.clock.ticks() - began);
  const tally = newTally(plan, journal);
  const open = new Map(journal.past.open);
  const lanes = chunkLanes(ctx, job, { tally, open, elapsed });
  // In a pipe the lines of progress count their seconds from here, and not from the first answer.
  job.onProgress({ ...tally.progress(), ms: 0 });
  try {
    for await (const chunk of chunksOf(plan, target.chunkSize)) {
      const before = journal.past.done.get(chunk.number);
      // Of a file that grows or changes while it is sent nothing goes out that was not read and checked.
      if (digestOfChunk(chunk) !== plan.digests[chunk.number]) throw changedMeanwhile(name);
      if (before) {
        if (before.first_line !== chunk.rows[0]?.line || before.rows !== lineCount(chunk)) throw notThisFile(journal);
        continue;
      }
      if (journal.past.open?.has(chunk.number)) target.wasSent?.(chunk);
      if (!(await lanes.send(chunk))) break;
    }
  } catch (error) {
    lanes.stop(error);
  }
  await lanes.settled();
  const inDoubt = new Map([...open, ...lanes.unknown]);
  const isWhole = tally.totals().chunks === plan.chunks;
  if (!lanes.stopped() && isWhole) await journal.finished().catch(lanes.stop);
  if (!isWhole) lanes.stop(ctx.signal.aborted ? interruption(ctx.signal) : changedMeanwhile(name));
  return {
    ...tally.totals(),
    requests: journal.past.requests + target.requests(),
    ms: journal.past.ms + elapsed(),
    /** Chunks that this run itself has sent, and those of which it is not known. */
    doneNow: tally.totals().chunks - journal.past.done.size,
    unknownNow: inDoubt.size,
    /** The rows of those. */
    unknownRows: [...inDoubt.values()].reduce((sum, rows) => sum + rows, 0),
    /** Of those: chunks that an earlier run has sent. */
    unknownBefore: open.size,
    /** Why it ended before the last chunk. */
    stopped: lanes.stopped(),
  };
}

type SoFar = {
  readonly tally: ReturnType<typeof newTally>;
  /** Chunks of which an earlier run does not know whether they are done. */
  readonly open: Map<number, number>;
  readonly elapsed: () => number;
};

/** The chunks in flight. The first failure counts, and ends the run. */
function chunkLanes(ctx: Ports, job: Job, { tally, open, elapsed }: SoFar) {
  const { target, journal, concurrency, onProgress } = job;
  let stopped: Failure | undefined;
  const unknown = new Map<number, number>();
  let requestsNoted = 0;
  const stop = (error: unknown) => {
    stopped ??= asFailure(error, 'The sync');
  };
  const lanes = openLanes({ ctx, concurrency, isOver: () => stopped !== undefined || ctx.signal.aborted });

  const work = async (chunk: Chunk) => {
    await journal.sent(chunk);
    const outcome = await target.send(chunk).catch(async (error: unknown) => {
      // That it is refused now says nothing of then.
      const isNothing = error instanceof Failure && !error.isUnsure && !open.has(chunk.number);
      if (isNothing) await journal.back(chunk);
      if (error instanceof Failure && error.isUnsure) unknown.set(chunk.number, lineCount(chunk));
      throw error;
    });
    const requests = target.requests() - requestsNoted;
    requestsNoted += requests;
    await journal.done(chunk, outcome, requests, elapsed());
    open.delete(chunk.number);
    tally.add(chunk, outcome);
    onProgress({ ...tally.progress(), ms: elapsed() });
  };

  return {
    stop,
    stopped: () => stopped,
    unknown,
    settled: lanes.settled,
    send: (chunk: Chunk) => lanes.start(chunk.rows.flatMap(target.keysOf), () => work(chunk).catch(stop)),
  };
}

export async function* chunksOf(plan: Plan, size: number): AsyncGenerator<Chunk, void, undefined> {
  const chunker = createChunker(size);
  for await (const batch of plan.judged()) {
    for (const row of batch) {
      if (typeof row === 'string' || isProblem(row)) continue;
      const chunk = chunker.add(row);
      if (chunk) yield chunk;
    }
  }
  const last = chunker.end();
  if (last) yield last;
}

function newTally(plan: Plan, journal: Journal) {
  const sum = { created: 0, updated: 0, synced: 0, unaccounted: 0 };
  const problems: Problem[] = [];
  let chunks = 0;
  let done = 0;
  const addCounts = (counts: Omit<Outcome, 'problems'>, rows: number) => {
    sum.created += counts.created;
    sum.updated += counts.updated;
    sum.synced += counts.synced;
    sum.unaccounted += counts.unaccounted;
    chunks++;
    done += rows;
  };
  for (const past of journal.past.done.values()) {
    addCounts(past, past.rows);
    problems.push(...past.errors);
  }
  const resumed = done;
  return {
    add(chunk: Chunk, outcome: Outcome) {
      addCounts(outcome, lineCount(chunk));
      problems.push(...outcome.problems);
    },
    progress: () => ({ done, total: plan.sendable, resumed }),
    totals: () => ({ ...sum, problems, chunks, resumedRows: resumed }),
  };
}

const notThisFile = (journal: Journal): Failure =>
  new Failure('failed', `The journal of this sync does not fit the file: ${journal.path}`, {
    hint: 'To start from scratch, add --restart: existing contacts are only completed.',
  });
