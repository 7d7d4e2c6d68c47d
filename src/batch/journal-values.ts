import { jsonIn } from '../text/json.ts';

/** What a line of a journal may hold: it is judged before it is believed. */
export const isCount = (value: unknown): boolean =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
export const isText = (value: unknown): value is string => typeof value === 'string';
export const isTime = (value: unknown): boolean => isText(value) && !Number.isNaN(Date.parse(value));

/** A line of a journal; undefined for what is none. */
export function lineIn<L>(text: string, isLine: (line: unknown) => line is L): L | undefined {
  const line = jsonIn(text);
  return isLine(line) ? line : undefined;
}
