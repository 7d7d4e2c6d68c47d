import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { tryLock, withLock } from '../../src/disk/lock.ts';

const clock = { sleep: (ms: number) => sleep(ms) as Promise<void> };
const folder = async () => join(await mkdtemp(join(tmpdir(), 'svc-lock-')), 'lock');

test('a lock that is held is not given twice, and is free again once released', async () => {
  const path = await folder();
  const release = await tryLock(path);
  expect(release).toBeDefined();
  expect(await tryLock(path)).toBeUndefined();
  await release?.();
  expect(await readdir(path)).toEqual([]);
  expect(await tryLock(path)).toBeDefined();
});

test('forty contenders each work alone', async () => {
  const path = await folder();
  let inside = 0;
  let most = 0;
  let done = 0;
  await Promise.all(
    Array.from({ length: 40 }, () =>
      withLock(path, { clock }, async () => {
        most = Math.max(most, ++inside);
        await sleep(1);
        inside--;
        done++;
      }),
    ),
  );
  expect({ most, done }).toEqual({ most: 1, done: 40 });
});

test('a lock left by a process that was killed is taken over', async () => {
  const path = await folder();
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await once(child, 'spawn');
  await mkdir(path, { recursive: true });
  await writeFile(join(path, `${hostname().replaceAll(/[^\w-]/gu, '-')}.${child.pid}.12345.x`), '');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await tryLock(path)).toBeDefined();
});

// Only Linux tells when a process started.
test.runIf(process.platform === 'linux')(
  'a process id that was given to another process does not keep a lock alive',
  async () => {
    const path = await folder();
    await mkdir(path, { recursive: true });
    // This very process lives, but it did not start at tick 1.
    await writeFile(join(path, `${hostname().replaceAll(/[^\w-]/gu, '-')}.${process.pid}.1.x`), '');
    expect(await tryLock(path)).toBeDefined();
  },
);

test('a lock of another machine counts until its heartbeat stops', async () => {
  const path = await folder();
  await mkdir(path, { recursive: true });
  await writeFile(join(path, 'elsewhere.1.1.x'), '');
  expect(await tryLock(path)).toBeUndefined();
});
