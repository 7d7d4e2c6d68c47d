import { join } from 'node:path';
import { fillFile, readReserved, reserveFile } from '../disk/draft/reserved-file.ts';
import { isThere } from '../disk/file/atomic-file.ts';
import { removeFile } from '../disk/file/folder.ts';
import { isDone } from '../promise/whether.ts';
import { hexDigestOf } from '../text/digest.ts';
import { jsonIn } from '../text/json.ts';
import { fieldsIn } from '../text/record.ts';

type Rescued = { readonly version: 1; readonly secret: string; readonly newer_than: string };

/**
 * Beside `credentials.json`, one for each secret that is being exchanged: its room is taken before the old secret is
 * spent, and the new one stands there until it is saved in its place. Only the holder of the secret's lock writes it.
 */
export function rescueFile(folder: string) {
  const pathOf = (name: string) => join(folder, `credentials.rescue.${encodeURIComponent(name)}.json`);
  return {
    pathOf,
    /** Takes the room for a secret that may be twice as long as the present one. */
    reserve: (name: string, present: string) => reserveFile(pathOf(name), 2 * JSON.stringify(present).length + 4096),
    /** Durable when this resolves true. `stored`: the secret that stands in its place, which this one is newer than. */
    async fill(name: string, secret: string, stored: string | undefined): Promise<boolean> {
      // The file does not hold the old secret itself.
      const rescued: Rescued = { version: 1, secret, newer_than: hexDigestOf(stored ?? '') };
      return isDone(fillFile(pathOf(name), JSON.stringify(rescued)));
    },
    /** The newer secret; undefined where there is none, or where another has taken its place since. */
    async read(name: string, stored: string | undefined): Promise<string | undefined> {
      if (!(await isThere(pathOf(name)))) return undefined;
      const rescued = parse(await readReserved(pathOf(name)).catch(() => undefined));
      return rescued?.newer_than === hexDigestOf(stored ?? '') ? rescued.secret : undefined;
    },
    /** Whether its room was taken by an exchange that nobody ended. */
    async isLeft(name: string): Promise<boolean> {
      if (!(await isThere(pathOf(name)))) return false;
      return parse(await readReserved(pathOf(name)).catch(() => undefined)) === undefined;
    },
    async drop(name: string): Promise<void> {
      if (await isThere(pathOf(name))) await removeFile(pathOf(name)).catch(() => {});
    },
  };
}

function parse(text: string | undefined): Rescued | undefined {
  const { secret, newer_than } = fieldsIn(jsonIn(text ?? ''));
  return typeof secret === 'string' && typeof newer_than === 'string' ? { version: 1, secret, newer_than } : undefined;
}
