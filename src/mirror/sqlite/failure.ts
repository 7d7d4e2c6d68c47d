import { diskWords } from '../../disk/file/disk-failure.ts';
import { Failure } from '../../errors.ts';
import { shellWord } from '../../text/shell-word.ts';

export const damaged = (path: string, said: string): Failure =>
  new Failure('failed', `The copy ${path} is damaged: ${said}.`, {
    hint: `The account itself is not. To delete the copy and read it again: svc mirror forget --db ${shellWord(path)}, then svc mirror pull`,
    copy: { is: 'damaged', file: path },
  });

export const isBusy = (error: unknown): boolean => error instanceof Failure && error.copy?.is === 'locked';

/** SQLite's own words; a query may fail with words of its own, such as "malformed JSON". */
const damagedWords = /^(?:database disk image is malformed|file is not a database|malformed database schema)/u;
const diskTrouble =
  /^(?:disk I\/O error|database or disk is full|unable to open database file|attempt to write a readonly database|database is locked|locking protocol)/u;

/**
 * What SQLite said, as a Failure. The statements of svc itself never fail otherwise; a user's do, with SQLite's words.
 *
 * @param code of the file system, where that failed
 */
export function sqliteFailure(path: string, said: string, code?: string): Failure {
  if (damagedWords.test(said)) return damaged(path, said);
  const reason = code === undefined ? undefined : diskWords[code];
  if (reason !== undefined || diskTrouble.test(said)) {
    const full = said.startsWith('database or disk is full') ? diskWords.ENOSPC : said;
    return new Failure('failed', `The copy ${path} cannot be used: ${reason ?? full}.`, {
      hint: 'Nothing that it held is lost. Fix that, and run the command again.',
      copy: { is: said.startsWith('database is locked') ? 'locked' : 'out of reach' },
    });
  }
  return new Failure('usage', `The database refused this: ${said}.`, { hint: 'To see its tables: svc mirror schema' });
}
