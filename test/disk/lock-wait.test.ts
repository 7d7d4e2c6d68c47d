// What a person sees of a wait for a lock, and how long it lasts at most.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withLock } from '../../src/disk/lock/lock.ts';
import { thief } from '../locks.ts';
import { virtualClock } from '../svc.ts';

const host = hostname().replaceAll(/[^\w-]/gu, '-');

async function heldBy(...entries: readonly string[]): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'svc-lock-')), 'lock');
  await mkdir(path, { recursive: true });
  for (const entry of entries) await writeFile(join(path, entry), '');
  return path;
}

/** Another process of this machine, at work, and the name of its entry. */
async function worker() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8');
  return { pid: Number(child.pid), entry: `${host}.${child.pid}.${stat.split(') ')[1]?.split(' ')[19]}.x` };
}

/** A wait on a virtual clock, and what was told of it: each with the milliseconds that had passed. */
function watching() {
  const clock = virtualClock();
  const began = clock.ticks();
  const passed = () => clock.ticks() - began;
  const told: (readonly [ms: number, text: string])[] = [];
  const shown: (readonly [ms: number, text: string | undefined])[] = [];
  const waiting = {
    clock,
    what: 'the login',
    notice: (text: string) => told.push([passed(), text]),
    progress: (text?: string) => shown.push([passed(), text]),
  };
  return { waiting, passed, told, shown };
}

// Only Linux tells when a process started.
test.runIf(process.platform === 'linux')(
  'a holder that is at work is shown after 200 ms, named after 5 s, and after --max-wait svc says how to end it',
  async () => {
    const { pid, entry } = await worker();
    // Listed before it: neither what a file server leaves nor a dead process has it.
    const path = await heldBy('.nfs0001', `${host}.10000000.12345.x`, entry);
    const { waiting, told, shown } = watching();
    const failure = await withLock(path, { ...waiting, maxWaitMs: 10_000 }, async () => {}).catch((error) => error);
    const text = `Waiting for the login: process ${pid} on ${host} has it`;
    expect(failure).toMatchObject({
      kind: 'failed',
      message: `Process ${pid} on ${host} has had the login for more than 10 s.`,
      hint: `Wait for it, or end it: kill ${pid}`,
    });
    expect(told).toEqual([[expect.any(Number), `${text}.`]]);
    expect(Math.floor(Number(told[0]?.[0]) / 100)).toBe(50);
    expect(shown[0]).toEqual([expect.any(Number), text]);
    expect(Math.floor(Number(shown[0]?.[0]) / 20)).toBe(10);
    // Most locks are held for less than a second: until then it is asked for every 20 ms at least.
    expect(shown.filter(([ms]) => ms < 1000).length).toBeGreaterThanOrEqual(39);
    expect(shown.at(-1)?.[1]).toBeUndefined();
  },
);

test.runIf(process.platform === 'linux')(
  'who does not wait for a stopped holder of this machine has the lock after a second, and hears that it may wake up',
  async () => {
    const { pid, entry } = await worker();
    process.kill(pid, 'SIGSTOP');
    while (!/\) T /u.test(await readFile(`/proc/${pid}/stat`, 'utf8'))) await new Promise(setImmediate);
    const path = await heldBy(entry);
    const { waiting, passed } = watching();
    const isTakenOver = await withLock(path, { ...waiting, takesStopped: true }, async (held) => held.isTakenOver);
    expect([isTakenOver, Math.floor(passed() / 100)]).toEqual([true, 10]);
  },
);

test('a wait that is over within 200 ms shows nothing', async () => {
  const path = await heldBy(thief);
  const { waiting, passed, told, shown } = watching();
  const sleep: typeof waiting.clock.sleep = async (ms, signal) => {
    await waiting.clock.sleep(ms, signal);
    if (passed() > 100) await rm(join(path, thief), { force: true });
  };
  expect(await withLock(path, { ...waiting, clock: { ...waiting.clock, sleep } }, async () => 'done')).toBe('done');
  expect([told, shown]).toEqual([[], []]);
});

test.each([
  [undefined, 5],
  [2000, 2],
])('a wait that begins after Ctrl-C, with a --max-wait of %s ms, is over after %s s', async (maxWaitMs, seconds) => {
  const path = await heldBy(thief);
  const { waiting, passed } = watching();
  const signal = AbortSignal.abort('SIGINT');
  await expect(
    withLock(path, { ...waiting, signal, ...(maxWaitMs && { maxWaitMs }) }, async () => {}),
  ).rejects.toMatchObject({ kind: 'failed', message: expect.stringContaining(`for more than ${seconds} s.`) });
  expect(Math.floor(passed() / 1000)).toBe(seconds);
});

test('a part of this process that has the lock for too long is told of, though the clock that is given stands still', async () => {
  const path = await heldBy();
  const { waiting, passed } = watching();
  await withLock(path, waiting, async () => {
    await expect(withLock(path, { ...waiting, maxWaitMs: 20 }, async () => {})).rejects.toThrow(
      'Another part of this svc',
    );
  });
  expect(passed()).toBe(0);
});
