import { basename, dirname, join, resolve } from 'node:path';
import type { Context } from '../../context.ts';
import { isPostgresUrl as isUrl, kindOfPlace, placeHint, withStrictTls } from '../../database/place.ts';
import { isPlainFile, isThere } from '../../disk/file/atomic-file.ts';
import { asNamed } from '../../disk/place/home.ts';
import { ofCopy, ownFileAt } from '../../disk/place/own-files.ts';
import { sizeOf } from '../../disk/place/private-data.ts';
import { Failure, orElse } from '../../errors.ts';
import type { Store } from '../tables/store.ts';
import { copyName, isCopyName } from './copy-name.ts';

type StorePorts = Pick<Context, 'env' | 'files' | 'clock' | 'signal' | 'progress' | 'notice'>;

/** Where the copy is: --db, else SVC_MIRROR_DB, else a file in the state folder. */
export async function placeOfCopy({ env, files }: StorePorts, db: string | undefined): Promise<string> {
  const name = db === undefined ? 'SVC_MIRROR_DB' : '--db';
  const named = db ?? (env.SVC_MIRROR_DB || undefined);
  if (named === undefined) return join(files.state, copyName);
  if (named.trim() === '')
    throw new Failure('usage', `${name} is empty.`, { hint: 'Name a file, or postgres://HOST/DATABASE' });
  if (kindOfPlace(named) === 'neither')
    throw new Failure('usage', `${name}: the copy is a file or a postgres:// URL.`, { hint: placeHint(named) });
  if (db !== undefined && isUrl(db)) await refusePassword(db);
  return isUrl(named) ? named : asNamed(named, name);
}

/** Everybody on the machine can read the flags of a program. */
async function refusePassword(url: string): Promise<void> {
  const { parse } = await import('pg-connection-string');
  const read = orElse(() => parse(withStrictTls(url)), undefined);
  if (!read) {
    throw new Failure('usage', '--db is not a postgres:// URL that can be read.', {
      hint: 'It looks like postgres://user@host:5432/database',
    });
  }
  if (!read.password) return;
  throw new Failure('usage', '--db may not hold a password.', {
    hint: 'Give it in PGPASSWORD or in .pgpass, or put the whole URL into SVC_MIRROR_DB.',
  });
}

/** Whether svc chose the place, in its own state folder. */
export const isOwnPlace = ({ env }: Pick<StorePorts, 'env'>, db: string | undefined): boolean =>
  db === undefined && !env.SVC_MIRROR_DB;

export type Wanted = {
  readonly place: string;
  readonly isOwn: boolean;
  /** Where there is none yet, an empty one is made. */
  readonly make: boolean;
  /** `--max-wait`, for a file that another process has. */
  readonly maxWaitMs?: number;
};

/** Opens the database, with its tables. */
export async function openStore(ctx: StorePorts, { place, isOwn, make, maxWaitMs }: Wanted): Promise<Store> {
  if (await holdsNothing(place)) {
    if (!make) throw noCopy(place);
    if (!isOwn) await refuseOtherFile(ctx, place);
  }
  const store = isUrl(place)
    ? await (await import('../postgres/postgres.ts')).openPostgres(ctx, place)
    : await (await import('../sqlite/sqlite.ts')).openSqlite(ctx, {
        ...{ named: place, maxWaitMs },
        // Named by --db it is the same file: one that is damaged can be deleted.
        isOwn: isOwn || (isCopyName(basename(place)) && dirname(resolve(place)) === resolve(ctx.files.state)),
      });
  return closingOnFailure(store, async () => {
    const { prepareSchema } = await import('./prepare.ts');
    await prepareSchema(store);
    return store;
  });
}

/** What is done with a store that is no use where it fails. */
export async function closingOnFailure<T>(store: Store, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** A name that svc has for something else, which is not there yet, is no place for a copy. */
async function refuseOtherFile(ctx: StorePorts, place: string): Promise<void> {
  const own = await ownFileAt(ctx, place);
  if (own === undefined || own === ofCopy) return;
  throw new Failure('usage', `The copy cannot be ${place}: it is where svc keeps ${own}.`, {
    hint: 'Name another file.',
  });
}

/**
 * There is no file, or an empty one, which may be somebody else's: only a pull makes a copy of it. The file is not opened: to
 * close it would take the locks away that this process has of it (POSIX).
 */
export async function holdsNothing(place: string): Promise<boolean> {
  if (isUrl(place)) return false;
  return !(await isThere(place)) || (isPlainFile(place) && (await sizeOf(place)) === 0);
}

export const isNoCopy = (error: unknown): boolean => error instanceof Failure && error.copy?.is === 'missing';

export const noCopy = (place: string): Failure =>
  new Failure('failed', `There is no copy of this account in ${place} yet.`, {
    hint: 'Make one with: svc mirror pull',
    copy: { is: 'missing' },
  });
