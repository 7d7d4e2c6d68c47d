import type { Held } from '../../disk/lock/lock.ts';
import { transaction } from '../tables/transaction.ts';
import type { Connection, Work } from './connection.ts';
import {
  type CopyFile,
  endOf,
  openedForReading,
  openedForWriting,
  type SqliteEngine,
  type Start,
  sqlOn,
  type Use,
} from './file.ts';
import { untilInterrupted } from './interrupted.ts';
import { dropEmptyLog, takeJournal, takeLog } from './journal.ts';
import { gateKeeper } from './locks.ts';
import { type Found, lookAt } from './ownership.ts';
import { piece, rowsReadAhead } from './query-rows.ts';

/** SQLite as WebAssembly, in a thread: no locks of its own, so svc's lock is held around all that it does. */
export function webAssemblyEngine(place: CopyFile, start: Start): SqliteEngine {
  const { ctx, path, isOwn } = place;
  const gate = gateKeeper(ctx, path);
  let present: Connection | undefined;
  /** The lock under which the file was last looked at: nobody else has changed it since. */
  let lookedUnder: Held | undefined;

  const closePresent = async (): Promise<void> => {
    const connection = present;
    present = undefined;
    if (connection) await endOf(connection);
  };
  /** Under the lock alone. */
  const open = async (use: Use, held: Held): Promise<Connection> => {
    if (present && lookedUnder === held && (use === 'read' || !present.readOnly)) return present;
    const found = await lookAt(path, isOwn);
    const isTorn = await takeJournal(path, '.undo', ctx.notice);
    if (found.isWal || isTorn) await closePresent();
    await (found.isWal ? takeLog(path) : dropEmptyLog(path));
    if (!present || (use === 'write' && present.readOnly)) {
      await closePresent();
      present = await opened(use, { ...found, isTorn }, held.entry);
    }
    lookedUnder = held;
    return present;
  };
  const opened = async (use: Use, { isWal, whose, isTorn }: Found & { readonly isTorn: boolean }, entry: string) => {
    // What is to be undone or taken in is so by whoever may write.
    if (use === 'write' || isTorn || isWal || whose === 'empty')
      return openedForWriting(place, start, { isWal, entry });
    return openedForReading(start, { isWal: false });
  };
  /** `work` alone with the file. */
  const alone = async <T>(work: (held: Held) => Promise<T>): Promise<T> => {
    const { held, release } = await gate.take();
    try {
      return await work(held);
    } catch (error) {
      // What was not done may be left half done.
      lookedUnder = undefined;
      throw error;
    } finally {
      await release();
    }
  };
  return {
    async transact(use, begin, job, check) {
      // Who has lost the copy does not wait for it.
      if (use === 'write') check();
      return alone(async (held) => {
        const mustBeOurs = () => {
          held.check();
          if (use === 'write') check();
        };
        try {
          mustBeOurs();
          const connection = await open(use, held);
          const exec = (text: string) => connection.ask('exec', { text, entry: held.entry });
          return await transaction(exec, begin, async () => {
            const value = await job(sqlOn(connection));
            mustBeOurs();
            return value;
          });
        } catch (error) {
          // What the thread says of a database that is not ours any more tells nobody anything.
          mustBeOurs();
          throw error;
        }
      });
    },
    exec: (text) => alone(async (held) => (await open('write', held)).ask('exec', { text, entry: held.entry })),
    async query(text, views, signal) {
      const { held, release } = await gate.take();
      const end = async () => {
        await closePresent();
        await release();
      };
      try {
        // A thread that may write is not asked, whatever it would refuse.
        if (!(await open('read', held)).readOnly) await closePresent();
        const connection = await open('read', held);
        const ask = <W extends Work>(work: W, given?: object) =>
          untilInterrupted(connection, signal, connection.ask(work, given));
        const columns = await ask('query', { text, views });
        const next = async () => {
          const some = await ask('next', { most: piece });
          held.check();
          return some;
        };
        return { columns, rows: rowsReadAhead(next, end) };
      } catch (error) {
        await end();
        throw error;
      }
    },
    async close() {
      await closePresent();
      await gate.leave();
    },
  };
}
