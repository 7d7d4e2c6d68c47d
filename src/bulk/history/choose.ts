import { countOf } from '../../text/each.ts';
import { isInDoubt, isUnsettled } from '../journal/ended-table.ts';
import type { Again } from '../journal/lines.ts';
import type { Found } from '../journal/on-disk.ts';
import { isRepeatable, noRequest, type Plan } from '../rows/plan.ts';
import { type Drafted, fateOf } from './drafted.ts';
import type { Judges } from './judges.ts';
import { type Match, type Matches, matchTable, type OpenMatches } from './match-table.ts';
import { isOtherRequest } from './other-request.ts';

/** What the person wants of rows that were sent before. */
export type Wish = {
  /** Send the whole file again. */
  readonly restart: boolean;
  /** Send again what was sent from other files, or as another request, or was a draft that a person rejected. */
  readonly again: boolean;
};

/** What becomes of rows that earlier runs speak of. */
export type Chosen = {
  readonly matches: Matches;
  readonly resent: Matches;
  /** What no earlier journal counts for any more. */
  readonly voided: readonly Again[];
};

type Choice = {
  readonly matches: OpenMatches;
  readonly judges: Judges;
  readonly works: readonly Found[];
  readonly found: Found | undefined;
  /** The rows of `found` were sent from other files. */
  readonly isCopy: boolean;
  readonly plan: Plan;
  readonly wish: Wish;
  readonly drafted: Drafted;
  readonly settings: string;
};

export function choose({ matches, judges, works, found, isCopy, plan, wish, drafted, settings }: Choice): Chosen {
  const goesAgain = (match: Match, request: string | undefined) => {
    const { rowStatus, from } = match;
    const fate = fateOf(drafted, match);
    // Only who begins the whole file again sends beside a draft that waits.
    if (wish.restart || fate === 'rejected') return true;
    if (fate === 'open') return isOtherRequest(match, request);
    // What may or may not be done, --retry-unknown alone sends again.
    if (isUnsettled(rowStatus)) return false;
    if (isOtherRequest(match, request)) return true;
    return !isInDoubt(rowStatus) && (from !== found || (isCopy && rowStatus.status === 'done'));
  };
  const resent = matchTable(plan.refs);
  const isTwice = !isRepeatable(plan);
  const left = wish.restart ? works : [];
  const rows = new Set<string>();
  const elsewhere = new Map<string, Set<string>>();
  const others = judges.all.filter(({ past }) => past.header.settings !== settings);
  const voidElsewhere = (from: Found, row: string) => {
    const { settings: its } = from.past.header;
    elsewhere.set(its, (elsewhere.get(its) ?? new Set()).add(row));
  };
  for (const [ref, match] of wish.restart || wish.again ? matches : []) {
    const request = plan.refs.get(ref);
    if (!goesAgain(match, request)) continue;
    matches.delete(ref);
    // It cannot go as it stands in the file, and the run says why.
    if (request === noRequest) continue;
    const isElsewhere = others.includes(match.from);
    rows.add(isElsewhere ? ref : match.key);
    if (isElsewhere) voidElsewhere(match.from, match.key);
    for (const from of others) if (from.past.rowStatuses.get(ref)?.is === request) voidElsewhere(from, ref);
    if ((isTwice || fateOf(drafted, match) === 'open') && match.rowStatus.status !== 'rejected') resent.set(ref, match);
  }
  for (const { past } of left) {
    for (const key of past.rowStatuses.keys()) if (plan.refs.has(key) || past.header.svc_bulk === 1) rows.add(key);
  }
  return {
    matches,
    resent,
    voided: [
      ...(rows.size === 0 ? [] : [{ rows: [...rows], settings: [settings, ...left.map(settingsOf)] }]),
      ...[...elsewhere].map(([its, some]) => ({ rows: [...some], settings: [its], elsewhere: true as const })),
    ],
  };
}

const settingsOf = ({ past }: Found): string => past.header.settings;

const isSettled = ({ rowStatus }: Match): boolean => rowStatus.status === 'done' || rowStatus.status === 'rejected';

/**
 * Where twice is once: takes out of the matches the settled rows that do not stand, and with each row that is sent all
 * later ones for its record, so that the last one is written last. Returns what the journal calls those. Reads the file as far as
 * rows are settled. What became a draft goes on by that draft alone.
 */
export async function unsettle(
  plan: Pick<Plan, 'refs' | 'read'>,
  matches: OpenMatches,
  stands: (ref: string, match: Match) => boolean,
  drafted: Drafted,
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
      if (wasSettled && fateOf(drafted, match) !== undefined) continue;
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
