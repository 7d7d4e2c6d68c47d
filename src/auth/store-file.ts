import type { TokenStore } from '../context.ts';
import { diskFailure } from '../disk/file/disk-failure.ts';
import type { Held } from '../disk/lock/lock.ts';
import { codeOf, Failure, messageOf } from '../errors.ts';
import { type Contents, inKeyring, isInKeyring, type Keyring, probeName, whereIs } from './store-contents.ts';
import { type CredentialsFile, credentialsFile, type FileOptions } from './store-entries.ts';
import { rescueFile } from './store-rescue.ts';
import { entryOf, notThere, readFrom, removeFromKeyring, removeLate, takeFromKeyring } from './store-secret.ts';

export type { Keyring } from './store-contents.ts';

export type Options = FileOptions & {
  readonly random: (bytes: number) => Uint8Array;
  readonly keyring?: Keyring;
  /** Where new secrets go. One that is in the keyring already is still found, moved and removed there. */
  readonly newOnes?: Where;
};

type Place = NonNullable<Parameters<TokenStore['update']>[2]>;
type Where = 'keyring' | 'file';

/** A store at work: the file of secrets, the room for one that must not be lost, and the keyring where there is one. */
type Store = {
  readonly file: CredentialsFile;
  readonly rescue: ReturnType<typeof rescueFile>;
  readonly keyring: Keyring | undefined;
  readonly preferred: Where;
  readonly random: Options['random'];
  readonly warn: Options['warn'];
};

/** Secrets in the keyring, where there is one, and else in one file that its owner alone can read. */
export function openStore(options: Options): TokenStore {
  const { folder, keyring, newOnes = 'keyring', random, warn } = options;
  const file = credentialsFile(options);
  const preferred = keyring ? newOnes : 'file';
  const store: Store = { file, rescue: rescueFile(folder), keyring, preferred, random, warn };
  return {
    async read(name) {
      const contents = await file.load();
      const stored = await readFrom(store, contents, name);
      const secret = (await store.rescue.read(name, stored)) ?? stored;
      if (secret === undefined && whereIs(contents, name) === 'keyring') throw notThere(name);
      return secret;
    },
    update: (name, change, place = 'as-is', own) =>
      file.locked(name, (held) => update(store, name, { change, place, held }), own),
    names: async (prefix) => Object.keys((await file.load()).secrets).filter((name) => name.startsWith(prefix)),
    where: async (name) => whereIs(await file.load(), name) ?? preferred,
  };
}

type Update = { readonly change: Parameters<TokenStore['update']>[1]; readonly place: Place; readonly held: Held };

async function update(store: Store, name: string, { change, place, held }: Update): Promise<string | undefined> {
  const { file, rescue } = store;
  const contents = await file.load();
  let stored: string | undefined;
  let isReadable = true;
  try {
    stored = await readFrom(store, contents, name);
  } catch (error) {
    // A new login replaces whatever is there, also what is damaged or locked in a keyring.
    if (place === 'as-is') throw error;
    isReadable = false;
  }
  const rescued = isReadable ? await rescue.read(name, stored) : undefined;
  const current = rescued ?? stored;
  let proven = false;
  const ready = async () => {
    held.check();
    proven = true;
    await prove(store, name, current);
    // Another process may have the room now.
    proven = false;
    held.check();
    proven = true;
  };
  const wasCut = await rescue.isLeft(name);
  const next = await change(current, ready, wasCut).catch(async (error) => {
    if (proven && rescued === undefined) await rescue.drop(name);
    throw error;
  });
  await refuseReplaced(store, name, { held, stored, next });
  if (next === undefined) {
    await forget(store, name, contents, place);
    return undefined;
  }
  const at = whereIs(contents, name);
  const where = placeFor(store, place, at);
  if (next === stored && where === at) {
    await rescue.drop(name);
  } else if (proven || next === rescued) {
    await saveProven(store, name, { secret: next, stored, where });
  } else {
    await save(store, name, next, where);
    await readBack(store, name, next);
    await rescue.drop(name);
  }
  return next;
}

type Saving = { readonly held: Held; readonly stored: string | undefined; readonly next: string | undefined };

/** Where another process took the lock meanwhile, what it has saved is newer. Else nothing better is there. */
async function refuseReplaced(store: Store, name: string, { held, stored, next }: Saving): Promise<void> {
  try {
    held.check();
  } catch (lost) {
    const present = await readFrom(store, await store.file.load(), name).catch(() => stored);
    if (next === undefined || present !== stored) throw lost;
  }
}

function placeFor({ preferred }: Store, place: Place, at: Where | undefined): Where {
  if (place === 'file') return 'file';
  return place === 'as-is' && at !== undefined ? at : preferred;
}

/** A keyring that is locked keeps its secret: then nothing is forgotten, unless the file alone is meant. */
async function forget(store: Store, name: string, contents: Contents, place: Place): Promise<void> {
  const at = whereIs(contents, name);
  if (at === undefined) return;
  if (at === 'keyring' && place !== 'file') await takeFromKeyring(store, contents, name);
  await store.file.put(name, undefined);
  if (at === 'keyring' && place === 'file') await removeFromKeyring(store, contents, name);
  if (at === 'file' && place !== 'file') await removeLate(store, contents, name);
  await store.rescue.drop(name);
}

/** Shows that the next secret can be saved: there is room for it, and the file can be replaced, by its own bytes. */
async function prove({ file, rescue }: Store, name: string, secret: string | undefined): Promise<void> {
  try {
    await rescue.reserve(name, secret ?? '');
    await file.replaceByItself();
  } catch (error) {
    throw diskFailure(
      error,
      `The login was not refreshed, because the new one could not be saved in ${file.path}`,
      codeOf(error) === 'EBUSY'
        ? 'Mount its whole folder instead, or set SVC_CONFIG_DIR to another folder.'
        : 'Fix that and try again, or set SVC_CONFIG_DIR to another folder.',
    );
  }
}

/** What counts is the place that the file names, so each step leaves either the old or the new secret. */
async function save(store: Store, name: string, secret: string, where: Where): Promise<void> {
  const { file, keyring, random, warn } = store;
  const contents = await file.load();
  const wasInKeyring = isInKeyring(contents.secrets[name]);
  if (where === 'keyring' && keyring) {
    const id = contents.keyring_id ?? (await file.keyringId(random));
    try {
      await keyring.write(entryOf(id, name), secret);
      if (!wasInKeyring) await file.put(name, inKeyring);
      return;
    } catch (error) {
      if (error instanceof Failure) throw error;
      if (isNews(contents, name))
        warn(`${messageOf(error)} Secrets are kept in ${file.path} instead, where only you can read them.`);
    }
  }
  await file.put(name, secret);
  if (wasInKeyring) await removeFromKeyring(store, contents, name);
}

/** Said with the first secret that goes to the file: every further one would say the same. */
const isNews = (contents: Contents, name: string): boolean =>
  name !== probeName && !Object.keys(contents.secrets).some((kept) => whereIs(contents, kept) === 'file');

type Proven = { readonly secret: string; readonly stored: string | undefined; readonly where: Where };

/**
 * Saves a secret that cannot be had again. It goes into its reserved room first, so that the next start finds it there
 * where the rest fails or this process is killed.
 */
async function saveProven(store: Store, name: string, { secret, stored, where }: Proven): Promise<void> {
  const { file, rescue, warn } = store;
  let isKept = where === 'file' && (await rescue.fill(name, secret, stored));
  try {
    await save(store, name, secret, where);
    await readBack(store, name, secret);
  } catch (error) {
    // A keyring may have taken the old secret away with it.
    const present = await file
      .load()
      .then((contents) => readFrom(store, contents, name))
      .catch(() => stored);
    if (present !== stored || !isKept) isKept = await rescue.fill(name, secret, present);
    if (!isKept) throw error;
    warn(`${messageOf(error)} The refreshed login is kept in ${rescue.pathOf(name)}, and used from there.`);
    return;
  }
  await rescue.drop(name);
}

/** A keyring that takes a secret and loses it (a session that ends at log-out) must not go unnoticed. */
async function readBack(store: Store, name: string, secret: string): Promise<void> {
  if ((await readFrom(store, await store.file.load(), name)) === secret) return;
  throw new Failure('failed', `"${name}" was saved, but does not read back as it was written.`, {
    hint: 'Run again with SVC_TOKEN_STORE=file.',
  });
}
