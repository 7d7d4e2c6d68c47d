import type { Found } from './journals-on-disk.ts';
import { type Match, type Matches, matchTable, type OpenMatches } from './match-table.ts';
import { isOtherRequest } from './other-request.ts';
import { noRequest, type Plan } from './plan.ts';

/** What the person wants of rows that were sent before. */
export type Wish = {
  /** Send the whole file again. */
  readonly restart: boolean;
  /** Send again what was sent from other files, or as another request. */
  readonly again: boolean;
};

/** What becomes of rows that earlier runs speak of. */
export type Chosen = {
  readonly matches: Matches;
  readonly resent: Matches;
  /** What no earlier journal counts for any more. */
  readonly voided: { readonly rows: readonly string[]; readonly settings: readonly string[] } | undefined;
};

type Choice = {
  readonly matches: OpenMatches;
  readonly works: readonly Found[];
  readonly found: Found | undefined;
  readonly plan: Plan;
  readonly wish: Wish;
  readonly settings: string;
};

export function choose({ matches, works, found, plan, wish, settings }: Choice): Chosen {
  const goesAgain = (ref: string, match: Match) => {
    const request = plan.refs.get(ref);
    if (request === noRequest) return false;
    return wish.restart || (wish.again && (match.from !== found || isOtherRequest(match, request)));
  };
  const resent = matchTable(plan.refs);
  const isTwice = plan.row.operation.safety !== 'repeatable';
  const left = wish.restart ? works : [];
  const rows = new Set<string>();
  for (const [ref, match] of wish.restart || wish.again ? matches : []) {
    if (!goesAgain(ref, match)) continue;
    rows.add(match.key);
    if (isTwice && match.fate.status !== 'rejected') resent.set(ref, match);
    matches.delete(ref);
  }
  for (const { past } of left) {
    for (const key of past.fates.keys()) if (plan.refs.has(key) || past.header.svc_bulk === 1) rows.add(key);
  }
  return {
    matches,
    resent,
    voided: rows.size === 0 ? undefined : { rows: [...rows], settings: [settings, ...left.map(settingsOf)] },
  };
}

const settingsOf = ({ past }: Found): string => past.header.settings;
