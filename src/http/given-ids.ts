import type { Operation } from '../api/operation.ts';
import type { Service } from './asking.ts';

type Given = Map<number, object | 'earlier'>;

function givenOf({ learnt }: Pick<Service, 'learnt'>, { id }: Pick<Operation, 'id'>): Given {
  const given: Given = learnt.given.get(id) ?? new Map();
  learnt.given.set(id, given);
  return given;
}

/** An earlier run has it. */
export function giveEarlier(service: Pick<Service, 'learnt'>, operation: Pick<Operation, 'id'>, id: number): void {
  givenOf(service, operation).set(id, 'earlier');
}

/**
 * What takes the ids of an answer for one write, and says false where another write has one of them: ids are never
 * reused (service.md#records-1), so such an answer was given before, to another request. Taken as the answer is judged, for
 * two writes may be answered at once.
 */
export function takesFor(
  service: Pick<Service, 'learnt'>,
  operation: Pick<Operation, 'id' | 'params'>,
  before?: { readonly ids: readonly number[] },
): (ids: readonly number[]) => boolean {
  const given = givenOf(service, operation);
  const me = {};
  const isAnothers = (id: number): boolean => {
    const owner = given.get(id);
    if (owner === undefined || owner === me) return false;
    return owner !== 'earlier' || operation.params !== undefined || !isForgotten(id, before);
  };
  return (ids) => {
    if (ids.some(isAnothers)) return false;
    for (const id of ids) given.set(id, me);
    return true;
  };
}

/** A service that was reset begins its ids again: it shows nothing as new as what an earlier run has made. */
const isForgotten = (id: number, before: { readonly ids: readonly number[] } | undefined): boolean =>
  before?.ids.every((one) => one < id) === true;
