import * as v from 'valibot';
import type { Schema } from './operation.ts';

/** Messages by field, with dotted paths: the service's own shape of a validation error. */
export type FieldErrors = Record<string, string[]>;

export type Checked<S extends Schema> =
  | { readonly ok: true; readonly value: v.InferOutput<S> }
  | { readonly ok: false; readonly fields: FieldErrors };

/** Judges a value by a schema of the table. An error on the value as a whole has the field name ''. */
export function check<S extends Schema>(schema: S, value: unknown): Checked<S> {
  const result = v.safeParse(chosen(schema, value), value);
  if (result.success) return { ok: true, value: result.output };
  const fields: FieldErrors = {};
  for (const issue of result.issues) {
    const path = v.getDotPath(issue) ?? '';
    const message = sentence(issue);
    const messages = fields[path] ?? [];
    if (!messages.includes(message)) fields[path] = [...messages, message];
  }
  return { ok: false, fields };
}

/**
 * A body that may be one of two objects (createContacts) is judged by the one whose first field it carries, so that
 * the errors speak of what was meant and not of both.
 */
function chosen(schema: Schema, value: unknown): Schema {
  if (schema.type !== 'union' || typeof value !== 'object' || value === null) return schema;
  const options = (schema as unknown as { options: readonly Schema[] }).options;
  const meant = options.find((option) => {
    const first = Object.keys((option as unknown as { entries?: object }).entries ?? {})[0];
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
  return `must be ${nouns[expected] ?? expected.replaceAll('"', '').replaceAll(' | ', ', ')}`;
}
