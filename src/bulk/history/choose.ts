import { countOf } from '../../text/each.ts';
import { isInDoubt, isUnsettled } from '../journal/ended-table.ts';
import { type Again, likeIn, type Named, type RowStatus } from '../journal/lines.ts';
import type { Found } from '../journal/on-disk.ts';
import { voidKey } from '../journal/reader.ts';
import { isRepeatable, noRequest, type Plan } from '../rows/plan.ts';
import { type Drafted, fateOf } from './drafted.ts';
import { goingOn, lastSent } from './going-on.ts';
import type { Judges } from './judges.ts';
import { type Goes, type Match, type Matches, matchTable, type OpenMatches } from './match-table.ts';
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
  /** This run was told to send them again. Else it goes on with one that was. */
  readonly isAsked: boolean;
  /** Undefined where this run does not go on with a --restart. */
  readonly goesOn: Goes | undefined;
  /** What earlier runs call a row that goes once more. From when it goes they count no more. `like`: as of its line. */
  readonly namesOf: (ref: string, like?: string) => readonly Named[];
  /** What no earlier journal counts for any more from now on. */
  readonly voided: readonly Again[];
  /** With --restart: of which rows nothing counts any more for the runs that go on with this one, and what is sent for each. */
  readonly restarted: { readonly rows: readonly string[]; readonly is: readonly string[] };
  /** The run that has sent a row, as far as any journal says. */
  readonly sentBy: (ref: string, match: Match) => number;
};

type Choice = {
  readonly matches: OpenMatches;
  readonly judges: Judges;
  readonly works: readonly Found[];
  /** Of those that tell of a --restart: with which this file goes on. */
  readonly restarts: readonly Found[];
  readonly plan: Plan;
  readonly file: string | null;
  readonly wish: Wish;
  readonly drafted: Drafted;
  readonly settings: string;
  readonly goesAgain: Goes;
};

export function choose(choice: Choice): Omit<Chosen, 'voided'> {
  const { matches, judges, works, restarts, plan, file, wish, drafted, settings, goesAgain } = choice;
  const [resent, again] = [matchTable(plan.refs), matchTable(plan.refs)];
  const isTwice = !isRepeatable(plan);
  const isAsked = wish.restart || wish.again;
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
  const goesOn = goingOn({ restarts, all: judges.all, plan, file, matches });
  for (const [ref, match] of isAsked || goesOn ? matches : []) {
    const request = plan.refs.get(ref);
    // What may be done, --retry-unknown alone sends.
    const isBegun = !isUnsettled(match.rowStatus) && (goesOn?.goes(ref, match) ?? false);
    if (!wish.restart && !isBegun && !(wish.again && goesAgain(ref, match))) continue;
    // Since then it was refused.
    const settledIn = isBegun && !wish.restart ? goesOn?.settledIn(ref) : undefined;
    if (settledIn) {
      matches.set(ref, { key: ref, from: settledIn });
      continue;
    }
    // It cannot go as it stands in the file, and the run says why. What may be done already may be so still.
    if (request === noRequest && isUnsettled(match.rowStatus)) continue;
    matches.delete(ref);
    if (request === noRequest) continue;
    again.set(ref, match);
    const isOpen = isTwice || fateOf(drafted, match) === 'open';
    // What goes on was asked for when it began.
    if (isAsked && isOpen && match.rowStatus.status !== 'rejected') resent.set(ref, match);
  }
  return {
    matches,
    resent,
    again,
    isAsked,
    goesOn: goesOn?.goes,
    sentBy: (ref, match) => match.from.past.rowStatuses.sentBy(match.key) || lastSent(judges.all, ref, match),
    namesOf: (ref, like) => {
      const match = again.get(ref);
      const goes = { request: plan.refs.get(ref), like };
      const names = match ? namesBy(ref, match).flatMap((name) => countingNoMore(judges.all, name, goes)) : [];
      return withDrafts(judges.all, names, goes.request);
    },
    restarted: wish.restart ? restartedIn(again, works, plan) : { rows: [], is: [] },
  };
}

/** What became of another request stays so, unless it is in doubt, and what goes now is like it. */
function countingNoMore(
  all: readonly Found[],
  [settings, row]: Named,
  { request, like }: { readonly request: string | undefined; readonly like: string | undefined },
): Named[] {
  const named = all.flatMap((one) => (settingsOf(one) === settings ? (one.past.rowStatuses.get(row) ?? []) : []));
  const stays = (one: RowStatus) =>
    one.is !== undefined && one.is !== request && !(like !== undefined && isUnsettled(one) && likeIn(one) === like);
  if (!named.some(stays)) return [[settings, row]];
  return named.flatMap((one): Named[] => (stays(one) || one.is === undefined ? [] : [[settings, row, one.is]]));
}

/**
 * Beside a draft it goes in the place of all that the draft was to take the place of: once the draft itself counts no more, nobody
 * else tells of that.
 */
function withDrafts(all: readonly Found[], names: readonly Named[], request: string | undefined): Named[] {
  const replaced = ([settings, row]: Named) =>
    all.flatMap((one) => {
      const { is = request } = one.past.rowStatuses.get(row) ?? {};
      return settingsOf(one) === settings && is === request ? (one.past.going.get(row)?.again ?? []) : [];
    });
  const every = names.flatMap((name) => [name, ...replaced(name)]);
  return [...new Map(every.map((name) => [voidKey(...name), name])).values()];
}

/**
 * What a run that begins the file again says before the first row goes: all of its rows, since also one that is new may be like
 * one that was sent. What is in doubt --retry-unknown alone sends, once this run is stopped.
 */
function restartedIn(again: Matches, works: readonly Found[], { refs }: Pick<Plan, 'refs'>): Chosen['restarted'] {
  const rows = [...refs].map(([row]) => row);
  const is = [...refs].map(([row, request]) => (isUnsettled(again.get(row)?.rowStatus) ? noRequest : request));
  for (const { past } of works)
    for (const key of past.rowStatuses.keys()) if (!refs.has(key) && past.header.svc_bulk === 1) rows.push(key);
  return { rows, is };
}

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
