// What a process knows of a lock that it held, and lost while it stood still.
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  promises,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { tryLock } from '../../src/disk/lock/lock.ts';
import { type Held, hold } from '../../src/disk/lock/lock-hold.ts';
import { Failure } from '../../src/errors.ts';
import { endAfterEach } from '../endings.ts';
import { agedLocks, thief } from '../locks.ts';
import { allowed } from '../real-machine.ts';
import { virtualClock } from '../svc.ts';

const endings = endAfterEach();
const withMounts = allowed('Mounting a disk', 'unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt');
const ours = 'this-machine.5.1.own.00aa-4026531111';
const freshFolder = async () => join(await mkdtemp(join(tmpdir(), 'svc-lost-')), 'lock');

/** A lock that a process of another container holds, by a virtual clock. */
async function heldElsewhere() {
  const folder = await freshFolder();
  mkdirSync(folder);
  const entry = join(folder, ours);
  writeFileSync(entry, '');
  const clock = virtualClock();
  const held = hold({ folder, name: ours, isTakenOver: false, what: 'the journal of this file', clock });
  endings.push(() => held.release());
  return { folder, entry, clock, held };
}

const lossOf = ({ check }: Held): unknown => {
  try {
    check();
    return undefined;
  } catch (error) {
    return error;
  }
};

test('whoever takes the lock of a silent holder is named to it, whatever the clocks say, also once it has ended', async () => {
  for (const hasEnded of [false, true]) {
    const { folder, held } = await heldElsewhere();
    agedLocks(folder);
    const next = await tryLock(folder);
    expect(next?.isTakenOver).toBe(true);
    expect(statSync(join(folder, `.taken.${ours}`)).mode & 0o777).toBe(0o600);
    if (hasEnded) await next?.release();
    expect(lossOf(held)).toMatchObject({
      kind: 'failed',
      exitCode: 1,
      message: expect.stringMatching(
        new RegExp(
          `^Process ${process.pid} on host .+ took over the journal of this file while this svc stood still\\.$`,
          'u',
        ),
      ),
      hint: 'Nothing more was sent. Run the command again: it goes on from what is there.',
    });
    expect(held.lost.aborted).toBe(true);
    expect(held.lost.reason).toBe(lossOf(held));
    await held.release();
    expect(readdirSync(folder)).toEqual(hasEnded ? [] : [basename(next?.entry ?? '')]);
    if (!hasEnded) next?.check();
    await next?.release();
  }
});

test('until the silent holder has heard of it, whoever has the lock after the next one knows too', async () => {
  const { folder, held } = await heldElsewhere();
  agedLocks(folder);
  await (await tryLock(folder))?.release();
  const third = await tryLock(folder);
  expect(third?.isTakenOver).toBe(true);
  await third?.release();
  expect(lossOf(held)).toBeInstanceOf(Failure);
  const fourth = await tryLock(folder);
  expect(fourth?.isTakenOver).toBe(false);
  await fourth?.release();
});

test('whoever cannot leave a silent holder a trace, since the disk is full, knows all the same that it may wake up', async () => {
  const { folder } = await heldElsewhere();
  agedLocks(folder);
  const { writeFile } = promises;
  const full = vi.spyOn(promises, 'writeFile').mockImplementation(async (file, ...rest) => {
    if (String(file).includes('.taken.')) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
    await writeFile(file, ...rest);
  });
  onTestFinished(() => full.mockRestore());
  const next = await tryLock(folder);
  expect(next?.isTakenOver).toBe(true);
  await next?.release();
});

test('a lock that a dead process of this machine left is no takeover', async () => {
  const folder = await freshFolder();
  const first = await tryLock(folder);
  await first?.release();
  expect((await tryLock(folder))?.isTakenOver).toBe(false);
});

test('a holder that wakes up before somebody has its lock keeps it', async () => {
  const { folder, clock, held } = await heldElsewhere();
  agedLocks(folder);
  clock.advance(95_000);
  held.check();
  expect(await tryLock(folder)).toBeUndefined();
  held.check();
});

test.each([
  ['its entry was removed', ({ entry }: { entry: string }) => rmSync(entry)],
  ['the folder was renamed', ({ folder }: { folder: string }) => renameSync(folder, `${folder}.old`)],
  ['the folder was removed', ({ folder }: { folder: string }) => rmSync(folder, { recursive: true })],
])('a lock is lost where %s, and it never comes back by itself', async (_, step) => {
  const { folder, entry, held } = await heldElsewhere();
  step({ folder, entry });
  expect(lossOf(held)).toMatchObject({
    kind: 'failed',
    message: `This svc has lost the journal of this file: its entry in ${folder} is gone.`,
  });
  expect(lossOf(held)).toBe(held.lost.reason);
});

test('where a person removed the entry, whoever has the lock now is named', async () => {
  const { folder, entry, held } = await heldElsewhere();
  rmSync(entry);
  writeFileSync(join(folder, thief), '');
  expect(lossOf(held)).toMatchObject({
    message: expect.stringMatching(/ is gone\. Process 77 on host \S+ has it now\.$/u),
  });
});

test('a disk that does not answer is borne for as long as nobody can have taken the lock, and no longer', async () => {
  const { folder, entry, clock, held } = await heldElsewhere();
  clock.advance(20_000);
  held.check();
  rmSync(entry);
  // Neither there nor absent.
  symlinkSync(ours, entry);
  clock.advance(29_000);
  expect(lossOf(held)).toBeUndefined();
  clock.advance(2_000);
  expect(lossOf(held)).toMatchObject({
    kind: 'failed',
    message: expect.stringContaining('svc cannot tell whether it still has the journal of this file: ELOOP'),
    hint: 'Nothing more was sent. Run the command again: it goes on from what is there.',
  });
  rmSync(folder, { recursive: true });
});

withMounts('a disk that is full takes no beat, and the lock stays', async () => {
  const folder = await freshFolder();
  mkdirSync(folder);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8k', 'tmpfs', folder]);
  endings.push(() => execFileSync('umount', [folder]));
  const entry = join(folder, ours);
  writeFileSync(entry, '');
  const clock = virtualClock();
  const held = hold({ folder, name: ours, isTakenOver: false, clock });
  endings.push(() => held.release());
  expect(() => writeFileSync(join(folder, 'full'), Buffer.alloc(64_000))).toThrow('ENOSPC');
  agedLocks(folder);
  clock.advance(95_000);
  held.check();
  expect(statSync(entry).size).toBe(0);
  expect(Date.now() - statSync(entry).mtimeMs).toBeLessThan(30_000);
});

test('what takeovers leave beside the entries, and nothing else, is removed after a week', async () => {
  const folder = await freshFolder();
  mkdirSync(folder);
  const days = { [`.taken.${ours}`]: 8, '.now.1.x': 8, [`.taken.${thief}`]: 6, 'of.now.another': 8 };
  for (const [name, age] of Object.entries(days)) {
    const old = new Date(Date.now() - age * 86_400_000);
    writeFileSync(join(folder, name), '');
    utimesSync(join(folder, name), old, old);
  }
  const held = await tryLock(folder);
  await held?.release();
  expect(readdirSync(folder)).toEqual([`.taken.${thief}`, 'of.now.another']);
});

test('what somebody has left who looked for the service’s time is no holder that may wake up', async () => {
  const folder = await freshFolder();
  mkdirSync(folder);
  writeFileSync(join(folder, '.now.1.x'), '');
  const held = await tryLock(folder);
  expect(held?.isTakenOver).toBe(false);
  await held?.release();
});
