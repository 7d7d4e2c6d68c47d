import { type EarlierSecrets, refuseLoss } from '../../batch/earlier-secrets.ts';
import type { Files } from '../../batch/ending.ts';
import { firstFailure, reportText, writeFile, writtenLater } from '../../batch/out-files.ts';
import { headerOnly, rowsOut } from '../../batch/rows-out.ts';
import type { Context } from '../../context.ts';
import type { Failure } from '../../errors.ts';
import type { Plan } from '../rows/plan.ts';
import type { Totals } from '../run/run.ts';
import { type Report, type Result, resultOf } from './report.ts';

/** What the files tell of. `hasSecrets`: the results hold what only their owner may read. */
type Told = {
  readonly plan: Plan;
  readonly totals: Totals;
  readonly report: Report;
  readonly hasSecrets: boolean;
  /** What the results hold already. */
  readonly earlier: EarlierSecrets;
  /** The flag with which a repeated command would send rows once more. */
  readonly sendsAgain?: string;
};

/** Writes each, whatever became of the others: the failure of the first that could not be written. */
export async function writeFiles(
  ctx: Pick<Context, 'signal' | 'notice'>,
  { results, rejects, report: reportFile, tag_separator: separator }: Files & { readonly tag_separator?: string },
  told: Told,
): Promise<Failure | undefined> {
  const { plan, totals, report, earlier, sendsAgain } = told;
  const by = { ctx, hint: writtenLater(sendsAgain), sums: report };
  const hasSecrets = told.hasSecrets || earlier.size > 0;
  const mode = hasSecrets ? 0o600 : undefined;
  const toResults = async (path: string) => {
    refuseLoss(earlier, path, idsOf(plan, totals));
    await writeFile(path, resultsOf({ ...told, hasSecrets }, { path, separator }), { ...by, mode });
  };
  return firstFailure([
    results === undefined ? undefined : () => toResults(results),
    rejects === undefined ? undefined : () => writeFile(rejects, rejectsOf(told, { path: rejects, separator }), by),
    reportFile === undefined ? undefined : () => writeFile(reportFile, [reportText(report)], by),
  ]);
}

/** The same of no rows at all, since what an earlier run has written would be taken for what this one did. */
export const writeFilesOfNothing = (
  ctx: Pick<Context, 'signal' | 'notice'>,
  { results, rejects, report: reportFile }: Files,
  { report, earlier }: Pick<Told, 'report' | 'earlier'>,
): Promise<Failure | undefined> => {
  const by = { ctx, hint: writtenLater(), sums: report };
  const toResults = async (path: string) => {
    refuseLoss(earlier, path, []);
    await writeFile(path, [headerOnly(path, resultColumns)], by);
  };
  return firstFailure([
    results === undefined ? undefined : () => toResults(results),
    rejects === undefined ? undefined : () => writeFile(rejects, [headerOnly(rejects, rejectColumns)], by),
    reportFile === undefined ? undefined : () => writeFile(reportFile, [reportText(report)], by),
  ]);
};

const resultColumns = ['svc_line', 'svc_status', 'svc_id', 'svc_error'];
const rejectColumns = ['svc_line', 'svc_error'];

function* idsOf(plan: Plan, totals: Totals): Generator<number | null> {
  for (let index = 0; index < plan.count; index++) yield resultOf(plan, totals, index).id ?? null;
}

/** `separator`: of the tags in a cell, as `--tag-separator` says it. */
type Place = { readonly path: string; readonly separator: string | undefined };

/** Every row with what became of it. */
function resultsOf({ plan, totals, hasSecrets, earlier }: Told, { path, separator }: Place): AsyncGenerator<string> {
  const added = [...resultColumns, ...(hasSecrets ? ['svc_secret'] : [])];
  const cellsOf = (line: number, { status, id, error, secret, drafted }: Result) => [
    line,
    // Nothing of it was sent yet.
    drafted === undefined || status !== 'done' ? status : 'drafted',
    id ?? null,
    error ?? null,
    secret ?? earlier.get(id ?? 0) ?? null,
  ];
  const addedTo = (index: number, line: number) => cellsOf(line, resultOf(plan, totals, index)).slice(0, added.length);
  return rowsOut(plan.rows, path, { added, addedTo, separator });
}

/** The rejected rows, to be fixed and sent again with the same flags. */
function rejectsOf({ plan, totals }: Told, { path, separator }: Place): AsyncGenerator<string> {
  const addedTo = (index: number, line: number) => {
    const { status, error } = resultOf(plan, totals, index);
    return status === 'rejected' ? [line, error ?? ''] : undefined;
  };
  return rowsOut(plan.rows, path, { added: rejectColumns, addedTo, separator });
}
