import { type EarlierSecrets, refuseLoss } from '../../batch/earlier-secrets.ts';
import type { Files } from '../../batch/ending.ts';
import { reportText, type Unwritten, writeAll, writeFile, writtenLater } from '../../batch/out-files.ts';
import { headerOnly, rowsOut } from '../../batch/rows-out.ts';
import type { Context } from '../../context.ts';
import type { Plan } from '../rows/plan.ts';
import type { Totals } from '../run/run.ts';
import { type Report, type Result, resultOf } from './report.ts';

type Rows = {
  readonly plan: Plan;
  readonly totals: Totals;
  /** The results hold what only their owner may read. */
  readonly hasSecrets: boolean;
};

/** What the files tell of. */
type Told = {
  /** The rows. Undefined where there are none at all: what an earlier run has written would be taken for what this one did. */
  readonly of: Rows | undefined;
  readonly report: Report;
  /** What the results hold already. */
  readonly earlier: EarlierSecrets;
  /** The flag with which a repeated command would send rows once more. */
  readonly sendsAgain?: string;
};

/** Writes each, whatever became of the others. */
export async function writeFiles(
  ctx: Pick<Context, 'signal' | 'notice'>,
  { results, rejects, report: reportFile, tag_separator: separator }: Files & { readonly tag_separator?: string },
  { of, report, earlier, sendsAgain }: Told,
): Promise<Unwritten | undefined> {
  const by = { ctx, hint: writtenLater(sendsAgain), sums: report };
  const hasSecrets = of?.hasSecrets || earlier.size > 0;
  const toResults = async (path: string) => {
    refuseLoss(earlier, path, of ? idsOf(of) : []);
    const added = [...resultColumns, ...(hasSecrets ? ['svc_secret'] : [])];
    const pieces = of ? resultsOf(of, earlier, { path, separator, added }) : [headerOnly(path, added)];
    await writeFile(path, pieces, { ...by, mode: hasSecrets ? 0o600 : undefined });
  };
  const toRejects = (path: string) => {
    const added = rejectColumns;
    return writeFile(path, of ? rejectsOf(of, { path, separator, added }) : [headerOnly(path, added)], by);
  };
  return writeAll([
    [results, toResults],
    [rejects, toRejects],
    [reportFile, (path) => writeFile(path, [reportText(report)], by)],
  ]);
}

const resultColumns = ['svc_line', 'svc_status', 'svc_id', 'svc_error'];
const rejectColumns = ['svc_line', 'svc_error'];

function* idsOf({ plan, totals }: Rows): Generator<number | null> {
  for (let index = 0; index < plan.count; index++) yield resultOf(plan, totals, index).id ?? null;
}

/** `separator`: of the tags in a cell, as `--tag-separator` says it. `added`: the columns behind those of the file. */
type Place = { readonly path: string; readonly separator: string | undefined; readonly added: readonly string[] };

/** Every row with what became of it. */
function resultsOf({ plan, totals }: Rows, earlier: EarlierSecrets, { path, ...place }: Place): AsyncGenerator<string> {
  const cellsOf = (line: number, { status, id, error, secret, drafted }: Result) => [
    line,
    // Nothing of it was sent yet.
    drafted === undefined || status !== 'done' ? status : 'drafted',
    id ?? null,
    error ?? null,
    secret ?? earlier.get(id ?? 0) ?? null,
  ];
  const addedTo = (index: number, line: number) =>
    cellsOf(line, resultOf(plan, totals, index)).slice(0, place.added.length);
  return rowsOut(plan.rows, path, { ...place, addedTo });
}

/** The rejected rows, to be fixed and sent again with the same flags. */
function rejectsOf({ plan, totals }: Rows, { path, ...place }: Place): AsyncGenerator<string> {
  const addedTo = (index: number, line: number) => {
    const { status, error } = resultOf(plan, totals, index);
    return status === 'rejected' ? [line, error ?? ''] : undefined;
  };
  return rowsOut(plan.rows, path, { ...place, addedTo });
}
