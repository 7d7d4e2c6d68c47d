import { isCode } from './atomic-file.ts';

/** For a `catch`: undefined where there is no such file or folder. */
export function nothingThere(error: unknown): undefined {
  if (isCode(error, 'ENOENT')) return undefined;
  throw error;
}
