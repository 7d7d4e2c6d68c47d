import { entryAt, standsAs } from '../../disk/file/file-head.ts';
import { Failure } from '../../errors.ts';
import { transaction } from '../tables/transaction.ts';
import type { Connection, Work } from './connection.ts';
import { type CopyFile, endOf, openedForReading, type SqliteEngine, type Start, sqlOn } from './file.ts';
import { untilInterrupted } from './interrupted.ts';
import { orOtherPlace } from './ownership.ts';
import { piece, rowsAsAsked } from './query-rows.ts';

type Wanted = {
  /** What is wrong with its folder. */
  readonly why: string;
  /** Whether the engine can look at a file that is known to have a write-ahead log. */
  readonly takesLog: boolean;
  readonly isWal: boolean;
};

/**
 * A file in a folder in which nothing can be made: no lock, no journal and no log. It is read as it stands. Nobody who could
 * write it is kept out meanwhile: so what was read counts only where the file is still the same behind it.
 */
export function fixedEngine(place: CopyFile, start: Start, { why, takesLog, isWal }: Wanted): SqliteEngine {
  const { path, isOwn } = place;
  let present: { readonly connection: Connection; readonly as: string } | undefined;
  const cannot = (what: string, besides = ''): Failure =>
    new Failure('failed', `The copy ${path} cannot be ${what}: ${besides}its folder ${why}.`, {
      hint: orOtherPlace(isOwn),
      copy: { is: 'out of reach' },
    });
  const requireSame = (as: string): void => {
    if (standsAs(path) === as && !unfinished(path)) return;
    throw new Failure('failed', `The copy ${path} changed while it was read.`, {
      hint: 'Run the command again.',
      copy: { is: 'locked' },
    });
  };
  const open = async () => {
    if (present) {
      requireSame(present.as);
      return present;
    }
    const as = standsAs(path);
    const left = unfinished(path);
    if (left !== undefined) throw cannot('read', `${left} holds a part of it, and `);
    if (isWal && !takesLog) throw cannot('read', 'an svc under a newer Node has written it, and ');
    present = { connection: await openedForReading(start, { isWal: false, isFixed: true }), as };
    return present;
  };
  const close = async (): Promise<void> => {
    const last = present;
    present = undefined;
    if (last) await endOf(last.connection);
  };
  return {
    async transact(use, begin, job) {
      if (use === 'write') throw cannot('changed');
      const { connection, as } = await open();
      const exec = (text: string) => connection.ask('exec', { text });
      return transaction(exec, begin, async () => {
        const value = await job(sqlOn(connection));
        requireSame(as);
        return value;
      });
    },
    exec: async () => {
      throw cannot('changed');
    },
    async query(text, views, signal) {
      const { connection, as } = await open();
      // What was asked is not used again.
      present = undefined;
      const ask = <W extends Work>(work: W, given?: object) =>
        untilInterrupted(connection, signal, connection.ask(work, given));
      try {
        const columns = await ask('query', { text, views });
        const next = async () => {
          const some = await ask('next', { most: piece });
          requireSame(as);
          return some;
        };
        return { columns, rows: rowsAsAsked(next, () => endOf(connection)) };
      } catch (error) {
        await endOf(connection);
        throw error;
      }
    },
    close,
  };
}

/** What stands beside the file and holds what is not in it yet, or what was not undone. */
const unfinished = (path: string): string | undefined =>
  ['-journal', '.undo', '-wal'].map((ending) => `${path}${ending}`).find((beside) => (entryAt(beside)?.size ?? 0) > 0);
