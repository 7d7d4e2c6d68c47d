import { codeOf, Failure } from '../../errors.ts';

/** What people call them. */
export const diskWords: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'a file may not grow any more (ulimit -f)',
  EROFS: 'the disk is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOTDIR: 'a part of the path is a file',
  EISDIR: 'it is a folder',
  EEXIST: 'a file, or a link that leads nowhere, has that name',
  EBUSY: 'it is in use, or mounted as a single file',
  EIO: 'the disk fails',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open on this machine',
};

/** An error of the file system as a Failure that says what could not be done; any other error as it is. */
export function diskFailure(error: unknown, what: string, hint?: string): unknown {
  const code = codeOf(error);
  if (!(error instanceof Error) || !code || !('syscall' in error)) return error;
  return new Failure('failed', `${what}: ${diskWords[code] ?? error.message}.`, { hint, cause: error });
}

/** Of an error of the file system, what it refused and why; undefined of any other. `advice`: what helps with that path. */
export function refusedPath(error: unknown, advice: (path: string) => string | undefined): Failure | undefined {
  if (error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd') {
    return new Failure('failed', 'The folder that svc was started in is not there any more.', {
      hint: 'Go to another folder, and run it there.',
      cause: error,
    });
  }
  const reason = diskWords[codeOf(error) ?? ''];
  if (!(error instanceof Error) || !reason || !('syscall' in error)) return undefined;
  // An open file is named by its number alone.
  const path = 'path' in error ? String(error.path) : undefined;
  const what = path === undefined ? 'A file could not be written or read' : `${path} cannot be used`;
  return new Failure('failed', `${what}: ${reason}.`, { hint: path && advice(path), cause: error });
}
