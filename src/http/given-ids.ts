import type { Operation } from '../api/operation.ts';
import type { HttpResponse } from '../context.ts';
import { hexDigestOf } from '../text/digest.ts';
import { fieldsIn } from '../text/record.ts';
import type { Service } from './asking.ts';

type Given = Map<number, object | 'earlier'>;
type Op = Pick<Operation, 'id' | 'params' | 'safety'>;

/** The API shows no notes, so a note cannot be looked for: a service that numbers them in each ticket must be believed. */
const isUnseen = ({ safety, params }: Op): boolean => safety === 'once' && params !== undefined;

function givenOf({ learnt }: Pick<Service, 'learnt'>, operation: Op, of: unknown): Given {
  const key = isUnseen(operation) ? `${operation.id} ${String(of)}` : operation.id;
  const given: Given = learnt.given.get(key) ?? new Map();
  learnt.given.set(key, given);
  return given;
}

/** An earlier run has it. `of`: the record that the path named; of notes it must be known. */
export function giveEarlier(service: Pick<Service, 'learnt'>, operation: Op, id: number, of?: number): void {
  if (isUnseen(operation) && of === undefined) return;
  const given = givenOf(service, operation, of);
  if (!given.has(id)) given.set(id, 'earlier');
}

/** The record that the path names. */
const namedIn = (params: unknown): unknown => Object.values(fieldsIn(params))[0];

/** For whom the ids are taken, and what was there before. */
type For = { readonly params?: unknown; readonly before?: { readonly ids: readonly number[] } | undefined };

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
  const me = {};
  const isAnothers = (id: number): boolean => {
    const owner = given.get(id);
    if (owner === undefined || owner === me) return false;
    return owner !== 'earlier' || operation.params !== undefined || !isForgotten(id, before);
  };
  return (ids, answer) => {
    if (ids.some(isAnothers)) return false;
    if (answer && isUnseen(operation) && !isFirst(service, answer, me)) return false;
    for (const id of ids) given.set(id, me);
    return true;
  };
}

function isFirst({ learnt }: Pick<Service, 'learnt'>, { headers, body }: HttpResponse, me: object): boolean {
  const name = hexDigestOf(`${headers['x-ratelimit-remaining']} ${headers.date} ${body}`);
  const owner = learnt.answers.get(name) ?? me;
  learnt.answers.set(name, owner);
  return owner === me;
}

/** A service that was reset begins its ids again: it shows nothing as new as what an earlier run has made. */
const isForgotten = (id: number, before: For['before']): boolean => before?.ids.every((one) => one < id) === true;
