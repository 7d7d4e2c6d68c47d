import { syncChunkSize } from '../api/contacts.ts';
import { loadPhones, noPhones } from '../batch/phone.ts';
import { noDoubts } from '../batch/phone-notes.ts';
import { Failure } from '../errors.ts';
import type { CsvRecord } from '../tabular/csv.ts';
import { needsRows } from '../tabular/source.ts';
import type { Table } from '../tabular/table.ts';
import { type Chunk, createChunker, digestOfChunk } from './chunks.ts';
import {
  createDuplicates,
  type Dedupe,
  type Judged,
  type Merged,
  mergeDuplicates,
  nothingMerged,
  type Read,
} from './duplicates.ts';
import { filterOf } from './filters.ts';
import { newFindings } from './findings.ts';
import type { ImportFlags } from './flags.ts';
import { type Contact, type Mapping, type MapWish, mapHeaders, type Shape } from './mapping.ts';
import { watchForMarks } from './marks.ts';
import { newPhoneHolders, type PhoneHolders } from './phone-holders.ts';
import { repeatedEmails } from './repeated-emails.ts';
import { createRowReader, isProblem, type Problem, type ReadRow } from './rows.ts';

/** What a file would do to the account: the result of a first reading, in which nothing is sent. */
export type Plan = Awaited<ReturnType<typeof makePlan>>;

const largestSample = 5;

export async function makePlan(
  table: Table,
  { shape, map }: { readonly shape: Shape; readonly map: readonly MapWish[] },
  flags: ImportFlags,
  onRows: (rows: number) => void,
) {
  const { dedupe, metadata, phone_country: phoneCountry, strict_phone: strictPhone, tag: tags = [] } = flags;
  const options = { tagSeparator: flags.tag_separator, tags, metadata, strictPhone };
  const mapping = mapHeaders(table.headers, map, shape, table.examples);
  const leavesOut = filterOf(flags, table.headers);
  const hasPhones = mapping.columns.some(({ to }) => to === 'phone') || phoneCountry !== undefined;
  const phones = hasPhones ? await loadPhones(phoneCountry) : noPhones;
  const marks = watchForMarks(table.headers, unnamed(mapping));
  const findings = newFindings(marks);
  const firstLook = createRowReader(mapping, shape, options, { phones, leavesOut, findings });
  const readRow = createRowReader(mapping, shape, options, { phones, leavesOut, findings: newFindings() });
  const merged = dedupe === 'merge' ? await mergeDuplicates(() => readAll(table.records(), readRow)) : nothingMerged;

  const holders = shape.isFoundByPhone ? newPhoneHolders(phones) : undefined;
  const sums = newSums(holders, { isSent: !flags.dry_run });
  const rows = readAll(table.records(), firstLook);
  for await (const batch of judgeAll(rows, dedupe, merged)) {
    for (const row of batch) sums.add(row);
    onRows(sums.rows());
  }
  if (sums.rows() === 0) {
    throw new Failure('usage', `${table.source.name} has ${table.hasHeader ? 'a header but no rows' : 'no rows'}.`, {
      hint: needsRows,
    });
  }
  const { skipped, ...counted } = sums.end();
  return {
    table,
    mapping,
    ...counted,
    /** Rows that `--skip` and `--only` leave out; undefined without them. */
    skipped: leavesOut && skipped,
    /** Whose numbers those without a country code are. */
    phoneCountry,
    /** Whose the phones are, where the service finds contacts by them. */
    holders,
    findings,
    marks: marks.found(),
    /** A fresh pass over the same rows, decided the same way. */
    judged: () => judgeAll(readAll(table.records(), readRow), dedupe, merged),
  };
}

/** Columns that are no name, address or phone of a person. */
const unnamed = ({ columns, unused }: Mapping): number[] =>
  [...columns.filter(({ to }) => to.startsWith('metadata')), ...unused].map(({ index }) => index);

/** What the rows come to. `isSent`: what each chunk holds is kept for that, which takes a quarter of the reading. */
function newSums(holders: PhoneHolders | undefined, { isSent }: { readonly isSent: boolean }) {
  const chunker = createChunker(syncChunkSize);
  const problems: Problem[] = [];
  const sample: Contact[] = [];
  /** Phones that will be sent and that the service may not take as they are meant. */
  const phones = noDoubts();
  /** Of the rows that will be sent. */
  const repeated = repeatedEmails();
  const count = {
    rows: 0,
    /** Rows that will be sent, those that are merged into another included. */
    sendable: 0,
    /** Rows that `--dedupe first` leaves out. */
    leftOut: 0,
    /** Rows that `--dedupe merge` sends as a part of another. */
    merged: 0,
    skipped: 0,
    chunks: 0,
  };
  /** What each chunk holds; empty where nothing is to be sent. */
  const digests: string[] = [];
  const close = (chunk: Chunk | undefined) => {
    if (!chunk) return;
    count.chunks++;
    if (isSent) digests.push(digestOfChunk(chunk));
  };
  return {
    rows: () => count.rows,
    add(row: Judged) {
      count.rows++;
      if (row === 'left-out') count.leftOut++;
      else if (row === 'skipped') count.skipped++;
      else if (row === 'merged') {
        count.merged++;
        count.sendable++;
      } else if (isProblem(row)) problems.push(row);
      else {
        count.sendable++;
        close(chunker.add(row));
        holders?.add(row);
        repeated.add(row);
        if (sample.length < largestSample) sample.push(structuredClone(row.contact));
        if (row.phone !== 'fine') phones[row.phone].add(row.line, row.contact.phone ?? '');
      }
    },
    end() {
      close(chunker.end());
      return { ...count, digests, problems, sample, phones, repeated };
    },
  };
}

async function* readAll(
  records: AsyncIterable<readonly CsvRecord[]>,
  readRow: ReadRow,
): AsyncGenerator<readonly Read[]> {
  for await (const batch of records) {
    const rows: Read[] = [];
    for (const record of batch) {
      const row = readRow(record);
      if (row) rows.push(row);
    }
    yield rows;
  }
}

async function* judgeAll(
  batches: AsyncIterable<readonly Read[]>,
  dedupe: Dedupe | undefined,
  merged: Merged,
): AsyncGenerator<readonly Judged[]> {
  if (dedupe === undefined) return yield* batches;
  const judge = createDuplicates(dedupe, merged);
  for await (const batch of batches) yield batch.map((row) => (row === 'skipped' || isProblem(row) ? row : judge(row)));
}
