import { isAbsolute, resolve } from 'node:path';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { kindOfPlace } from '../database/place.ts';
import { asNamed, isNamedByShell } from '../disk/place/home.ts';

/**
 * What of this shell decides whose account the entry acts in, and by which rules: the client has another environment. Paths
 * are whole, for it starts svc in another folder. A secret is never written; `left`: variables that may hold a password.
 */
export async function carriedBy({ env, files }: Pick<Context, 'env' | 'files'>, settings: Settings) {
  const carried: Record<string, string> = {};
  const left: string[] = [];
  if (isNamedByShell('config', env)) carried.SVC_CONFIG_DIR = resolve(files.config);
  if (isNamedByShell('state', env)) carried.SVC_STATE_DIR = resolve(files.state);
  if (env.SVC_POLICY) carried.SVC_POLICY = resolve(asNamed(env.SVC_POLICY, 'SVC_POLICY'));
  for (const name of ['SVC_MIRROR_DB', 'SVC_DRAFTS_DB'] as const) {
    const place = env[name];
    if (!place) continue;
    if (isPlainPath(place)) carried[name] = resolve(asNamed(place, name));
    else if (await isUrlWithoutSecret(place)) carried[name] = place;
    else left.push(name);
  }
  for (const name of ['SVC_SENDS', 'SVC_TOKEN_STORE', 'SVC_PARTNER_SEGMENT'] as const)
    if (env[name]) carried[name] = env[name];
  if (settings.insecureHttp) carried.SVC_INSECURE_HTTP = '1';
  return { env: carried, left };
}

/** A database is written in many ways, misspelt ones too: what has a mark of any is not surely a path. */
const isPlainPath = (place: string): boolean =>
  kindOfPlace(place) === 'file' &&
  !/[=;@"'`“”‘’«»]|:\/\//u.test(place) &&
  (isAbsolute(place) || /^\.{1,2}[/\\]/u.test(place) || !place.includes(':'));

const secretWords = /pass|pwd|key|secret|token/iu;

/** What cannot be read as a URL may hold a password. */
async function isUrlWithoutSecret(place: string): Promise<boolean> {
  if (kindOfPlace(place) !== 'url') return false;
  const [, query = ''] = place.split('?', 2);
  if (secretWords.test(`${new URLSearchParams(query)}`)) return false;
  const { readUrl } = await import('../database/postgres.ts');
  return readUrl(place, {}).then(
    ({ password }) => !password,
    () => false,
  );
}
