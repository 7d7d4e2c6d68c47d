import { chmod, copyFile, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import type { KeptFile } from '../../context.ts';
import { codeOf, Failure, orElse } from '../../errors.ts';
import { capital } from '../../text/capital.ts';
import { makeFolders } from '../file/make-folders.ts';
import { nothingThere } from '../file/nothing-there.ts';
import type { PrivateFolder } from '../file/private-folder.ts';
import { makeEditingFolder, unsentFolder } from './unsent.ts';

/** No text that the service takes is nearly as long, in bytes: whatever is longer was saved by mistake. */
const mostText = 1024 * 1024;

/** Throws the Failure of a file that the editor took away, or wrote in another encoding than UTF-8. */
async function textLeftIn(path: string, otherwise: string): Promise<string> {
  const bytes = await readFile(path).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
    throw new Failure('failed', `The editor left no file behind, so ${otherwise}.`);
  });
  const text = decoded(bytes);
  if (text === undefined) {
    throw new Failure('failed', `What the editor saved is not UTF-8, so ${otherwise}.`, {
      hint: 'Let the editor save UTF-8, or name another in VISUAL or EDITOR.',
    });
  }
  return text;
}

const decoded = (bytes: Uint8Array): string | undefined =>
  orElse(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), undefined);

/** What a file holds, for a person to look at: of what is no UTF-8, the encoding that it most likely is. */
async function readInAnyCase(path: string): Promise<string | undefined> {
  const bytes = await readFile(path).catch(() => undefined);
  return bytes && (decoded(bytes) ?? new TextDecoder('windows-1252').decode(bytes));
}

/** Whole or not at all: a disk that is full takes a part. */
const copied = (path: string, to: string): Promise<void> =>
  copyFile(path, to).catch(async (error: unknown) => {
    await rm(to, { force: true }).catch(() => {});
    throw error;
  });

/** What a file that is too large to be a text is kept as; where it cannot be moved, it stays where it is. */
async function putAside(path: string, folder: PrivateFolder, files: Left['files']): Promise<string> {
  const unsent = unsentFolder(files);
  const kept = join(unsent, `${basename(folder.path)}${extname(path)}`);
  try {
    await makeFolders(unsent);
    await rename(path, kept).catch((error: unknown) => {
      if (codeOf(error) !== 'EXDEV') throw error;
      return copied(path, kept);
    });
    await chmod(kept, 0o600).catch(() => {});
    return kept;
  } catch {
    folder.leave();
    return path;
  }
}

const inMegabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

export type Left = {
  /** See `Ask.edit`. */
  readonly otherwise?: string | undefined;
  /** Told what the file holds where `change` fails, or leaves what is no UTF-8. */
  readonly failed?: ((text: string) => void) | undefined;
  /** A file that is too large to be a text is kept there. */
  readonly files: { readonly state: string };
  /** Given the file: it stays until that is removed, also where svc ends at once. */
  readonly kept?: ((file: KeptFile) => void) | undefined;
};

/**
 * Lets `change` work on a file that holds `text`, and returns what the file holds then. The file is readable by its
 * owner alone (it may be a reply to a customer) and is gone afterwards, also after a failure, and where svc ends at once,
 * unless `kept` takes it; but one that is too large to be a text is kept, and named by the failure.
 */
export async function throughTempFile(
  text: string,
  name: string,
  { failed, files, kept, otherwise = 'nothing was sent' }: Left,
  change: (path: string) => Promise<void>,
): Promise<string> {
  const folder = await makeEditingFolder(files, text);
  let isLeft = false;
  try {
    const path = join(folder.path, name);
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    const ended = await change(path).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    // Looked at before it is read: a file may be larger than the memory.
    const { size = 0 } = (await stat(path).catch(nothingThere)) ?? {};
    if (size > mostText) {
      const aside = await putAside(path, folder, files);
      isLeft = aside === path;
      const what = `What the editor saved is ${inMegabytes(size)} long, and a text has at most ${inMegabytes(mostText)}.`;
      throw new Failure('failed', `${what} ${capital(otherwise)}. It is kept in ${aside}`, { cause: ended?.error });
    }
    if (kept) {
      isLeft = true;
      folder.leave();
      kept({ path, remove: folder.remove });
    }
    try {
      if (ended) throw ended.error;
      return await textLeftIn(path, otherwise);
    } catch (error) {
      const left = failed && (await readInAnyCase(path));
      if (left !== undefined) failed?.(left);
      throw error;
    }
  } finally {
    // A text that was read is not refused for what its disk does not let go of.
    if (!isLeft) await folder.remove().catch(() => {});
  }
}
