import * as v from 'valibot';
import { listsForObjects } from '../../api/check.ts';
import type { Operation } from '../../api/operation.ts';
import { fieldsOf } from '../../api/shape.ts';
import type { HttpResponse } from '../../context.ts';
import { type Body, deepestJson, jsonOf, readBody } from '../../retry/own-word.ts';
import { type Fields, fieldsIn, isRecord, textIn } from '../../text/record.ts';
import { lackOf, type Promised } from './promised.ts';

/** Where an answer is not like the service's. */
export const perhapsBetween = 'Something between svc and the service may have answered. Try again, or run: svc doctor';

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
  const { title, detail } = fieldsIn(jsonOf(readBody(body)));
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
  if (result.success) return { json, missing: lists };
  const told = result.issues.filter((issue) => !isNotGiven(issue));
  const issues = told.map((issue) => v.getDotPath(issue) ?? 'the answer');
  return { json, missing: [...new Set([...issues, ...lists])] };
}

/** Texts that a person or a program need not have given. */
const givenOrNot = new Set(
  'last_name email phone company country interest_level description sender_name content notes target_industry'.split(
    ' ',
  ),
);

/** Null in place of such a text is no news, as an empty one is none. */
function isNotGiven({ expected, input, path }: v.BaseIssue<unknown>): boolean {
  const name = path?.at(-1)?.key;
  return input === null && expected === 'string' && typeof name === 'string' && givenOrNot.has(name);
}

/** What an object is that is not what the operation answers with. */
function otherThan({ response, answer }: Promised, json: Fields): string | undefined {
  const promised = fieldsOf(response);
  if (answer.key === undefined) return hasAny(json, promised) ? undefined : 'an object with none of its fields';
  const held = json[answer.key];
  if (held === undefined) return `an object without "${answer.key}"`;
  const { type, fields = {} } = promised[answer.key] ?? { type: 'unknown' };
  const fits = isRecord(held) ? type !== 'list' : Array.isArray(held) && type !== 'object' && held.every(isRecord);
  if (!fits) return `${kindOf(held)} as "${answer.key}"`;
  return isRecord(held) && type === 'object' && !hasAny(held, fields) ? `an empty "${answer.key}"` : undefined;
}

const hasAny = (json: Fields, promised: object): boolean =>
  Object.keys(promised).some((field) => json[field] !== undefined);

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.every(isRecord) ? 'a list' : 'a list of other things than records';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'number' ? 'a number' : 'true or false';
}

export const looksLikeHtml = (body: string): boolean => /^\s*<(?:!doctype|html|head|body)\b/iu.test(body);
