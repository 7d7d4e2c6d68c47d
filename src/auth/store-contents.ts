import { Failure } from '../errors.ts';
import { jsonIn } from '../text/json.ts';
import { type Fields, fieldsIn, isRecord } from '../text/record.ts';

/** A keyring of the system. Where it fails, it throws with a sentence that says why. */
export type Keyring = {
  read(entry: string): Promise<string | undefined>;
  write(entry: string, secret: string): Promise<void>;
  remove(entry: string): Promise<void>;
};

/**
 * `credentials.json`: the secrets themselves, or the word that they are in the keyring. It alone says where a secret
 * is, so that an old copy in the other place never shadows the new one, and a command without a login asks no keyring.
 */
export type Contents = {
  readonly version: 1;
  /** Sets this folder's entries in the keyring apart from those of other config folders. */
  readonly keyring_id?: string;
  readonly secrets: Fields;
};

export const inKeyring = { in: 'keyring' } as const;

/** A secret that is kept for a moment, to see whether it can be. */
export const probeName = 'doctor/probe';

export function whereIs(contents: Contents, name: string): 'keyring' | 'file' | undefined {
  if (!Object.hasOwn(contents.secrets, name)) return undefined;
  return isInKeyring(contents.secrets[name]) ? 'keyring' : 'file';
}

export const isInKeyring = (value: unknown): boolean => fieldsIn(value).in === inKeyring.in;

export function parse(text: string, path: string): Contents {
  const value = jsonIn(text);
  if (value === undefined) throw unreadable(path, 'it is not valid JSON');
  if (typeof value !== 'object' || value === null) throw unreadable(path, 'it is not a JSON object');
  const { version } = fieldsIn(value);
  if (version !== 1) throw unreadable(path, 'it was written by another version of svc');
  if (!holdsSecrets(value)) throw unreadable(path, 'it has no "secrets"');
  return value;
}

const holdsSecrets = (value: object): value is Contents => isRecord(fieldsIn(value).secrets);

export const unreadable = (path: string, why: string): Failure =>
  new Failure('failed', `The saved logins in ${path} cannot be read: ${why}.`, {
    hint: 'svc leaves the file as it is. Repair it, or move it away and log in again with: svc login',
  });
