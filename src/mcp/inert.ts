import { sanitize } from '../text/sanitize.ts';

/** Control characters, reordering and hidden text made visible, in keys as in values. */
export function inert(value: unknown): unknown {
  if (typeof value === 'string') return sanitize(value, { keepNewlines: true });
  if (Array.isArray(value)) return value.map(inert);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [sanitize(key), inert(each)]));
}

/** Characters that a value takes in an answer: exact for programs, or made harmless for the model, whichever is longer. */
export const sizeOf = (value: unknown): number =>
  Math.max((JSON.stringify(value) ?? '').length, (JSON.stringify(inert(value)) ?? '').length);

/** Between marks that no text can end, for they are random. */
export const fenced = (text: string, boundary: string): string =>
  `<untrusted-data-${boundary}>\n${text}\n</untrusted-data-${boundary}>`;
