import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure, interruption, messageOf } from '../errors.ts';
import type { Journal } from './journal.ts';
import type { Fate } from './journal-lines.ts';
import type { Plan, Planned } from './plan.ts';
import { keptSecret, type Secrets } from './secrets.ts';
import type { Outcome, Sender } from './send-row.ts';

export type Progress = { readonly done: number; readonly total: number; readonly resumed: number; readonly ms: number };

/** What became of a row of the file, over all runs. */
export type Ended =
  | Exclude<Fate, { status: 'sent' }>
  | { readonly status: 'unsent'; readonly line: number; readonly error?: string };

export type Totals = {
  /** By position in the file. */
  readonly ended: ReadonlyMap<number, Ended>;
  readonly requests: number;
  readonly resumedRows: number;
  readonly ms: number;
  /** Why it ended before the last row. */
  readonly stopped: Failure | undefined;
  /** `--max-sends` was reached. */
  readonly isCapped: boolean;
};

export type Job = {
  readonly ctx: Context;
  readonly settings: Settings;
  readonly plan: Plan;
  readonly journal: Journal;
  readonly sender: Sender;
  readonly secrets: Secrets;
  readonly concurrency: number;
  readonly maxSends: number;
  readonly retryUnknown: boolean;
  readonly onProgress: (progress: Progress) => void;
};

/** So many rows in a row that the service failed at, or whose outcome is unknown, mean that it is in trouble. */
const mostTroubles = 3;

/**
 * Sends the rows that the journal does not know as settled, up to `concurrency` at once. Two rows about the same record,
 * or that could be taken for one another, are never in flight together and keep their order.
 */
export async function runPlan(job: Job): Promise<Totals> {
  const { ctx, plan, journal, sender, secrets, maxSends } = job;
  const { operation } = plan.row;
  const began = ctx.clock.ticks();
  const elapsed = () => Math.round(ctx.clock.ticks() - began);
  const ended = new Map<number, Ended>();
  const inFlight = new Set<Promise<void>>();
  const writings = new Set<Promise<void>>();
  const busy = new Set<string>();
  const unknown: Planned[] = [];
  let stopped: Failure | undefined;
  let requestsNoted = 0;
  let sends = 0;
  let resumedRows = 0;
  let troubles = 0;
  let isCapped = false;

  const cost = () => {
    const requests = sender.requests() - requestsNoted;
    requestsNoted += requests;
    return { requests, ms: elapsed() };
  };
  const stop = (error: unknown) => {
    stopped ??= asFailure(error);
  };
  const isOver = () => stopped !== undefined || ctx.signal.aborted;

  /** Nobody waits for the disk here: a row of which the line is lost is looked for by the next run. */
  function keep(line: Parameters<Journal['write']>[0]): void {
    const writing = journal.write(line).catch(stop);
    writings.add(writing);
    void writing.finally(() => writings.delete(writing));
  }

  /** Writes down what became of a row. What the disk does not take is looked for by the next run. */
  async function settle(planned: Planned, outcome: Outcome): Promise<void> {
    const { ref: row, line, index } = planned;
    if (outcome.status === 'done') {
      const kept = await keptSecret(secrets, outcome.id, outcome.answer);
      ended.set(index, { status: 'done', line, id: outcome.id, ...kept });
      keep({ done: { row, line, id: outcome.id, ...cost(), ...kept } });
      const { settled } = plan.row;
      if (settled && outcome.id !== null) await settled(ctx, job.settings, { id: outcome.id, answer: outcome.answer });
    } else if (outcome.status === 'unsent') {
      const { kind, message } = outcome.failure;
      const error = kind === 'failed' && !journal.failure() ? { error: message } : {};
      ended.set(index, { status: 'unsent', line, ...error });
    } else {
      const { status, error } = outcome;
      if (status === 'rejected') ended.set(index, { status, line, error });
      else ended.set(index, { status, line, error, before: null });
      keep(
        status === 'rejected'
          ? { rejected: { row, line, error, ...cost() } }
          : { unknown: { row, line, error, ...cost() } },
      );
    }
    job.onProgress({ done: ended.size, total: plan.sendable, resumed: resumedRows, ms: elapsed() });
  }

  function judge(outcome: Outcome, planned: Planned): void {
    if (outcome.status === 'unknown') unknown.push(planned);
    const isTrouble =
      outcome.status === 'unknown' || (outcome.status === 'unsent' && outcome.failure.kind === 'failed');
    troubles = isTrouble ? troubles + 1 : 0;
    if (outcome.status === 'unsent' && !isTrouble) stop(outcome.failure);
    if (troubles >= mostTroubles && 'failure' in outcome && outcome.failure) stop(inTrouble(outcome.failure));
    if (journal.failure()) stop(journal.failure());
  }

  function start(planned: Planned): void {
    for (const key of planned.keys) busy.add(key);
    const work = async () => {
      try {
        const outcome = await sender.send(planned);
        judge(outcome, planned);
        await settle(planned, outcome);
      } catch (error) {
        stop(error);
      } finally {
        for (const key of planned.keys) busy.delete(key);
        inFlight.delete(promise);
      }
    };
    const promise = work();
    inFlight.add(promise);
  }

  /** What the journal says of a row that is over; undefined where it is to be sent. */
  function pastOf(planned: Planned): Ended | 'left open' | undefined {
    const fate = journal.fates.get(planned.ref);
    if (fate === undefined) return undefined;
    // Twice is once.
    if (fate.status === 'sent' || fate.status === 'unknown')
      return operation.safety === 'repeatable' ? undefined : 'left open';
    return { ...fate, line: planned.line };
  }

  /** A row that was sent when an earlier run ended, or whose outcome it could not tell. */
  async function resolve(planned: Planned, settleMs: number): Promise<boolean> {
    const fate = journal.fates.get(planned.ref);
    const before = fate && 'before' in fate ? fate.before : null;
    const found = await sender.find(planned, before, settleMs).catch((error) => {
      if (error instanceof Failure) return undefined;
      throw error;
    });
    if (found === 'gone') return true;
    if (found) await settle(planned, found);
    return false;
  }

  async function pass(): Promise<void> {
    for await (const batch of plan.read()) {
      for (const planned of batch) {
        const past = ended.get(planned.index) ? 'left open' : pastOf(planned);
        if (past === 'left open') continue;
        if (past) {
          ended.set(planned.index, past);
          resumedRows++;
          continue;
        }
        if (sends >= maxSends) {
          isCapped = true;
          continue;
        }
        while (!isOver() && (inFlight.size >= job.concurrency || planned.keys.some((key) => busy.has(key)))) {
          await Promise.race(inFlight);
        }
        if (isOver()) continue;
        sends++;
        start(planned);
      }
    }
  }

  try {
    await recoverOpen();
    await pass();
  } catch (error) {
    stop(error);
  }
  await Promise.all(inFlight);
  await lookAgain().catch(stop);
  await Promise.all(writings);
  if (!stopped && ctx.signal.aborted && ended.size < plan.sendable) stopped = interruption(ctx.signal);
  const isWhole = ended.size === plan.sendable && [...ended.values()].every(({ status }) => status !== 'unsent');
  if (!stopped && isWhole) await journal.write({ finished: { at: ctx.clock.now().toISOString() } }).catch(stop);
  return {
    ended,
    requests: journal.past.requests + sender.requests(),
    resumedRows,
    ms: journal.past.ms + elapsed(),
    stopped,
    isCapped,
  };

  /** First what was sent when an earlier run was killed, for as long as it may be late; all at once. */
  async function recoverOpen(): Promise<void> {
    const open = await openRows();
    if (open.length === 0) return;
    const wasSent = (planned: Planned) => journal.fates.get(planned.ref)?.status === 'sent';
    const mayGo = new Set<Planned>();
    await Promise.all(
      open.filter(wasSent).map(async (planned) => {
        if (await resolve(planned, job.settings.settleMs)) mayGo.add(planned);
      }),
    );
    for (const planned of open) {
      if (ended.has(planned.index) || mayGo.has(planned)) continue;
      if (job.retryUnknown) {
        if (!wasSent(planned) && (await resolve(planned, 0))) mayGo.add(planned);
        if (!ended.has(planned.index)) mayGo.add(planned);
        continue;
      }
      const fate = journal.fates.get(planned.ref);
      const error =
        fate?.status === 'unknown' ? fate.error : 'It was sent when svc was killed, and svc did not find it';
      ended.set(planned.index, { status: 'unknown', line: planned.line, error, before: null });
      if (fate?.status === 'sent')
        await journal.write({ unknown: { row: planned.ref, line: planned.line, error, ...cost() } });
      unknown.push(planned);
    }
    for (const { ref, line } of mayGo) await journal.write({ back: { row: ref, line } });
  }

  async function openRows(): Promise<Planned[]> {
    const open: Planned[] = [];
    const hasOpen = [...journal.fates.values()].some(({ status }) => status === 'sent' || status === 'unknown');
    if (!hasOpen || operation.safety === 'repeatable') return open;
    for await (const batch of plan.read()) open.push(...batch.filter((planned) => pastOf(planned) === 'left open'));
    return open;
  }

  /** What was unknown may have arrived since. */
  async function lookAgain(): Promise<void> {
    if (operation.safety !== 'verify' || journal.failure()) return;
    for (const planned of unknown) {
      if (ctx.signal.aborted) return;
      if (!(await resolve(planned, 0))) continue;
      await journal.write({ back: { row: planned.ref, line: planned.line } });
      ended.set(planned.index, { status: 'unsent', line: planned.line });
    }
  }
}

const inTrouble = (failure: Failure): Failure =>
  new Failure(failure.kind, `The service fails at one row after the other: ${failure.message}`, {
    hint: failure.hint,
    status: failure.status,
    cause: failure,
  });

const asFailure = (error: unknown): Failure =>
  error instanceof Failure
    ? error
    : new Failure('failed', `The run failed unexpectedly: ${messageOf(error)}`, { cause: error });
