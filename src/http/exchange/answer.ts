import * as v from 'valibot';
import { listsForObjects } from '../../api/check.ts';
import type { Operation } from '../../api/operation.ts';
import { fieldsOf } from '../../api/shape.ts';
import type { HttpResponse } from '../../context.ts';
import { parseUnrounded } from '../../text/exact-json.ts';
import { isDeeperThan } from '../../text/json-depth.ts';
import { fieldsIn, isRecord, textIn } from '../../text/record.ts';
import { lackOf, type Promised } from './promised.ts';

/** The body of an answer, read once. `deep`: JSON that is nested deeper than any answer of the service. */
export type Body =
  | { readonly form: 'json'; readonly json: unknown }
  | { readonly form: 'deep' }
  | { readonly form: 'none' };

/** No answer of the service comes near it, and far below what makes reading or printing JSON run out of stack. */
const deepestJson = 200;

export function readBody(text: string): Body {
  try {
    const json = parseUnrounded(text);
    return isDeeperThan(deepestJson, json) ? { form: 'deep' } : { form: 'json', json };
  } catch {
    return { form: 'none' };
  }
}

/** What an error says, whatever its shape (service.md#errors-2; RFC 9457). */
export type Said = {
  readonly code?: string;
  readonly description?: string;
  readonly text?: string;
  readonly fields?: Readonly<Record<string, readonly string[]>>;
};

/** `error` is read first, then `message`, then what a problem document calls them; `errors` by field. */
export function readError(json: unknown): Said {
  const { error, error_description, message, errors, detail, title } = fieldsIn(json);
  const code = textIn(error);
  return {
    code,
    description: textIn(error_description),
    text: code ?? textIn(message) ?? problemText(textIn(title), textIn(detail)),
    fields: fieldMessages(errors),
  };
}

/** A problem document says what it is and what happened: both are told (RFC 9457). */
function problemText(title: string | undefined, detail: string | undefined): string | undefined {
  if (!title || !detail || detail.includes(title)) return detail || title;
  return `${title.replace(/[.:]$/u, '')}: ${detail}`;
}

/** What a problem document says, whoever sent it: proxies answer with them too. */
export function problemIn({ headers, body }: Pick<HttpResponse, 'headers' | 'body'>): string | undefined {
  if (!/^application\/problem\+json\b/iu.test(headers['content-type'] ?? '')) return undefined;
  const read = readBody(body);
  const { title, detail } = fieldsIn(read.form === 'json' ? read.json : undefined);
  return problemText(textIn(title), textIn(detail));
}

function fieldMessages(errors: unknown): Said['fields'] {
  if (typeof errors !== 'object' || errors === null) return undefined;
  const fields = Array.isArray(errors)
    ? problemFields(errors)
    : Object.entries(errors).map(([field, messages]): [string, string[]] => [field, [messages].flat().map(messageIn)]);
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}

/** Problem documents list what is wrong with a pointer to the field: `#/contact/email`. */
function problemFields(errors: readonly unknown[]): [string, string[]][] {
  const fields = new Map<string, string[]>();
  for (const [at, error] of errors.entries()) {
    const { pointer, name } = fieldsIn(error);
    const field = (textIn(pointer) ?? textIn(name) ?? String(at)).replace(/^#?\//u, '').replaceAll('/', '.');
    fields.set(field, [...(fields.get(field) ?? []), messageIn(error)]);
  }
  return [...fields];
}

function messageIn(error: unknown): string {
  if (typeof error === 'string') return error;
  return textIn(fieldsIn(error).detail) ?? JSON.stringify(error);
}

/** A gateway's word that a request took too long or that its sender hung up: it may still be on its way. */
export const isGatewayTimeout = (status: number): boolean => status === 408 || status === 499;

/**
 * Whether the service itself has answered, and not a gateway, a web page or another API in its place: an error in one
 * of the document's shapes, or a problem document. Its one server failure is a 500 with `error` and nothing beside it:
 * gateways have other statuses, and write `error` too, but rarely alone.
 */
export function isOwnError({ status, headers }: HttpResponse, body: Body): boolean {
  if (body.form !== 'json' || status < 400 || isGatewayTimeout(status)) return false;
  const { error, message, detail, title } = fieldsIn(body.json);
  if (status >= 500)
    return status === 500 && typeof error === 'string' && Object.keys(fieldsIn(body.json)).length === 1;
  if (typeof error === 'string') return true;
  const isProblem = /^application\/problem\+json\b/iu.test(headers['content-type'] ?? '');
  return typeof message === 'string' || (isProblem && (typeof title === 'string' || typeof detail === 'string'));
}

/** Those of which the document says what they mean, whatever the body says. */
const documented = new Set([401, 403, 404, 422, 429]);

/** Of none of these the document speaks, and walls and gateways give them, in whatever form. */
const ofGateways = new Set([402, 405, 407, 409, 411, 413, 414, 415, 417, 421, 423, 425, 426, 428, 431, 451]);

/**
 * Whether the service itself has turned a request away with a 4xx, and has done nothing: an error in exactly one of the
 * document's shapes, or one beside the limit that every answer of the service carries. Gateways write `error` and
 * `message` too, and may do so while the request is on its way, or when it was done already.
 */
export function isOwnRefusal(answer: HttpResponse, body: Body): boolean {
  const { status, headers } = answer;
  if (status < 400 || status > 499 || isGatewayTimeout(status)) return false;
  const hasLimit = /^\d+$/u.test(headers['x-ratelimit-limit'] ?? '');
  if (hasLimit && documented.has(status) && saysNothing(answer, body)) return true;
  if (body.form !== 'json') return false;
  const said = fieldsIn(body.json);
  const { error, message, errors } = said;
  if (hasLimit) return typeof message === 'string' || isRecord(errors) || isOwnError(answer, body);
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/iu.test(headers['content-type'] ?? 'application/json');
  if (!isJson || ofGateways.has(status)) return false;
  const names = Object.keys(said);
  return typeof error === 'string' ? isSimpleOrScope(error, names) : isValidation(status, said, names);
}

/** A page or a text of somebody else says something. */
const saysNothing = (answer: HttpResponse, body: Body): boolean =>
  answer.body.trim() === '' || (body.form === 'json' && isRecord(body.json) && Object.keys(body.json).length === 0);

/** The shapes of errors that a refusal may have: nothing else stands beside their fields. */
const isSimpleOrScope = (error: string, names: readonly string[]): boolean =>
  names.length === 1 || (error === 'insufficient_scope' && names.length === 2 && names.includes('error_description'));

/** Whatever `errors` holds: it is told as far as it can be read. */
const isValidation = (status: number, { message }: ReturnType<typeof fieldsIn>, names: readonly string[]) =>
  (status === 422 || status === 400) && names.length === 2 && typeof message === 'string' && names.includes('errors');

/** Of a write a refusal is believed only in the service's own words: what it refuses was not done. */
export const isOwnErrorTo = (safety: Operation['safety'], answer: HttpResponse, body: Body): boolean =>
  safety === 'read' || answer.status >= 500
    ? isOwnError(answer, body) || isOwnRefusal(answer, body)
    : isOwnRefusal(answer, body);

/** The rate limit of the service: it has not looked at the request. A gateway's own limit does not say so. */
export const isOwnLimit = (answer: HttpResponse): boolean =>
  answer.status === 429 && isOwnRefusal(answer, readBody(answer.body));

/** How a success agrees with the table. `other`: it is not what the operation answers at all, in a few words. */
export type Judged = { readonly json: unknown; readonly missing: readonly string[] } | { readonly other: string };

/**
 * The one gate of every successful answer. Fields are only ever added (Versioning, 2), so unknown ones pass. A promised
 * field that is missing or of another type is worth a warning: the answer is used all the same. A body of another kind
 * (a list for an object, a scalar, no record where the record belongs) is not used; nor is, of a write, one that does
 * not show that it was done.
 */
export function judgeAnswer(operation: Promised & Pick<Operation, 'safety'>, body: Body): Judged {
  if (body.form === 'none') return { other: 'no JSON' };
  if (body.form === 'deep') return { other: `JSON that is nested more than ${deepestJson} levels deep` };
  const { json } = body;
  const { response } = operation;
  if (!isRecord(json)) return { other: kindOf(json) };
  const other = otherThan(operation, json) ?? (operation.safety === 'read' ? undefined : lackOf(operation, json));
  if (other !== undefined) return { other };
  const result = v.safeParse(response, json);
  const lists = listsForObjects(response, json, { empty: 'taken' });
  if (result.success && lists.length === 0) return { json, missing: lists };
  const issues = result.success ? [] : result.issues.map((issue) => v.getDotPath(issue) ?? 'the answer');
  return { json, missing: [...new Set([...issues, ...lists])] };
}

/** What an object is that is not what the operation answers with. */
function otherThan({ response, answer }: Promised, json: Readonly<Record<string, unknown>>): string | undefined {
  const promised = fieldsOf(response);
  if (answer.key === undefined) return hasAny(json, promised) ? undefined : 'an object with none of its fields';
  const held = json[answer.key];
  if (held === undefined) return `an object without "${answer.key}"`;
  const { type, fields = {} } = promised[answer.key] ?? { type: 'unknown' };
  const fits = isRecord(held) ? type !== 'list' : Array.isArray(held) && type !== 'object' && held.every(isRecord);
  if (!fits) return `${kindOf(held)} as "${answer.key}"`;
  return isRecord(held) && type === 'object' && !hasAny(held, fields) ? `an empty "${answer.key}"` : undefined;
}

const hasAny = (json: Readonly<Record<string, unknown>>, promised: object): boolean =>
  Object.keys(promised).some((field) => json[field] !== undefined);

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.every(isRecord) ? 'a list' : 'a list of other things than records';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'number' ? 'a number' : 'true or false';
}

export const looksLikeHtml = (body: string): boolean => /^\s*<(?:!doctype|html|head|body)\b/iu.test(body);
