import { countOf } from '../../text/each.ts';
import { noRequest, type Plan } from '../rows/plan.ts';
import type { Match, OpenMatches } from './match-table.ts';

const isSettled = ({ rowStatus }: Match): boolean => rowStatus.status === 'done' || rowStatus.status === 'rejected';

/**
 * Where twice is once: takes out of the matches the settled rows that do not stand, and with each row that is sent all
 * later ones for its record, so that the last one is written last. Returns what the journal calls those. Reads the file as far as
 * rows are settled.
 */
export async function unsettle(
  plan: Pick<Plan, 'refs' | 'read'>,
  matches: OpenMatches,
  stands: (ref: string, match: Match) => boolean,
): Promise<readonly string[]> {
  const again: string[] = [];
  const records = new Set<string>();
  let left = countOf(matches, ([ref, match]) => isSettled(match) && plan.refs.get(ref) !== noRequest);
  if (left === 0) return again;
  for await (const batch of plan.read()) {
    for (const { ref, keys } of batch) {
      const match = matches.get(ref);
      const wasSettled = match !== undefined && isSettled(match);
      if (wasSettled) left--;
      if (wasSettled && stands(ref, match) && !keys.some((key) => records.has(key))) continue;
      for (const key of keys) records.add(key);
      if (!wasSettled) continue;
      matches.delete(ref);
      again.push(match.key);
    }
    if (left === 0) break;
  }
  return again;
}
