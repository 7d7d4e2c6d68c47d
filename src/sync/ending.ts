import { dryNote, type Files, noneSendable, partialNote, stoppedFailure } from '../batch/ending.ts';
import { Failure, isInterruption } from '../errors.ts';
import type { View } from '../output/view.ts';
import { counted, number } from '../text/number.ts';
import { tagsQuestion } from './notes.ts';
import type { Plan } from './plan.ts';
import type { Report } from './report.ts';
import type { Totals } from './run.ts';
import { planText, reportText } from './view.ts';

/** What the screen shows, and which files have it. */
type Shown = {
  readonly plan: Plan;
  readonly report: Report;
  readonly files: Files;
  readonly isDry: boolean;
  /** The command that overwrites what was kept. */
  readonly overwrites: () => string;
};

/** `uncounted`: rows of chunks that were answered, in no count of it; none in a dry run. */
export const viewOf = (
  { plan, report, files, isDry, overwrites }: Shown,
  uncounted: number,
  failure: Failure | undefined,
): View => ({
  data: { shape: 'record', record: report },
  async human(terminal) {
    const { planView, reportView } = await import('./screens.ts');
    return (isDry ? planView : reportView)(plan, report, files, overwrites)(terminal);
  },
  plain: () => (isDry ? planText(plan, report) : reportText(report)),
  outcome: report.rejected > 0 || uncounted > 0 ? 'partial' : undefined,
  failure,
});

/** For a pipe: one line where not every row was done, or would be. */
export function pipeNotes({ report, files, isDry }: Shown, { outcome, failure }: View, uncounted: number): string[] {
  if (outcome !== 'partial' || failure) return [];
  if (isDry) return [dryNote(report)];
  const done = 'synced' in report ? report.synced : report.created + report.updated;
  return [partialNote({ ...report, uncounted, done, files })];
}

/** Why nothing of it is sent. */
export function refusalOf(plan: Plan, isDry: boolean): Failure | undefined {
  if (plan.sendable === 0) {
    const { name } = plan.table.source;
    if (plan.skipped === plan.rows) {
      return new Failure('usage', `--skip and --only leave out all ${counted(plan.rows, 'row')} of ${name}.`);
    }
    return noneSendable(plan.rows, name);
  }
  const question = tagsQuestion(plan);
  if (!question) return undefined;
  // A dry run sends nothing anyway.
  return new Failure('usage', isDry ? question.fact : `${question.fact} Nothing was sent.`, { hint: question.hint });
}

/** Why it ended before the last row. */
export function stopOf(
  plan: Plan,
  { stopped, created, updated, synced, problems, resumedRows, doneNow, unknownNow, unknownRows, unknownBefore }: Totals,
  flags: { readonly restart: boolean },
): Failure | undefined {
  if (!stopped) return undefined;
  const done = `${number(created + updated + synced)} of ${number(plan.sendable)} rows are done`;
  const rejected = problems.length > 0 ? `, ${number(problems.length)} rejected` : '';
  const unknown = unknownRows > 0 ? `, ${number(unknownRows)} unknown` : '';
  const before = unknownBefore > 0 ? ' Rows that an earlier run sent may or may not be done.' : '';
  const fact = `${done}${rejected}${unknown}${resumedRows > 0 ? ', earlier runs included' : ''}.${before}`;
  // To a list that was never there no other run can add.
  const isGone = stopped.kind === 'not-found' && doneNow + unknownNow === 0;
  return stoppedFailure(stopped, { fact, goOn: isGone ? '' : goOn(flags), done: doneNow, unknown: unknownNow });
}

/** What a run throws that was told to end before its first chunk: what earlier runs did stays done. */
export function stoppedBefore(error: unknown, rows: number, plan: Plan, flags: { readonly restart: boolean }): unknown {
  if (rows === 0 || !(error instanceof Failure) || !isInterruption(error)) return error;
  const fact = `${number(rows)} of ${number(plan.sendable)} rows are done, by earlier runs; this one sent none.`;
  return stoppedFailure(error, { fact, goOn: goOn(flags), done: 0, unknown: 0 });
}

/** With --restart the same command would begin once more. */
const goOn = ({ restart }: { readonly restart: boolean }): string =>
  `Run ${restart ? 'the command again without --restart' : 'the same command again'}: it continues where this run stopped. A repeated row changes nothing.`;
