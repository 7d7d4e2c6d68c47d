import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type JournalFolder, journalFolder } from '../../batch/journal-folder.ts';
import type { Clock, Context } from '../../context.ts';
import { makeFolders } from '../../disk/file/make-folders.ts';
import { type Held, isHeld, withLock } from '../../disk/lock/lock.ts';
import { thisBoot } from '../../disk/lock/lock-entry.ts';
import { askWitnesses } from '../../disk/lock/witness.ts';
import type { Draft } from '../../sends/draft.ts';
import { someOf } from '../../text/each.ts';
import {
  claimedRows,
  claimRows,
  forgetRows,
  freeLock,
  haveCommonRow,
  lockJournal,
  refuseCommon,
  refuseDeleted,
} from '../journal/claims.ts';
import { copiesElsewhere, hasArrived, type Moment } from '../journal/copies.ts';
import { isUnsure } from '../journal/ended-table.ts';
import { likeIn } from '../journal/lines.ts';
import { type Found, type Identity, journalsOnDisk, keysOf, newName, type OnDisk } from '../journal/on-disk.ts';
import type { Journal } from '../journal/open-journal.ts';
import { forgetOvertaken, type Overtaken, overtakenIn, overtakeOthers } from '../journal/overtaken.ts';
import type { Present } from '../journal/reader.ts';
import { isRepeatable, mayBeOverwritten, type Plan } from '../rows/plan.ts';
import { alikeRows } from './alike.ts';
import { type Beginning, beginJournal, wording } from './begin-journal.ts';
import { choose, unsettle, type Wish } from './choose.ts';
import { type Drafted, drafted, fateOf } from './drafted.ts';
import { type Grown, grownRows, matchCounted } from './grown.ts';
import { judgesOf } from './judges.ts';
import type { Match, Matches } from './match-table.ts';
import { isOtherRequest, otherRequests } from './other-request.ts';
import { notTheSame, refuseStrange } from './strange.ts';
import { isCopied, isOpen, isOver, matchRows, ownJournal, type Sides } from './weigh.ts';

/** A record that an earlier run has made. `of`: the ticket of a note. */
export type MadeBefore = { readonly id: number; readonly of?: number };

/** What earlier runs say of the rows of a file. */
export type Known = {
  /** The journal that this run goes on in. */
  readonly own: Found | undefined;
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
  /** Of those, and of the matches: what became drafts. */
  readonly drafted: Drafted;
};

/** What is known of the rows. While it is held, no run begins that has one of them. */
export type History = Known & {
  /** What any earlier run of this account and command has made: no look takes one of them for a row of this run. */
  readonly made: Iterable<MadeBefore>;
  begin(): Promise<Journal>;
  /** Fires where another process has the journal now. */
  readonly lost: Held['lost'];
  release(): Promise<void>;
};

type World = Pick<Context, 'files' | 'clock'>;

/** `drafts`: all that are kept where this run keeps its own. */
type Wanted = Wish & { readonly drafts: () => Promise<readonly Draft[]> };

/** Reads what earlier runs did, and holds the rows of this one. */
export async function openHistory(
  { files, clock }: World,
  identity: Identity,
  plan: Plan,
  wish: Wanted,
): Promise<History> {
  const folder = journalFolder(join(files.state, 'bulk'), wording);
  const present = { boot: thisBoot(), saidBy: await askWitnesses() };
  const startedAt = { wallMs: clock.now().getTime(), ticks: clock.ticks() };
  const what = 'the record of what was sent';
  await folder.onDisk(() => makeFolders(folder.path));
  return withLock(join(folder.path, 'begin'), { clock, what }, async () => {
    const weighed = await folder.onDisk(() => weighAll({ folder, present, clock, identity, plan, wish }));
    const { own, path } = weighed;
    const held = await lockJournal(folder, path);
    await folder.onDisk(() => claimRows(path, identity, plan));
    let journal: Journal | undefined;
    return {
      ...knownIn(weighed),
      made: weighed.made,
      lost: held.lost,
      async begin() {
        // A person may have thought about the question for as long as they like.
        held.check();
        if (mayBeOverwritten(plan)) await folder.onDisk(() => overtakeOthers(folder, identity, plan, path));
        journal = await beginJournal({ folder, clock, lock: held, identity, plan, present, startedAt }, weighed);
        if (isRepeatable(plan)) await forgetOvertaken(path, weighed.overtaken);
        return journal;
      },
      async release() {
        if (journal === undefined && !own) await forgetRows(path).catch(() => {});
        // A disk that has gone away holds no lock any more either.
        await held.release().catch(() => {});
      },
    };
  });
}

/** What a run would begin from, for whoever only looks: nothing is written, and nothing is held. */
export async function lookAtHistory(
  { files, clock }: World,
  identity: Identity,
  plan: Plan,
  wish: Wanted,
): Promise<Known> {
  const folder = journalFolder(join(files.state, 'bulk'), wording);
  const present = { boot: thisBoot(), saidBy: await askWitnesses() };
  const asked = { folder, present, clock, identity, plan, wish, onlyLooks: true };
  return knownIn(await folder.onDisk(() => weighAll(asked)));
}

const knownIn = ({ own, isCopy, grown, others, alike, drafted, chosen: { matches, resent } }: Weighed): Known => ({
  ...{ own, isCopy, grown, others, alike, drafted, matches, resent },
});

type Asked = {
  readonly folder: JournalFolder;
  readonly present: Present;
  readonly clock: Pick<Clock, 'now'>;
  readonly identity: Identity;
  readonly plan: Plan;
  readonly wish: Wanted;
  readonly onlyLooks?: boolean;
};

/** What a run begins from. */
type Weighed = Beginning &
  Pick<History, 'isCopy' | 'grown' | 'others' | 'alike' | 'drafted' | 'made'> & { readonly overtaken: Overtaken };

async function weighAll({ folder, present, clock, identity, plan, wish, onlyLooks }: Asked): Promise<Weighed> {
  const file = identity.file ?? null;
  const sides = { plan, file };
  const isFree = async (lock: string) => !(await isHeld(lock, clock.now().getTime()));
  const busy = await refuseCommon(folder, identity, plan, onlyLooks ? isFree : freeLock);
  if (!wish.restart && !wish.again) await refuseDeleted(folder, identity, plan);
  const disk = await journalsOnDisk(folder, identity, { present, refs: plan.refs });
  const decided = await drafted(disk.ours, plan, wish.drafts);
  const keys = keysOf(identity);
  const { settings } = keys;
  const same = disk.ours.filter(({ past }) => past.header.settings === settings);
  const isOnce = isRepeatable(plan);
  // Twice is once, so another list of records is other work.
  const goesOn = (one: Found) => !isOnce || (isOpen(one) && one.past.content === plan.content);
  const candidates = same.filter((one) => !busy.has(one.path) && goesOn(one));
  const found = ownJournal(candidates, sides);
  const works = await otherWork(disk, sides, settings);
  if (works[0] && !found && !wish.restart) throw notTheSame(works[0], plan);
  const now = { ms: clock.now().getTime(), isSure: identity.account.isClockSure };
  const kept = disk.ours.filter((one) => decided.has(one) && one !== found);
  const isNeeded = (one: Found) =>
    busy.has(one.path) || decided.has(one) || (decided.size > 0 && one.past.voided.size > 0);
  if (isOnce && !onlyLooks) await forgetFinished(same, isNeeded, now);
  // Twice is once: what another file has done is no reason to leave a row out, but a draft that waits is one.
  const judges = judgesOf(isOnce ? [...(found ? [found] : []), ...kept] : disk.ours, plan, settings);
  const known = matchRows(judges, sides, found, decided);
  const overtaken = await overtakenIn(isOnce ? found?.path : undefined);
  // Twice is once. What these rows ask for now may not be done even once, or another run has written there since.
  const stands = (ref: string, match: Match) =>
    !overtaken.rows.has(match.key) && !(match.rowStatus.status === 'done' && isOtherRequest(match, plan.refs.get(ref)));
  const matches = isOnce ? known : await matchCounted(plan, { journals: judges, drafted: decided }, known);
  const unsettled = isOnce ? await unsettle(plan, matches, stands, decided) : [];
  if (!isOnce && !wish.again && !wish.restart) refuseStrange(disk.strange, sides.plan, matches);
  const isCopy = found !== undefined && isCopied(found, file);
  const chosen = choose({ matches, judges, works, found, isCopy, plan, wish, drafted: decided, settings });
  const own = wish.restart ? undefined : found;
  const isAnew = isOnce || wish.restart;
  const likened = isAnew ? [] : await alikeRows(plan, disk.ours, chosen.matches);
  const told = new Set(likened.map(({ line }) => line));
  const more = isAnew ? [] : await grownRows(plan, { journals: judges, drafted: decided }, chosen.matches);
  const left = more.filter(({ line }) => !told.has(line));
  // Version 0.1.0 wrote down of no row what it is like.
  const isAlike = (one: Grown) => isUnsure(one.rowStatus) && fateOf(decided, one) === undefined;
  const alike = [...likened, ...left.filter(isAlike)];
  const fresh = join(folder.path, newName(keys));
  const { ours } = disk;
  const hasCopies = mayBeOverwritten(plan) && !onlyLooks;
  const replaces = wish.restart ? found : undefined;
  const asked = { folder, present, now, identity, ours, own, replaces };
  const copies = hasCopies ? await copiesElsewhere(asked) : [];
  const number = disk.ours.reduce((last, { past }) => Math.max(last, past.lastRun), 0) + 1;
  return {
    path: found?.path ?? fresh,
    own,
    isCopy,
    chosen:
      unsettled.length > 0
        ? { ...chosen, voided: [...chosen.voided, { rows: unsettled, settings: [settings] }] }
        : chosen,
    grown: wish.again ? [] : left.filter((one) => !isAlike(one)),
    others: isOnce ? [] : await otherRequests(plan, chosen.matches),
    alike,
    drafted: decided,
    // No run begins beside them but with --retry-unknown.
    passedOver: [...new Set(alike.flatMap(({ rowStatus }) => likeIn(rowStatus) ?? []))],
    number,
    made: { [Symbol.iterator]: () => madeIn(disk.ours) },
    copies,
    overtaken,
    replaces,
  };
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

/** Runs of some of these rows that are not finished, and had other flags or another template. */
async function otherWork(
  { ours, strange: doubtful }: OnDisk,
  { plan, file }: Sides,
  settings: string,
): Promise<Found[]> {
  const found: Found[] = [];
  const strange = doubtful.filter(({ past }) => past.header.svc_bulk === 1);
  for (const one of [...ours, ...strange]) {
    const { header, rowStatuses, files } = one.past;
    const isOther = header.settings !== settings || strange.includes(one);
    if (!isOther || !isOpen(one) || rowStatuses.size === 0) continue;
    const claimed = await claimedRows(one.path);
    if (header.svc_bulk === 1) {
      if (files.has(file)) found.push(one);
      continue;
    }
    const hasCommon = claimed ? haveCommonRow(plan, claimed) : someOf(rowStatuses.keys(), (row) => plan.refs.has(row));
    if (hasCommon && !isOver(one, claimed?.refs, ours)) found.push(one);
  }
  return found;
}
