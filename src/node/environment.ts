import { credentialNames } from '../config/credential-variables.ts';
import { kindOfPlace } from '../database/place.ts';
import { soundPlaces } from '../disk/place/home.ts';
import type { Env } from '../env.ts';

/** What svc itself reads as a secret. A proxy's password stays: every program has to find the proxy. */
const secretNames = [...credentialNames, 'SVC_CLIENT_SECRET', 'SVC_WEBHOOK_SECRET', 'PGPASSWORD'];

/** They may hold a password. */
const places: readonly string[] = ['SVC_MIRROR_DB', 'SVC_DRAFTS_DB'];

const taken: Record<string, string> = {};

/**
 * The environment of the user, for svc alone. Its secrets are taken out of the process's own, which is what an editor, a
 * pager, a browser, a tunnel and the programs of sinks are started with: so no start can forget to leave them out.
 */
export function ownEnvironment(): Env {
  for (const name of [...secretNames, ...places]) {
    const value = process.env[name];
    if (value === undefined || (places.includes(name) && !holdsPassword(value))) continue;
    taken[name] = value;
    delete process.env[name];
  }
  for (const [name, path] of Object.entries(soundPlaces(process.env))) {
    if (path === undefined) delete process.env[name];
    else process.env[name] = path;
  }
  const env = { ...process.env, ...taken };
  if (process.platform !== 'win32') return env;
  // A shell that svc starts there finds nothing in the folder one stands in either.
  process.env.NoDefaultCurrentDirectoryInExePath = '1';
  // There a name is the same in any case, and the system writes `Path`.
  const upper = Object.entries(env).map(([name, value]) => [name.toUpperCase(), value]);
  return { ...Object.fromEntries(upper), ...env };
}

/** It may be a file, which a program that calls svc should find too. */
const holdsPassword = (place: string): boolean => kindOfPlace(place) !== 'file';
