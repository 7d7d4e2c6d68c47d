import { join } from 'node:path';
import type { Context } from '../context.ts';
import { isThere } from '../disk/atomic-file.ts';
import { Failure } from '../errors.ts';
import { copyName } from './copy-name.ts';
import type { Store } from './store.ts';

type Needs = Pick<Context, 'env' | 'files' | 'clock' | 'signal' | 'progress' | 'notice'>;

const isUrl = (text: string): boolean => /^postgres(?:ql)?:\/\//iu.test(text);

/** Where the copy is: --db, else SVC_MIRROR_DB, else a file in the state folder. */
export async function placeOfCopy({ env, files }: Needs, db: string | undefined): Promise<string> {
  if (db !== undefined && db.trim() === '')
    throw new Failure('usage', '--db is empty.', { hint: 'Name a file, or postgres://HOST/DATABASE' });
  if (db !== undefined && isUrl(db)) await refusePassword(db);
  const place = db ?? (env.SVC_MIRROR_DB || join(files.state, copyName));
  if (isUrl(place) || !/^[a-z][a-z\d+.-]*:\/\//iu.test(place)) return place;
  throw new Failure(
    'usage',
    `${db === undefined ? 'SVC_MIRROR_DB' : '--db'}: the copy is a file or a postgres:// URL.`,
  );
}

/** Everybody on the machine can read the flags of a program. */
async function refusePassword(url: string): Promise<void> {
  const { parse } = await import('pg-connection-string');
  let password: string | undefined;
  try {
    password = parse(url).password;
  } catch {
    throw new Failure('usage', '--db is not a postgres:// URL that can be read.', {
      hint: 'It looks like postgres://user@host:5432/database',
    });
  }
  if (password === undefined || password === '') return;
  throw new Failure('usage', '--db may not hold a password.', {
    hint: 'Give it in PGPASSWORD or in .pgpass, or put the whole URL into SVC_MIRROR_DB.',
  });
}

/** Opens the copy. `make`: where there is none yet, an empty one. */
export async function openStore(
  ctx: Needs,
  db: string | undefined,
  { make }: { readonly make: boolean },
): Promise<Store> {
  const place = await placeOfCopy(ctx, db);
  if (!isUrl(place) && !make && !(await isThere(place))) throw noCopy(place);
  const store = isUrl(place)
    ? await (await import('./postgres.ts')).openPostgres(ctx, place)
    : await (await import('./sqlite.ts')).openSqlite(ctx, place, make ? 'write' : 'read');
  try {
    const { prepareSchema } = await import('./schema.ts');
    await prepareSchema(store);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The copy of SVC_MIRROR_DB or the state folder; undefined where there is none. */
export async function openStoreIfThere(ctx: Needs): Promise<Store | undefined> {
  const place = await placeOfCopy(ctx, undefined);
  if (!isUrl(place) && !(await isThere(place))) return undefined;
  return openStore(ctx, undefined, { make: false });
}

export const noCopy = (place: string): Failure =>
  new Failure('failed', `There is no copy of this account in ${place} yet.`, {
    hint: 'Make one with: svc mirror pull',
  });

/** A file that is no database any more can only be deleted as a whole. Any other error is thrown. */
export async function removeDamaged(place: string, error: unknown, confirm: () => Promise<void>): Promise<'removed'> {
  if (isUrl(place) || !(error instanceof Failure) || !error.message.includes('is damaged')) throw error;
  await confirm();
  const { removeFile } = await import('../disk/folder.ts');
  for (const file of [place, `${place}-journal`]) await removeFile(file);
  return 'removed';
}
