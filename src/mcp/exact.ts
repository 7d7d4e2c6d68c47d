import { invalid } from './tool.ts';

/**
 * The connection reads the numbers of a call before svc does, and has then rounded a long one: another id, another
 * order. What it was is not known any more, so nothing is sent.
 */
export function refuseRounded(input: unknown): void {
  const rounded = roundedIn(input, '');
  if (rounded.length === 0) return;
  throw invalid(Object.fromEntries(rounded.map((path) => [path, [inQuotes]])));
}

const inQuotes =
  'holds a number that was rounded on its way, for a number keeps no more than 16 digits: write it in quotes';

function roundedIn(value: unknown, path: string): string[] {
  if (typeof value === 'number') return isRounded(value) ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, held]) => roundedIn(held, path ? `${path}.${key}` : key));
}

const isRounded = (value: number): boolean =>
  !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
