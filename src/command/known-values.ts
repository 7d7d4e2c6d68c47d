import { nearest } from '../text/near.ts';
import { sanitize } from '../text/sanitize.ts';

/** A value that is refused: what is wrong with it, as `does not know "opne"`, and what to do. */
type Slip = { readonly problem: string; readonly hint: string };

/**
 * Of a field with values that the document names, where others may exist: one of them with a slip of the finger, or
 * several at once. An empty list would be taken for an answer.
 */
export function slipIn(text: string, known: readonly string[]): Slip | undefined {
  if (known.includes(text)) return undefined;
  const meant = nearest(text, known);
  if (meant !== undefined) return { problem: `does not know "${text}"`, hint: `Did you mean ${meant}?` };
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
