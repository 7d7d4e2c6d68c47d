import { join } from 'node:path';
import type { Clock, Patience } from '../context.ts';
import { readIfThere, removeDrafts, replaceFile } from '../disk/file/atomic-file.ts';
import { diskFailure } from '../disk/file/disk-failure.ts';
import { type Held, withLock } from '../disk/lock/lock.ts';
import { orElsewhere } from '../disk/place/elsewhere.ts';
import { makePrivate } from '../disk/place/private-file.ts';
import { codeOf } from '../errors.ts';
import { withoutUndefined } from '../text/record.ts';
import { type Contents, parse, unreadable } from './store-contents.ts';

export type FileOptions = LockOptions & {
  /** Called with one sentence where a secret is not, or was not, where it belongs. */
  readonly warn: (text: string) => void;
  /** Replaces `credentials.json`. */
  readonly replaceFile?: typeof replaceFile;
};

export type CredentialsFile = ReturnType<typeof credentialsFile>;

/** `credentials.json` and its locks. Every change is made under the lock of the whole file. */
export function credentialsFile(options: FileOptions) {
  const { folder, warn } = options;
  const path = join(folder, 'credentials.json');
  const lock = storeLock(options);
  const locked = tellingOfDisks(lock, folder);
  let looked = false;

  const load = async (): Promise<Contents> => {
    const text = await readIfThere(path).catch((error: unknown) => {
      throw unreadable(path, codeOf(error) === 'EACCES' ? 'you may not read it' : 'it is not a readable file');
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

  return {
    path,
    locked,
    load,
    /** Changes one entry and leaves all others as they are, also those that this version does not understand. */
    put: (name: string, value: unknown) =>
      locked('store', async (held) => {
        const contents = await load();
        // What was read may be old, if this process was stopped meanwhile.
        held.check();
        const { [name]: _, ...others } = contents.secrets;
        await replace({ ...contents, secrets: value === undefined ? others : { ...others, [name]: value } });
      }),
    /** The name of this folder's entries in the keyring, settled once for all processes. */
    keyringId: (random: (bytes: number) => Uint8Array) =>
      locked('store', async (held) => {
        const contents = await load();
        held.check();
        const id = contents.keyring_id ?? Buffer.from(random(6)).toString('hex');
        if (!contents.keyring_id) await replace({ ...contents, keyring_id: id });
        return id;
      }),
    /** Shows that the file can be replaced, without changing it. Disk errors are thrown as they are. */
    replaceByItself: () =>
      lock('store', async (held) => {
        const text = await readIfThere(path);
        held.check();
        if (text !== undefined) await replace(text);
      }),
  };
}

const tellingOfDisks =
  (lock: StoreLock, folder: string): StoreLock =>
  async (name, work, own) => {
    try {
      return await lock(name, work, own);
    } catch (error) {
      const advice = orElsewhere('SVC_CONFIG_DIR');
      throw diskFailure(error, `Logins cannot be saved in ${folder}`, advice);
    }
  };

/**
 * How long a holder in another container, or on another machine, may be silent before its lock is taken: it may only be
 * stopped, and would spend the same refresh token when it wakes up.
 */
const silentMs = 3600_000;

type LockOptions = {
  /** The config folder. */
  readonly folder: string;
  readonly clock: Pick<Clock, 'sleep' | 'ticks'>;
  /** How waits for other processes go where an update does not say. */
  readonly patience?: Patience;
};

type StoreLock = <T>(name: string, work: (held: Held) => Promise<T>, own?: Patience) => Promise<T>;

/** The locks of a store: one for each secret, and `store` for the file that holds them all. */
function storeLock({ folder, clock, patience }: LockOptions): StoreLock {
  return (name, work, own) => {
    const what = name === 'store' ? 'the saved logins' : name.replace(/^profile\//u, 'the login ');
    const waiting = { clock, silentMs, ...patience, ...withoutUndefined(own ?? {}), what };
    return withLock(join(folder, 'locks', encodeURIComponent(name)), waiting, work);
  };
}
