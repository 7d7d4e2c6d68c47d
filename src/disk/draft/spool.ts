import { constants, promises as fs } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf, Failure } from '../../errors.ts';
import { diskFailure } from '../file/disk-failure.ts';
import { writeAll } from '../log/log-file.ts';

/** A queue without a bound: what is not taken soon waits in a file that its owner alone can read. */
export type Spool<T> = {
  /** Resolves once the piece is kept; never waits for whoever takes. */
  put(piece: T): Promise<void>;
  /** No more will come; with an error, the taker gets that after all that was put. */
  finish(error?: unknown): void;
  /** The pieces in their order; undefined at the end. */
  take(): Promise<T | undefined>;
  /** Removes the file; what was not taken is gone. */
  close(): Promise<void>;
};

/** `folder`: of one that has a name. */
type Kept = { readonly handle: FileHandle; readonly folder?: string };

type Stored = { readonly at: number; readonly length: number };

/** @param inMemory how many pieces wait in memory at most */
export function newSpool<T>(inMemory: number): Spool<T> {
  const ready: T[] = [];
  const stored: Stored[] = [];
  let file: Kept | undefined;
  let end = 0;
  let finished: { readonly error: unknown } | undefined;
  let wake = (): void => {};

  const store = async (piece: T): Promise<void> => {
    file ??= await makeFile().catch(unusable);
    const bytes = process.getBuiltinModule('node:v8').serialize(piece);
    // On a disk that is almost full a write is cut short; the next one says why.
    await writeAll(file.handle, bytes, end).catch(unusable);
    stored.push({ at: end, length: bytes.length });
    end += bytes.length;
  };
  const load = async ({ at, length }: Stored): Promise<T> => {
    const bytes = Buffer.alloc(length);
    await file?.handle.read(bytes, 0, length, at);
    return process.getBuiltinModule('node:v8').deserialize(bytes);
  };
  return {
    async put(piece) {
      if (stored.length > 0 || ready.length >= inMemory) await store(piece);
      else ready.push(piece);
      wake();
    },
    finish(error) {
      finished = { error };
      wake();
    },
    async take() {
      for (;;) {
        if (ready.length > 0) return ready.shift();
        const next = stored.shift();
        if (next) return load(next);
        if (finished?.error !== undefined) throw finished.error;
        if (finished) return undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async close() {
      await file?.handle.close();
      if (file?.folder !== undefined) await fs.rm(file.folder, { recursive: true, force: true });
      file = undefined;
    },
  };
}

const unusable = (error: unknown): never => {
  const what = `Rows that wait for their reader cannot be kept in ${tmpdir()}`;
  const hint =
    'Name another folder for temporary files in TMPDIR, or write the rows into a file, which takes them at once.';
  if (codeOf(error) === 'ENOENT')
    throw new Failure('failed', `${what}: that folder is not there.`, { hint, cause: error });
  throw diskFailure(error, what, hint);
};

/** Without a name from the first moment, where the system can: nothing is left behind, however and whenever svc ends. */
async function makeFile(): Promise<Kept> {
  const nameless = process.platform === 'linux' ? await openNameless(tmpdir()) : undefined;
  if (nameless) return { handle: nameless };
  const folder = await fs.mkdtemp(join(tmpdir(), 'svc-'));
  const handle = await fs.open(join(folder, 'rows'), 'wx+', 0o600);
  await fs.rm(folder, { recursive: true, force: true }).catch(() => {});
  return { handle, folder };
}

/** Linux's O_TMPFILE, which Node does not name. Undefined where the file system has no such files, or no such folder. */
const openNameless = (folder: string): Promise<FileHandle | undefined> =>
  fs.open(folder, constants.O_RDWR | constants.O_DIRECTORY | 0o20000000, 0o600).catch(() => undefined);
