import { Failure } from '../../errors.ts';
import { queryEnded } from '../tables/store.ts';
import { transaction } from '../tables/transaction.ts';
import type { Connection } from './connection.ts';
import {
  type CopyFile,
  openedForReading,
  openedForWriting,
  patiently,
  type SqliteEngine,
  type Start,
  sqlOn,
  type Use,
} from './file.ts';
import { takeJournal } from './journal.ts';
import { enterNative, locking } from './locks.ts';
import { type Found, lookAt } from './ownership.ts';
import { piece, rowsAsAsked } from './query-rows.ts';

/**
 * The files that this process has open. To open and close a file otherwise takes all of a process's locks of it away (POSIX),
 * and there is nothing to look for in it.
 */
const openHere = new Map<string, number>();

export const isOpenHere = (path: string): boolean => openHere.has(path);

const ours: Found = { whose: 'ours', isWal: true };

/** Node's own SQLite: a write-ahead log, so that readers and one writer never wait for each other. */
export function nativeEngine(place: CopyFile, start: Start): SqliteEngine {
  const { ctx, path, isOwn } = place;
  let present: Connection | undefined;
  let leave: (() => Promise<void>) | undefined;

  const enter = async (): Promise<void> => {
    if (leave) return;
    const { release, isTorn } = await enterNative(locking(ctx, path), path, async () => ({
      isTorn: !isOpenHere(path) && (await takeJournal(path, '-journal', ctx.notice)),
    }));
    leave = async () => {
      leave = undefined;
      await release();
    };
    try {
      const found = isOpenHere(path) ? ours : await lookAt(path, isOwn);
      openHere.set(path, (openHere.get(path) ?? 0) + 1);
      const leaveFolder = leave;
      leave = async () => {
        const left = (openHere.get(path) ?? 1) - 1;
        if (left > 0) openHere.set(path, left);
        else openHere.delete(path);
        await leaveFolder();
      };
      if (isTorn || (!found.isWal && found.whose !== 'empty')) await bringUpToDate(isTorn);
    } catch (error) {
      await leave();
      throw error;
    }
  };
  /** Undoes what was left half done, and gives the file its write-ahead log. */
  const bringUpToDate = async (isTorn: boolean): Promise<void> => {
    try {
      await (await openedForWriting(place, start, { isWal: false })).end();
    } catch (error) {
      // Where nothing can be written it is read as it is.
      const isOwnFault = !(error instanceof Failure) || error.kind === 'usage' || error.copy?.is === 'damaged';
      if (isTorn || isOwnFault) throw error;
    }
  };
  const closePresent = async (): Promise<void> => {
    const connection = present;
    present = undefined;
    // What the log holds is brought into the file as far as nobody reads.
    if (connection && !connection.readOnly) {
      await connection.ask('exec', { text: 'PRAGMA wal_checkpoint(PASSIVE)' }).catch(() => {});
    }
    await connection?.end();
  };
  const open = async (use: Use): Promise<Connection> => {
    if (present && (use === 'read' || !present.readOnly)) return present;
    await closePresent();
    await enter();
    present =
      use === 'write'
        ? await openedForWriting(place, start, { isWal: true })
        : await openedForReading(start, { isWal: true });
    return present;
  };
  return {
    async transact(use, begin, job, check) {
      if (use === 'write') check();
      const connection = await open(use);
      const exec = (text: string) => connection.ask('exec', { text });
      const again = async (text: string) => {
        await exec(text).catch(async (error) => {
          if (text === begin) await exec('ROLLBACK').catch(() => {});
          throw error;
        });
      };
      return transaction(
        (text) => (text === 'ROLLBACK' ? exec(text) : patiently(place, () => again(text))),
        begin,
        async () => {
          const value = await job(sqlOn(connection));
          if (use === 'write') check();
          return value;
        },
      );
    },
    exec: async (text) => {
      const connection = await open('write');
      await patiently(place, () => connection.ask('exec', { text }));
    },
    async query(text, views, signal) {
      // One that may write is not asked, whatever it would refuse, and what was asked is not used again.
      if (present && !present.readOnly) await closePresent();
      const connection = await open('read');
      present = undefined;
      try {
        const columns = await connection.ask('query', { text, views });
        const next = async () => {
          // A signal may have come since the rows before.
          if (signal.aborted) throw queryEnded(signal);
          return connection.ask('next', { most: piece });
        };
        return { columns, rows: rowsAsAsked(next, connection.end) };
      } catch (error) {
        await connection.end();
        throw error;
      }
    },
    async close() {
      await closePresent();
      await leave?.();
    },
  };
}
