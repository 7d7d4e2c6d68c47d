import { numberColumn, textColumn } from '../../text/column.ts';
import type { RowRequests } from './row-requests.ts';

/** Why a row cannot be sent as it is. */
type Problem = { readonly line: number; readonly error: string; readonly ref: string };

/** Rows that cannot be sent, by position in the file, and in its order. About 8 bytes for a row. */
export type ProblemRows = Iterable<readonly [index: number, problem: Problem]> & {
  readonly size: number;
  has(index: number): boolean;
  get(index: number): Problem | undefined;
  values(): Iterable<Problem>;
};

export type OpenProblemRows = ProblemRows & { set(index: number, problem: Pick<Problem, 'line' | 'error'>): void };

/** `names`: of the rows of the file, each at its position. */
export function problemRows({ names }: Pick<RowRequests, 'names'>): OpenProblemRows {
  const [lines, errors] = [numberColumn(), textColumn()];
  let [size, end] = [0, 0];
  const get = (index: number): Problem | undefined => {
    const error = errors.get(index);
    return error === undefined ? undefined : { line: lines.get(index) ?? 0, error, ref: names.nameAt(index) };
  };
  function* pairs() {
    for (let index = 0; index < end; index++) {
      const problem = get(index);
      if (problem) yield [index, problem] as const;
    }
  }
  return {
    get size() {
      return size;
    },
    has: (index) => errors.get(index) !== undefined,
    get,
    *values() {
      for (const [, problem] of pairs()) yield problem;
    },
    [Symbol.iterator]: pairs,
    set(index, { line, error }) {
      if (errors.get(index) === undefined) size++;
      end = Math.max(end, index + 1);
      lines.set(index, line);
      errors.set(index, error);
    },
  };
}
