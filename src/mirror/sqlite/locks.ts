import { basename, dirname, join } from 'node:path';
import type { Context } from '../../context.ts';
import { diskFailure } from '../../disk/file/disk-failure.ts';
import { namesIn, removeEmptyFolder, removeFolder } from '../../disk/file/folder.ts';
import { type Held, holders, isOurs, tryLock, waitingFor, withLock } from '../../disk/lock/lock.ts';
import { codeOf, Failure, interruption } from '../../errors.ts';
import { resolvable } from '../../promise/resolvable.ts';

export type LockNeeds = Pick<Context, 'clock' | 'signal' | 'progress' | 'notice'> & {
  /** `--max-wait`. */
  readonly maxWaitMs?: number;
  /** Where no lock can be made beside the file. */
  readonly advice?: string;
};

export type Locked = ReturnType<typeof locking>;

/** Beside the database, since whoever shares the file shares the lock. */
export const locking =
  (ctx: LockNeeds, path: string) =>
  async <T>(name: string, what: string, work: (held: Held) => Promise<T>, maxWaitMs = ctx.maxWaitMs): Promise<T> =>
    withLock(`${path}.${name}`, { ...waitingFor(ctx, what), maxWaitMs }, work).catch((error) => {
      throw diskFailure(error, `The copy ${path} cannot be used`, ctx.advice);
    });

/** The gate for as long as the holder likes. */
async function keptGate(locked: Locked) {
  const { promise: released, resolve: release } = resolvable();
  let done: Promise<void> | undefined;
  const held = await new Promise<Held>((taken, failed) => {
    done = locked(gate, 'the copy', async (one) => {
      taken(one);
      await released;
    }).catch(failed);
  });
  return {
    held,
    async release() {
      release();
      await done;
    },
  };
}

// The two engines do not see each other's locks: the WebAssembly one has none of the operating system. So a process with
// Node's own SQLite has an entry beside the file for as long as it has that open, and the other engine waits until there is
// none. The gate, which the other engine holds around all that it does, keeps the two from coming in at once.

const gate = 'busy';
const entries = (path: string): string => `${path}.native`;
let entered = 0;

/**
 * Says that this process has the file open with Node's own SQLite. Waits for a transaction of the other engine; `first` is
 * done while there is none.
 */
export const enterNative = <T extends object>(
  locked: Locked,
  path: string,
  first: () => Promise<T>,
): Promise<T & { readonly release: () => Promise<void> }> =>
  locked(gate, 'the copy', async () => {
    const entry = `${entries(path)}/${process.pid}-${++entered}`;
    const held = await tryLock(entry);
    const leave = async () => {
      await held?.release();
      await clear(entry);
    };
    try {
      return { ...(await first()), release: leave };
    } catch (error) {
      await leave();
      throw error;
    }
  });

const waitAtMostMs = 10_000;

type Kept = Awaited<ReturnType<typeof gateOfWebAssembly>>;

/** The gate of one engine: given back once nothing follows at once, since of a short look the lock is the most. */
export function gateKeeper(ctx: LockNeeds, path: string) {
  let idle: Kept | undefined;
  let leaving: Promise<void> = Promise.resolve();
  const leave = (): Promise<void> => {
    const before = leaving;
    leaving = Promise.resolve();
    if (!idle) return before;
    leaving = idle.release();
    idle = undefined;
    // Whoever comes next is told.
    leaving.catch(() => {});
    return leaving;
  };
  return {
    /** To be given back by `release`. */
    async take(): Promise<Kept> {
      if (!idle || !isOurs(idle.held)) {
        await leave();
        idle = await gateOfWebAssembly(ctx, path);
      }
      const taken = idle;
      idle = undefined;
      const release = async (): Promise<void> => {
        idle = taken;
        setImmediate(() => void (idle === taken && leave()));
      };
      return { held: taken.held, release };
    },
    leave,
  };
}

/** The gate, once no process has the file open with the other engine. It is given back during the wait. */
export async function gateOfWebAssembly(ctx: LockNeeds, path: string) {
  const began = ctx.clock.ticks();
  for (;;) {
    const taken = await keptGate(locking(ctx, path));
    const other = await nativeAtWork(path).catch(async (error) => {
      await taken.release();
      throw error;
    });
    if (other === undefined) return taken;
    await taken.release();
    if (ctx.signal.aborted) throw interruption(ctx.signal, 'Interrupted while waiting.');
    if (ctx.clock.ticks() - began >= Math.min(waitAtMostMs, ctx.maxWaitMs ?? waitAtMostMs)) {
      throw new Failure('failed', `An svc under a newer Node has the copy ${path} open: process ${other}.`, {
        hint: 'Wait for it, end it, or run this one with Node 24.10 or later: then both use it at once.',
      });
    }
    await ctx.clock.sleep(50, ctx.signal);
  }
}

/** What svc has put there; whatever else stands in that folder is somebody else's. */
const entriesOf = async (path: string): Promise<string[]> =>
  (await namesIn(entries(path))).filter((name) => /^\d+-\d+$/u.test(name)).map((name) => `${entries(path)}/${name}`);

/** Removes what killed processes left of themselves beside a file that is deleted, and the folders of its locks. */
export async function removeEntries(path: string): Promise<void> {
  for (const entry of await entriesOf(path)) await clear(entry);
  await removeEmptyFolder(entries(path));
  // Of a lock that somebody holds the folder is not empty.
  for (const name of await namesIn(dirname(path)))
    if (name.startsWith(basename(path)) && /^\.(?:busy|pull-[\da-f]{12})$/u.test(name.slice(basename(path).length)))
      await removeEmptyFolder(join(dirname(path), name));
}

/** The process id of one that lives; entries of those that were killed are cleared away. */
async function nativeAtWork(path: string): Promise<number | undefined> {
  for (const entry of await entriesOf(path)) {
    const held = await tryLock(entry).catch((error: unknown) => {
      // Its process takes it away at this moment: the next look finds out.
      if (!movedAway.includes(codeOf(error) ?? '')) throw error;
      return undefined;
    });
    if (!held) return (await holders(entry))[0] ?? 0;
    await held.release();
    await clear(entry);
  }
  return undefined;
}

const movedAway = ['ENOENT', 'EEXIST', 'ENOTEMPTY'];

/** Two may do so at once, and one of them fails. An entry that nobody holds is nothing, and the next look clears it away. */
const clear = (entry: string): Promise<void> => removeFolder(entry).catch(() => {});
