import { type RowRequests, rowRequests } from '../rows/row-requests.ts';

/** Rows that --restart began again, and the last run that did. */
export type Restarted = Omit<ReturnType<typeof restartedRows>, 'begin' | 'ends'>;

type Line = { readonly rows: readonly string[]; readonly is?: readonly string[] };

/** In the place of a digest. */
const any = 'any';

export function restartedRows() {
  const rows = rowRequests();
  let last = 0;
  let list: string | undefined;
  let isEnded = false;
  return {
    /** `content`: of the list. */
    begin({ rows: names, is }: Line, run: number, content: string | undefined) {
      list = content;
      isEnded = false;
      for (const [at, row] of names.entries()) rows.set(row, is ? (is[at] ?? '') : any);
      last = run;
    },
    /** What came to its end may be a part of the list, or another one in the same file. */
    ends(content: string | undefined) {
      if (list === undefined || content === list) isEnded = true;
    },
    /** The list that it began has come to its end: what it has left of that, it has left for good. */
    get isEnded() {
      return isEnded;
    },
    get run() {
      return last;
    },
    get size() {
      return rows.size;
    },
    has: (row: string) => rows.has(row),
    /** What it was to send for each; empty where nobody has agreed to that. */
    get requests(): RowRequests {
      return rows;
    },
    /** Whether that was it: a build between releases did not write it down. */
    asks: (row: string, request: string) => request !== '' && [request, any].includes(rows.get(row) ?? ''),
  };
}
