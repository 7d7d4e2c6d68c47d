import type { Operation } from './operation.ts';

/** Who may hear of an operation: it is held for a person where the account's rules say so. Undefined: nobody. */
export const hearersOf = ({ grant, reaches }: Pick<Operation, 'grant' | 'reaches'>) =>
  reaches ?? (grant === 'send' ? 'customer' : undefined);
