import { rmSync } from 'node:fs';
import { chmod, cp, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolders } from './make-folders.ts';
import { nothingThere } from './nothing-there.ts';

export type PrivateFolder = Awaited<ReturnType<typeof makePrivateFolder>>;

/** A new folder that only its owner can enter, gone at the latest when this process exits. */
export async function makePrivateFolder(prefix: string, within = tmpdir()) {
  const path = await mkdtemp(join(within, prefix));
  const removeNow = () => rmSync(path, { recursive: true, force: true });
  process.once('exit', removeNow);
  return {
    path,
    async remove() {
      process.off('exit', removeNow);
      await rm(path, { recursive: true, force: true });
    },
    /** It stays, for a person who finds something in it. */
    leave: () => void process.off('exit', removeNow),
  };
}

/** Copies a folder with all that is in it; none where there is none. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, dereference: true }).catch(nothingThere);
}

/** Writes a program into a folder, so that it can be run from there. */
export async function writeProgram(path: string, text: string): Promise<void> {
  await makeFolders(dirname(path), 0o777);
  await writeFile(path, text);
  await chmod(path, 0o755);
}

/** A new folder that only its owner can enter, and that stays. */
export const makeLastingFolder = (prefix: string): Promise<string> => mkdtemp(join(tmpdir(), prefix));

/**
 * The examples are shipped beside the program, which may have been started through a link; a single executable carries
 * them within.
 */
export async function exampleFile(program: string, name: string): Promise<string> {
  const { isSea, getAsset } = process.getBuiltinModule('node:sea');
  if (!isSea()) return join(dirname(dirname(await realpath(program))), 'examples', name);
  const path = join(await makeLastingFolder('svc-examples-'), name);
  await writeFile(path, new Uint8Array(getAsset(`examples/${name}`)));
  return path;
}
