import { csvOut } from '../batch/rows-out.ts';
import { columnLabel } from '../tabular/columns.ts';
import { rowsOfTable } from '../tabular/rows.ts';
import type { Contact } from './mapping.ts';
import type { LeftOut } from './phone-holders.ts';
import type { Plan } from './plan.ts';
import type { Problem } from './rows.ts';
import type { Totals } from './run.ts';

type Outcomes =
  | { readonly created: number; readonly updated: number }
  /** create_sync_contacts does not tell created from updated. */
  | { readonly synced: number };

/** rows = created + updated (or synced) + rejected + skipped + unsent, always: `unsent` is what the others leave. */
export type Report = Outcomes & {
  readonly file: string;
  readonly rows: number;
  readonly rejected: number;
  /** By `--skip` and `--only`; only with them. */
  readonly skipped?: number;
  readonly unsent: number;
  /** Of those: sent, by this run or an earlier one, without a word on whether they were done. */
  readonly unknown: number;
  readonly chunks: number;
  readonly requests: number;
  /** Rows that an earlier run had done. */
  readonly resumed_rows: number;
  readonly duration_ms: number;
  readonly errors: readonly Problem[];
  /** Rows that went out, or would, without their phone, as somebody else has it; only where there are any. */
  readonly phones_left_out?: readonly LeftOut[];
  /** Of a dry run: which column fills which field, and the first contacts as they would be sent. */
  readonly mapping?: readonly { readonly column: string; readonly field: string }[];
  readonly sample?: readonly Contact[];
};

export type ReportKind = 'account' | 'list';

const shared = {
  ...{ file: true, rows: true, rejected: true, skipped: true, unsent: true, unknown: true, chunks: true },
  ...{ requests: true, resumed_rows: true, duration_ms: true, errors: true, mapping: true, sample: true },
} satisfies Record<Exclude<keyof Report, 'phones_left_out'>, true>;

export const fieldsOfReport = (kind: ReportKind): readonly string[] => [
  ...Object.keys(shared),
  ...(kind === 'list' ? ['synced', 'phones_left_out'] : ['created', 'updated']),
];

/** With what a dry run shows beside. */
export const previewOf = (report: Report, { mapping, table, sample, holders }: Plan): Report => ({
  ...report,
  mapping: [...mapping.columns, ...mapping.fallbacks].map(({ index, to }) => ({
    column: columnLabel(table.headers, index),
    field: to,
  })),
  sample: sample.map((contact) => (holders ? holders.withOwnPhone(contact) : contact)),
});

export function reportOf(file: string, kind: ReportKind, plan: Plan, totals: Totals): Report {
  const { rows } = plan;
  const { created, updated, synced, chunks, requests, resumedRows, unknownRows: unknown } = totals;
  const errors = [...plan.problems, ...totals.problems].sort((a, b) => a.line - b.line);
  const rejected = errors.length;
  const skipped = plan.skipped ?? 0;
  const unsent = rows - created - updated - synced - rejected - skipped;
  const outcomes = kind === 'list' ? { synced } : { created, updated };
  const duration_ms = Math.round(totals.ms);
  const leftOut = plan.holders?.leftOut() ?? [];
  return {
    file,
    rows,
    ...outcomes,
    rejected,
    ...(plan.skipped === undefined ? {} : { skipped }),
    unsent,
    unknown,
    chunks,
    requests,
    resumed_rows: resumedRows,
    duration_ms,
    errors,
    ...(leftOut.length > 0 && { phones_left_out: leftOut }),
  };
}

/** Everything that could be sent is unsent. `chunks`: of a dry run those that would be sent. */
export const nothingSent = (chunks: number, ms: number): Totals => ({
  created: 0,
  updated: 0,
  synced: 0,
  problems: [],
  unaccounted: 0,
  chunks,
  requests: 0,
  resumedRows: 0,
  doneNow: 0,
  unknownNow: 0,
  unknownRows: 0,
  unknownBefore: 0,
  ms,
  stopped: undefined,
});

/** The refused rows with their original columns and what was wrong, to be fixed and synced again with the same flags. */
export function rejectsOf({ table }: Plan, errors: readonly Problem[]): AsyncGenerator<string> {
  const errorAt = new Map(errors.map(({ line, error }) => [line, error]));
  const rows = rowsOfTable(table);
  const addedTo = (_: number, line: number) => {
    const error = errorAt.get(line);
    return error === undefined ? undefined : [line, error];
  };
  // Without any, the file need not be read again.
  return csvOut(errors.length > 0 ? rows : { ...rows, read: async function* () {} }, {
    added: ['svc_line', 'svc_error'],
    addedTo,
  });
}
