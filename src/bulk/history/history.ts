import { basename, join } from 'node:path';
import { journalFolder } from '../../batch/journal-folder.ts';
import type { Context } from '../../context.ts';
import { makeFolders } from '../../disk/file/make-folders.ts';
import { withLock } from '../../disk/lock/lock.ts';
import { thisBoot } from '../../disk/lock/lock-entry.ts';
import { askWitnesses } from '../../disk/lock/witness.ts';
import { claimRows, forgetRows } from '../journal/claims.ts';
import type { Identity } from '../journal/on-disk.ts';
import type { Journal } from '../journal/open-journal.ts';
import { forgetOvertaken, overtakeOthers } from '../journal/overtaken.ts';
import { isRepeatable, mayBeOverwritten, type Plan } from '../rows/plan.ts';
import { beginJournal, wording } from './begin-journal.ts';
import { type EarlierRuns, type Known, readEarlierRuns, type Wanted } from './earlier-runs.ts';

type World = Pick<Context, 'files' | 'clock'>;

/** Reads what earlier runs did, and holds the rows of this one: meanwhile no run begins that has one of them. */
export async function openHistory({ files, clock }: World, identity: Identity, plan: Plan, wish: Wanted) {
  const { folder, present } = await journalsIn(files);
  const startedAt = { wallMs: clock.now().getTime(), ticks: clock.ticks() };
  const what = 'the record of what was sent';
  await folder.onDisk(() => makeFolders(folder.path));
  return withLock(join(folder.path, 'begin'), { clock, what }, async () => {
    const earlier = await folder.onDisk(() => readEarlierRuns({ folder, present, clock, identity, plan, wish }));
    const { own, path } = earlier;
    // No other run has this journal until it is released.
    const held = await folder.lock(basename(path, '.jsonl'));
    await folder.onDisk(() => claimRows(path, identity, plan));
    let journal: Journal | undefined;
    return {
      ...knownIn(earlier),
      /** Fires where another process has the journal now. */
      lost: held.lost,
      async begin() {
        // A person may have thought about the question for as long as they like.
        held.check();
        if (mayBeOverwritten(plan)) await folder.onDisk(() => overtakeOthers(folder, identity, plan, path));
        journal = await beginJournal({ folder, clock, lock: held, identity, plan, present, startedAt }, earlier);
        if (isRepeatable(plan)) await forgetOvertaken(path, earlier.overtaken);
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
  const { folder, present } = await journalsIn(files);
  const asked = { folder, present, clock, identity, plan, wish, onlyLooks: true };
  return knownIn(await folder.onDisk(() => readEarlierRuns(asked)));
}

const journalsIn = async ({ state }: Context['files']) => ({
  folder: journalFolder(join(state, 'bulk'), wording),
  present: { boot: thisBoot(), saidBy: await askWitnesses() },
});

const knownIn = ({ chosen: { matches, resent }, ...earlier }: EarlierRuns) => ({ ...earlier, matches, resent });
