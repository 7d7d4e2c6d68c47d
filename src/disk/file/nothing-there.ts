import { codeOf } from '../../errors.ts';

/** For a `catch`: undefined where there is no such file or folder. */
export function nothingThere(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT') return undefined;
  throw error;
}

/** For a `catch`: undefined where there is such a file or folder already. */
export function thereAlready(error: unknown): undefined {
  if (codeOf(error) === 'EEXIST') return undefined;
  throw error;
}
