import { join } from 'node:path';
import type { Clock, Patience, TokenStore } from '../context.ts';
import { isCode, readIfThere, removeDrafts, replaceFile } from '../disk/atomic-file.ts';
import { diskFailure } from '../disk/disk-failure.ts';
import type { Held } from '../disk/lock.ts';
import { makePrivate } from '../disk/private-file.ts';
import { Failure } from '../errors.ts';
import { type Contents, inKeyring, isInKeyring, type Keyring, parse, unreadable, whereIs } from './store-contents.ts';
import { type StoreLock, storeLock } from './store-lock.ts';
import { rescueFile } from './store-rescue.ts';

export type { Keyring } from './store-contents.ts';

type Options = {
  /** The config folder. */
  readonly folder: string;
  readonly clock: Pick<Clock, 'sleep' | 'ticks'>;
  readonly random: (bytes: number) => Uint8Array;
  /** Called with one sentence when a secret had to go to the file although the keyring was wanted. */
  readonly warn: (text: string) => void;
  readonly keyring?: Keyring;
  /** Where new secrets go. One that is in the keyring already is still found, moved and removed there. */
  readonly newOnes?: 'keyring' | 'file';
  /** How waits for other processes go where an update does not say. */
  readonly patience?: Patience;
  /** Replaces `credentials.json`. */
  readonly replaceFile?: typeof replaceFile;
};

type Change = Parameters<TokenStore['update']>[1];
type Place = NonNullable<Parameters<TokenStore['update']>[2]>;

/** Secrets in the keyring, where there is one, and else in one file that its owner alone can read. */
export function openStore(options: Options): TokenStore {
  const { folder, random, warn, keyring, newOnes = 'keyring' } = options;
  const preferred = keyring ? newOnes : 'file';
  const path = join(folder, 'credentials.json');
  const rescue = rescueFile(folder);
  let looked = false;

  const lock = storeLock(options);
  const locked: StoreLock = async (name, work, own) => {
    try {
      return await lock(name, work, own);
    } catch (error) {
      throw diskFailure(
        error,
        `Logins cannot be saved in ${folder}`,
        'Fix that, or set SVC_CONFIG_DIR to another folder.',
      );
    }
  };

  const load = async (): Promise<Contents> => {
    const text = await readIfThere(path).catch((error: unknown) => {
      throw unreadable(path, isCode(error, 'EACCES') ? 'you may not read it' : 'it is not a readable file');
    });
    if (text === undefined) return { version: 1, secrets: {} };
    if (!looked) for (const sentence of makePrivate(path)) warn(sentence);
    looked = true;
    return parse(text, path);
  };

  const replace = async (contents: Contents | string) => {
    await removeDrafts(path);
    const text = typeof contents === 'string' ? contents : `${JSON.stringify(contents, null, 2)}\n`;
    await (options.replaceFile ?? replaceFile)(path, text);
  };

  /** Changes one entry and leaves all others as they are, also those that this version does not understand. */
  const put = (name: string, value: unknown): Promise<void> =>
    locked('store', async (held) => {
      const contents = await load();
      // What was read may be old where this process stood still.
      await held.check();
      const { [name]: _, ...others } = contents.secrets;
      await replace({ ...contents, secrets: value === undefined ? others : { ...others, [name]: value } });
    });

  /** Shows that the next secret can be saved: there is room for it, and the file can be replaced, by its own bytes. */
  const prove = async (name: string, secret: string | undefined): Promise<void> => {
    try {
      await rescue.reserve(name, secret ?? '');
      await lock('store', async () => {
        const text = await readIfThere(path);
        if (text !== undefined) await replace(text);
      });
    } catch (error) {
      throw diskFailure(
        error,
        `The login was not refreshed, because the new one could not be saved in ${path}`,
        isCode(error, 'EBUSY')
          ? 'Mount its whole folder instead, or set SVC_CONFIG_DIR to another folder.'
          : 'Fix that and try again, or set SVC_CONFIG_DIR to another folder.',
      );
    }
  };

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
        warn(`${reason(error)} Secrets are kept in ${path} instead, where only you can read them.`);
      }
    }
    await put(name, secret);
    if (wasInKeyring) await removeFromKeyring(contents, name);
  };

  const removeFromKeyring = async (contents: Contents, name: string): Promise<void> => {
    const entry = entryOf(contents.keyring_id, name);
    await keyring?.remove(entry).catch(() => warn(`The system keyring still holds the old entry "${entry}".`));
  };

  /** The secret as it stands in its place, unless a newer one waits in the rescue file. */
  const readNewest = async (contents: Contents, name: string): Promise<string | undefined> => {
    const stored = await readFrom(contents, name);
    return (await rescue.read(name, stored)) ?? stored;
  };

  /**
   * Saves a secret that cannot be had again. First into the room that was taken for it; so where the rest fails, or this
   * process is killed, the next start finds it there.
   */
  const saveProven = async (name: string, secret: string, stored: string | undefined, where: 'keyring' | 'file') => {
    let isKept = where === 'file' && (await rescue.fill(name, secret, stored));
    try {
      await save(name, secret, where);
      await readBack(name, secret);
    } catch (error) {
      // A keyring may have taken the old secret away with it.
      const present = await load()
        .then((contents) => readFrom(contents, name))
        .catch(() => stored);
      if (present !== stored || !isKept) isKept = await rescue.fill(name, secret, present);
      if (!isKept) throw error;
      warn(`${reason(error)} The refreshed login is kept in ${rescue.pathOf(name)}, and used from there.`);
      return;
    }
    await rescue.drop(name);
  };

  const update = async (name: string, change: Change, place: Place, held: Held): Promise<string | undefined> => {
    const contents = await load();
    let stored: string | undefined;
    let isReadable = true;
    try {
      stored = await readFrom(contents, name);
    } catch (error) {
      // Who saves from scratch replaces whatever is there, also what is damaged or locked away in a keyring.
      if (place === 'as-is') throw error;
      isReadable = false;
    }
    const rescued = isReadable ? await rescue.read(name, stored) : undefined;
    const current = rescued ?? stored;
    let proven = false;
    const ready = async () => {
      await held.check();
      proven = true;
      await prove(name, current);
      await held.check().catch((error) => {
        // The room is another's now.
        proven = false;
        throw error;
      });
    };
    const next = await change(current, ready).catch(async (error) => {
      if (proven && rescued === undefined) await rescue.drop(name);
      throw error;
    });
    const at = whereIs(contents, name);
    const where = place === 'as-is' ? (at ?? preferred) : place === 'file' ? 'file' : preferred;
    if (next === undefined) {
      if (at === undefined) return undefined;
      await put(name, undefined);
      if (at === 'keyring') await removeFromKeyring(contents, name);
      await rescue.drop(name);
      return undefined;
    }
    if (next === stored && where === at) {
      await rescue.drop(name);
    } else if (proven || next === rescued) {
      await saveProven(name, next, stored, where);
    } else {
      await save(name, next, where);
      await readBack(name, next);
      await rescue.drop(name);
    }
    return next;
  };

  return {
    read: async (name) => await readNewest(await load(), name),

    update: (name, change, place = 'as-is', own) => locked(name, (held) => update(name, change, place, held), own),

    names: async (prefix) => Object.keys((await load()).secrets).filter((name) => name.startsWith(prefix)),

    where: async (name) => whereIs(await load(), name) ?? preferred,
  };

  /** A keyring that takes a secret and loses it (a session that ends at log-out) must not go unnoticed. */
  async function readBack(name: string, secret: string): Promise<void> {
    if ((await readFrom(await load(), name)) === secret) return;
    throw new Failure('failed', `"${name}" was saved, but reads back differently.`, {
      hint: 'Run again with SVC_TOKEN_STORE=file.',
    });
  }
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
