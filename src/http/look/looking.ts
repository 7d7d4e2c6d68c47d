import type { Input, Operation } from '../../api/operation.ts';
import type { Fields } from '../../text/record.ts';
import { type Lookup, lookups } from './lookups.ts';

/** How a write of this operation is looked for. */
export function lookingFor<Op extends Operation>({ id }: Pick<Op, 'id'>): Lookup<Op> {
  const all: Fields = lookups;
  // The compiler does not see that the looking of this id is the one of this operation.
  return all[id] as Lookup<Op>;
}

/** New records have larger ids than all that were there: so an own id moves on what is known. */
export const isNewestFirst = (operation: Pick<Operation, 'id'>): boolean => lookingFor(operation).newestFirst === true;

/** Two writes with the same text may be taken for each other when one of them is looked for. */
export const likenessOf = <Op extends Operation>(operation: Pick<Op, 'id'>, input: Input<Op>): string =>
  lookingFor<Op>(operation).likeness(input);
