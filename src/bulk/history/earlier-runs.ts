import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { JournalFolder } from '../../batch/journal-folder.ts';
import type { Clock } from '../../context.ts';
import { isHeld } from '../../disk/lock/lock.ts';
import type { Draft } from '../../sends/draft.ts';
import { someOf } from '../../text/each.ts';
import { forgetRows, freeLock, refuseCommon, refuseDeleted } from '../journal/claims.ts';
import { copiesElsewhere, hasArrived, type Moment } from '../journal/copies.ts';
import { isAnyUnsettled, isUnsure } from '../journal/ended-table.ts';
import { likeIn } from '../journal/lines.ts';
import { type Found, type Identity, journalsOnDisk, keysOf, newName } from '../journal/on-disk.ts';
import { overtakenIn } from '../journal/overtaken.ts';
import type { Present } from '../journal/reader.ts';
import { isRepeatable, mayBeOverwritten, type Plan } from '../rows/plan.ts';
import { alikeRows } from './alike.ts';
import { againIn, type Chosen, choose, unsettle, type Wish } from './choose.ts';
import { type Drafted, drafted, fateOf, standAsSent } from './drafted.ts';
import { goneOnWith, isOvertaken } from './going-on.ts';
import { type Grown, grownRows, matchCounted } from './grown.ts';
import { type Judges, judgesOf } from './judges.ts';
import type { Goes, Match, Matches } from './match-table.ts';
import { isOtherRequest, otherRequests } from './other-request.ts';
import { otherWork } from './other-work.ts';
import { hasOthers, nobody, type Senders, sendersOf } from './senders.ts';
import { notTheSame, ofStrangers } from './strange.ts';
import { isCopied, isOpen, matchRows, ownJournal, type Sides } from './weigh.ts';

/** A record that an earlier run has made. `of`: the ticket of a note. */
export type MadeBefore = { readonly id: number; readonly of?: number };

/** What earlier runs say of the rows of a file. */
export type Known = {
  /** The journal that this run goes on in. */
  readonly own: Found | undefined;
  /** Where it goes on in none: the stopped --restart of this very file that has sent rows, of which it has none. */
  readonly stopped: Found | undefined;
  /** Its rows were sent from other files. */
  readonly isCopy: boolean;
  /** What earlier runs say of a row, by its `ref`; rows that are to go again are left out. */
  readonly matches: Matches;
  /** Rows that are new, and hold what was sent before. */
  readonly grown: readonly Grown[];
  /** Rows that were sent before as another request. */
  readonly others: readonly Grown[];
  /** Rows like one of which nobody knows whether it is done. */
  readonly alike: readonly Grown[];
  /** Rows that were sent before, and are to go again. */
  readonly resent: Matches;
  readonly senders: Senders;
  readonly goesAgain: Goes;
  /** Of those, and of the matches: what became drafts. */
  readonly drafted: Drafted;
};

/** `drafts`: all that are kept where this run keeps its own. */
export type Wanted = Wish & { readonly drafts: () => Promise<readonly Draft[]> };

export type Asked = {
  readonly folder: JournalFolder;
  readonly present: Present;
  readonly clock: Pick<Clock, 'now'>;
  readonly identity: Identity;
  readonly plan: Plan;
  readonly wish: Wanted;
  readonly onlyLooks?: boolean;
};

/** What a run begins from. */
export type EarlierRuns = Awaited<ReturnType<typeof readEarlierRuns>>;

/** The earlier runs of this account and command that have journals here, weighed against the rows of a file. */
export async function readEarlierRuns(asked: Asked) {
  const { folder, present, clock, identity, plan, wish, onlyLooks } = asked;
  const file = identity.file ?? null;
  const sides = { plan, file };
  const isFree = async (lock: string) => !(await isHeld(lock, clock.now().getTime()));
  const busy = await refuseCommon(folder, identity, plan, onlyLooks ? isFree : freeLock);
  if (!wish.restart && !wish.again) await refuseDeleted(folder, identity, plan);
  const disk = await journalsOnDisk(folder, identity, { present, refs: plan.refs });
  const { ours } = disk;
  const decided = await drafted(ours, plan, wish.drafts);
  const keys = keysOf(identity);
  const { settings } = keys;
  const same = ours.filter(({ past }) => past.header.settings === settings);
  const isOnce = isRepeatable(plan);
  const mayBeDone = ({ past }: Found) => isAnyUnsettled(past.rowStatuses);
  // Twice is once, so another list of records is other work, and one that is finished begins again: but for what is said of rows
  // that may be done.
  const goesOn = (one: Found) => !isOnce || ((isOpen(one) || mayBeDone(one)) && one.past.content === plan.content);
  const restarts = goneOnWith(same, ours, sides);
  const isItsOwn = (one: Found) =>
    one.past.restarted.size === 0 || (restarts.includes(one) && !isOvertaken(one, restarts, plan));
  const candidates = same.filter((one) => !busy.has(one.path) && goesOn(one) && isItsOwn(one));
  const found = ownJournal(candidates, sides);
  const isStopped = (one: Found) =>
    isOpen(one) && one.past.rowStatuses.size > 0 && restarts.includes(one) && one.past.files.has(file);
  const works = await otherWork(disk, sides, settings);
  if (works[0] && !found && !wish.restart) throw notTheSame(works[0], plan);
  const now = { ms: clock.now().getTime(), isSure: identity.account.isClockSure };
  const isNeeded = (one: Found) =>
    busy.has(one.path) || mayBeDone(one) || decided.has(one) || (decided.size > 0 && one.past.voided.size > 0);
  if (isOnce && !onlyLooks) await forgetFinished(same, isNeeded, now);
  const { judges, matches, unsettled, overtaken } = await matchAll({ ours, found, sides, plan, decided, settings });
  const strangers = isOnce ? undefined : ofStrangers(disk.strange, plan, matches);
  if (strangers && !wish.again && !wish.restart) throw strangers;
  const isCopy = found !== undefined && isCopied(found, file);
  const isOfOthers = (match: Match) => match.from !== found || fateOf(decided, match) === 'rejected';
  const isAsked = wish.again || (found && hasOthers(found, file)) || someOf(matches.values(), isOfOthers);
  const senders =
    isAsked && !isOnce && !wish.restart
      ? await sendersOf({ folder, journals: ours, found, file, plan, drafts: wish.drafts })
      : nobody;
  standAsSent(matches, decided, ours, senders);
  const goesAgain = againIn({ found, isCopy, plan, drafted: decided, senders });
  const chosen = choose({ matches, judges, works, restarts, ...sides, wish, drafted: decided, settings, goesAgain });
  const own = wish.restart ? undefined : found;
  // What was sent counts for other files until it has gone again, and a draft that waits longer than that.
  const replaces = wish.restart && found && isOnce && !decided.has(found) ? found : undefined;
  // What is settled in one that begins again is none of this run's rows, and may still arrive.
  const goneOn = isOnce && own && !isOpen(own) ? undefined : own;
  const hasCopies = mayBeOverwritten(plan) && !onlyLooks;
  const resembling =
    isOnce || wish.restart
      ? { alike: [], grown: [] }
      : await resemblingRows(plan, { ours, judges, decided, goesOn: chosen.goesOn }, chosen.matches);
  // What has grown takes the place of what it was, also where that was begun again.
  const isLater = wish.restart && restarts.length > 0;
  const less = isLater ? await grownRows(plan, { journals: judges, drafted: decided }, chosen.matches) : [];
  const restarted = { ...chosen.restarted, rows: [...chosen.restarted.rows, ...less.map(({ key }) => key)] };
  return {
    path: (own ?? replaces)?.path ?? join(folder.path, newName(keys)),
    own,
    stopped: found || wish.restart ? undefined : candidates.find(isStopped),
    /** Another login has sent some of the rows: without --again or --restart no run begins. */
    isOfStrangers: strangers !== undefined,
    isCopy,
    senders,
    goesAgain,
    chosen: { ...chosen, restarted, voided: unsettled.length > 0 ? [{ rows: unsettled, settings: [settings] }] : [] },
    grown: wish.again ? [] : resembling.grown,
    others: isOnce ? [] : await otherRequests(plan, chosen.matches),
    alike: resembling.alike,
    drafted: decided,
    /**
     * What earlier rows in doubt are like that are none of its rows, and that rows of this run are like: no run begins beside
     * them but with --retry-unknown.
     */
    passedOver: [...new Set(resembling.alike.flatMap(({ rowStatus }) => likeIn(rowStatus) ?? []))],
    /** Of this run, among all of this account and command. */
    number: ours.reduce((last, { past }) => Math.max(last, past.lastRun), 0) + 1,
    /** What any of them has made: no look takes one of them for a row of this run. */
    made: { [Symbol.iterator]: () => madeIn(ours) },
    /** What other runs have left on its way. */
    copies: hasCopies ? await copiesElsewhere({ folder, present, now, identity, ours, own: goneOn, replaces }) : [],
    overtaken,
    /** The journal in the place of which a new one is written. */
    replaces,
  };
}

type Matching = {
  readonly ours: readonly Found[];
  readonly found: Found | undefined;
  readonly sides: Sides;
  readonly plan: Plan;
  readonly decided: Drafted;
  readonly settings: string;
};

/** Which rows the journals speak of. `unsettled`: what goes once more where twice is once, as the journal calls it. */
async function matchAll({ ours, found, sides, plan, decided, settings }: Matching) {
  const isOnce = isRepeatable(plan);
  const kept = ours.filter((one) => decided.has(one) && one !== found);
  // Twice is once: what another file has done is no reason to leave a row out, but a draft that waits is one.
  const judges = judgesOf(isOnce ? [...(found ? [found] : []), ...kept] : ours, plan, settings);
  const known = matchRows(judges, sides, found, decided);
  const overtaken = await overtakenIn(isOnce ? found?.path : undefined);
  if (!isOnce) {
    const matches = await matchCounted(plan, { journals: judges, drafted: decided }, known);
    return { judges, matches, unsettled: [], overtaken };
  }
  // Twice is once. What these rows ask for now may not be done even once, or another run has written there since.
  const stands = (ref: string, match: Match) =>
    isOpen(match.from) &&
    !overtaken.rows.has(match.key) &&
    !(match.rowStatus.status === 'done' && isOtherRequest(match, plan.refs.get(ref)));
  return { judges, matches: known, unsettled: await unsettle(plan, known, stands, decided), overtaken };
}

type Resembled = {
  readonly ours: readonly Found[];
  readonly judges: Judges;
  readonly decided: Drafted;
  readonly goesOn: Chosen['goesOn'];
};

/** Rows of which no journal speaks, and that are like one in doubt, or hold one that was sent. */
async function resemblingRows(
  plan: Plan,
  { ours, judges, decided, goesOn }: Resembled,
  matches: Matches,
): Promise<Pick<Known, 'alike' | 'grown'>> {
  const likened = await alikeRows(plan, { ours, decided, goesOn }, matches);
  const told = new Set(likened.map(({ line }) => line));
  const more = await grownRows(plan, { journals: judges, drafted: decided, goesOn }, matches);
  const left = more.filter(({ line }) => !told.has(line));
  // Version 0.1.0 wrote down of no row what it is like.
  const isAlike = (one: Grown) => isUnsure(one.rowStatus) && fateOf(decided, one) === undefined;
  return { alike: [...likened, ...left.filter(isAlike)], grown: left.filter((one) => !isAlike(one)) };
}

function* madeIn(all: readonly Found[]): Generator<MadeBefore, undefined> {
  for (const { past } of all) {
    for (const [, rowStatus] of past.rowStatuses.standing('done')) {
      if (rowStatus.status !== 'done' || rowStatus.id === null) continue;
      yield rowStatus.of === undefined ? { id: rowStatus.id } : { id: rowStatus.id, of: rowStatus.of };
    }
  }
}

/** Commands for which twice is once keep no history beyond a run that is not finished, and what it left to a person. */
async function forgetFinished(same: readonly Found[], isNeeded: (one: Found) => boolean, now: Moment): Promise<void> {
  for (const one of same) {
    if (isNeeded(one) || !(await hasArrived(one, now))) continue;
    await rm(one.path, { force: true });
    await forgetRows(one.path);
  }
}
