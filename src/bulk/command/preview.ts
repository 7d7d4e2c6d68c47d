import { rowsInWords } from '../../batch/pace.ts';
import { number } from '../../text/number.ts';
import type { Known } from '../history/earlier-runs.ts';
import { origins } from '../history/origins.ts';
import { endedRows } from '../journal/ended-table.ts';
import { refuseBegunAgain } from '../report/begun-again.ts';
import type { Run } from '../report/command-line.ts';
import { knownToLogin, nothingKnown, refuseRows } from '../report/consent.ts';
import { nothingSent } from '../report/report.ts';
import { earlierNotes } from '../report/resume.ts';
import { endedBefore, pastOf, rowsToSend } from '../report/settled.ts';
import { besidesIn, countBesides } from '../rows/besides.ts';
import { isRepeatable, type Plan, type Planned, sampleSize } from '../rows/plan.ts';
import { policyOf } from '../run/forbidden.ts';
import type { Forbidden } from '../run/run-state.ts';
import { type Sent, withEarlier } from './send-plan.ts';

/**
 * What a run would find done, for a dry run: the rows are weighed against what earlier runs sent, as the run itself weighs
 * them, and refused where it would refuse them. Nothing is written and nothing is held. Throws its Failures.
 */
export async function previewPlan(run: Run, plan: Plan, given: string, ms: number): Promise<Sent> {
  const { ctx, flags, row } = run;
  const cap = flags.max_sends ?? Number.POSITIVE_INFINITY;
  const known = await knownToLogin(run, plan, given);
  const refusal = await policyOf(plan, run.service);
  if (!known && !refusal) {
    const besides = await besidesIn(plan, { isSettled: () => false, count: cap });
    return { plan, totals: { ...nothingSent(ms), besides } };
  }
  const { matches } = known ?? nothingKnown(plan);
  if (known) await agreeable(run, plan, known);
  const goesAgain = flags.retry_unknown || isRepeatable(plan);
  const ended = endedRows();
  const sample: Planned[] = [];
  const besides = countBesides(row);
  let sends = 0;
  let resumedRows = 0;
  let weighed = 0;
  let forbidden: Forbidden | undefined;
  for await (const batch of plan.read()) {
    for (const planned of batch) {
      const past = pastOf(matches.get(planned.ref)?.rowStatus, planned.line, goesAgain);
      if (past) {
        ended.set(planned.index, past);
        resumedRows++;
        continue;
      }
      // A rule may look at the record of each row, and then this lasts as long as the run.
      if (refusal)
        ctx.progress(`Weighing by the policy: ${number(++weighed)} of ${rowsInWords(plan.sendable)}`, 'work');
      // A row that the policy keeps back takes no place of --max-sends.
      const failure = sends < cap ? await refusal?.(planned) : undefined;
      if (failure) {
        forbidden = { rows: (forbidden?.rows ?? 0) + 1, failure: forbidden?.failure ?? failure };
        ended.set(planned.index, { status: 'unsent', line: planned.line, error: failure.message });
        continue;
      }
      if (sample.length < sampleSize) sample.push(planned);
      if (sends++ < cap) besides.add(planned);
    }
  }
  const totals = { ...nothingSent(ms), ended, resumedRows, besides: besides.all(), ...(forbidden && { forbidden }) };
  return withEarlier({ ...plan, sample }, totals, known ? endedBefore(known, plan) : endedRows());
}

/** Throws where the run would refuse the rows, and says what it would say of earlier runs. */
async function agreeable(run: Run, plan: Plan, known: Known): Promise<void> {
  const { ctx, flags } = run;
  const { matches, resent } = known;
  await refuseBegunAgain(run, plan, matches);
  refuseRows(run, plan, known);
  const left = rowsToSend(known, plan, flags.retry_unknown);
  for (const note of await earlierNotes(run, plan, known, left)) ctx.notice(note);
  if (resent.size > 0)
    ctx.notice(`Sent before, ${origins(resent.runs().keys())}, and sent again: ${rowsInWords(resent.size)}.`);
}
