import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../context.ts';
import { type AppendLog, type LogOptions, openLog, readLog } from '../disk/append-log.ts';
import { replaceFile } from '../disk/atomic-file.ts';
import { diskFailure } from '../disk/disk-failure.ts';
import { type Held, holders, tryLock } from '../disk/lock.ts';
import type { Damage } from '../disk/log-file.ts';
import { makeFolders } from '../disk/make-folders.ts';
import { codeOf, Failure } from '../errors.ts';
import { hexDigestOf } from '../text/digest.ts';

/** What the journals of one kind are called in messages. */
export type Wording = {
  /** "Another svc is …" */
  readonly doing: string;
  /** Said behind "Then run this command again: ". */
  readonly again: string;
  /** "The journal of …" */
  readonly journal: string;
  readonly damagedHint: (path: string) => string;
  readonly fullHint: string;
};

/** The folder of the journals of all runs of one kind. */
export type JournalFolder = {
  readonly path: string;
  /** Of two runs with one name the second refuses. */
  lock(name: string): Promise<Held>;
  /** The paths of the journals. */
  list(): Promise<string[]>;
  /** False where there is none. Throws at damage before the end. */
  read(path: string, options: LogOptions): Promise<boolean>;
  /** Begins a journal with that text in place of an earlier one, and forgets those that are too old to help anybody. */
  begin(path: string, text: string): Promise<void>;
  open(path: string, options: LogOptions): Promise<AppendLog>;
  /** Runs what touches the disk: its errors become Failures. */
  onDisk<T>(step: () => Promise<T>): Promise<T>;
};

/** Journals of runs that are over help nobody after that time. */
const keptForMs = 90 * 24 * 60 * 60 * 1000;

export function journalFolder(path: string, clock: Pick<Clock, 'now'>, words: Wording): JournalFolder {
  const damaged = (file: string) => ({
    damaged: ({ line }: Damage) =>
      new Failure('failed', `The journal of ${words.journal} is damaged in line ${line}: ${file}`, {
        hint: words.damagedHint(file),
      }),
  });
  const onDisk: JournalFolder['onDisk'] = (step) =>
    step().catch((error) => {
      const isFull = ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');
      const hint = isFull ? words.fullHint : `Its folder is ${path}. Fix that, or set SVC_STATE_DIR to another folder.`;
      throw diskFailure(error, `The journal of ${words.journal} cannot be written`, hint);
    });
  return {
    path,
    onDisk,
    lock: (name) =>
      onDisk(async () => {
        await makeFolders(path);
        return locked(join(path, `${name}.lock`), words);
      }),
    list: async () => (await readdir(path)).filter((name) => name.endsWith('.jsonl')).map((name) => join(path, name)),
    read: (file, options) => readLog(file, { ...damaged(file), ...options }),
    async begin(file, text) {
      await onDisk(() => replaceFile(file, text));
      await onDisk(() => prune(path, file, clock.now().getTime()));
    },
    open: (file, options) => onDisk(() => openLog(file, { ...damaged(file), ...options })),
  };
}

async function locked(path: string, { doing, again, journal }: Wording): Promise<Held> {
  const held = await tryLock(path, { what: `the journal of ${journal}` });
  if (held) return held;
  const [pid] = await holders(path);
  throw new Failure('failed', `Another svc is ${doing}${pid ? ` (process ${pid})` : ''}.`, {
    hint: `Wait until it is done, or stop it. Then run this command again: ${again}`,
  });
}

async function prune(folder: string, current: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = path === current ? undefined : await stat(path).catch(() => undefined);
    if (found === undefined || now - found.mtimeMs <= keptForMs) continue;
    // A lock that is held is no empty folder, and stays.
    if (name.endsWith('.lock')) await rmdir(path).catch(() => {});
    else await rm(path, { force: true });
  }
}

/** Names what a run is known by. */
export const digestOfAll = (length: number, parts: readonly string[]): string =>
  hexDigestOf(JSON.stringify(parts)).slice(0, length);
