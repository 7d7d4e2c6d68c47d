import { chmod, chown, lstat, mkdir, mkdtemp, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Keyring, openStore } from '../../src/auth/store-file.ts';
import { replaceFile } from '../../src/disk/file/atomic-file.ts';

const clock = { sleep: (ms: number) => sleep(ms) as Promise<void>, ticks: () => performance.now() };
let counter = 0;
const random = (bytes: number) => new Uint8Array(bytes).fill(++counter);

async function fresh(keyring?: Keyring, folder?: string, newOnes?: 'keyring' | 'file', replace?: typeof replaceFile) {
  const config = folder ?? join(await mkdtemp(join(tmpdir(), 'svc-store-')), 'config');
  const warnings: string[] = [];
  const store = openStore({
    folder: config,
    clock,
    random,
    warn: (text) => warnings.push(text),
    keyring,
    newOnes,
    replaceFile: replace,
  });
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
    `The system keyring did not answer within 3 seconds. Secrets are kept in ${path} instead, where only you can read them.`,
  ]);
});

test('that secrets go to the file is said with the first one, and not by a probe', async () => {
  const { keyring, state } = memoryKeyring();
  const { store, warnings } = await fresh(keyring);
  state.trouble = 'The system keyring is locked.';
  await store.update('doctor/probe', async () => 'probe');
  expect(warnings).toEqual([]);
  await store.update('doctor/probe', async () => undefined);
  await store.update('profile/default', async () => 'a secret');
  await store.update('webhook/default/1', async () => 'another');
  expect(warnings).toHaveLength(1);
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

test('what a locked keyring does not give up is not called forgotten, unless the file alone is meant', async () => {
  const { keyring, entries, state } = memoryKeyring();
  const { store, warnings } = await fresh(keyring);
  await store.update('n', async () => 'secret');
  state.trouble = 'The system keyring is locked.';
  await expect(store.update('n', async () => undefined, 'best')).rejects.toThrow(/keeps "n", so it is not forgotten/u);
  expect(await store.where('n')).toBe('keyring');
  expect(await store.names('')).toEqual(['n']);
  state.trouble = '';
  await store.update('n', async () => undefined, 'best');
  expect([entries.size, await store.names('')]).toEqual([0, []]);
  await store.update('n', async () => 'secret');
  state.trouble = 'The system keyring is locked.';
  await store.update('n', async () => undefined, 'file');
  expect([entries.size, await store.names('')]).toEqual([1, []]);
  expect(warnings.at(-1)).toContain('still holds');
});

test('a secret that a keyring took too late, with the file, is gone from both once forgotten', async () => {
  const { keyring, entries, state } = memoryKeyring();
  const late: Keyring = {
    ...keyring,
    async write(entry, secret) {
      await keyring.write(entry, secret);
      throw new Error('The system keyring did not answer within 3 seconds.');
    },
  };
  const { store } = await fresh(late);
  await store.update('profile/a/oauth', async () => 'one');
  expect(await store.where('profile/a/oauth')).toBe('file');
  expect([...entries.values()]).toEqual(['one']);
  await store.update('profile/a/oauth', async () => undefined);
  expect([...entries.values()]).toEqual([]);
  await store.update('profile/b/oauth', async () => 'two');
  state.trouble = 'The keyring is locked.';
  await store.update('profile/b/oauth', async () => undefined);
  expect(await store.names('')).toEqual([]);
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

/** Once the old secret is spent, the file cannot be replaced any more. */
function failingAfter() {
  const state = { spent: false };
  const replace: typeof replaceFile = async (...given) => {
    if (state.spent) throw Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' });
    await replaceFile(...given);
  };
  return { state, replace };
}

const exchanged =
  (state: { spent: boolean }, secret: string) =>
  async (_: string | undefined, ready: () => Promise<void>): Promise<string> => {
    await ready();
    state.spent = true;
    return secret;
  };

test('a new secret that cannot be saved after the old one is spent is kept beside it, and found by the next start', async () => {
  const { state, replace } = failingAfter();
  const { store, config, warnings } = await fresh(undefined, undefined, undefined, replace);
  await store.update('n', async () => 'old');
  expect(await store.update('n', exchanged(state, 'new'))).toBe('new');
  expect(warnings).toEqual([expect.stringContaining(join(config, 'credentials.rescue.n.json'))]);
  expect((await stat(join(config, 'credentials.rescue.n.json'))).mode & 0o777).toBe(0o600);

  const { store: next, text } = await fresh(undefined, config);
  expect(await next.read('n')).toBe('new');
  expect(await next.update('n', async (current) => current)).toBe('new');
  expect(await text()).toContain('"new"');
  expect((await readdir(config)).sort()).toEqual(['credentials.json', 'locks']);
});

test('a keyring that fails, beside a file that cannot be replaced, loses nothing either', async () => {
  const { keyring, state: ring } = memoryKeyring();
  const { state, replace } = failingAfter();
  const { store, config } = await fresh(keyring, undefined, undefined, replace);
  await store.update('n', async () => 'old');
  await store.update('n', async (_, ready) => {
    await ready();
    state.spent = true;
    ring.trouble = 'The system keyring cannot be used.';
    return 'new';
  });
  ring.trouble = '';
  expect(await (await fresh(keyring, config)).store.read('n')).toBe('new');
});

test('a keyring that loses the refreshed secret loses no login', async () => {
  const { keyring, entries } = memoryKeyring();
  let loses = false;
  const { store, config } = await fresh({
    ...keyring,
    async write(entry, secret) {
      entries.set(entry, secret);
      if (loses) entries.clear();
    },
  });
  await store.update('n', async () => 'old');
  loses = true;
  await store.update('n', exchanged({ spent: false }, 'new'));
  expect(await (await fresh(keyring, config)).store.read('n')).toBe('new');
});

test('with a keyring a refresh writes no secret to the disk', async () => {
  const { keyring } = memoryKeyring();
  const { store, config } = await fresh(keyring);
  await store.update('n', async () => 'old secret');
  await store.update('n', exchanged({ spent: false }, 'new secret'));
  expect((await readdir(config)).sort()).toEqual(['credentials.json', 'locks']);
  expect(await store.read('n')).toBe('new secret');
});

test('where the file cannot be replaced, the old secret is not spent', async () => {
  const { state, replace } = failingAfter();
  const { store, path } = await fresh(undefined, undefined, undefined, replace);
  await store.update('n', async () => 'old');
  state.spent = true;
  let spent = false;
  const change = async (_: string | undefined, ready: () => Promise<void>) => {
    await ready();
    spent = true;
    return 'new';
  };
  await expect(store.update('n', change)).rejects.toThrow(
    `The login was not refreshed, because the new one could not be saved in ${path}: the disk is full.`,
  );
  expect(spent).toBe(false);
  expect(await store.read('n')).toBe('old');
});

test('a file that others can read or change is made private, with a warning, once', async () => {
  const { store, path, config } = await fresh();
  await store.update('n', async () => 'x');
  for (const mode of [0o666, 0o644, 0o640]) {
    await chmod(path, mode);
    const again = await fresh(undefined, config);
    expect(await again.store.read('n')).toBe('x');
    expect(await again.store.read('n')).toBe('x');
    expect(again.warnings).toEqual([`${path} could be read by other users; now it is yours alone.`]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  }
  await chmod(config, 0o777);
  const last = await fresh(undefined, config);
  await last.store.names('');
  expect(last.warnings).toEqual([`${config} could be changed by other users; now it is yours alone.`]);
  expect((await stat(config)).mode & 0o777).toBe(0o700);
});

test.runIf(process.getuid?.() === 0)('a file of another user is used with a warning', async () => {
  const { store, path, config } = await fresh();
  await store.update('n', async () => 'x');
  await chown(path, 12345, 12345);
  const again = await fresh(undefined, config);
  expect(await again.store.read('n')).toBe('x');
  expect(again.warnings).toEqual([`${path} belongs to another user (id 12345).`]);
});

test.each(['a file', 'a file that is not there yet'])(
  'a link to %s stays a link when the logins are saved',
  async (what) => {
    const { store, path, config } = await fresh();
    const target = join(config, '..', 'elsewhere', 'logins.json');
    await mkdir(join(target, '..'), { recursive: true, mode: 0o700 });
    await mkdir(config, { recursive: true, mode: 0o700 });
    if (what === 'a file') await writeFile(target, '{"version":1,"secrets":{"old":"kept"}}', { mode: 0o600 });
    await symlink('../elsewhere/logins.json', path);
    await store.update('n', async () => 'x');
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    expect(JSON.parse(await readFile(target, 'utf8')).secrets).toMatchObject({ n: 'x' });
    expect(await readdir(join(target, '..'))).toEqual(['logins.json']);
  },
);

test('drafts that a killed process left are removed by the next write, and nothing else', async () => {
  const { store, config } = await fresh();
  await store.update('n', async () => 'x');
  await writeFile(join(config, '.credentials.json.4711.abc123'), '{"version":1');
  await writeFile(join(config, '.credentials.json.bak'), 'mine');
  await writeFile(join(config, 'credentials.json.old'), 'mine');
  await store.update('n', async () => 'y');
  const left = ['.credentials.json.bak', 'credentials.json', 'credentials.json.old', 'locks'];
  expect((await readdir(config)).sort()).toEqual(left);
});
