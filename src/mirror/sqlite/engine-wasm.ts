import { transaction } from '../tables/transaction.ts';
import type { Connection, Work } from './connection.ts';
import {
  type CopyFile,
  openedForReading,
  openedForWriting,
  type SqliteEngine,
  type Start,
  sqlOn,
  type Use,
} from './file.ts';
import { dropEmptyLog, takeJournal, takeLog } from './journal.ts';
import { asWebAssembly, gateOfWebAssembly } from './locks.ts';
import { type Found, lookAt } from './ownership.ts';
import { piece, rowsReadAhead } from './query-rows.ts';
import { untilInterrupted } from './thread.ts';

/** SQLite as WebAssembly, in a thread: no locks of its own, so svc's lock is held around all that it does. */
export function webAssemblyEngine(place: CopyFile, start: Start): SqliteEngine {
  const { ctx, path, isOwn } = place;
  let present: Connection | undefined;

  const closePresent = async (): Promise<void> => {
    const connection = present;
    present = undefined;
    await connection?.ask('close').catch(() => {});
    await connection?.end();
  };
  /** Under the lock alone. */
  const open = async (use: Use, entry: string): Promise<Connection> => {
    const found = await lookAt(path, isOwn);
    const isTorn = await takeJournal(path, '.undo', ctx.notice);
    if (found.isWal || isTorn) await closePresent();
    await (found.isWal ? takeLog(path) : dropEmptyLog(path));
    if (present && (use === 'read' || !present.readOnly)) return present;
    await closePresent();
    present = await opened(use, { ...found, isTorn }, entry);
    return present;
  };
  const opened = async (use: Use, { isWal, whose, isTorn }: Found & { readonly isTorn: boolean }, entry: string) => {
    // What is to be undone or taken in is so by whoever may write.
    if (use === 'write' || isTorn || isWal || whose === 'empty')
      return openedForWriting(place, start, { isWal, entry });
    return openedForReading(start, { isWal: false });
  };
  return {
    transact: (use, begin, job, check) =>
      asWebAssembly(ctx, path, async ({ check: checkGate, entry }) => {
        const mustBeOurs = () => {
          checkGate();
          if (use === 'write') check();
        };
        try {
          mustBeOurs();
          const connection = await open(use, entry);
          const exec = (text: string) => connection.ask('exec', { text, entry });
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
      }),
    exec: (text) =>
      asWebAssembly(ctx, path, async ({ entry }) => (await open('write', entry)).ask('exec', { text, entry })),
    async query(text, views, signal) {
      const lock = await gateOfWebAssembly(ctx, path);
      const end = async () => {
        await closePresent();
        await lock.release();
      };
      try {
        // A thread that may write is not asked, whatever it would refuse.
        const { entry } = lock.held;
        if (!(await open('read', entry)).readOnly) {
          await closePresent();
          await open('read', entry);
        }
        const connection = await open('read', entry);
        const ask = <W extends Work>(work: W, given?: object) =>
          untilInterrupted(connection, signal, connection.ask(work, given));
        const columns = await ask('query', { text, views });
        const next = async () => {
          const some = await ask('next', { most: piece });
          lock.held.check();
          return some;
        };
        return { columns, rows: rowsReadAhead(next, end) };
      } catch (error) {
        await end();
        throw error;
      }
    },
    close: closePresent,
  };
}
