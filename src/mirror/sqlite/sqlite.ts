import { dirname } from 'node:path';
import { diskFailure } from '../../disk/file/disk-failure.ts';
import { entryAt } from '../../disk/file/file-head.ts';
import type { Held } from '../../disk/lock/lock.ts';
import { whatIsWrongWith } from '../../disk/place/folder-check.ts';
import { makePrivateFile, resolvedFile, takeFromOthers } from '../../disk/place/private-data.ts';
import { Failure, withHint } from '../../errors.ts';
import { oneByOne } from '../../promise/one-by-one.ts';
import { type Sql, type Store, shortNameOf } from '../tables/store.ts';
import { fixedEngine } from './engine-fixed.ts';
import { isOpenHere, nativeEngine } from './engine-native.ts';
import { type CopyFile, requireOurs, type SqliteEngine, type Start, type Use } from './file.ts';
import { type LockNeeds, locking } from './locks.ts';
import { startNative } from './native.ts';
import { requireAlone } from './neighbours.ts';
import { type NodeSqlite, nodeSqlite } from './node-sqlite.ts';
import { lookAt, orOtherPlace } from './ownership.ts';
import { removeCopyFile } from './remove.ts';

const namingLink = (link: string | false) => (error: unknown) => {
  if (link === false || !(error instanceof Failure) || error.kind !== 'usage') throw error;
  throw withHint(error, `Remove the link ${link}, or let it lead to a copy that svc made. Then run: svc mirror pull`);
};

/** A file, and whether svc itself gave it its place in the state folder. */
export type NamedFile = {
  readonly named: string;
  readonly isOwn: boolean;
  /** `--max-wait`: how long it is waited for while another process has it. */
  readonly maxWaitMs?: number;
};

/** Makes the file where there is none, readable by its owner alone. What only reads never opens it for writing. */
export async function openSqlite(given: LockNeeds, { named, isOwn: isInPlace, maxWaitMs }: NamedFile): Promise<Store> {
  const { clock, signal, progress, notice } = given;
  // Where a link leads svc has chosen nothing: what stands there may be another's, and is not deleted as a damaged copy.
  const isLinked = isInPlace && entryAt(named)?.isLink === true;
  const isOwn = isInPlace && !isLinked;
  const ctx: LockNeeds = { clock, signal, progress, notice, maxWaitMs, advice: orOtherPlace(isOwn) };
  const path = await resolvedFile(named);
  const native = nodeSqlite();
  const { start, engineOf } = native ? inThisThread(native, path) : await inThread(path);
  const place = { ctx, path, isOwn };
  const whose = isOpenHere(path) ? 'ours' : await requireOurs(place, start).catch(namingLink(isLinked && named));
  await requireAlone(path, whose, isOwn);
  if (whose === 'none') {
    await makePrivateFile(path).catch((error) => {
      throw diskFailure(error, `The copy ${path} could not be made`, orOtherPlace(isOwn));
    });
  }
  // Its log and its journal get the rights of the file itself.
  if (whose === 'empty') await takeFromOthers(path, notice);
  const why = whose === 'ours' && !isOpenHere(path) ? await whatIsWrongWith(dirname(path)) : undefined;
  const engine =
    why === undefined
      ? engineOf(place, start)
      : fixedEngine(place, start, { why, takesLog: native !== undefined, ...(await lookAt(path, isOwn)) });
  const queue = oneByOne();
  let isClosed = false;
  // An engine opens the file when it is first asked: behind a close, nobody would close it again.
  const work = <T>(job: () => Promise<T>): Promise<T> =>
    queue(() => {
      if (isClosed) throw new Failure('failed', `The copy ${path} is closed.`);
      return job();
    });
  /** Of the pulls of this process. */
  const pulls = new Set<Held>();
  const check = () => {
    for (const one of pulls) one.check();
  };
  const transaction =
    (use: Use, begin: string) =>
    <T>(job: (sql: Sql) => Promise<T>): Promise<T> =>
      work(() => engine.transact(use, begin, job, check));

  return {
    engine: 'sqlite',
    holdsThread: native !== undefined,
    place: path,
    write: transaction('write', 'BEGIN IMMEDIATE'),
    read: transaction('read', 'BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1'),
    alone: (account, job, longestMs) => {
      const pull = async (held: Held) => {
        pulls.add(held);
        return job(held.check).finally(() => pulls.delete(held));
      };
      return locking(ctx, path)(`pull-${shortNameOf(account)}`, 'the copy of this account', pull, longestMs);
    },
    query: ({ text, views }, signal) => work(() => engine.query(text, views, signal)),
    // Its plans do not hang on it: each question has an index of its own.
    analyze: async () => {},
    compact: () => work(() => engine.exec('VACUUM')),
    async remove() {
      await engine.close();
      await removeCopyFile(path);
    },
    close: () =>
      queue(() => {
        isClosed = true;
        return engine.close();
      }),
  };
}

type Program = { readonly start: Start; readonly engineOf: (place: CopyFile, start: Start) => SqliteEngine };

const inThisThread = (native: NodeSqlite, path: string): Program => ({
  start: (mode) => startNative(native, path, mode),
  engineOf: nativeEngine,
});

/** Where Node has none of its own: what starts a thread takes a while to load. */
async function inThread(path: string): Promise<Program> {
  const { startThread, warmThread } = await import('./thread.ts');
  // Its start takes a while, in which other things are done.
  warmThread();
  const { webAssemblyEngine } = await import('./engine-wasm.ts');
  return { start: (mode) => startThread(path, mode), engineOf: webAssemblyEngine };
}
