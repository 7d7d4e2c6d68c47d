import { Failure, messageOf } from '../errors.ts';
import { type Contents, isInKeyring, type Keyring, unreadable } from './store-contents.ts';

/** Where the secrets of one store are. */
export type Places = {
  /** Its path is shown in errors. */
  readonly file: { readonly path: string };
  readonly keyring: Keyring | undefined;
};

/** One secret, from the file or from the keyring that the file names. Throws the `auth` Failure that says why it cannot be read. */
export async function readFrom(
  { file, keyring }: Places,
  contents: Contents,
  name: string,
): Promise<string | undefined> {
  if (!Object.hasOwn(contents.secrets, name)) return undefined;
  const value = contents.secrets[name];
  if (typeof value === 'string') return value;
  if (!isInKeyring(value)) throw unreadable(file.path, `its entry "${name}" is damaged`);
  if (!keyring) {
    throw new Failure('auth', `"${name}" is kept in the system keyring, which cannot be reached.`, {
      hint: 'Log in again to keep it in the file.',
      isUnread: true,
    });
  }
  try {
    return await keyring.read(entryOf(contents.keyring_id, name));
  } catch (error) {
    throw new Failure('auth', `"${name}" is kept in the system keyring. ${messageOf(error)}`, {
      hint: 'Unlock the keyring, set SVC_API_KEY, or log in again with --insecure-storage.',
      isUnread: true,
    });
  }
}

/** Another program has removed it, or the keyring is a new one. */
export const notThere = (name: string): Failure =>
  new Failure('auth', `"${name}" was kept in the system keyring, which no longer holds it.`, {
    hint: 'Log in again.',
    isUnread: true,
  });

/** Throws where a locked keyring keeps it: what is still there is not forgotten. */
export async function takeFromKeyring({ keyring }: Places, { keyring_id }: Contents, name: string): Promise<void> {
  try {
    if (!keyring) throw new Error('There is no system keyring here.');
    await keyring.remove(entryOf(keyring_id, name));
  } catch (error) {
    throw new Failure('failed', `The system keyring keeps "${name}", so it is not forgotten. ${messageOf(error)}`, {
      hint: 'Unlock the keyring and try again. To have svc forget it all the same: svc logout --local-only',
    });
  }
}

/** A keyring that keeps it is warned of: it is no longer used. */
export async function removeFromKeyring(
  { keyring, warn }: Places & { readonly warn: (text: string) => void },
  { keyring_id }: Contents,
  name: string,
): Promise<void> {
  const entry = entryOf(keyring_id, name);
  await keyring
    ?.remove(entry)
    .catch(() =>
      warn(
        `The system keyring still holds "${entry}" of svc, which svc no longer uses. Remove it with the keyring's own program.`,
      ),
    );
}

/** A keyring that was too slow may have taken the secret after the file had it. One that cannot be asked is not spoken of. */
export async function removeLate({ keyring }: Places, { keyring_id }: Contents, name: string): Promise<void> {
  if (keyring_id !== undefined) await keyring?.remove(entryOf(keyring_id, name)).catch(() => {});
}

export const entryOf = (keyringId: string | undefined, name: string): string => `${keyringId}/${name}`;
