import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../errors.ts';
import { isCode } from './atomic-file.ts';
import { makePrivateFolder } from './private-folder.ts';

/** Throws the Failure of a file that the editor took away, or wrote in another encoding than UTF-8. */
async function textLeftIn(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: unknown) => {
    if (!isCode(error, 'ENOENT')) throw error;
    throw new Failure('failed', 'The editor left no file behind, so there is no text. Nothing was sent.');
  });
  const text = decoded(bytes);
  if (text === undefined) {
    throw new Failure('failed', 'What the editor saved is not UTF-8, so it was not taken. Nothing was sent.', {
      hint: 'Let the editor save UTF-8, or give the text with --body-file.',
    });
  }
  return text;
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** What a file holds, for a person to look at: of what is no UTF-8, the encoding that it most likely is. */
async function readInAnyCase(path: string): Promise<string | undefined> {
  const bytes = await readFile(path).catch(() => undefined);
  return bytes && (decoded(bytes) ?? new TextDecoder('windows-1252').decode(bytes));
}

/**
 * Lets `change` work on a file that holds `text`, and returns what the file holds then. The file is readable by its
 * owner alone (it may be a reply to a customer) and is gone afterwards, also after a failure, and where svc ends at once.
 */
export async function throughTempFile(
  text: string,
  name: string,
  /** Told what the file holds where `change` fails, or leaves what is no UTF-8. */
  failed: ((text: string) => void) | undefined,
  change: (path: string) => Promise<void>,
): Promise<string> {
  const folder = await makePrivateFolder('svc-');
  try {
    const path = join(folder.path, name);
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    try {
      await change(path);
      return await textLeftIn(path);
    } catch (error) {
      const left = failed && (await readInAnyCase(path));
      if (left !== undefined) failed?.(left);
      throw error;
    }
  } finally {
    await folder.remove();
  }
}
