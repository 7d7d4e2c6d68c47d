import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../disk/file/atomic-file.ts';
import { diskFailure } from '../disk/file/disk-failure.ts';
import { makeFolders } from '../disk/file/make-folders.ts';
import { type Held, holders, tryLock } from '../disk/lock/lock.ts';
import { type LogOptions, openLog, readLog } from '../disk/log/append-log.ts';
import type { Damage } from '../disk/log/log-file.ts';
import { orElsewhere } from '../disk/place/elsewhere.ts';
import { codeOf, Failure } from '../errors.ts';
import { hexDigestOf } from '../text/digest.ts';

/** What the journals of one kind are called in messages. */
export type Wording = {
  /** "Another svc is …" */
  readonly doing: string;
  /** Said behind "Then run this command again: ". */
  readonly again: string;
  /** "The journal of … cannot be written" */
  readonly journal: string;
  /** "The journal of … is empty" */
  readonly earlier: string;
  readonly damagedHint: (path: string) => string;
};

export type JournalFolder = ReturnType<typeof journalFolder>;

/** The folder of the journals of all runs of one kind. */
export function journalFolder(path: string, words: Wording) {
  const refused = (file: string, why: string) =>
    new Failure('failed', `The journal of ${words.earlier} ${why}: ${file}`, { hint: words.damagedHint(file) });
  const damaged = (file: string) => ({
    damaged: ({ line, why }: Damage) =>
      refused(file, why === 'missing' ? 'has lost its end' : `is damaged in line ${line}`),
  });
  /** Runs what touches the disk: its errors become Failures. */
  const onDisk = <T>(step: () => Promise<T>): Promise<T> =>
    step().catch((error) => {
      const isFull = ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');
      const hint = isFull ? 'Make room on the disk first.' : `Its folder is ${path}. ${orElsewhere()}`;
      throw diskFailure(error, `The journal of ${words.journal} cannot be written`, hint);
    });
  return {
    path,
    onDisk,
    /** Of two runs with one name the second refuses. */
    lock: (name: string): Promise<Held> =>
      onDisk(async () => {
        await makeFolders(path);
        const lock = join(path, `${name}.lock`);
        const held = await tryLock(lock, { what: `the journal of ${words.journal}` });
        if (!held) throw await underWay(lock, words);
        return held;
      }),
    /** The paths of the journals. */
    list: async () => (await readdir(path)).filter((name) => name.endsWith('.jsonl')).map((name) => join(path, name)),
    /** False where there is none. Throws where it is empty, cut short, or damaged before its end. */
    async read(file: string, options: LogOptions): Promise<boolean> {
      // svc puts a journal in its place whole, so an empty one has lost what it said.
      const isEmpty = (await stat(file).catch(unreadable(file)))?.size === 0;
      if (isEmpty) throw refused(file, 'is empty');
      return (await readLog(file, { ...damaged(file), ...options }).catch(unreadable(file))) ?? false;
    },
    /** What a run is refused with where the journal of an earlier one is gone, and only its rows are left. */
    deleted: (file: string) =>
      new Failure('failed', `The journal of ${words.earlier} is gone: ${file}`, {
        hint: words.damagedHint(file.replace(/\.jsonl$/u, '.rows')),
      }),
    /** What a journal is refused with that does not say what it is of. */
    headless: (file: string) => refused(file, 'is damaged in line 1'),
    /** Begins a journal with that text in place of an earlier one. */
    begin: (file: string, text: string) => onDisk(() => replaceFile(file, text)),
    open: (file: string, options: LogOptions) => onDisk(() => openLog(file, { ...damaged(file), ...options })),
  };
}

/** For a `catch`: undefined where there is no such file. What cannot be read never means that nothing was sent. */
export const unreadable =
  (path: string) =>
  (error: unknown): undefined => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw diskFailure(error, `What an earlier run has sent cannot be read: ${path}`, unreadHint);
  };

const unreadHint =
  'Nothing was sent now. Make that file readable, and run this command again: svc then knows those rows.';

/** For a `catch`: a damaged journal is refused by its own command. One that cannot be read now may be read by that. */
export function leftToItsOwn(error: unknown): undefined {
  if (error instanceof Failure && error.cause === undefined) return undefined;
  throw error;
}

/** What a run is refused with while another process has that lock. */
export async function underWay(lock: string, { doing, again }: Pick<Wording, 'doing' | 'again'>): Promise<Failure> {
  const [pid] = await holders(lock);
  return new Failure('failed', `Another svc is ${doing}${pid ? ` (process ${pid})` : ''}.`, {
    hint: `Wait until it is done, or stop it. Then run this command again: ${again}`,
  });
}

/** Names what a run is known by. */
export const digestOfAll = (length: number, parts: readonly string[]): string =>
  hexDigestOf(JSON.stringify(parts)).slice(0, length);
