import * as v from 'valibot';
import type { Operation } from '../../api/operation.ts';
import { type ResourceName, resources } from '../../api/resources.ts';
import { fieldsOf } from '../../api/shape.ts';
import { type Fields, isId, isRecord } from '../../text/record.ts';
import { madeIds } from './made.ts';

export type Promised = Pick<Operation, 'response' | 'answer' | 'resource' | 'makes' | 'ids' | 'path'>;

/** Other programs answer with these too, so they prove something only where the operation promises nothing else. */
const commonFields = new Set(['status', 'ok', 'id', 'message', 'error']);

/**
 * What an answer to a write lacks to be surely the service's, in a few words; undefined where it lacks nothing. A
 * wrapped record must hold its id, other answers a field of the operation's own, of its type. A `status` that says
 * otherwise than the service does is no success, nor is any answer that says itself that it is none.
 */
export function lackOf(promised: Promised, json: Fields): string | undefined {
  const { response, answer, resource, makes } = promised;
  const denial = denialIn(json);
  if (denial !== undefined) return denial;
  // Beside several records it may tell of some of them.
  const mayTell = Object.hasOwn(fieldsOf(response), 'errors') || Array.isArray(json[answer.key ?? '']);
  if (!mayTell && isFilled(json.errors)) return 'errors';
  if (answer.key !== undefined)
    return hasIds(json[answer.key], resource) ? undefined : `a "${answer.key}" without an id`;
  if (makes && madeIds(promised, json).length === 0) return `an object without "${makes.join('.')}"`;
  if (makes && makes.length > 1) return undefined;
  const fields = Object.entries(fieldsOf(response));
  const kept = fields.filter(([name, { schema }]) => v.is(schema, json[name])).map(([name]) => name);
  const isOtherwise = fields.some(([name]) => (name === 'status' && !kept.includes(name)) || json.success === '');
  const own = fields.filter(([name]) => !commonFields.has(name));
  const proves = (name: string) => own.length === 0 || !commonFields.has(name);
  return !isOtherwise && kept.some(proves) ? undefined : 'an object with none of its fields';
}

/** How an answer says itself that it is no success, whatever stands beside that. */
export function denialIn(json: Fields): string | undefined {
  if (isSaid(json.error)) return 'an error';
  const denied = ['ok', 'success'].find((name) => json[name] === false || json[name] === 0 || json[name] === 'false');
  return denied && `"${denied}": ${JSON.stringify(json[denied])}`;
}

const wordsOfErrors = new Set(['ok', 'success', 'error', 'errors', 'error_description', 'message', 'code', 'status']);

/** The same of what was read: a record may have such fields of its own, so nothing else may stand there. */
export const readDenialIn = (json: Fields): string | undefined =>
  Object.keys(json).every((name) => wordsOfErrors.has(name)) ? denialIn(json) : undefined;

/** An error in whatever form: a text, an object, a number, true. None where nothing is in it. */
const isSaid = (error: unknown): boolean =>
  typeof error === 'object' && error !== null ? Object.keys(error).length > 0 : Boolean(error);

/** A list of errors, those of each field, or one: none where nothing is in it. */
const isFilled = (errors: unknown): boolean =>
  typeof errors === 'object' && errors !== null
    ? Object.values(errors).some((one) => (Array.isArray(one) ? one.length > 0 : isFilled(one)))
    : typeof errors === 'string' && errors !== '';

/** One record or several, each with its id. */
function hasIds(held: unknown, resource: ResourceName): boolean {
  const { idField = 'id' } = resources[resource];
  const records = Array.isArray(held) ? held : [held];
  return records.length > 0 && records.every((record) => isRecord(record) && isId(record[idField]));
}
