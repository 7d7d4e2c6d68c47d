import * as v from 'valibot';
import type { Schema } from './operation.ts';
import type { AnySchema } from './shape.ts';

/** Messages by field, with dotted paths: the service's own shape of a validation error. */
export type FieldErrors = Record<string, string[]>;

export type Checked<S extends Schema> =
  | { readonly ok: true; readonly value: v.InferOutput<S> }
  | { readonly ok: false; readonly fields: FieldErrors };

/** Judges a value by a schema of the table. An error on the value as a whole has the field name ''. */
export function check<S extends Schema>(schema: S, value: unknown): Checked<S> {
  const meant = chosen(schema, value);
  const result = v.safeParse(meant, value);
  const lists = result.success ? listsForObjects(meant, value, { empty: 'refused' }) : [];
  if (result.success && lists.length === 0) return { ok: true, value: withEveryKey(meant, result.output, value) };
  // Own data may have keys such as `constructor`, so no object is asked for them.
  const fields = new Map(lists.map((path) => [path, ['must be an object']]));
  for (const issue of result.issues ?? []) {
    const path = v.getDotPath(issue) ?? '';
    const message = sentence(issue);
    const messages = fields.get(path) ?? [];
    if (!messages.includes(message)) fields.set(path, [...messages, message]);
  }
  return { ok: false, fields: Object.fromEntries(fields) };
}

/**
 * Where `value` has a list in the place of an object: valibot takes any list for an object. In an answer an empty one
 * passes, since services that make no difference between the two write an empty object so.
 */
export const listsForObjects = (schema: Schema, value: unknown, { empty }: Strictness): string[] =>
  walk(schema, value, '', { isEmptyFine: empty === 'taken', found: [] });

type Strictness = { readonly empty: 'taken' | 'refused' };
type Walk = { readonly isEmptyFine: boolean; readonly found: string[] };

function walk(schema: AnySchema, value: unknown, path: string, { isEmptyFine, found }: Walk): string[] {
  if (typeof value !== 'object' || value === null) return found;
  let inner = schema;
  while (inner.wrapped) inner = inner.wrapped;
  const isList = Array.isArray(value);
  if (isList && inner.type !== 'array') {
    if ((value.length > 0 || !isEmptyFine) && objectTypes.includes(inner.type)) found.push(path);
    return found;
  }
  for (const [key, held] of Object.entries(value)) {
    if (typeof held !== 'object') continue;
    const { item, entries = {} } = inner;
    const own = Object.hasOwn(entries, key) ? entries[key] : undefined;
    const child = isList ? item : own;
    if (child) walk(child, held, path ? `${path}.${key}` : key, { isEmptyFine, found });
  }
  return found;
}

const leftOut = ['__proto__', 'constructor', 'prototype'];

/**
 * valibot leaves keys out that JavaScript's own objects have. Among the fields of a schema that is right; in data of the
 * caller's, which any key may name, `constructor` is a key like any other. Changes `output`, which is valibot's own copy.
 */
function withEveryKey(schema: AnySchema, output: unknown, given: unknown): unknown {
  let inner = schema;
  while (inner.wrapped) inner = inner.wrapped;
  if (typeof output !== 'object' || output === null || typeof given !== 'object' || given === null) return output;
  if (inner.type === 'record') return leftOut.some((key) => Object.hasOwn(given, key)) ? given : output;
  const { item, entries = {} } = inner;
  if (Array.isArray(output)) {
    if (item) for (const [at, one] of output.entries()) output[at] = withEveryKey(item, one, Reflect.get(given, at));
    return output;
  }
  for (const [key, child] of Object.entries(entries)) {
    const held: unknown = Reflect.get(output, key);
    if (typeof held === 'object') Reflect.set(output, key, withEveryKey(child, held, Reflect.get(given, key)));
  }
  return output;
}

const objectTypes = ['object', 'loose_object', 'record'];

/** What valibot's schemas of a choice hold besides. */
type Choosing = Schema & { readonly options?: readonly (Schema & { readonly entries?: object })[] };

/**
 * A body that may be one of two objects (createContacts) is judged by the one whose first field it carries, so that
 * the errors are about the one that was meant.
 */
function chosen(schema: Schema, value: unknown): Schema {
  if (schema.type !== 'union' || typeof value !== 'object' || value === null) return schema;
  const { options = [] }: Choosing = schema;
  if (Array.isArray(value)) return options.find(({ type }) => type === 'array') ?? options.at(-1) ?? schema;
  const meant = options.find((option) => {
    const first = Object.keys(option.entries ?? {})[0];
    return first !== undefined && first in value;
  });
  return meant ?? options.at(-1) ?? schema;
}

const nouns: Record<string, string> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  Array: 'a list',
  Object: 'an object',
};

/** Our own messages stand as they are; valibot's type errors become a sentence. */
function sentence(issue: v.BaseIssue<unknown>): string {
  if (!issue.message.startsWith('Invalid ')) return issue.message;
  if (issue.received === 'undefined') return 'is required';
  if (issue.type === 'integer') return 'must be a whole number';
  if (issue.type === 'min_value') return `must be at least ${issue.requirement}`;
  if (issue.type === 'max_value') return `must be at most ${issue.requirement}`;
  const expected = issue.expected ?? '';
  const kinds = expected
    .replace(/^\((.*)\)$/u, '$1')
    .replaceAll('"', '')
    .split(' | ');
  return `must be ${kinds.map((kind) => nouns[kind] ?? kind).join(' or ')}`;
}
