import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Keyring, openStore } from '../../src/auth/store-file.ts';

const clock = { sleep: (ms: number) => sleep(ms) as Promise<void>, ticks: () => performance.now() };
let counter = 0;
const random = (bytes: number) => new Uint8Array(bytes).fill(++counter);

async function fresh(keyring?: Keyring, folder?: string, newOnes?: 'keyring' | 'file') {
  const config = folder ?? join(await mkdtemp(join(tmpdir(), 'svc-store-')), 'config');
  const warnings: string[] = [];
  const store = openStore({ folder: config, clock, random, warn: (text) => warnings.push(text), keyring, newOnes });
  const path = join(config, 'credentials.json');
  return { store, path, config, warnings, text: () => readFile(path, 'utf8') };
}

/** A keyring in memory; `trouble` makes it refuse. */
function memoryKeyring() {
  const entries = new Map<string, string>();
  const state = { trouble: '' };
  const guard = () => {
    if (state.trouble) throw new Error(state.trouble);
  };
  const keyring: Keyring = {
    async read(entry) {
      guard();
      return entries.get(entry);
    },
    async write(entry, secret) {
      guard();
      entries.set(entry, secret);
    },
    async remove(entry) {
      guard();
      entries.delete(entry);
    },
  };
  return { keyring, entries, state };
}

test('what is saved reads back, from a file that its owner alone can read', async () => {
  const { store, path, config } = await fresh();
  await store.update('profile/default/api_key', async () => 'a secret');
  expect(await store.read('profile/default/api_key')).toBe('a secret');
  expect(await store.where('profile/default/api_key')).toBe('file');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(config)).mode & 0o777).toBe(0o700);
  expect((await readdir(config)).sort()).toEqual(['credentials.json', 'locks']);
});

test('names are found by their beginning, and what is forgotten is gone', async () => {
  const { store, text } = await fresh();
  await store.update('profile/a/oauth', async () => 'one');
  await store.update('webhook/7', async () => 'two');
  expect(await store.names('profile/')).toEqual(['profile/a/oauth']);
  await store.update('profile/a/oauth', async () => undefined);
  expect(await store.names('')).toEqual(['webhook/7']);
  expect(await text()).not.toContain('one');
});

test('twenty changes to one secret at once happen one after the other', async () => {
  const { store } = await fresh();
  await Promise.all(
    Array.from({ length: 20 }, () => store.update('n', async (current) => String(Number(current ?? 0) + 1))),
  );
  expect(await store.read('n')).toBe('20');
});

test('changes to many secrets at once lose none of them', async () => {
  const { store } = await fresh();
  await Promise.all(Array.from({ length: 20 }, (_, i) => store.update(`n/${i}`, async () => `${i}`)));
  expect(await store.names('n/')).toHaveLength(20);
});

test('a change that fails leaves the secret as it was and the lock free', async () => {
  const { store } = await fresh();
  await store.update('n', async () => 'old');
  await expect(store.update('n', () => Promise.reject(new Error('no network')))).rejects.toThrow('no network');
  expect(await store.update('n', async (current) => `${current} and new`)).toBe('old and new');
});

test.each([
  ['half of a file', '{"version":1,"secrets":{"profile/default/api_key":"a sec'],
  ['an empty file', ''],
  ['another shape', '["a secret"]'],
  ['a version to come', '{"version":2,"secrets":{}}'],
  ['no secrets', '{"version":1}'],
])('%s is named as broken, not repeated, and never overwritten', async (_, broken) => {
  const { store, path, text, config } = await fresh();
  await store.update('n', async () => 'x');
  await writeFile(path, broken);
  for (const attempt of [
    () => store.read('n'),
    () => store.update('n', async () => 'y', 'best'),
    () => store.names(''),
  ]) {
    const error = await attempt().then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error?.message).toContain(path);
    expect(error?.message).not.toContain('a sec');
  }
  expect(await text()).toBe(broken);
  expect((await readdir(config)).sort()).toEqual(['credentials.json', 'locks']);
});

test('one damaged entry does not keep the others from being read, and can be saved anew', async () => {
  const { store, path } = await fresh();
  await store.update('good', async () => 'fine');
  const contents = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(path, JSON.stringify({ ...contents, secrets: { ...contents.secrets, bad: 42 } }));
  expect(await store.read('good')).toBe('fine');
  await expect(store.read('bad')).rejects.toThrow(/entry "bad" is damaged/u);
  await store.update('good', async () => 'finer');
  expect(JSON.parse(await readFile(path, 'utf8')).secrets.bad).toBe(42);
  await store.update('bad', async () => 'mended', 'best');
  expect(await store.read('bad')).toBe('mended');
});

test('with a keyring the file holds names only', async () => {
  const { keyring, entries } = memoryKeyring();
  const { store, text, warnings } = await fresh(keyring);
  await store.update('profile/default/oauth', async () => 'a secret', 'best');
  expect(await store.read('profile/default/oauth')).toBe('a secret');
  expect(await store.where('profile/default/oauth')).toBe('keyring');
  expect([...entries.values()]).toEqual(['a secret']);
  expect(await text()).not.toContain('a secret');
  expect(warnings).toEqual([]);
});

test('two config folders do not share entries of one keyring', async () => {
  const { keyring } = memoryKeyring();
  const one = await fresh(keyring);
  const other = await fresh(keyring);
  await one.store.update('n', async () => 'of one');
  await other.store.update('n', async () => 'of the other');
  expect(await one.store.read('n')).toBe('of one');
});

test('processes that save for the first time at once find each their secret again', async () => {
  const { keyring } = memoryKeyring();
  const { config } = await fresh(keyring);
  const stores = await Promise.all(Array.from({ length: 8 }, () => fresh(keyring, config)));
  await Promise.all(stores.map(({ store }, i) => store.update(`n/${i}`, async () => `${i}`)));
  const read = await Promise.all(stores.map((_, i) => stores[0]?.store.read(`n/${i}`)));
  expect(read).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
});

test('where the keyring refuses, the secret goes to the file, with a warning that says so', async () => {
  const { keyring, state } = memoryKeyring();
  const { store, warnings, path } = await fresh(keyring);
  state.trouble = 'The system keyring did not answer within 3 seconds.';
  await store.update('n', async () => 'a secret');
  expect(await store.read('n')).toBe('a secret');
  expect(await store.where('n')).toBe('file');
  expect(warnings).toEqual([
    `The system keyring did not answer within 3 seconds. Secrets are kept in ${path} instead, readable by you alone.`,
  ]);
});

test('moving to the file deletes the old keyring entry, so that it never shadows the new one', async () => {
  const { keyring, entries } = memoryKeyring();
  const { store } = await fresh(keyring);
  await store.update('n', async () => 'old');
  await store.update('n', async () => 'new', 'file');
  expect([...entries.values()]).toEqual([]);
  expect(await store.read('n')).toBe('new');
  // A refresh leaves it where the user put it; a new login goes to the best place again.
  await store.update('n', async () => 'newer');
  expect(await store.where('n')).toBe('file');
  await store.update('n', async () => 'newest', 'best');
  expect(await store.where('n')).toBe('keyring');
});

test('a secret in the keyring is not silently missing where there is no keyring any more', async () => {
  const { keyring } = memoryKeyring();
  const { store, config } = await fresh(keyring);
  await store.update('n', async () => 'secret');
  const without = await fresh(undefined, config);
  await expect(without.store.read('n')).rejects.toThrow(/kept in the system keyring/u);
  await without.store.update('n', async () => 'anew', 'best');
  expect(await without.store.read('n')).toBe('anew');
});

test('told to use the file, svc still finds, moves and removes what the keyring holds', async () => {
  const { keyring, entries } = memoryKeyring();
  const { store, config } = await fresh(keyring);
  await store.update('n', async () => 'secret');
  await store.update('m', async () => 'another');
  const file = await fresh(keyring, config, 'file');
  expect(await file.store.read('n')).toBe('secret');
  await file.store.update('n', async () => 'moved', 'best');
  expect(await file.store.where('n')).toBe('file');
  await file.store.update('m', async () => undefined);
  expect([...entries]).toEqual([]);
});

test('a keyring that takes a secret and loses it is found out', async () => {
  const { keyring, entries } = memoryKeyring();
  const { store } = await fresh({
    ...keyring,
    write: async () => {
      entries.clear();
    },
  });
  await expect(store.update('n', async () => 'secret')).rejects.toThrow(/does not read back/u);
});
