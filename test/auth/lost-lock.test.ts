// A login whose lock another svc took while this one stood still.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openStore } from '../../src/auth/store-file.ts';
import { stealLocks } from '../locks.ts';

const name = 'profile/default/oauth';

async function freshStore() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-store-'));
  const open = () =>
    openStore({
      folder,
      clock: { sleep: (ms) => sleep(ms), ticks: () => performance.now() },
      random: (bytes) => new Uint8Array(bytes),
      warn: () => {},
    });
  const store = open();
  await store.update(name, async () => 'old');
  return { folder, store };
}

test('the refresh is not sent', async () => {
  const { folder, store } = await freshStore();
  let sent = 0;
  const refreshing = store.update(name, async (_, ready) => {
    stealLocks(folder);
    await ready();
    sent++;
    return 'new';
  });
  await expect(refreshing).rejects.toThrow(/took over the login default\/oauth while this svc stood still/u);
  expect(sent).toBe(0);
  expect(await store.read(name)).toBe('old');
});

test('a pair that came while it was lost is saved where nothing newer is there: the old one is spent', async () => {
  const { folder, store } = await freshStore();
  const refreshing = store.update(name, async (_, ready) => {
    await ready();
    stealLocks(join(folder, 'locks', encodeURIComponent(name)));
    return 'new';
  });
  expect(await refreshing).toBe('new');
  expect(await store.read(name)).toBe('new');
});

test('a pair that came while it was lost does not replace what the other one has saved', async () => {
  const { folder, store } = await freshStore();
  const locks = join(folder, 'locks', encodeURIComponent(name));
  const refreshing = store.update(name, async (_, ready) => {
    await ready();
    stealLocks(locks);
    const { rm } = await import('node:fs/promises');
    await rm(locks, { recursive: true });
    await store.update(name, async () => 'newer');
    return 'new';
  });
  await expect(refreshing).rejects.toThrow(/the login default\/oauth/u);
  expect(await store.read(name)).toBe('newer');
});

test('a login that the service has ended is not forgotten by whom it is not any more', async () => {
  const { folder, store } = await freshStore();
  const refreshing = store.update(name, async (_, ready) => {
    await ready();
    stealLocks(join(folder, 'locks', encodeURIComponent(name)));
    return undefined;
  });
  await expect(refreshing).rejects.toThrow(/took over the login/u);
  expect(await store.read(name)).toBe('old');
});
