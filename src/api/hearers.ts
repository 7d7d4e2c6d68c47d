import type { Operation } from './operation.ts';

/** Who may hear of an operation: it is held for a person where the account's rules say so. Undefined: nobody. */
export function hearersOf({ grant, reaches }: Pick<Operation, 'grant' | 'reaches'>): 'customer' | 'public' | undefined {
  if (reaches !== undefined) return reaches;
  return grant === 'send' ? 'customer' : undefined;
}
