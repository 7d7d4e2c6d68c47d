import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppendLog, LogOptions } from '../../../disk/log/append-log.ts';
import { inboxFile } from './file.ts';
import { closeIndex, isAsItWas, removeIndex, removeIndexes } from './index-file.ts';
import { forgetKnown, saveKnown, stampClosed } from './known.ts';
import { knownOf } from './opening.ts';
import { isWorthIt, newRewriting, withoutOldest } from './rewriting.ts';
import { moveIntoIndex, type State } from './state.ts';

export type Keeping = ReturnType<typeof createKeeping>;

/** Between two looks at what nobody waits for, so that it takes little of the disk from what comes. */
const pauseMs = 5;

/** Keeps the file and the memory of an open inbox small: the index, and rewriting without the oldest. */
export function createKeeping(folder: string, state: State, held: LogOptions['held']) {
  let isClosing = false;
  let isUnsaved = false;
  let background: Promise<unknown> = Promise.resolve();
  const mayWrite = () => !held?.lost.aborted;
  const inBackground = (work: () => Promise<unknown>) => {
    background = background.then(work).catch(() => {});
  };
  const index = () => {
    try {
      moveIntoIndex(state, folder, state);
      isUnsaved = true;
      state.indexedAgain = state.indexedAfter;
    } catch {
      // Until the disk has room again it stays in memory.
      state.indexedAgain = state.entries.starts.length + state.indexedAfter;
    }
  };
  const save = (log: AppendLog) => {
    isUnsaved = false;
    const { index: of } = state;
    if (!of) return;
    const [known, saved] = [knownOf(state), { ...of, runs: [...of.runs] }];
    inBackground(async () => {
      if (state.index !== of || !mayWrite()) return;
      await saveKnown(folder, saved, known);
      // Changed meanwhile, it is not what the index was made of.
      if (state.isDoubtful || log.isEdited()) await forgetKnown(folder);
      else await removeIndexes(folder, of.name);
    });
  };
  const rewrite = (log: AppendLog) => {
    const rewriting = newRewriting();
    const { index: old } = state;
    state.rewriting = rewriting;
    const over = (idleAgain: number) => {
      Object.assign(state, { rewriting: undefined, idleAgain });
      // It may have failed after the change of files.
      const gone = state.index === old ? rewriting.next.index : old;
      if (gone) inBackground(() => removeIndex(folder, gone));
    };
    log
      .rewriteBeside((end, lines) => withoutOldest(state, rewriting, { folder, end, lines }))
      .then(
        () => {
          over(0);
          if (!state.index) return;
          index();
          save(log);
        },
        () => over(state.idle + Math.max(16, state.idle / 2)),
      );
  };
  const check = async () => {
    const { index: of } = state;
    if (!of) return;
    const inbox = await open(join(folder, inboxFile), 'r');
    const isOver = () => isClosing || state.index !== of;
    const reading = { pause: () => sleep(pauseMs), isOver };
    if (await isAsItWas({ runs: [...of.runs] }, inbox, reading).finally(() => inbox.close())) return;
    state.isDoubtful = true;
    await forgetKnown(folder);
  };
  return {
    /** A line was read, while the inbox is opened. */
    taken(): void {
      if (state.entries.starts.length >= state.indexedAgain) index();
    },
    /** `isSure`: nobody can have changed what the index was made of. */
    opened(log: AppendLog, { isSure }: { readonly isSure: boolean }): void {
      if (isUnsaved) {
        index();
        save(log);
      }
      if (!isSure) inBackground(check);
    },
    /** A line was written. */
    placed(log: AppendLog) {
      if (state.rewriting) return;
      if (isWorthIt(state)) return rewrite(log);
      if (state.entries.starts.length < state.indexedAgain || state.isDoubtful || log.isEdited()) return;
      index();
      if (isUnsaved) save(log);
    },
    async close(log: AppendLog): Promise<void> {
      isClosing = true;
      await Promise.allSettled(state.adding.values());
      const isDoubtful = state.isDoubtful || log.isEdited();
      await log.close();
      await background;
      const { index: last } = state;
      if (!last) return;
      await closeIndex(last);
      if (!mayWrite()) return;
      // What cannot be written here costs the next start some time, and nothing else.
      await (isDoubtful ? forgetKnown(folder) : stampClosed(folder)).catch(() => {});
    },
  };
}
