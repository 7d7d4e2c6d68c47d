import { renameSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { removeFile } from '../file/folder.ts';
import { type GrowingFile, goOver, moving, syncRename } from './growing-file.ts';
import { isChanged } from './log-edited.ts';
import { copyAll, type FoundLine, linesOf, type Span } from './log-file.ts';

/** What a log keeps of what it holds; what is appended later stays behind it as it is. */
export type Kept = {
  /** Some at a time: between them the process does other things. */
  readonly pieces: AsyncIterable<readonly (Uint8Array | Span)[]>;
  /** Asked at the end: false where the plan was overtaken, and then the file stays as it is. */
  readonly holds: () => boolean;
  /** Called in the very step in which readers get the new file: what stood at `from` or behind it stands `by` bytes further on. */
  readonly moved: (tail: { readonly from: number; readonly by: number }) => void;
};

export type Beside = {
  /** Given the end of the log, once all earlier lines are on disk, and those lines. */
  readonly plan: (end: number, lines: AsyncIterable<readonly FoundLine[]>) => Kept;
  /** Does something when nothing is being written, and nothing else in that time. */
  readonly inTurn: <T>(step: () => T | Promise<T>) => Promise<T>;
  readonly isClosing: () => boolean;
};

/** So much goes to the disk at a time: a line that waits for the disk waits for no more. */
const stepBytes = 4 * 1024 * 1024;
/** So little is copied while lines wait. */
const lastBytes = 256 * 1024;
const roundsAtMost = 100;

/**
 * Copies what is kept into a new file while lines are appended to the old one, and then what was appended meanwhile. Only
 * the last of it, and the change of files, hold up a line.
 */
export async function rewriteBeside(log: GrowingFile, { plan, inTurn, isClosing }: Beside): Promise<void> {
  const { path, options } = log;
  const { old, from, kept } = await inTurn(() => {
    refuseChanged(log);
    return { old: log.file, from: log.end, kept: plan(log.end, linesOf(log.file, 0, log.end)) };
  });
  options.held?.check();
  const draft = draftOf(path);
  await removeDraft(path);
  const next = await (options.openFile ?? open)(draft, 'wx+', 0o600);
  const goOn = () => {
    options.held?.check();
    if (isClosing() || log.isEdited || !kept.holds()) throw new Error('The rewriting was given up.');
  };
  try {
    const by = (await copyKept(old, kept, next, goOn)) - from;
    let done = from;
    for (let round = 0; round < roundsAtMost; round++) {
      // Asked between two writes: what is there then stays.
      const end = await inTurn(() => log.end);
      if (end - done < lastBytes) break;
      goOn();
      await copyAll(log.file, [{ start: done, length: end - done }], next, done + by);
      await next.datasync();
      done = end;
    }
    await inTurn(() =>
      moving(log, async () => {
        goOn();
        await copyAll(log.file, [{ start: done, length: log.end - done }], next, done + by);
        await next.sync();
        refuseChanged(log);
        goOn();
        renameSync(draft, path);
        goOver(log, next, log.end + by);
        kept.moved({ from, by });
      }),
    );
  } catch (error) {
    await next.close();
    // Whoever has the lock now may be writing one of the same name.
    if (!options.held?.lost.aborted) await removeDraft(path);
    throw error;
  }
  await inTurn(() => syncRename(log));
}

/** By places that do not hold any more a line would be cut in two. Asked when nothing is being written. */
function refuseChanged(log: GrowingFile): void {
  if (log.isEdited || isChanged(log)) throw new Error('The rewriting was given up, for somebody changed the file.');
}

/** Another name than that of a file that is restored meanwhile. */
const draftOf = (path: string): string => join(dirname(path), `.${basename(path)}.next`);

/** What a killed process left: it may be as large as the log. */
export const removeDraft = (path: string): Promise<void> => removeFile(draftOf(path));

async function copyKept(old: FileHandle, kept: Kept, next: FileHandle, goOn: () => void): Promise<number> {
  let at = 0;
  let synced = 0;
  for await (const pieces of kept.pieces) {
    goOn();
    at = await copyAll(old, pieces, next, at);
    if (at - synced < stepBytes) continue;
    await next.datasync();
    synced = at;
  }
  await next.datasync();
  return at;
}
