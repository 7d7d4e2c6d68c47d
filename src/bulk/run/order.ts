import { isDeepStrictEqual } from 'node:util';
import { unwrap } from '../../command/answered.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { fieldsIn } from '../../text/record.ts';
import { isRepeatable, type Planned } from '../rows/plan.ts';
import { type RunState, undefer } from './run-state.ts';
import { readWritten } from './there.ts';

/** Before a row is sent: no copy of an earlier row for the same record may arrive after it. False: the run is over. */
export async function afterLateCopies(runState: RunState, planned: Planned): Promise<boolean> {
  const { late } = runState.job.sending;
  const { keys } = planned;
  const passed = await late.pass(keys, planned.request);
  if (passed === 'interrupted') return false;
  // From now on the earlier rows must not be sent again.
  if (runState.deferred.size > 0) undefer(runState, (earlier) => earlier.keys.some((key) => keys.includes(key)));
  if (passed === 'waited' && isRepeatable(runState.job.plan))
    for (const key of keys) runState.proofs.set(key, { planned, answer: undefined });
  return true;
}

/**
 * After a power cut it is not known which rows an earlier run had sent: where a record has several rows, any of them may
 * still be on its way.
 */
export async function expectCopies({ job }: RunState): Promise<void> {
  const { plan, journal, sending } = job;
  if (!isRepeatable(plan) || journal.past.isWhole) return;
  const contents = new Map<string, string>();
  for await (const batch of plan.read()) {
    for (const planned of batch) {
      const content = planned.request;
      for (const key of planned.keys) {
        if ((contents.get(key) ?? content) !== content) sending.late.note([key], undefined);
        contents.set(key, content);
      }
    }
  }
}

/**
 * Reads the records back for which a row had to wait: a copy that was on its way for longer than anybody waits may have
 * put older values back.
 */
export async function proveLast(runState: RunState): Promise<void> {
  const { job, ended, proofs } = runState;
  for (const { planned, answer } of new Set(proofs.values())) {
    if (answer === undefined || ended.get(planned.index)?.status !== 'done' || job.ctx.signal.aborted) continue;
    const now = await readWritten(job.sending, planned.id).catch(insteadOf('any', undefined));
    const then = fieldsIn(unwrap(job.plan.row.operation, answer));
    const isOther = (field: string) => field in then && !isDeepStrictEqual(then[field], now?.[field]);
    if (!now || !Object.keys(fieldsIn(planned.input.body)).some(isOther)) continue;
    const { ref: row, line, index } = planned;
    ended.set(index, { status: 'unknown', line, error: overwritten });
    runState.doneNow--;
    runState.deferred.delete(row);
    await job.journal.write({ unknown: { row, line, error: overwritten, ...runState.cost() } });
  }
}

const overwritten =
  'it was done, and then the record was changed again: by an earlier row that arrived late, or by others';
