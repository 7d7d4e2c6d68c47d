import { Failure } from '../errors.ts';
import type { CsvRecord } from '../tabular/csv.ts';
import type { Table } from '../tabular/table.ts';
import { createChunker } from './chunks.ts';
import {
  createDuplicates,
  type Dedupe,
  type Judged,
  type Merged,
  mergeDuplicates,
  nothingMerged,
} from './duplicates.ts';
import { type Mapping, mapHeaders, type Shape } from './mapping.ts';
import { loadPhoneCheck } from './phone.ts';
import { type Contact, copy, createRowReader, isProblem, type Problem, type Row, type RowOptions } from './rows.ts';

export type PlanOptions = RowOptions & { readonly map: readonly string[]; readonly dedupe: Dedupe | undefined };

/** What a file would do to the account: the result of a first reading, in which nothing is sent. */
export type Plan = {
  readonly table: Table;
  readonly mapping: Mapping;
  readonly rows: number;
  /** Rows that will be sent, those that are merged into another included. */
  readonly sendable: number;
  readonly chunks: number;
  /** Rows that `--dedupe first` leaves out. */
  readonly leftOut: number;
  readonly problems: readonly Problem[];
  readonly ignoredPhones: { readonly count: number; readonly examples: readonly { line: number; phone: string }[] };
  readonly sample: readonly Contact[];
  /** SHA-256 of the content. */
  readonly digest: string;
  /** A fresh pass over the same rows, decided the same way. */
  judged(onBytes?: (bytes: Uint8Array) => void): AsyncIterable<readonly Judged[]>;
};

export async function makePlan(
  table: Table,
  { shape, chunkSize }: { readonly shape: Shape; readonly chunkSize: number },
  options: PlanOptions,
  onRows: (rows: number) => void = () => {},
): Promise<Plan> {
  const mapping = mapHeaders(table.headers, options.map, shape);
  const hasPhones = mapping.columns.some(({ to }) => to === 'phone');
  const ignoresPhone = hasPhones ? await loadPhoneCheck() : () => false;
  const readRow = createRowReader(mapping, shape, options, ignoresPhone);
  const merged =
    options.dedupe === 'merge' ? await mergeDuplicates(() => readAll(table.records(), readRow)) : nothingMerged;
  const judged = (onBytes?: (bytes: Uint8Array) => void) =>
    judgeAll(readAll(table.records(onBytes), readRow), options.dedupe, merged);

  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  const chunker = createChunker(chunkSize);
  const problems: Problem[] = [];
  const sample: Contact[] = [];
  const examples: { line: number; phone: string }[] = [];
  const count = { rows: 0, sendable: 0, chunks: 0, leftOut: 0, ignoredPhones: 0 };
  for await (const batch of judged((bytes) => hash.update(bytes))) {
    count.rows += batch.length;
    for (const row of batch) {
      if (row === 'left-out') count.leftOut++;
      else if (row === 'merged') count.sendable++;
      else if (isProblem(row)) problems.push(row);
      else {
        count.sendable++;
        if (chunker.add(row)) count.chunks++;
        if (sample.length < 3) sample.push(structuredClone(row.contact));
        if (row.phoneIsIgnored && ++count.ignoredPhones <= 3) {
          examples.push({ line: row.line, phone: copy(row.contact.phone ?? '') });
        }
      }
    }
    onRows(count.rows);
  }
  if (chunker.end()) count.chunks++;
  if (count.rows === 0) throw new Failure('usage', `${table.source.name} has a header but no rows.`);
  return {
    table,
    mapping,
    rows: count.rows,
    sendable: count.sendable,
    chunks: count.chunks,
    leftOut: count.leftOut,
    problems,
    ignoredPhones: { count: count.ignoredPhones, examples },
    sample,
    digest: hash.digest('hex'),
    judged,
  };
}

async function* readAll(
  records: AsyncIterable<readonly CsvRecord[]>,
  readRow: (record: CsvRecord) => Row | Problem | undefined,
): AsyncGenerator<readonly (Row | Problem)[]> {
  for await (const batch of records) {
    const rows: (Row | Problem)[] = [];
    for (const record of batch) {
      const row = readRow(record);
      if (row) rows.push(row);
    }
    yield rows;
  }
}

async function* judgeAll(
  batches: AsyncIterable<readonly (Row | Problem)[]>,
  dedupe: Dedupe | undefined,
  merged: Merged,
): AsyncGenerator<readonly Judged[]> {
  if (dedupe === undefined) return yield* batches;
  const judge = createDuplicates(dedupe, merged);
  for await (const batch of batches) yield batch.map((row) => (isProblem(row) ? row : judge(row)));
}
