import type { Input, Operation } from '../../api/operation.ts';
import type { RowOf } from '../../command/row.ts';
import { Failure } from '../../errors.ts';
import { likenessOf, lookingFor } from '../../http/look/looking.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { footerNotes } from '../../tabular/footer.ts';
import type { FileRow, Rows } from '../../tabular/rows.ts';
import { changedMeanwhile } from '../../tabular/source.ts';
import { textColumn } from '../../text/column.ts';
import { fieldsIn } from '../../text/record.ts';
import type { Columns } from './columns.ts';
import type { MakeInput } from './inputs.ts';
import { type ProblemRows, problemRows } from './problem-rows.ts';
import { contentReader, plainText, type RowShape, shapeKey, shortDigest, sorted } from './row-content.ts';
import type { RowInput } from './row-input.ts';
import { type RowRecords, recordReader, recordsIn } from './row-records.ts';
import { createNumbering, type RowRequests, rowRequests } from './row-requests.ts';

/** The request of a row that cannot be sent as it is. */
export const noRequest = '';

/** Twice is once. */
export const isRepeatable = ({ row }: { readonly row: RowOf }): boolean => row.operation.safety === 'repeatable';

/** Whether it writes to records that are there, on which a request that arrives late would put other values. */
export const mayBeOverwritten = (plan: Pick<Plan, 'row' | 'hasMore'>): boolean => isRepeatable(plan) || plan.hasMore;

/** A row that can be sent. */
export type Planned = {
  /** Position in the file, from 0. */
  readonly index: number;
  readonly line: number;
  /** Knows the row again by its cells; of rows with the same cells each has its own. */
  readonly ref: string;
  /** A digest of what is sent for it: the record, and the fields. */
  readonly request: string;
  readonly id: number | undefined;
  readonly input: RowInput;
  /** What the command line gives to it, as `givenReader` tells it. */
  readonly given: string | undefined;
  /** Rows that share one are never in flight together, and keep their order. */
  readonly keys: readonly string[];
  /** Rows that share one could be given each other's answer. */
  readonly answerKeys?: readonly string[];
};

/** What a file would do: the result of a first reading, in which nothing is sent. */
export type Plan = {
  readonly row: RowOf;
  readonly rows: Rows;
  readonly columns: Columns;
  readonly count: number;
  readonly sendable: number;
  readonly problems: ProblemRows;
  /** The request of each row by its `ref`; `noRequest` where it cannot be sent. */
  readonly refs: RowRequests;
  /** What the command line gives to the row at that place in the file; undefined: all that it says. */
  givenAt(place: number): string | undefined;
  /** A digest of the cells of all rows: what a file is known by under another name. */
  readonly content: string;
  /** Which columns its rows fill: each set once, so many as `mostShapes`. */
  readonly shapes: readonly RowShape[];
  readonly sample: readonly Planned[];
  /** Rows that the public will read. */
  readonly published: number;
  /** A row does more than its own request. */
  readonly hasMore: boolean;
  /** Rows that name no requester, of a command whose rows may. */
  readonly anonymous: number;
  /** A fresh pass over the same rows. Throws where the file has changed since, before it yields a row that was not in it. */
  read(): AsyncIterable<readonly Planned[]>;
  /** Which records the rows of these lines are about; none where the file is no longer the one that was planned. */
  recordsAt(lines: ReadonlySet<number>): Promise<RowRecords>;
  /** Throws where the file is no longer the one that was planned. */
  verify(): Promise<void>;
};

/** So many rows are shown as they would go out. */
export const sampleSize = 3;

type Source = Pick<Plan, 'row' | 'rows' | 'columns'> & { readonly make: MakeInput };

export async function makePlan(source: Source, onRows: (count: number) => void): Promise<Plan> {
  const { row, rows, columns } = source;
  const refs = rowRequests();
  const problems = problemRows(refs);
  const given = textColumn();
  const content = process.getBuiltinModule('node:crypto').createHash('sha256');
  const shapes = shapesOf(contentReader(columns).shapeOf);
  const sample: Planned[] = [];
  let count = 0;
  let published = 0;
  let anonymous = 0;
  let hasMore = false;
  const numbered = createNumbering(refs.names);
  // Each row has the place in the table that it has in the file.
  const named: Naming = (cells, index) => {
    const ref = numbered(cells, index);
    refs.set(ref, noRequest);
    return ref;
  };
  for await (const batch of passOver(source, { onRow: shapes.see, named })) {
    for (const one of batch) {
      count++;
      content.update(one.ref);
      if (!isPlanned(one)) {
        problems.set(one.index, { line: one.line, error: one.problem });
        continue;
      }
      refs.set(one.ref, one.request);
      if (one.given !== undefined) given.set(one.index, one.given);
      if (sample.length < sampleSize) sample.push(one);
      if (bodyOf(one).status === 'published') published++;
      hasMore ||= one.input.after !== undefined || one.input.follows !== undefined;
      if (!one.input.requester && bodyOf(one)[row.requester ?? ''] === undefined) anonymous++;
    }
    onRows(count);
  }
  if (count === 0) throw noRows(rows);
  async function* read(): AsyncGenerator<readonly Planned[]> {
    const isSame = (one: Planned | Bad) =>
      refs.names.find(one.ref) === one.index &&
      refs.requestAt(one.index) === (isPlanned(one) ? one.request : noRequest);
    const named = createNumbering(refs.names);
    for await (const batch of passOver(source, { named })) {
      if (!batch.every(isSame)) throw changedMeanwhile(rows.source.name);
      yield batch.filter(isPlanned);
    }
  }
  async function verify(): Promise<void> {
    for await (const _ of rows.source.read());
  }
  const recordsAt = (lines: ReadonlySet<number>): Promise<RowRecords> =>
    recordsIn(rows.read(), recordReader(row, columns), lines).catch(insteadOf('any', new Map()));
  const sums = {
    count,
    sendable: count - problems.size,
    problems,
    refs,
    content: content.digest('hex'),
    published,
    anonymous,
    hasMore,
  };
  return { row, rows, columns, ...sums, givenAt: given.get, shapes: shapes.all(), sample, read, recordsAt, verify };
}

/** What looks like a line of totals may be the only row. */
function noRows({ source, beginning: { footer } }: Rows): Failure {
  const [hint] = footerNotes(footer);
  return new Failure('usage', `${source.name} holds no rows.`, { hint });
}

type Bad = Pick<Planned, 'index' | 'line' | 'ref'> & { readonly problem: string };

const isPlanned = (one: Planned | Bad): one is Planned => 'request' in one;

/** A file has few; one that has more is known by these. */
const mostShapes = 64;

function shapesOf(shapeOf: (row: FileRow) => RowShape) {
  const shapes = new Map<string, RowShape>();
  const see = (row: FileRow) => {
    if (shapes.size >= mostShapes) return;
    const shape = shapeOf(row);
    shapes.set(shapeKey(shape), shape);
  };
  return { see, all: () => [...shapes.values()] };
}

/** With more at once, what is made of them lives so long that much memory is taken for what is garbage soon. */
const rowsAtOnce = 64;

async function* fewAtOnce<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<readonly T[], void, undefined> {
  for await (const batch of batches)
    for (let at = 0; at < batch.length; at += rowsAtOnce) yield batch.slice(at, at + rowsAtOnce);
}

/** What a row with these cells at this position is called. */
type Naming = (cells: string, index: number) => string;

type Pass = {
  readonly onRow?: (row: FileRow) => void;
  readonly named: Naming;
};

async function* passOver(
  { row, rows, columns, make }: Source,
  { onRow, named }: Pass,
): AsyncGenerator<readonly (Planned | Bad)[]> {
  const { nameOf } = contentReader(columns);
  let index = 0;
  for await (const some of fewAtOnce(rows.read())) {
    yield some.map((fileRow) => {
      onRow?.(fileRow);
      const at = { index, line: fileRow.line, ref: named(nameOf(fileRow), index) };
      index++;
      const made = make(fileRow);
      if ('problem' in made) return { ...at, problem: made.problem };
      const request = shortDigest(sorted(made.input, plainText));
      const shown = row.operation.safety === 'verify' ? lookingFor(row.operation).shown?.(made.input) : undefined;
      const answerKeys = shown === undefined ? {} : { answerKeys: [`shown ${shown}`] };
      return { ...at, ...made, request, keys: keysOf(row, made.id, made.input), ...answerKeys };
    });
  }
}

/** The records that a row writes to once its own request is answered. */
export const keysBehind = ({ row }: { readonly row: RowOf }, { keys }: Pick<Planned, 'keys'>, id: number | null) =>
  row.after ? [`id ${id}`] : keys;

/** Whether the keys of the row name a record that is there, and no mere likeness of two that are made. */
export const isOfRecord = ({ operation }: RowOf, { id }: Pick<Planned, 'id'>): boolean =>
  id !== undefined || operation.safety !== 'verify';

const bodyOf = ({ input }: Pick<Planned, 'input'>) => fieldsIn(input.body);

/** By what rows are about the same: the record of the path, or a text by which one could be taken for the other. */
function keysOf({ operation }: RowOf, id: number | undefined, input: Input<Operation>): string[] {
  if (id !== undefined) return [`id ${id}`];
  if (operation.safety === 'verify') return [likenessOf(operation, input)];
  const { email, phone } = fieldsIn(bodyOf({ input }).contact);
  return [email, phone].flatMap((one) => (typeof one === 'string' ? [one.toLowerCase()] : []));
}
