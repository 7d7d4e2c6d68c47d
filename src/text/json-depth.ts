import { isRecord } from './record.ts';

/**
 * Whether a parsed JSON value nests deeper than `most` levels. Looks no deeper than that, so it never runs out of stack
 * itself. Of the value, not of its text: an answer has far fewer values than characters.
 */
export function isDeeperThan(most: number, value: unknown): boolean {
  if (Array.isArray(value)) return most === 0 || value.some((one) => isDeeperThan(most - 1, one));
  if (!isRecord(value)) return false;
  if (most === 0) return true;
  // Not a list of the values: every answer goes through here, and it would be thrown away at once.
  for (const key in value) if (isDeeperThan(most - 1, value[key])) return true;
  return false;
}
