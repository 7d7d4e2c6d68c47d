import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceFile } from './atomic-file.ts';
import { randomName } from './random-name.ts';

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
