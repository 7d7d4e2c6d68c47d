import type { Operation } from '../../api/operation.ts';
import type { HttpResponse } from '../../context.ts';
import { numbersWithin } from '../../text/digest-numbers.ts';
import { type NumberTable, numberTable } from '../../text/number-table.ts';
import { fieldsIn } from '../../text/record.ts';
import type { Service } from '../exchange/asking.ts';
import type { Before } from '../look/before.ts';

type Given = Pick<NumberTable, 'add' | 'get' | 'set'>;
type Op = Pick<Operation, 'id' | 'params' | 'safety'>;

/** Of a write of another run; those of this one count from 1. */
const earlier = 0;

/** The API shows no notes, so a note cannot be looked for: a service that numbers them in each ticket must be believed. */
const isUnseen = ({ safety, params }: Op): boolean => safety === 'once' && params !== undefined;

function givenOf({ learnt }: Pick<Service, 'learnt'>, operation: Op, of: unknown): Given {
  if (isUnseen(operation)) return numbersWithin(learnt.within, `given ${operation.id} ${String(of)}`);
  const given = learnt.given.get(operation.id) ?? numberTable();
  learnt.given.set(operation.id, given);
  return given;
}

/** An earlier run has it. `of`: the record that the path named; of notes it must be known. */
export function giveEarlier(service: Pick<Service, 'learnt'>, operation: Op, id: number, of?: number): void {
  if (isUnseen(operation) && of === undefined) return;
  givenOf(service, operation, of).add(id);
}

/** The record that the path names. */
const namedIn = (params: unknown): unknown => Object.values(fieldsIn(params))[0];

/** For whom the ids are taken, and what was there before. */
type For = {
  readonly params?: unknown;
  readonly before?: Pick<Before, 'ids' | 'isWhole' | 'grows'> | undefined;
};

/**
 * What takes the ids of an answer for one write, and says false where another write has one of them: ids are never
 * reused (service.md#records-1), so such an answer was given before, to another request. Taken as the answer is judged, for
 * two writes may be answered at once. Of notes that is so within a ticket; for another ticket it is the very same
 * answer that was given before, down to what is left of the limit.
 */
export function takesFor(
  service: Pick<Service, 'learnt'>,
  operation: Op,
  { params, before }: For,
): (ids: readonly number[], answer?: HttpResponse) => boolean {
  const given = givenOf(service, operation, namedIn(params));
  const me = ++service.learnt.writes;
  const isAnothers = (id: number): boolean => {
    const owner = given.get(id);
    if (owner === undefined || owner === me) return false;
    return owner !== earlier || operation.params !== undefined || !isForgotten(id, before);
  };
  return (ids, answer) => {
    if (ids.some(isAnothers)) return false;
    if (answer && isUnseen(operation) && !isFirst(service, answer, me)) return false;
    for (const id of ids) given.set(id, me);
    return true;
  };
}

function isFirst({ learnt }: Pick<Service, 'learnt'>, { headers, body }: HttpResponse, me: number): boolean {
  const text = `answer ${headers['x-ratelimit-remaining']} ${headers.date} ${body}`;
  const owner = learnt.within.get(text);
  if (owner === undefined) learnt.within.set(text, me);
  return owner === undefined || owner === me;
}

/**
 * A service that was reset begins its ids again: it shows nothing as new as what an earlier run has made. Where ids do not
 * grow, only all that is there tells that.
 */
export const isForgotten = (id: number, before: For['before']): boolean =>
  before !== undefined && (before.isWhole || before.grows === true) && before.ids.every((one) => one < id);
