import type { Plan } from './plan.ts';
import type { Problem } from './rows.ts';
import type { Totals } from './run.ts';

type Counts = { readonly rows: number; readonly rejected: number; readonly unsent: number };

type Course = {
  readonly chunks: number;
  readonly requests: number;
  /** Rows that an earlier run had done. */
  readonly resumed_rows: number;
  readonly duration_ms: number;
  readonly errors: readonly Problem[];
};

type Outcomes =
  | { readonly created: number; readonly updated: number }
  /** create_sync_contacts does not tell created from updated. */
  | { readonly synced: number };

/** rows = created + updated (or synced) + rejected + unsent, always: `unsent` is what the others leave. */
export type Report = { readonly file: string } & Counts & Outcomes & Course;

export type ReportKind = 'account' | 'list';

export function reportOf(file: string, kind: ReportKind, plan: Plan, totals: Totals): Report {
  const { rows } = plan;
  const { created, updated, synced, chunks, requests, resumedRows } = totals;
  const errors = [...plan.problems, ...totals.problems].sort((a, b) => a.line - b.line);
  const rejected = errors.length;
  const unsent = rows - created - updated - synced - rejected;
  const outcomes = kind === 'list' ? { synced } : { created, updated };
  const duration_ms = Math.round(totals.ms);
  return {
    file,
    rows,
    ...outcomes,
    rejected,
    unsent,
    chunks,
    requests,
    resumed_rows: resumedRows,
    duration_ms,
    errors,
  };
}

/** A dry run's: everything that could be sent is unsent, and `chunks` are those that would be. */
export const nothingSent = (plan: Plan, ms: number): Totals => ({
  created: 0,
  updated: 0,
  synced: 0,
  problems: [],
  unaccounted: 0,
  chunks: plan.chunks,
  requests: 0,
  resumedRows: 0,
  ms,
  stopped: undefined,
});

/**
 * The refused rows with their original columns and what was wrong, to be fixed and synced again with the same flags:
 * the delimiter is the file's, and a byte order mark stands where the text would otherwise be read wrongly.
 */
export async function* rejectsOf(plan: Plan, errors: readonly Problem[]): AsyncGenerator<string> {
  const { stringify } = await import('csv-stringify/sync');
  const { table } = plan;
  const { delimiter, headers, source } = table;
  const own = headers.flatMap((header, index) => (/^\s*svc_(?:line|error)\s*$/iu.test(header) ? [index] : []));
  const lineOf = (cells: readonly string[], line: string, error: string): string => {
    const kept = headers.map((_, index) => cells[index] ?? '').filter((_, index) => !own.includes(index));
    // Cells beyond the header's are what is wrong with the row: they stay in sight, behind our own.
    const beyond = cells.slice(headers.length);
    const row = [...kept, line, error, ...beyond];
    // A lone CR ends a row for many readers too.
    return stringify([row], { delimiter, record_delimiter: '\r\n', quoted_match: /[\r\n]/u });
  };
  const bom = source.hasBom || source.encoding !== 'utf-8' ? '\ufeff' : '';
  yield bom + lineOf(headers, 'svc_line', 'svc_error');
  const errorAt = new Map(errors.map(({ line, error }) => [line, error]));
  if (errorAt.size === 0) return;
  for await (const batch of table.records()) {
    let text = '';
    for (const { line, cells } of batch) {
      const error = errorAt.get(line);
      if (error !== undefined) text += lineOf(cells, String(line), error);
    }
    if (text !== '') yield text;
  }
}
