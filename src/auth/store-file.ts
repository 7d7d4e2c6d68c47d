import { join } from 'node:path';
import type { Clock, TokenStore } from '../context.ts';
import { isCode, readIfThere, replaceFile } from '../disk/atomic-file.ts';
import { diskFailure } from '../disk/disk-failure.ts';
import { withLock } from '../disk/lock.ts';
import { Failure } from '../errors.ts';

/** A keyring of the system. What it cannot do, it throws with a sentence that says why. */
export type Keyring = {
  read(entry: string): Promise<string | undefined>;
  write(entry: string, secret: string): Promise<void>;
  remove(entry: string): Promise<void>;
};

type Options = {
  /** The config folder. */
  readonly folder: string;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly random: (bytes: number) => Uint8Array;
  /** Called with one sentence when a secret had to go to the file although the keyring was wanted. */
  readonly warn: (text: string) => void;
  readonly keyring?: Keyring;
  /** Where new secrets go. One that is in the keyring already is still found, moved and removed there. */
  readonly newOnes?: 'keyring' | 'file';
};

/**
 * `credentials.json`: the secrets themselves, or the word that they are in the keyring. It alone says where a secret
 * is, so that an old copy in the other place never shadows the new one, and a command without a login asks no keyring.
 */
type Contents = {
  readonly version: 1;
  /** Sets this folder's entries in the keyring apart from those of other config folders. */
  readonly keyring_id?: string;
  readonly secrets: Readonly<Record<string, unknown>>;
};

const inKeyring = { in: 'keyring' } as const;

/** Secrets in the keyring, where there is one, and else in one file that its owner alone can read. */
export function openStore({ folder, clock, random, warn, keyring, newOnes = 'keyring' }: Options): TokenStore {
  const preferred = keyring ? newOnes : 'file';
  const path = join(folder, 'credentials.json');
  const locked = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await withLock(join(folder, 'locks', name), { clock }, work);
    } catch (error) {
      throw diskFailure(
        error,
        `Logins cannot be saved in ${folder}`,
        'Mend that, or set SVC_CONFIG_DIR to another folder.',
      );
    }
  };

  const load = async (): Promise<Contents> => {
    const text = await readIfThere(path).catch((error: unknown) => {
      throw unreadable(path, isCode(error, 'EACCES') ? 'you may not read it' : 'it is not a readable file');
    });
    return text === undefined ? { version: 1, secrets: {} } : parse(text, path);
  };

  const replace = (contents: Contents) => replaceFile(path, `${JSON.stringify(contents, null, 2)}\n`);

  /** Changes one entry and leaves all others as they are, also those that this version does not understand. */
  const put = (name: string, value: unknown): Promise<void> =>
    locked('store', async () => {
      const contents = await load();
      const { [name]: _, ...others } = contents.secrets;
      await replace({ ...contents, secrets: value === undefined ? others : { ...others, [name]: value } });
    });

  /** Settled before the first entry is made, so that two processes at once agree on it. */
  const keyringId = (): Promise<string> =>
    locked('store', async () => {
      const contents = await load();
      const id = contents.keyring_id ?? Buffer.from(random(6)).toString('hex');
      if (!contents.keyring_id) await replace({ ...contents, keyring_id: id });
      return id;
    });

  const entryOf = (keyringId: string | undefined, name: string) => `${keyringId}/${name}`;

  const readFrom = async (contents: Contents, name: string): Promise<string | undefined> => {
    if (!Object.hasOwn(contents.secrets, name)) return undefined;
    const value = contents.secrets[name];
    if (typeof value === 'string') return value;
    if (!isInKeyring(value)) throw unreadable(path, `its entry "${name}" is damaged`);
    if (!keyring) {
      throw new Failure('auth', `"${name}" is kept in the system keyring, which cannot be reached.`, {
        hint: 'Log in again to keep it in the file.',
      });
    }
    try {
      return await keyring.read(entryOf(contents.keyring_id, name));
    } catch (error) {
      throw new Failure('auth', `"${name}" is kept in the system keyring. ${reason(error)}`, {
        hint: 'Unlock the keyring, set SVC_API_KEY, or log in again with --insecure-storage.',
      });
    }
  };

  /** The file, once it names the secret's place, is what counts; so each step leaves the old or the new secret. */
  const save = async (name: string, secret: string, where: 'keyring' | 'file'): Promise<void> => {
    const contents = await load();
    const wasInKeyring = isInKeyring(contents.secrets[name]);
    if (where === 'keyring' && keyring) {
      const id = contents.keyring_id ?? (await keyringId());
      try {
        await keyring.write(entryOf(id, name), secret);
        if (!wasInKeyring) await put(name, inKeyring);
        return;
      } catch (error) {
        if (error instanceof Failure) throw error;
        warn(`${reason(error)} Secrets are kept in ${path} instead, readable by you alone.`);
      }
    }
    await put(name, secret);
    if (wasInKeyring) await removeFromKeyring(contents, name);
  };

  const removeFromKeyring = async (contents: Contents, name: string): Promise<void> => {
    const entry = entryOf(contents.keyring_id, name);
    await keyring?.remove(entry).catch(() => warn(`The system keyring still holds the old entry "${entry}".`));
  };

  return {
    read: async (name) => await readFrom(await load(), name),

    update: (name, change, place = 'as-is') =>
      locked(encodeURIComponent(name), async () => {
        const contents = await load();
        // Who saves anew replaces whatever is there, also what is damaged or locked away in a keyring.
        const current = await readFrom(contents, name).catch((error: unknown) => {
          if (place === 'as-is') throw error;
          return undefined;
        });
        const next = await change(current);
        const held = whereIs(contents, name);
        const where = place === 'as-is' ? (held ?? preferred) : place === 'file' ? 'file' : preferred;
        if (next === undefined) {
          if (held === undefined) return undefined;
          await put(name, undefined);
          if (held === 'keyring') await removeFromKeyring(contents, name);
          return undefined;
        }
        if (next === current && where === held) return current;
        await save(name, next, where);
        await readBack(name, next);
        return next;
      }),

    names: async (prefix) => Object.keys((await load()).secrets).filter((name) => name.startsWith(prefix)),

    where: async (name) => whereIs(await load(), name) ?? preferred,
  };

  /** A keyring that takes a secret and loses it (a session that ends at log-out) must not go unnoticed. */
  async function readBack(name: string, secret: string): Promise<void> {
    if ((await readFrom(await load(), name)) === secret) return;
    throw new Failure('failed', `"${name}" was saved, but does not read back as it was written.`, {
      hint: 'Run again with SVC_TOKEN_STORE=file.',
    });
  }
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function whereIs(contents: Contents, name: string): 'keyring' | 'file' | undefined {
  if (!Object.hasOwn(contents.secrets, name)) return undefined;
  return isInKeyring(contents.secrets[name]) ? 'keyring' : 'file';
}

const isInKeyring = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && (value as { in?: unknown }).in === 'keyring';

function parse(text: string, path: string): Contents {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable(path, 'it is not valid JSON');
  }
  if (typeof value !== 'object' || value === null) throw unreadable(path, 'it is not a JSON object');
  const { version, secrets } = value as Partial<Contents>;
  if (version !== 1) throw unreadable(path, 'it was written by another version of svc');
  if (typeof secrets !== 'object' || secrets === null || Array.isArray(secrets)) {
    throw unreadable(path, 'it has no "secrets"');
  }
  return value as Contents;
}

const unreadable = (path: string, why: string): Failure =>
  new Failure('failed', `The saved logins in ${path} cannot be read: ${why}.`, {
    hint: 'svc leaves the file as it is. Mend it, or move it away and log in again with: svc login',
  });
