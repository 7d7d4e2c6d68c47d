import type { Schema } from '../api/operation.ts';
import { fieldsOf } from '../api/shape.ts';

const whole = /^-?\d+$/u;

/**
 * The query string as the values that its schema judges: numbers where the table has numbers. What is no number stays
 * text, so that the schema refuses it by name. An empty value is an absent one, the last of several counts.
 */
export function parseQuery(schema: Schema, search: string): Record<string, unknown> {
  const fields = fieldsOf(schema);
  const values: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field || value === '') continue;
    const isNumber = field.type === 'integer' || field.type === 'number';
    values[name] = isNumber && whole.test(value) ? Number(value) : value;
  }
  return values;
}
