import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateFolder } from './private-folder.ts';

/**
 * Lets `change` work on a file that holds `text`, and returns what the file holds then. The file is readable by its
 * owner alone (it may be a reply to a customer) and is gone afterwards, also after a failure, and where svc ends at once.
 */
export async function throughTempFile(
  text: string,
  name: string,
  change: (path: string) => Promise<void>,
): Promise<string> {
  const folder = await makePrivateFolder('svc-');
  try {
    const path = join(folder.path, name);
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    await change(path);
    return await readFile(path, 'utf8');
  } finally {
    await folder.remove();
  }
}
