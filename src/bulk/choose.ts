import type { Found } from './journals-on-disk.ts';
import { isOtherRequest } from './other-request.ts';
import { noRequest, type Plan } from './plan.ts';
import type { Match } from './weigh.ts';

/** What the person wants of rows that were sent before. */
export type Wish = {
  /** Send the whole file again. */
  readonly restart: boolean;
  /** Send again what was sent from other files, or as another request. */
  readonly again: boolean;
};

/** What becomes of rows that earlier runs speak of. */
export type Chosen = {
  readonly matches: ReadonlyMap<string, Match>;
  readonly resent: readonly Match[];
  /** What no earlier journal counts for any more. */
  readonly voided: { readonly rows: readonly string[]; readonly settings: readonly string[] } | undefined;
};

type Choice = {
  readonly matches: ReadonlyMap<string, Match>;
  readonly works: readonly Found[];
  readonly found: Found | undefined;
  readonly plan: Plan;
  readonly wish: Wish;
  readonly settings: string;
};

export function choose({ matches, works, found, plan, wish, settings }: Choice): Chosen {
  const goesAgain = ([ref, match]: readonly [string, Match]) => {
    const request = plan.refs.get(ref);
    if (request === noRequest) return false;
    return wish.restart || (wish.again && (match.from !== found || isOtherRequest(match, request)));
  };
  const kept = new Map([...matches].filter((one) => !goesAgain(one)));
  const again = [...matches].filter(goesAgain).map(([, match]) => match);
  const left = wish.restart ? works : [];
  const rows = new Set(again.map(({ key }) => key));
  for (const { past } of left) {
    for (const key of past.fates.keys()) if (plan.refs.has(key) || past.header.svc_bulk === 1) rows.add(key);
  }
  const isTwice = plan.row.operation.safety !== 'repeatable';
  return {
    matches: kept,
    resent: isTwice ? again.filter(({ fate }) => fate.status !== 'rejected') : [],
    voided: rows.size === 0 ? undefined : { rows: [...rows], settings: [settings, ...left.map(settingsOf)] },
  };
}

const settingsOf = ({ past }: Found): string => past.header.settings;
