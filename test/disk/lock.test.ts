import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Held, tryLock, withLock } from '../../src/disk/lock/lock.ts';
import { virtualClock } from '../svc.ts';

const clock = { sleep: (ms: number) => sleep(ms) as Promise<void>, ticks: () => performance.now() };
const folder = async () => join(await mkdtemp(join(tmpdir(), 'svc-lock-')), 'lock');

test('a lock that is held is not given twice, and is free again once released', async () => {
  const path = await folder();
  const held = await tryLock(path);
  expect(held).toBeDefined();
  expect(await tryLock(path)).toBeUndefined();
  await held?.release();
  expect(await readdir(path)).toEqual([]);
  expect(await tryLock(path)).toBeDefined();
});

test('forty contenders each work alone', { tags: ['long'] }, async () => {
  const path = await folder();
  let inside = 0;
  let most = 0;
  let done = 0;
  await Promise.all(
    Array.from({ length: 40 }, () =>
      // However long the others take: on a busy machine forty of them take more than svc waits for one.
      withLock(path, { clock, maxWaitMs: 3_600_000 }, async () => {
        most = Math.max(most, ++inside);
        await sleep(1);
        inside--;
        done++;
      }),
    ),
  );
  expect({ most, done }).toEqual({ most: 1, done: 40 });
});

test('a part of this process is waited for in real time: what the clock given says meanwhile ends no wait', async () => {
  const path = await folder();
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const held = await tryLock(path);
  let looks = 0;
  let now = 0;
  const racing = {
    ticks() {
      if (++looks === 8) finish();
      return now;
    },
    async sleep() {
      now += 100_000;
    },
  };
  const [done] = await Promise.all([
    withLock(path, { clock: racing }, async () => 'done'),
    finished.then(held?.release),
  ]);
  expect([done, now]).toEqual(['done', 0]);
});

test('a part of this process that has a lock for too long is not told to be killed', async () => {
  const path = await folder();
  const held = await tryLock(path);
  await expect(withLock(path, { clock, maxWaitMs: 20, what: 'the drafts' }, async () => {})).rejects.toMatchObject({
    kind: 'failed',
    message: 'Another part of this svc has had the drafts for more than 0 s.',
    hint: 'Run the command again: it goes on from what is there.',
  });
  await held?.release();
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

test.each([
  ['an entry', `${hostname().replaceAll(/[^\w-]/gu, '-')}.4194305.12345.x`],
  ['a trace', '.taken.somebody.1.1.x'],
])('a folder in the place of %s that a dead process left stays, and svc says how to go on', async (_, name) => {
  const path = await folder();
  const planted = join(path, name);
  await mkdir(planted, { recursive: true });
  await utimes(planted, 1, 1);
  await expect(tryLock(path)).rejects.toMatchObject({
    kind: 'failed',
    message: `The lock in ${path} cannot be taken: ${name} in it is a folder, and svc did not make it.`,
    hint: `Look at what is in it, then remove it: rm -r ${planted}`,
  });
  expect(await readdir(path)).toEqual([name]);
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

const host = hostname().replaceAll(/[^\w-]/gu, '-');
/** Of this very host name, but of another PID namespace: there, our own process id is somebody else's. */
const elsewhere = `${host}.${process.pid}.1.abc.00ff-4026530000`;

async function heldBy(entry: string, silentForMs = 0): Promise<string> {
  const path = await folder();
  await mkdir(path, { recursive: true });
  await writeFile(join(path, entry), '');
  const then = new Date(Date.now() - silentForMs);
  await utimes(join(path, entry), then, then);
  return path;
}

test('a process id of another PID namespace is not taken for a dead one of this', async () => {
  expect(await tryLock(await heldBy(elsewhere))).toBeUndefined();
});

test('a holder in another container is waited for, named after a second, and after --max-wait exit 1 names its file', {
  tags: ['long'],
}, async () => {
  const path = await heldBy(elsewhere, 600_000);
  const notices: string[] = [];
  const clock = virtualClock();
  const waiting = {
    clock,
    notice: (text: string) => notices.push(`${Math.floor(clock.ticks() / 1000)} ${text}`),
    silentMs: 3600_000,
    what: 'the login',
  };
  const began = clock.ticks();
  const failure = await withLock(path, waiting, async () => {}).catch((error) => error);
  expect(failure).toMatchObject({ kind: 'failed', exitCode: 1 });
  expect(failure.message).toBe(`Process ${process.pid} on host ${host} has had the login for more than 120 s.`);
  expect(failure.hint).toContain(`rm '${join(path, elsewhere)}'`);
  expect(clock.ticks() - began).toBeLessThan(121_000);
  expect(notices).toEqual([
    `${Math.floor(began / 1000) + 1} Waiting for the login: process ${process.pid} on host ${host} has it.`,
  ]);
});

test('--max-wait bounds the wait also where the wall clock is set back or forward', { tags: ['long'] }, async () => {
  const path = await heldBy(elsewhere);
  for (const jump of [-86_400_000, 86_400_000]) {
    const clock = virtualClock();
    const began = clock.ticks();
    const waiting = { clock, maxWaitMs: 10_000, progress: () => clock.set(jump) };
    await expect(withLock(path, waiting, async () => {})).rejects.toThrow('has had a lock for more than 10 s');
    expect(clock.ticks() - began).toBeLessThan(11_000);
  }
});

test('a holder elsewhere that has been silent for longer than is believed loses the lock', {
  tags: ['long'],
}, async () => {
  const path = await heldBy(elsewhere, 3601_000);
  const waiting = { clock: virtualClock(), silentMs: 3600_000 };
  expect(await withLock(path, waiting, async () => 'done')).toBe('done');
});

test('a holder that only looks silent, because a clock was set, keeps the lock: its next beat is seen', {
  tags: ['long'],
}, async () => {
  const path = await heldBy(elsewhere, 7200_000);
  const clock = virtualClock();
  const began = clock.ticks();
  const beating = {
    clock: {
      ticks: clock.ticks,
      async sleep(ms: number) {
        await clock.sleep(ms);
        // Every beat comes with a clock that is two hours behind.
        const beat = new Date(Date.now() - 7200_000 + Math.floor((clock.ticks() - began) / 10_000));
        await utimes(join(path, elsewhere), beat, beat);
      },
    },
    silentMs: 3600_000,
  };
  await expect(withLock(path, beating, async () => {})).rejects.toThrow('for more than 120 s');
});

test('a holder whose entry was cleared while it stood still is told so', async () => {
  const path = await folder();
  const work = async ({ check }: Held) => {
    check();
    for (const name of await readdir(path)) await rm(join(path, name));
    check();
  };
  await expect(withLock(path, { clock, what: 'the login' }, work)).rejects.toThrow(
    `This svc has lost the login: its entry in ${path} is gone.`,
  );
  expect(await readdir(path)).toEqual([]);
});

test('a lock that is removed with its folder while somebody looks who has it is free', async () => {
  const path = await heldBy(elsewhere);
  let looks = 0;
  const clearing = {
    sleep: clock.sleep,
    ticks() {
      // The first is the wait's own, the second is about the beats of the holder.
      if (++looks === 2) rmSync(path, { recursive: true });
      return clock.ticks();
    },
  };
  expect(await withLock(path, { clock: clearing }, async () => 'done')).toBe('done');
});

test.each([
  ['SIGINT', 'interrupted', 130],
  ['SIGTERM', 'terminated', 143],
])('%s ends the wait at once', async (name, kind, exitCode) => {
  const path = await heldBy(elsewhere);
  const interrupt = new AbortController();
  const sleeping = {
    ticks: clock.ticks,
    sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {}) as Promise<void>,
  };
  const waiting = withLock(path, { clock: sleeping, signal: interrupt.signal }, async () => {});
  interrupt.abort(name);
  await expect(waiting).rejects.toMatchObject({ kind, exitCode, message: 'Interrupted while waiting.' });
});

test.runIf(process.platform === 'linux')(
  'a stopped holder of the same machine is waited for, by name',
  { tags: ['long'] },
  async () => {
    const path = await folder();
    await mkdir(path, { recursive: true });
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await once(child, 'spawn');
    try {
      const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8');
      await writeFile(join(path, `${host}.${child.pid}.${stat.split(') ')[1]?.split(' ')[19]}.x`), '');
      child.kill('SIGSTOP');
      while (!/\) T /u.test(await readFile(`/proc/${child.pid}/stat`, 'utf8'))) await sleep(5);
      const notices: string[] = [];
      const waiting = { clock: virtualClock(), notice: (text: string) => notices.push(text), what: 'the login' };
      const failure = await withLock(path, waiting, async () => {}).catch((error) => error);
      expect(notices).toEqual([`Waiting for the login: process ${child.pid} on ${host}, which is stopped, has it.`]);
      expect(failure.hint).toBe(`To let it continue: kill -CONT ${child.pid}`);
    } finally {
      child.kill('SIGKILL');
    }
  },
);

test.runIf(process.platform === 'linux')('a zombie holds no lock', async () => {
  const path = await folder();
  await mkdir(path, { recursive: true });
  // The shell becomes a program that never asks for the exit code of its child, which ends after that: the shell would ask.
  const parent = spawn('sh', ['-c', 'cat <&3 >/dev/null & echo $!; exec sleep 60 3<&-'], {
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  const until = async (file: string, ends: RegExp): Promise<string> => {
    for (;;) {
      const text = await readFile(file, 'utf8');
      if (ends.test(text)) return text;
      await sleep(5);
    }
  };
  try {
    const [, out, , held] = parent.stdio;
    if (!out || !held) throw new Error('The shell has no pipes.');
    const [line] = await once(out, 'data');
    const pid = Number(String(line));
    await until(`/proc/${parent.pid}/comm`, /^sleep$/mu);
    held.destroy();
    const stat = await until(`/proc/${pid}/stat`, /\) Z /u);
    await writeFile(join(path, `${host}.${pid}.${stat.split(') ')[1]?.split(' ')[19]}.x`), '');
    expect(await tryLock(path)).toBeDefined();
  } finally {
    parent.kill('SIGKILL');
  }
});

test('where the remains of a dead holder cannot be taken away, no lock of this process stays behind', async () => {
  const path = await folder();
  // Its entry is a folder, which is not removed as a file is.
  const dead = `${hostname().replaceAll(/[^\w-]/gu, '-')}.4000001.12345.x`;
  await mkdir(join(path, dead), { recursive: true });
  await expect(tryLock(path)).rejects.toThrow();
  expect(await readdir(path)).toEqual([dead]);
  await rm(join(path, dead), { recursive: true });
  expect(await tryLock(path)).toBeDefined();
});
