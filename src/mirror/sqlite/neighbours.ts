import { entryAt, headOf } from '../../disk/file/file-head.ts';
import { Failure } from '../../errors.ts';
import { type Found, notOurs } from './ownership.ts';

/** What either engine keeps beside the file. */
export const endings = ['-journal', '-wal', '-shm', '.undo'] as const;

/** How SQLite begins them. One whose head is all zeros is over, or was not yet begun. A shared memory begins with its version. */
const begins: Readonly<Record<(typeof endings)[number], RegExp>> = {
  '-journal': /^(?:d9d505f9|00000000)/u,
  '.undo': /^(?:d9d505f9|00000000)/u,
  '-wal': /^377f068[23]/u,
  '-shm': /^(?:18e22d00|002de218|00000000)/u,
};

/**
 * The locks and the journals of a database are found by its name: with two names there would be two of each. And what stands
 * where a journal of svc's would stand is written over or removed.
 *
 * @throws Failure `usage` where the file has several names, or where what stands beside it is not its own
 */
export async function requireAlone(path: string, whose: Found['whose'], isInStateFolder: boolean): Promise<void> {
  if ((entryAt(path)?.names ?? 1) > 1) throw severalNames(path);
  for (const ending of endings) {
    const beside = `${path}${ending}`;
    const found = entryAt(beside);
    if (!found) continue;
    if (!found.isFile) throw notOurs(beside, 'is not a plain file, and svc needs that name');
    if (found.names > 1) throw severalNames(beside);
    if (found.size === 0 || isInStateFolder) continue;
    // Without a database it can only be of somebody else; a killed svc may leave an empty one behind with its own.
    const head = whose === 'none' ? undefined : await headOf(beside, 4);
    // Another process may have removed its own meanwhile.
    if (head?.kind === 'none') continue;
    if (head?.kind === 'file' && (head.size === 0 || begins[ending].test(head.bytes.toString('hex')))) continue;
    throw notOurs(beside, 'is there already, and a copy beside it would need that name');
  }
}

const severalNames = (path: string): Failure =>
  new Failure('usage', `${path} is one file under several names (hard links), so svc does not use it.`, {
    hint: 'Two processes that know it by different names would damage it. Keep one name, or make a copy: cp',
  });
