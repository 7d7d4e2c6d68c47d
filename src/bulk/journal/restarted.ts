import { rowRequests } from '../rows/row-requests.ts';

/** Rows that --restart began again, with what it was to send for each, and the last run that did. */
export type Restarted = {
  readonly run: number;
  readonly size: number;
  has(row: string): boolean;
  /** The digest; empty where the journal does not say it. */
  requestOf(row: string): string | undefined;
};

export function restartedRows() {
  const rows = rowRequests();
  let last = 0;
  return {
    begin(
      { rows: names, is = [] }: { readonly rows: readonly string[]; readonly is?: readonly string[] },
      run: number,
    ) {
      for (const [at, row] of names.entries()) rows.set(row, is[at] ?? '');
      last = run;
    },
    get run() {
      return last;
    },
    get size() {
      return rows.size;
    },
    has: (row: string) => rows.has(row),
    requestOf: (row: string) => rows.get(row),
  };
}
