import type { Operation } from '../api/operation.ts';
import type { HttpResponse } from '../context.ts';
import { parseUnrounded } from '../text/exact-json.ts';
import { isDeeperThan, isTooDeep, mayNest } from '../text/json-depth.ts';
import { fieldsIn, isRecord } from '../text/record.ts';

/** The body of an answer, read once. `deep`: JSON that is nested deeper than any answer of the service. */
export type Body =
  | { readonly form: 'json'; readonly json: unknown }
  | { readonly form: 'deep' }
  | { readonly form: 'none' };

/** No answer of the service comes near it, and far below what makes reading or printing JSON run out of stack. */
export const deepestJson = 200;

export function readBody(text: string): Body {
  // What does not end as JSON does is none, however deep it begins.
  if (isTooDeep(text)) return { form: /[\]}]/u.test(text.trimEnd().slice(-1)) ? 'deep' : 'none' };
  try {
    const json = parseUnrounded(text);
    return mayNest(deepestJson, text) && isDeeperThan(deepestJson, json) ? { form: 'deep' } : { form: 'json', json };
  } catch {
    return { form: 'none' };
  }
}

/** What stands in a body; undefined where that is no JSON. */
export const jsonOf = (body: Body): unknown => (body.form === 'json' ? body.json : undefined);

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

export const isOfGateways = (status: number): boolean => ofGateways.has(status);

/** Every answer of the service says its limit (service.md#limits-2). */
export const saysLimit = ({ headers }: Pick<HttpResponse, 'headers'>): boolean =>
  /^\d+$/u.test(headers['x-ratelimit-limit'] ?? '');

/**
 * Whether the service itself has turned a request away with a 4xx, and has done nothing: an error in exactly one of the
 * document's shapes, or one beside the limit that every answer of the service carries. Gateways write `error` and
 * `message` too, and may do so while the request is on its way, or when it was done already.
 */
export function isOwnRefusal(answer: HttpResponse, body: Body): boolean {
  const { status, headers } = answer;
  if (status < 400 || status > 499 || isGatewayTimeout(status)) return false;
  const hasLimit = saysLimit(answer);
  if (hasLimit && documented.has(status) && saysNothing(answer, body)) return true;
  if (body.form !== 'json') return false;
  const said = fieldsIn(body.json);
  const { error, message, errors } = said;
  if (hasLimit) return typeof message === 'string' || isRecord(errors) || isOwnError(answer, body);
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/iu.test(headers['content-type'] ?? 'application/json');
  if (!isJson || isOfGateways(status)) return false;
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
