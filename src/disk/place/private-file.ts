import { chmodSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { orElse } from '../../errors.ts';

/**
 * Makes sure that a file with secrets can be read by its owner alone, and that nobody else can replace it. Returns what
 * was wrong, one sentence each, and what was done about it. Part of every start, so it is synchronous.
 */
export function makePrivate(path: string): string[] {
  if (process.platform === 'win32') return [];
  const said: string[] = [];
  const look = (what: string, forbidden: number, mode: number) => {
    const { mode: present, uid } = statSync(what);
    const own = process.getuid?.();
    if (own !== undefined && uid !== own && uid !== 0) said.push(`${what} belongs to another user (id ${uid}).`);
    if ((present & forbidden) === 0) return;
    const open = forbidden === groupAndOthers ? 'could be read by other users' : 'could be changed by other users';
    const fixed = uid === own && orElse(() => chmodSync(what, mode), 'refused') === undefined;
    said.push(
      fixed ? `${what} ${open}; now it is yours alone.` : `${what} ${open}. Run: chmod ${mode.toString(8)} '${what}'`,
    );
  };
  look(path, groupAndOthers, 0o600);
  look(dirname(path), writableByOthers, 0o700);
  return said;
}

const groupAndOthers = 0o077;
const writableByOthers = 0o022;
