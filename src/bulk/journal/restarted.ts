import { digestTable } from '../../text/digest-table.ts';

/** Rows that --restart began again, and the last run that did. */
export type Restarted = { readonly run: number; readonly size: number; has(row: string): boolean };

export function restartedRows() {
  const rows = digestTable();
  let last = 0;
  return {
    begin(names: readonly string[], run: number): void {
      for (const row of names) rows.add(row);
      last = run;
    },
    get run() {
      return last;
    },
    get size() {
      return rows.size();
    },
    has: (row: string) => rows.find(row) >= 0,
  };
}
