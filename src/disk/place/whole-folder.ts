import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from '../file/atomic-file.ts';
import { isFolder, namesIn, removeFolder } from '../file/folder.ts';
import { makeFolders } from '../file/make-folders.ts';
import { randomName } from '../file/random-name.ts';

// A folder that is there whole or not at all: it is made under another name, and gets its own once everything in it is on the
// disk. A draft is known by its name and by a folder that stands in it from the start.

export type Drafts = {
  readonly dir: string;
  /** `.svc-export-`, before the number of the process. */
  readonly prefix: string;
  /** The folder inside. */
  readonly inner: string;
};

/** Also clears away what killed processes left. Only under a lock. */
export async function newDraft({ dir, prefix, inner }: Drafts): Promise<string> {
  for (const name of await namesIn(dir)) {
    if (!name.startsWith(prefix) || !/^\d+-[a-z\d]+$/u.test(name.slice(prefix.length))) continue;
    const folder = join(dir, name);
    if (await isFolder(join(folder, inner))) await removeDraft(folder, inner);
    else await fs.rmdir(folder).catch(() => {});
  }
  const folder = join(dir, `${prefix}${process.pid}-${randomName()}`);
  await makeFolders(join(folder, inner));
  return folder;
}

/** What it is known by goes last. */
export async function removeDraft(folder: string, inner: string): Promise<void> {
  for (const name of await namesIn(folder)) if (name !== inner) await removeFolder(join(folder, name));
  await removeFolder(folder);
}

/** Gives it its name. It is there when this resolves. */
export async function keepDraft(draft: string, inner: string, path: string): Promise<void> {
  await syncFolder(join(draft, inner));
  await syncFolder(draft);
  await fs.rename(draft, path);
  // Should a power cut take it away again, it takes all of it.
  await syncFolder(join(path, '..')).catch(() => {});
}
