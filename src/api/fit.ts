import type { Schema } from './operation.ts';
import { type Shape, shapeOf } from './shape.ts';

/**
 * What a schema of answers promises, for whoever shows it to people: a field that is missing or of another kind becomes
 * an empty text, an empty list, null where that is allowed, else undefined. Unknown fields are left out. The record
 * itself stays as the service sent it.
 */
export const fitted = (schema: Schema, value: unknown): unknown => shaped(shapeOf(schema), value);

function shaped(shape: Shape, value: unknown): unknown {
  if (shape.nullable && (value === null || value === undefined)) return null;
  switch (shape.type) {
    case 'text':
      if (typeof value === 'string') return value;
      return shape.nullable ? null : '';
    case 'number':
    case 'integer':
      return typeof value === 'number' ? value : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'list':
      return Array.isArray(value) && shape.item
        ? value.filter(isFilled).map((item) => shaped(shape.item ?? shape, item))
        : [];
    case 'object':
      return isObject(value) || !shape.nullable ? fitFields(shape, isObject(value) ? value : {}) : null;
    default:
      return value;
  }
}

const fitFields = ({ fields = {} }: Shape, value: Readonly<Record<string, unknown>>): unknown =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, shaped(field, value[name])]));

const isFilled = (value: unknown): boolean => value !== null && value !== undefined;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
