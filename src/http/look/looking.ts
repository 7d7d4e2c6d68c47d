import type { Input, Operation } from '../../api/operation.ts';
import type { Fields } from '../../text/record.ts';
import { type Lookup, lookups, type Seen } from './lookups.ts';

/** How a write of this operation is looked for. */
export function lookingFor<Op extends Operation>({ id }: Pick<Op, 'id'>): Lookup<Op> {
  const all: Fields = lookups;
  // The compiler does not see that the looking of this id is the one of this operation.
  return all[id] as Lookup<Op>;
}

/** New records have larger ids than all that were there: so an own id moves on what is known. */
export const isNewestFirst = (operation: Pick<Operation, 'id'>): boolean => lookingFor(operation).newestFirst === true;

/** How far a record agrees with what was sent, by what a list shows of it. */
export const agreementOf = (operation: Pick<Operation, 'id'>, record: Seen['record'], input: Input<Operation>) =>
  lookingFor(operation).compare(record, input);

/** After each answer the list is read once more. */
export const isProvenByList = (operation: Pick<Operation, 'id'>): boolean =>
  lookingFor(operation).isProvenByList === true;

/** Two writes with the same text may be taken for each other when one of them is looked for. */
export const likenessOf = <Op extends Operation>(operation: Pick<Op, 'id'>, input: Input<Op>): string =>
  lookingFor<Op>(operation).likeness(input);

/** Two writes that the same answer would fit; undefined where nothing but their likeness does that. */
export const shownOf = <Op extends Operation>(operation: Pick<Op, 'id'>, input: Input<Op>): string | undefined =>
  lookingFor<Op>(operation).shown?.(input);
