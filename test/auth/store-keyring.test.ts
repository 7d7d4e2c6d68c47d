import { mkdtemp, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { openStore } from '../../src/auth/store-file.ts';
import { systemKeyring } from '../../src/auth/store-keyring.ts';
import { tokenStore } from '../../src/auth/token-store.ts';
import { real } from '../real-component.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { secretService } from './secret-service.ts';

const clock = {
  now: () => new Date(),
  ticks: () => performance.now(),
  sleep: (ms: number) => sleep(ms) as Promise<void>,
};

const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));

async function storeWith(env: Record<string, string>) {
  const config = await mkdtemp(join(tmpdir(), 'svc-keyring-'));
  const notices: string[] = [];
  const store = tokenStore({
    env,
    platform: 'linux',
    files: { config, state: config },
    clock,
    random,
    notice: (text) => notices.push(text),
    progress: () => {},
    signal: new AbortController().signal,
  });
  return { store, notices };
}

/** A keyring that answers, on a machine that has much else to do: svc itself gives it three seconds. */
const answering = (env: Record<string, string>) => systemKeyring({ env, platform: 'linux', clock, timeoutMs: 60_000 });

async function storeOn(env: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-keyring-'));
  const notices: string[] = [];
  const store = openStore({
    ...{ folder, clock, random, newOnes: 'keyring', keyring: answering(env) },
    warn: (text) => notices.push(text),
  });
  return { store, notices, text: () => readFile(join(folder, 'credentials.json'), 'utf8') };
}

real(
  'dbus-run-session',
  'gnome-keyring-daemon',
  'secret-tool',
)('a login is kept in a real Secret Service, read back, and gone once forgotten', async () => {
  const desktop = await secretService();
  try {
    const { store, notices, text } = await storeOn(desktop.env);
    const secret = 'canary-Zürich-🔑';
    await store.update('profile/default/oauth', async () => secret, 'best');
    expect(notices).toEqual([]);
    expect(await store.where('profile/default/oauth')).toBe('keyring');
    expect(await store.read('profile/default/oauth')).toBe(secret);
    expect(await text()).not.toContain('canary');

    // Another program of the desktop finds it there.
    const search = await execa('secret-tool', ['search', '--all', 'service', 'svc'], { env: desktop.env });
    expect(search.stdout).toContain('canary');
    expect(search.stderr + search.stdout).toContain('/profile/default/oauth');

    await store.update('profile/default/oauth', async () => undefined);
    const after = await execa('secret-tool', ['search', '--all', 'service', 'svc'], { env: desktop.env });
    expect(after.stdout).not.toContain('canary');
  } finally {
    await desktop.stop();
  }
});

real('dbus-run-session', 'gnome-keyring-daemon', 'secret-tool')(
  'when the keyring goes away, a rotated pair goes to the file, with a warning',
  { tags: ['long'] },
  async () => {
    const desktop = await secretService();
    const { store, notices } = await storeOn(desktop.env);
    await store.update('n', async () => 'old', 'best');
    await desktop.stop();
    await expect(store.read('n')).rejects.toThrow(/kept in the system keyring/u);
    await store.update('n', async () => 'new', 'best');
    expect(await store.read('n')).toBe('new');
    expect(notices.join()).toMatch(/Secrets are kept in .*credentials\.json instead/u);
  },
);

real(
  'dbus-run-session',
  'gnome-keyring-daemon',
  'dbus-send',
  'secret-tool',
)(
  'logout, and auth status, tell the truth of a locked keyring and of an entry that is gone',
  { tags: ['long'] },
  async () => {
    const desktop = await secretService();
    const world = sandboxWorld({ env: { SVC_API_KEY: undefined } });
    const keyring = answering(desktop.env);
    const run = (argv: string[], stdin?: string) => svc(world, argv, { stdin, keyring });
    const login = () => run(['login', '--with-api-key'], 'key_acme');
    const { env } = desktop;
    try {
      expect((await login()).exitCode).toBe(0);
      await execa('secret-tool', ['clear', 'service', 'svc'], { env, extendEnv: false });
      const gone = await run(['contacts', 'list']);
      expect([gone.exitCode, gone.stderr]).toEqual([4, expect.stringContaining('no longer holds it')]);
      expect((await login()).exitCode).toBe(0);
      const secrets = ['--session', '--print-reply', '--dest=org.freedesktop.secrets', '/org/freedesktop/secrets'];
      const locked = 'array:objpath:/org/freedesktop/secrets/collection/login';
      await execa('dbus-send', [...secrets, 'org.freedesktop.Secret.Service.Lock', locked], { env, extendEnv: false });
      const status = await run(['auth', 'status', '--json']);
      expect([status.exitCode, JSON.parse(status.stdout).credentials]).toMatchObject([4, [{ unreadable: true }]]);
      expect(status.stderr).toContain('Unlock the keyring');
      const out = await run(['logout']);
      expect([out.exitCode, out.stderr]).toEqual([1, expect.stringContaining('so it is not forgotten')]);
      expect((await run(['auth', 'list'])).stdout).toContain('api_key');
    } finally {
      await desktop.stop();
    }
  },
);

real('dbus-run-session', 'gnome-keyring-daemon')(
  'the secret goes to the keyring without passing through the arguments or the environment of a process',
  { tags: ['long'] },
  async () => {
    const desktop = await secretService();
    const script = 'while :; do cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null; echo; done';
    const watcher = execa('sh', ['-c', script], { reject: false, buffer: false });
    let seen = '';
    watcher.stdout.on('data', (text) => {
      seen += text;
    });
    try {
      const { store } = await storeOn(desktop.env);
      const isSeen = () => seen.includes('require(path)');
      for (let i = 0; i < 5 || (i < 500 && !isSeen()); i++)
        await store.update('n', async () => `canary-${'secret'}-${i}`, 'best');
    } finally {
      watcher.kill('SIGKILL');
      await desktop.stop();
    }
    await watcher;
    // The watcher has seen the child at work.
    expect(seen).toContain('require(path)');
    expect(seen).not.toContain('canary-secret-');
  },
);

test('without a session bus the file is used, and the warning says so once', async () => {
  const { store, notices } = await storeWith({ PATH: process.env.PATH ?? '' });
  await store.update('a', async () => '1');
  await store.update('b', async () => '2');
  expect(await store.where('a')).toBe('file');
  expect(notices).toHaveLength(1);
  expect(notices[0]).toMatch(/^Warning: There is no system keyring here\. Secrets are kept in /u);
});

test('asked for the file, svc does not warn about it', async () => {
  const { store, notices } = await storeWith({ SVC_TOKEN_STORE: 'file' });
  await store.update('a', async () => '1');
  expect(await store.where('a')).toBe('file');
  expect(notices).toEqual([]);
});

test('another store than the two is refused', async () => {
  await expect(storeWith({ SVC_TOKEN_STORE: 'vault' })).rejects.toThrow('SVC_TOKEN_STORE must be keyring or file');
});

test('a bus that accepts and never answers is given three seconds, then the file is used', {
  tags: ['long'],
}, async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'svc-bus-')), 'bus');
  const silent = createServer(() => {}).listen(path);
  try {
    const { store, notices } = await storeWith({ DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}` });
    const start = performance.now();
    await store.update('n', async () => 'a secret', 'best');
    expect(performance.now() - start).toBeGreaterThan(2900);
    // The bus itself would be given 25 s.
    expect(performance.now() - start).toBeLessThan(20_000);
    expect(notices.join()).toContain('did not answer within 3 seconds');
    expect(await store.read('n')).toBe('a secret');
  } finally {
    silent.close();
  }
});

test('a keyring that was silent is asked again a minute later, not before', { tags: ['long'] }, async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'svc-bus-')), 'bus');
  let asked = 0;
  const silent = createServer(() => {
    asked++;
  }).listen(path);
  try {
    let now = 0;
    const env = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}` };
    // The program that asks must have begun by then, on a machine that has much else to do.
    const keyring = systemKeyring({ env, platform: 'linux', clock: { ticks: () => now }, timeoutMs: 6000 });
    await expect(keyring.read('n')).rejects.toThrow('did not answer within');
    const first = asked;
    expect(first).toBeGreaterThan(0);
    now = 59_999;
    await expect(keyring.read('n')).rejects.toThrow('did not answer within');
    expect(asked).toBe(first);
    now = 60_000;
    await expect(keyring.read('n')).rejects.toThrow('did not answer within');
    expect(asked).toBeGreaterThan(first);
  } finally {
    silent.close();
  }
});

test('a secret over the size that Windows takes is refused before it is tried', async () => {
  const keyring = systemKeyring({ env: {}, platform: 'win32', clock: { ticks: () => 0 } });
  await expect(keyring.write('n', 'é'.repeat(1281))).rejects.toThrow('too long for the Windows Credential Manager');
});
