import type { Input, Operation } from '../api/operation.ts';
import type { RowOf } from '../command/row.ts';
import { Failure } from '../errors.ts';
import { likenessOf } from '../http/look.ts';
import type { Rows } from '../tabular/rows.ts';
import { digestOf } from '../text/digest.ts';
import { fieldsIn, isRecord } from '../text/record.ts';
import type { Columns } from './columns.ts';
import type { MakeInput } from './inputs.ts';
import type { RowInput } from './second-step.ts';

export type Problem = { readonly line: number; readonly error: string };

/** A row that can be sent. */
export type Planned = {
  /** Position in the file, from 0. */
  readonly index: number;
  readonly line: number;
  /** Knows the row again by its content; of rows with the same content each has its own. */
  readonly ref: string;
  readonly id: number | undefined;
  readonly input: RowInput;
  /** Rows that share one are never in flight together, and keep their order. */
  readonly keys: readonly string[];
};

/** What a file would do: the result of a first reading, in which nothing is sent. */
export type Plan = {
  readonly row: RowOf;
  readonly rows: Rows;
  readonly columns: Columns;
  readonly count: number;
  readonly sendable: number;
  readonly problems: ReadonlyMap<number, Problem>;
  readonly refs: ReadonlySet<string>;
  readonly sample: readonly Planned[];
  /** Rows that the public will read. */
  readonly published: number;
  /** A fresh pass over the same rows. Throws where the file has changed since. */
  read(): AsyncIterable<readonly Planned[]>;
};

const sampleSize = 3;

type Source = Pick<Plan, 'row' | 'rows' | 'columns'> & { readonly make: MakeInput };

export async function makePlan(source: Source, onRows: (count: number) => void): Promise<Plan> {
  const { row, rows, columns } = source;
  const problems = new Map<number, Problem>();
  const refs = new Set<string>();
  const sample: Planned[] = [];
  let count = 0;
  let published = 0;
  const hash = newHash();
  for await (const batch of passOver(source, (bytes) => hash.update(bytes))) {
    for (const one of batch) {
      count++;
      if (!isPlanned(one)) {
        problems.set(one.index, { line: one.line, error: one.problem });
        continue;
      }
      refs.add(one.ref);
      if (sample.length < sampleSize) sample.push(one);
      if (bodyOf(one).status === 'published') published++;
    }
    onRows(count);
  }
  if (count === 0) throw new Failure('usage', `${rows.source.name} holds no rows.`);
  const digest = hash.digest('hex');
  async function* read(): AsyncGenerator<readonly Planned[]> {
    const again = newHash();
    for await (const batch of passOver(source, (bytes) => again.update(bytes))) yield batch.filter(isPlanned);
    if (again.digest('hex') !== digest) throw changedMeanwhile(rows);
  }
  return { row, rows, columns, count, sendable: count - problems.size, problems, refs, sample, published, read };
}

const newHash = () => process.getBuiltinModule('node:crypto').createHash('sha256');

type Bad = { readonly index: number; readonly line: number; readonly problem: string };

const isPlanned = (one: Planned | Bad): one is Planned => 'ref' in one;

async function* passOver(
  { row, rows, make }: Source,
  onBytes: (bytes: Uint8Array) => void,
): AsyncGenerator<readonly (Planned | Bad)[]> {
  const times = new Map<string, number>();
  let index = 0;
  for await (const batch of rows.read(onBytes)) {
    yield batch.map((fileRow) => {
      const at = { index: index++, line: fileRow.line };
      const made = make(fileRow);
      if ('problem' in made) return { ...at, problem: made.problem };
      const content = contentOf(made.input);
      const time = (times.get(content) ?? 0) + 1;
      times.set(content, time);
      return {
        ...at,
        ...made,
        ref: time === 1 ? content : `${content}~${time}`,
        keys: keysOf(row, made.id, made.input),
      };
    });
  }
}

const bodyOf = ({ input }: Pick<Planned, 'input'>) => fieldsIn(input.body);

/** The order of the columns is no content. */
const contentOf = (input: Input<Operation>): string =>
  digestOf(JSON.stringify(sorted(input)))
    .toString('base64url')
    .slice(0, 22);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

/** By what rows are about the same: the record of the path, or a text by which one could be taken for the other. */
function keysOf({ operation }: RowOf, id: number | undefined, input: Input<Operation>): string[] {
  if (id !== undefined) return [`id ${id}`];
  if (operation.safety === 'verify') return [likenessOf(operation, input)];
  const { email, phone } = fieldsIn(bodyOf({ input }).contact);
  return [email, phone].flatMap((one) => (typeof one === 'string' ? [one.toLowerCase()] : []));
}

const changedMeanwhile = ({ source }: Rows): Failure =>
  new Failure('failed', `${source.name} was changed while it was being read.`, {
    hint: 'Run the same command again: it goes on with the file as it is now.',
  });
