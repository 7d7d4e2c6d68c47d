import { countOf } from '../../text/each.ts';
import { isInDoubt, isUnsettled } from '../journal/ended-table.ts';
import { formerName } from '../journal/going.ts';
import type { Again, Named } from '../journal/lines.ts';
import type { Found } from '../journal/on-disk.ts';
import { isRepeatable, noRequest, type Plan } from '../rows/plan.ts';
import { type Drafted, fateOf } from './drafted.ts';
import type { Judges } from './judges.ts';
import { type Match, type Matches, matchTable, type OpenMatches } from './match-table.ts';
import { isOtherRequest } from './other-request.ts';
import type { Senders } from './senders.ts';

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
  /** Beside those: what a person rejected, and where twice is once. */
  readonly again: Matches;
  /** With --again: what earlier runs call a row that goes once more. From when it goes they count no more. */
  readonly namesOf: (ref: string) => readonly Named[];
  /** What no earlier journal counts for any more from now on. */
  readonly voided: readonly Again[];
  /** With --restart: what rows went as before, where they go as another request now, by the names that it has from now on. */
  readonly former: Iterable<readonly [name: string, match: Match]>;
};

type Choice = {
  readonly matches: OpenMatches;
  readonly judges: Judges;
  readonly works: readonly Found[];
  readonly plan: Plan;
  readonly wish: Wish;
  readonly drafted: Drafted;
  readonly settings: string;
  readonly goesAgain: Goes;
};

export function choose(choice: Choice): Chosen {
  const { matches, judges, works, plan, wish, drafted, settings, goesAgain } = choice;
  const [resent, again] = [matchTable(plan.refs), matchTable(plan.refs)];
  const isTwice = !isRepeatable(plan);
  const others = judges.all.filter(({ past }) => past.header.settings !== settings);
  const namesBy = (ref: string, { from, key }: Pick<Match, 'from' | 'key'>): Named[] => {
    const request = plan.refs.get(ref);
    const also = others.filter(({ past }) => past.rowStatuses.get(ref)?.is === request);
    const names = also.map((other): Named => [settingsOf(other), ref]);
    if (others.includes(from)) names.push([settings, ref]);
    // Of equal rows another one has that name in this file, and may stay.
    else if (key !== ref && plan.refs.has(key)) return names;
    return [...names, [settingsOf(from), key]];
  };
  function* restarted() {
    for (const [ref, match] of wish.restart ? again : []) yield* namesBy(ref, match);
  }
  function* former() {
    for (const [ref, match] of wish.restart && isTwice ? again : []) {
      const { is, status } = match.rowStatus;
      const isKept = status === 'done' || fateOf(drafted, match) !== undefined;
      if (isKept && is !== undefined && is !== plan.refs.get(ref)) yield [formerName(ref, is), match] as const;
    }
  }
  for (const [ref, match] of wish.restart || wish.again ? matches : []) {
    const request = plan.refs.get(ref);
    if (!wish.restart && !goesAgain(ref, match)) continue;
    matches.delete(ref);
    // It cannot go as it stands in the file, and the run says why.
    if (request === noRequest) continue;
    again.set(ref, match);
    if ((isTwice || fateOf(drafted, match) === 'open') && match.rowStatus.status !== 'rejected') resent.set(ref, match);
  }
  return {
    matches,
    resent,
    again,
    namesOf: (ref) => {
      const match = wish.restart ? undefined : again.get(ref);
      const request = plan.refs.get(ref);
      // What became of another request stays so, also where a person rejected its draft.
      const isOther = ([its, row]: Named) =>
        judges.all.some(({ past: { header, rowStatuses } }) => {
          const is = header.settings === its ? rowStatuses.get(row)?.is : undefined;
          return is !== undefined && is !== request;
        });
      return match ? namesBy(ref, match).filter((name) => !isOther(name)) : [];
    },
    voided: voidedBy(restarted(), wish.restart ? works : [], { plan, settings }),
    former: { [Symbol.iterator]: former },
  };
}

/** Whether --again sends a row once more, of which an earlier run says that much. */
export type Goes = (ref: string, match: Match) => boolean;

type Judged = {
  readonly found: Found | undefined;
  /** The rows of `found` were sent from other files. */
  readonly isCopy: boolean;
  readonly plan: Pick<Plan, 'refs'>;
  readonly drafted: Drafted;
  readonly senders: Senders;
};

/**
 * With --again goes what this file has not sent with the request that it has now: what was sent from other files or as
 * another request, or was a draft that a person rejected.
 */
export function againIn({ found, isCopy, plan, drafted, senders }: Judged): Goes {
  // Where no journal tells who has sent a row, it is of the journal that knows it.
  const isOfOthers = (ref: string, { from, rowStatus: { status } }: Match) =>
    from !== found || (status === 'done' && (isCopy || senders.isSent(ref)));
  // A run of another file has looked for what this one had sent, and found it.
  const isFoundSince = (ref: string) => isUnsettled(found?.past.rowStatuses.get(ref));
  return (ref, match) => {
    const request = plan.refs.get(ref);
    const fate = fateOf(drafted, match);
    if (senders.isOwn(ref)) return false;
    if (fate === 'rejected') return true;
    // Only who begins the whole file again sends beside a draft that waits.
    if (fate === 'open') return isOtherRequest(match, request);
    // What may or may not be done, --retry-unknown alone sends again.
    if (isUnsettled(match.rowStatus)) return false;
    return (
      isOtherRequest(match, request) || (!isInDoubt(match.rowStatus) && isOfOthers(ref, match) && !isFoundSince(ref))
    );
  };
}

/** Of a file that is begun again: by the settings of the runs that know its rows. */
function voidedBy(
  names: Iterable<Named>,
  left: readonly Found[],
  { plan, settings }: Pick<Choice, 'plan' | 'settings'>,
): Again[] {
  const rows = new Set<string>();
  const elsewhere = new Map<string, Set<string>>();
  for (const [its, row] of names) {
    if (its === settings) rows.add(row);
    else elsewhere.set(its, (elsewhere.get(its) ?? new Set()).add(row));
  }
  for (const { past } of left) {
    for (const key of past.rowStatuses.keys()) if (plan.refs.has(key) || past.header.svc_bulk === 1) rows.add(key);
  }
  return [
    ...(rows.size === 0 ? [] : [{ rows: [...rows], settings: [settings, ...left.map(settingsOf)] }]),
    ...[...elsewhere].map(([its, some]) => ({ rows: [...some], settings: [its], elsewhere: true as const })),
  ];
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
