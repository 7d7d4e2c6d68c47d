import { nearHint } from '../text/near.ts';
import { sanitize } from '../text/sanitize.ts';

/**
 * Of a field with values that the document names, where others may exist: one of them with a slip of the finger, or
 * several at once. An empty list would be taken for an answer. `problem`: behind the field's name, as `does not know "opne"`.
 */
export function slipIn(text: string, known: readonly string[]) {
  if (known.includes(text)) return undefined;
  const hint = nearHint(text, known);
  if (hint !== undefined) return { problem: `does not know "${text}"`, hint };
  const parts = text.split(/[,\s]+/u).filter(Boolean);
  if (parts.length < 2 || !parts.some((part) => known.includes(part))) return undefined;
  const wide = known.includes('unresolved') ? '; unresolved is all that still need work' : '';
  return { problem: `takes one value, not "${text}"`, hint: `Give one of ${known.join(', ')}${wide}.` };
}

/** The warning about one that the document does not name, and that is sent as it is; `by`: the flag or field. */
export const doubtOf = (text: string, known: readonly string[], by: string): string | undefined =>
  known.includes(text)
    ? undefined
    : `Warning: ${by} ${sanitize(text)} is not one of ${known.join(', ')}; the service decides.`;
