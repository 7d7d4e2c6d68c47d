import type { Operation } from './operation.ts';

/** Who may hear of an operation: it is held for a person where the account's rules say so. Undefined: nobody. */
export function hearersOf({ grant, reaches }: Pick<Operation, 'grant' | 'reaches'>): 'customer' | 'public' | undefined {
  if (reaches !== undefined) return reaches;
  return grant === 'send' ? 'customer' : undefined;
}

/** The operation of the table that reads one such record; undefined where there is none. */
export const readerOf = (table: readonly Operation[], resource: string): Operation | undefined =>
  table.find(
    (each) => each.resource === resource && each.ids && each.safety === 'read' && each.answer.shape === 'record',
  );
