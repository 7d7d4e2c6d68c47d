/**
 * Whether a parsed JSON value nests deeper than `most` levels. Looks no deeper than that, so it never runs out of stack
 * itself. Of the value, not of its text: an answer has far fewer values than characters.
 */
export function isDeeperThan(most: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (most === 0) return true;
  const held = Array.isArray(value) ? value : Object.values(value);
  return held.some((one) => typeof one === 'object' && isDeeperThan(most - 1, one));
}
