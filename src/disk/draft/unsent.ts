import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orElse } from '../../errors.ts';
import { replaceFile } from '../file/atomic-file.ts';
import { makeFolders } from '../file/make-folders.ts';
import { makePrivateFolder, type PrivateFolder } from '../file/private-folder.ts';
import { randomName } from '../file/random-name.ts';
import { isGone, newEntryName, parseEntry } from '../lock/lock-entry.ts';

type Needs = { readonly files: { readonly state: string }; readonly clock: { now(): Date } };

/** Where texts are kept that could be neither sent nor made a draft. */
export const unsentFolder = ({ state }: { readonly state: string }): string => join(state, 'unsent');

/**
 * The text goes into a file of its own, also beside one of the same moment. Returns its place.
 * Where the state folder takes none, its disk is full or it is read-only, that is a private folder among the temporary files.
 */
export async function keepUnsent({ files, clock }: Needs, text: string): Promise<string> {
  const name = `${clock.now().toISOString().replaceAll(':', '-')}-${randomName()}.md`;
  const keepIn = async (folder: string): Promise<string> => {
    const path = join(folder, name);
    await replaceFile(path, `${text}\n`);
    return path;
  };
  return keepIn(unsentFolder(files)).catch(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-unsent-'));
    return keepIn(folder).catch(async (error: unknown) => {
      await rm(folder, { recursive: true, force: true });
      throw error;
    });
  });
}

/** What the editor was given: whoever finds the file later sees whether anything was written. */
const givenName = '.given';

/**
 * A folder for the file of an editor, gone with it. It is named after this process and lies beside the texts that are
 * kept, so that what was saved is found where the process is killed. Where the state folder takes none: a temporary one.
 */
export async function makeEditingFolder(files: { readonly state: string }, given: string): Promise<PrivateFolder> {
  const made = async () => {
    const unsent = unsentFolder(files);
    await makeFolders(unsent);
    const folder = await makePrivateFolder(`${newEntryName()}.`, unsent);
    await writeFile(join(folder.path, givenName), given, { mode: 0o600 }).catch(async (error: unknown) => {
      await folder.remove();
      throw error;
    });
    return folder;
  };
  return made().catch(() => makePrivateFolder('svc-'));
}

/** Sentences that name what was saved in the editor of a svc that was killed. The file stays where it is: that editor may be open still. */
export async function leftInEditors(files: { readonly state: string }): Promise<readonly string[]> {
  const told: string[] = [];
  // Who has no state folder has kept nothing there.
  const unsent = orElse(() => unsentFolder(files), undefined);
  if (unsent === undefined) return told;
  for (const name of await namesIn(unsent)) {
    const entry = parseEntry(name);
    if (!entry || !(await isGone(entry))) continue;
    const folder = join(unsent, name);
    const [given, path] = [join(folder, givenName), await editedIn(folder)];
    if (path === undefined) {
      // Whoever has removed the text needs what the editor was given no more. An editor's own files may still hold it.
      // Where the disk keeps it, it is tried again the next time.
      if ((await namesIn(folder)).join() === givenName)
        await rm(folder, { recursive: true, force: true }).catch(() => {});
      continue;
    }
    const [before, after] = await Promise.all([given, path].map((one) => readFile(one).catch(() => undefined)));
    if (after === undefined || before?.equals(after)) continue;
    told.push(
      `svc was killed before it was done with a text of its editor. Remove the file once you have used it: ${path}`,
    );
  }
  return told;
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** An editor may have left files of its own beside it. */
async function editedIn(folder: string): Promise<string | undefined> {
  const name = (await namesIn(folder)).find((one) => /^text\.\w+$/u.test(one));
  return name && join(folder, name);
}
