import { diskFailure } from '../../disk/file/disk-failure.ts';
import { headOf } from '../../disk/file/file-head.ts';
import { applicationId, headerLength, magic } from '../../disk/place/copy-mark.ts';
import { orElsewhere } from '../../disk/place/elsewhere.ts';
import { Failure } from '../../errors.ts';

/**
 * Whose the file is, by its header alone.
 * - `none`, `empty`: nobody's yet
 * - `ours`: it has svc's application id
 * - `unmarked`: a database without an id. Only its tables tell whether an older svc made it
 * - `damaged`: no database; said only of the file that svc keeps in its own state folder
 */
export type Found = {
  readonly whose: 'none' | 'empty' | 'ours' | 'unmarked' | 'damaged';
  /** The database has a write-ahead log: Node's own SQLite wrote it last. */
  readonly isWal: boolean;
};

const nobodys = (whose: Found['whose']): Found => ({ whose, isWal: false });

/** `isOwn`: svc gave it its place, in the state folder. */
export const orOtherPlace = (isOwn: boolean): string =>
  isOwn ? orElsewhere() : 'Fix that, or name another place with --db or SVC_MIRROR_DB.';

/**
 * Looks whose file it is, and changes nothing.
 *
 * @throws Failure `usage` where it is not svc's: another program's database, a text, a folder, a device.
 */
export async function lookAt(path: string, isInStateFolder: boolean): Promise<Found> {
  const head = await headOf(path, headerLength).catch((error) => {
    throw diskFailure(error, `The copy ${path} cannot be used`, orOtherPlace(isInStateFolder));
  });
  if (head.kind === 'none') return nobodys('none');
  if (head.kind !== 'file') throw notOurs(path, words[head.kind]);
  if (head.size === 0) return nobodys('empty');
  const { bytes } = head;
  if (bytes.length < headerLength || bytes.toString('latin1', 0, 16) !== magic) {
    if (isInStateFolder) return nobodys('damaged');
    throw notOurs(path, 'is not a database');
  }
  const id = bytes.readUInt32BE(68);
  const isWal = bytes[18] === 2;
  if (id === applicationId) return { whose: 'ours', isWal };
  // No svc that left its file unmarked used a write-ahead log.
  if (id !== 0 || isWal) throw notOurs(path, belongsToAnother);
  return { whose: 'unmarked', isWal };
}

const words = {
  folder: 'is a folder',
  other: 'is not a plain file',
  dangling: 'is a link to a file that is not there',
} as const;

export const belongsToAnother = 'is the database of another program';

export const notOurs = (path: string, what: string): Failure =>
  new Failure('usage', `${path} ${what}, so svc leaves it as it is.`, {
    hint: 'Name a file that is not there yet, or a copy that svc made.',
  });

/** The tables that every svc made, by which a file without an id is known. */
const known = ['svc_schema', 'svc_kinds', 'svc_accounts', 'contacts'];

export const areOurs = (tables: readonly string[]): boolean => known.every((name) => tables.includes(name));
