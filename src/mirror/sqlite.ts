import type { Context } from '../context.ts';
import { diskFailure } from '../disk/disk-failure.ts';
import { removeFile } from '../disk/folder.ts';
import type { Held } from '../disk/lock.ts';
import { makePrivateFile, resolvedFile, sizeOf } from '../disk/private-data.ts';
import { hexDigestOf } from '../text/digest.ts';
import { startThread, type Thread, untilInterrupted, type Work } from './sqlite-thread.ts';
import type { Account, Answer, Sql, Store, Value, View } from './store.ts';
import { oneByOne, transaction } from './transaction.ts';

type Needs = Pick<Context, 'clock' | 'signal' | 'progress' | 'notice'>;

/** Makes the file where there is none, readable by its owner alone. What only reads never opens it for writing. */
export async function openSqlite(ctx: Needs, named: string, use: Use): Promise<Store> {
  const path = await resolvedFile(named);
  const connection = connectionTo(path, use);
  await makePrivateFile(path).catch(async (error) => {
    // A thread that is still starting would keep the process alive.
    await connection.close();
    throw diskFailure(error, `The copy ${path} could not be made`);
  });
  const locked = locking(ctx, path);
  const work = oneByOne();
  /** Of the pulls of this process. */
  const pulls = new Set<Held>();
  const transaction =
    (use: Use, begin: string) =>
    <T>(job: (sql: Sql) => Promise<T>): Promise<T> =>
      work(() =>
        locked('busy', 'the copy', async (held) => {
          const check = () => {
            for (const one of [held, ...(use === 'write' ? pulls : [])]) one.check();
          };
          const { entry } = held;
          try {
            check();
            return await within(await connection.open(use, entry), { begin, entry, check }, job);
          } catch (error) {
            // What the thread says of a database that is not ours any more tells nobody anything.
            check();
            throw error;
          }
        }),
      );

  return {
    engine: 'sqlite',
    place: path,
    write: transaction('write', 'BEGIN IMMEDIATE'),
    read: transaction('read', 'BEGIN'),
    alone: (account, job, maxWaitMs) => {
      const pull = async (held: Held) => {
        pulls.add(held);
        return job(held.check).finally(() => pulls.delete(held));
      };
      return locked(pullName(account), 'the copy of this account', pull, maxWaitMs);
    },
    query: (text, views, signal) => work(() => query({ ctx, path, connection }, text, views, signal)),
    async remove() {
      await connection.close();
      for (const file of [path, `${path}-journal`]) await removeFile(file);
    },
    close: () => work(connection.close),
  };
}

type Use = 'read' | 'write';

type Connection = {
  /** Under the lock alone. */
  open(use: Use, entry: string): Promise<Thread>;
  close(): Promise<void>;
};

/** One thread: for reading, until somebody writes. */
function connectionTo(path: string, likely: Use): Connection {
  let present: { readonly use: Use; readonly thread: Thread } | undefined;
  // Its start takes a while, in which other things are done; it opens nothing by itself.
  let ready: { readonly use: Use; readonly thread: Thread } | undefined = {
    use: likely,
    thread: startThread(path, { readOnly: likely === 'read' }),
  };
  const started = async (use: Use): Promise<Thread> => {
    const { thread, use: its } = ready ?? {};
    ready = undefined;
    if (thread && its === use) return thread;
    await thread?.end();
    return startThread(path, { readOnly: use === 'read' });
  };
  const close = async () => {
    const { thread } = present ?? {};
    present = undefined;
    await closed(thread);
    await ready?.thread.end();
    ready = undefined;
  };
  return {
    async open(wanted, entry) {
      // What a killed process left half done is undone by whoever may write.
      const isTorn = !present && wanted === 'read' && (await sizeOf(`${path}-journal`)) > 0;
      const isNew = !present && wanted === 'read' && (await sizeOf(path)) === 0;
      const use = isTorn || isNew ? 'write' : wanted;
      if (present && (present.use === 'write' || present.use === use)) return present.thread;
      if (present) await close();
      const thread = await started(use);
      present = { use, thread };
      await thread.ask('open', { entry });
      return thread;
    },
    close,
  };
}

async function closed(thread: Thread | undefined): Promise<void> {
  await thread?.ask('close').catch(() => {});
  await thread?.end();
}

type Manner = { readonly begin: string /** Of the lock. */; readonly entry: string; readonly check: () => void };

async function within<T>(thread: Thread, { begin, entry, check }: Manner, job: (sql: Sql) => Promise<T>): Promise<T> {
  const sql: Sql = {
    engine: 'sqlite',
    all: (text, values = []) => thread.ask('all', { text, values: plain(values) }),
    run: async (text, values = []) => void (await thread.ask('run', { text, values: plain(values) })),
  };
  return transaction(
    (text) => thread.ask('exec', { text, entry }),
    begin,
    async () => {
      const value = await job(sql);
      check();
      return value;
    },
  );
}

/** SQLite has no truth values. */
const plain = (values: readonly Value[]): readonly Value[] =>
  values.map((value) => (typeof value === 'boolean' ? Number(value) : value));

const pullName = ({ service, id }: Account): string => `pull-${hexDigestOf(`${service}\n${id}`).slice(0, 12)}`;

type Locked = <T>(name: string, what: string, work: (held: Held) => Promise<T>, maxWaitMs?: number) => Promise<T>;

/** Beside the database, since whoever shares the file shares the lock. */
const locking =
  ({ clock, signal, progress, notice }: Needs, path: string): Locked =>
  async (name, what, work, maxWaitMs) => {
    const { withLock } = await import('../disk/lock.ts');
    const waiting = { clock, signal, progress, notice, what, ...(maxWaitMs !== undefined && { maxWaitMs }) };
    return withLock(`${path}.${name}`, waiting, work).catch((error) => {
      throw diskFailure(error, `The copy ${path} cannot be used`);
    });
  };

const piece = 500;

type Place = { readonly ctx: Needs; readonly path: string; readonly connection: Connection };

/** In a thread that cannot write and that is not used again, under the lock until the last row is read. */
async function query(place: Place, text: string, views: readonly View[], signal: AbortSignal): Promise<Answer> {
  const { path, connection } = place;
  const lock = await held(place);
  // A thread that may write is not asked, whatever it would refuse.
  let thread = await connection.open('read', lock.held.entry);
  const end = async () => {
    await thread.end();
    await connection.close();
    await lock.release();
  };
  const ask = <W extends Work>(work: W, given?: object) => untilInterrupted(thread, signal, thread.ask(work, given));
  try {
    if (!thread.readOnly) {
      await connection.close();
      thread = startThread(path, { readOnly: true });
      await ask('open');
    }
    const columns = await ask('query', { text, views });
    async function* rows() {
      try {
        for (let done = false; !done; ) {
          const next = await ask('next', { most: piece });
          lock.held.check();
          yield* next.rows;
          done = next.done;
        }
      } finally {
        await end();
      }
    }
    return { columns, rows: rows() };
  } catch (error) {
    await end();
    throw error;
  }
}

/** The lock for as long as somebody reads. */
async function held({ ctx, path }: Place): Promise<{ readonly held: Held; release(): Promise<void> }> {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let done: Promise<void> | undefined;
  const lock = await new Promise<Held>((taken, failed) => {
    done = locking(ctx, path)('busy', 'the copy', async (held) => {
      taken(held);
      await released;
    }).catch(failed);
  });
  return {
    held: lock,
    async release() {
      release();
      await done;
    },
  };
}
