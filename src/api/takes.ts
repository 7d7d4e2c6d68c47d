import { operations } from './index.ts';
import type { Operation, Schema, Table } from './operation.ts';

const table: Table = operations;

/** The operation of that id, which somebody may have written; undefined where there is none. */
export const operationNamed = (id: string): Operation | undefined => (Object.hasOwn(table, id) ? table[id] : undefined);

type WithEntries = Schema & { readonly entries?: object };

/** Whether the body of an operation has that field, by the table: beside what it has anybody may send more. */
export function takes({ body }: Pick<Operation, 'body'>, field: string): boolean {
  const { entries = {} }: Partial<WithEntries> = body ?? {};
  return Object.hasOwn(entries, field);
}
