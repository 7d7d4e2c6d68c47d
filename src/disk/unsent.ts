import { join } from 'node:path';
import { replaceFile } from './atomic-file.ts';
import { randomName } from './random-name.ts';

type Needs = { readonly files: { readonly state: string }; readonly clock: { now(): Date } };

/** Where texts are kept that could be neither sent nor made a draft. */
export const unsentFolder = ({ state }: { readonly state: string }): string => join(state, 'unsent');

/** The text goes into a file of its own, also beside one of the same moment. Returns its place. */
export async function keepUnsent({ files, clock }: Needs, text: string): Promise<string> {
  const path = join(unsentFolder(files), `${clock.now().toISOString().replaceAll(':', '-')}-${randomName()}.md`);
  await replaceFile(path, `${text}\n`);
  return path;
}
