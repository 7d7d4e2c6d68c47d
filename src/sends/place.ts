import { isPostgresUrl, kindOfPlace, placeHint } from '../database/place.ts';
import { asNamed } from '../disk/place/home.ts';
import { Failure } from '../errors.ts';

export { isPostgresUrl } from '../database/place.ts';

/** Throws a usage Failure for what is neither a folder nor a URL of Postgres. */
export function refuseNoPlace(text: string, name: string): void {
  if (kindOfPlace(text) === 'neither')
    throw new Failure('usage', `${name}: drafts are kept in a folder or at a postgres:// URL.`, {
      hint: placeHint(text),
    });
  if (!isPostgresUrl(text)) asNamed(text, name);
}

/** The same for what is written down where others may read it: it holds no password. */
export async function refuseUnfitPlace(text: string, name: string): Promise<void> {
  refuseNoPlace(text, name);
  if (!isPostgresUrl(text)) return;
  const { readUrl } = await import('../database/postgres.ts');
  const { password } = await readUrl(text, {});
  if (password === undefined || password === '') return;
  throw new Failure('usage', `${name} may not hold a password.`, {
    hint: 'Give it in PGPASSWORD or in .pgpass, or put the whole URL into SVC_DRAFTS_DB.',
  });
}
