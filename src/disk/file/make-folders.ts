import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, orElse } from '../../errors.ts';

/**
 * Makes the folder, and those above it that are not there; fine where it is there. For its owner alone, unless `mode`.
 * Node's own way of doing so (`recursive`) never ends, and cannot be ended, where the system refuses a new folder as if the
 * one above were missing: below /proc.
 */
export async function makeFolders(folder: string, mode = 0o700): Promise<void> {
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return unlessThere(folder, error);
    const above = dirname(folder);
    if (above === folder) throw error;
    await makeFolders(above, mode);
    try {
      mkdirSync(folder, mode);
    } catch (again) {
      unlessThere(folder, again, above);
    }
  }
}

/** Another process may have made it meanwhile; and the system may refuse what is there already with any error. */
function unlessThere(folder: string, error: unknown, above?: string): void {
  const found = orElse(() => statSync(folder, { throwIfNoEntry: false }), undefined);
  if (found?.isDirectory()) return;
  const isRefused = above !== undefined && codeOf(error) === 'ENOENT';
  throw isRefused ? Object.assign(new Error(`EPERM: no folder can be made in ${above}`), refusal(folder)) : error;
}

const refusal = (path: string) => ({ code: 'EPERM', syscall: 'mkdir', path });
