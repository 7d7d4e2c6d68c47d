import { type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { diskFailure } from '../../../disk/file/disk-failure.ts';
import { nothingThere } from '../../../disk/file/nothing-there.ts';
import { toRead } from '../../../disk/file/open-flags.ts';
import { linesOf } from '../../../disk/log/log-file.ts';
import { Failure, messageOf } from '../../../errors.ts';
import { counted } from '../../../text/number.ts';
import { type InboxLine, lineIn } from '../line.ts';

export const inboxFile = 'inbox.jsonl';

/** Lines between others that cannot be read: a disk lost them, or somebody wrote there. `first` is a number from 1. */
export type Damaged = { readonly path: string; readonly count: number; readonly first: number };

export type OnDamage = (damaged: Damaged) => void;

export const damagedText = ({ path, count, first }: Damaged): string =>
  `${counted(count, 'line')} of ${path} cannot be read, the first is line ${first}: what ${count === 1 ? 'it' : 'they'} held is lost.`;

/** Of lines that were read one after the other: how many, and of them those that cannot be read. */
export type Counted = { lines: number; count: number; first: number };

export const noneCounted = (): Counted => ({ lines: 0, count: 0, first: 0 });

export function countLine(counted: Counted, isGood: boolean): void {
  counted.lines++;
  if (isGood) return;
  counted.count++;
  counted.first ||= counted.lines;
}

export function tellDamage(folder: string, { count, first }: Counted, onDamage?: OnDamage): void {
  if (count > 0) onDamage?.({ path: join(folder, inboxFile), count, first });
}

/** Reads an inbox that may be in use by another process: an unfinished last line is simply not there yet. */
export async function* readInbox(folder: string, onDamage?: OnDamage): AsyncGenerator<InboxLine> {
  const file = await openInboxFile(folder);
  if (!file) return;
  try {
    const seen = noneCounted();
    for await (const lines of linesOf(file)) {
      for (const { text } of lines) {
        const line = lineIn(text);
        countLine(seen, line !== undefined);
        if (line) yield line;
      }
    }
    tellDamage(folder, seen, onDamage);
  } finally {
    await file.close();
  }
}

/** To be read; undefined where there is none. */
export async function openInboxFile(folder: string): Promise<FileHandle | undefined> {
  const path = join(folder, inboxFile);
  const file = await open(path, toRead).catch(nothingThere);
  if (!file || (await file.stat()).isFile()) return file;
  await file.close();
  throw noInbox(path, 'it is no ordinary file');
}

/** What `read` makes of the file, which may be in use by another process; undefined where there is none. */
export async function inInbox<T>(folder: string, read: (file: FileHandle) => Promise<T>): Promise<T | undefined> {
  const file = await openInboxFile(folder);
  return file && read(file).finally(() => file.close());
}

/** Why it cannot be used. `advice`: where the disk refuses; `hint`: else. */
export function unusable(folder: string, error: unknown, advice: string, hint?: string): Failure {
  const what = `The inbox in ${folder} cannot be used`;
  const refused = diskFailure(error, what, advice);
  if (refused instanceof Failure && refused !== error) return refused;
  return new Failure('failed', `${what}: ${messageOf(error)}`, { hint, cause: error });
}

const noInbox = (path: string, why: string): Failure =>
  new Failure('failed', `${path} is no inbox of svc: ${why}.`, { hint: 'Move it away, or name another folder.' });

const beginnings = ['{"limit":', '{"id":'];

/** Throws for what svc did not write, before anything is changed. A first line that a crash has torn is svc's. */
export async function refuseForeign(folder: string): Promise<void> {
  const path = join(folder, inboxFile);
  const about = await stat(path).catch(() => undefined);
  if (!about) return;
  if (!about.isFile()) throw noInbox(path, 'it is no ordinary file');
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0);
    const head = buffer.toString('latin1', 0, bytesRead).replace(/\0.*$/su, '');
    if (beginnings.some((text) => head.startsWith(text) || text.startsWith(head))) return;
    for await (const lines of linesOf(file)) if (lines.some(({ text }) => lineIn(text))) return;
  } finally {
    await file.close();
  }
  throw noInbox(path, 'not one line of it can be read');
}
