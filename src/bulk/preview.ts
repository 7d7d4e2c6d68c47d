import { join } from 'node:path';
import { rowsInWords } from '../batch/pace.ts';
import { Failure } from '../errors.ts';
import { refuseBegunAgain } from './begun-again.ts';
import type { Run } from './command-line.ts';
import { identityOf, refuseRows } from './consent.ts';
import { type Ended, endedRows } from './ended-table.ts';
import { lookAtHistory } from './journal-history.ts';
import type { RowStatus } from './journal-lines.ts';
import { type Identity, mayBeKnown } from './journals-on-disk.ts';
import { origins } from './origins.ts';
import { type Plan, type Planned, sampleSize } from './plan.ts';
import { nothingSent } from './report.ts';
import { earlierNotes, endedBefore, rowsToSend } from './resume.ts';
import { type Sent, withEarlier } from './send-plan.ts';

/**
 * What a run would find done, for a dry run: the rows are weighed against what earlier runs sent, as the run itself weighs
 * them, and refused where it would refuse them. Nothing is written and nothing is held. Throws its Failures.
 */
export async function previewPlan(run: Run, plan: Plan, given: string, ms: number): Promise<Sent> {
  const { ctx, settings, flags, row } = run;
  const untouched = { plan, totals: nothingSent(ms) };
  if (!(await mayBeKnown(join(ctx.files.state, 'bulk'), run.words))) return untouched;
  const identity = await identityFor(run, plan, given);
  if (!identity) return untouched;
  const history = await lookAtHistory(ctx, identity, plan, flags);
  const { matches, resent } = history;
  await refuseBegunAgain({ ctx, service: await run.service(), plan, matches, yes: settings.yes });
  refuseRows(run, plan, history);
  for (const note of earlierNotes(history, plan, rowsToSend(history, plan, flags.retry_unknown))) ctx.notice(note);
  if (resent.size > 0)
    ctx.notice(`Sent before, ${origins(resent.runs().keys())}, and sent again: ${rowsInWords(resent.size)}.`);
  const goesAgain = flags.retry_unknown || row.operation.safety === 'repeatable';
  const ended = endedRows();
  const sample: Planned[] = [];
  for await (const batch of plan.read()) {
    for (const planned of batch) {
      const past = pastOf(matches.get(planned.ref)?.rowStatus, planned.line, goesAgain);
      if (past) ended.set(planned.index, past);
      else if (sample.length < sampleSize) sample.push(planned);
    }
  }
  const totals = { ...nothingSent(ms), ended, resumedRows: ended.size };
  return withEarlier({ ...plan, sample }, totals, endedBefore(history, plan));
}

/** Undefined without a login, with a word of what could not be looked at. */
async function identityFor(run: Run, plan: Plan, given: string): Promise<Identity | undefined> {
  try {
    return await identityOf(run, plan, given);
  } catch (failure) {
    if (!(failure instanceof Failure) || failure.kind !== 'auth' || failure.status !== undefined) throw failure;
    run.ctx.notice(`svc did not look at what earlier runs have sent, so rows may be done already. ${failure.message}`);
    return undefined;
  }
}

/** Secrets stay in the journal: a dry run hands out none. */
function pastOf(rowStatus: RowStatus | undefined, line: number, goesAgain: boolean): Ended | undefined {
  if (rowStatus?.status === 'rejected') return { ...rowStatus, line };
  if (rowStatus?.status === 'done') {
    const { id, error } = rowStatus;
    return { status: 'done', line, id, ...(error !== undefined && { error }) };
  }
  if (rowStatus === undefined || rowStatus.status === 'meant' || goesAgain) return undefined;
  const error = rowStatus.status === 'unknown' ? rowStatus.error : onItsWay;
  return { status: 'unknown', line, error, before: null };
}

const onItsWay = 'It was sent when svc was stopped, and svc cannot tell yet whether it was done';
