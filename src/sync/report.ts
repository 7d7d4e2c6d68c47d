import { columnLabel } from '../tabular/columns.ts';
import type { Plan } from './plan.ts';
import type { Contact, Problem } from './rows.ts';
import type { Totals } from './run.ts';

type Counts = {
  readonly rows: number;
  readonly rejected: number;
  /** By `--skip` and `--only`; only with them. */
  readonly skipped?: number;
  readonly unsent: number;
};

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

/** What a dry run shows beside: which column fills which field, and the first contacts as they would be sent. */
type Preview = {
  readonly mapping?: readonly { readonly column: string; readonly field: string }[];
  readonly sample?: readonly Contact[];
};

/** rows = created + updated (or synced) + rejected + skipped + unsent, always: `unsent` is what the others leave. */
export type Report = { readonly file: string } & Counts & Outcomes & Course & Preview;

export type ReportKind = 'account' | 'list';

/** With what a dry run shows beside. */
export const previewOf = (report: Report, { mapping, table, sample }: Plan): Report => ({
  ...report,
  mapping: [...mapping.columns, ...mapping.fallbacks].map(({ index, to }) => ({
    column: columnLabel(table.headers, index),
    field: to,
  })),
  sample,
});

export function reportOf(file: string, kind: ReportKind, plan: Plan, totals: Totals): Report {
  const { rows } = plan;
  const { created, updated, synced, chunks, requests, resumedRows } = totals;
  const errors = [...plan.problems, ...totals.problems].sort((a, b) => a.line - b.line);
  const rejected = errors.length;
  const skipped = plan.skipped ?? 0;
  const unsent = rows - created - updated - synced - rejected - skipped;
  const outcomes = kind === 'list' ? { synced } : { created, updated };
  const duration_ms = Math.round(totals.ms);
  return {
    file,
    rows,
    ...outcomes,
    rejected,
    ...(plan.skipped === undefined ? {} : { skipped }),
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
 * the delimiter is the file's, a byte order mark stands where the text would otherwise be read wrongly, and so do the
 * lines that `--skip-lines` passes over. A file without a header gets none.
 */
export async function* rejectsOf(plan: Plan, errors: readonly Problem[]): AsyncGenerator<string> {
  const { stringify } = await import('csv-stringify/sync');
  const { table } = plan;
  const { delimiter, headers, hasHeader, source, skippedText } = table;
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
  yield bom + skippedText;
  if (hasHeader) yield lineOf(headers, 'svc_line', 'svc_error');
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
