import type { Fields } from '../text/record.ts';
import { sanitize } from '../text/sanitize.ts';
import { cut } from '../text/width.ts';
import { typedName } from './typed-name.ts';

/** Longer than this, a value is told by its beginning. */
const longest = 60;

/** What a write changed, in words: "priority is 4, due at is cleared". */
export const changes = (body: Fields): string =>
  Object.entries(body)
    .map(([field, value]) => `${typedName(field).replaceAll('-', ' ')} ${worth(value)}`)
    .join(', ');

function worth(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'is cleared';
  if (value === '') return 'is empty';
  return `is ${cut(sanitize(inWords(value)), longest)}`;
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, inner]) => `${key}=${inWords(inner)}`)
    .join(', ');
}
