import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { allowed } from '../real-machine.ts';
import { svc } from '../svc.ts';
import { type AuthWorld, loggedIn, loginOf } from './auth-world.ts';

const withMounts = allowed('Mounting a disk', 'unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt');
const withImmutable = allowed(
  'An immutable file',
  'sh',
  '-c',
  'f=$(mktemp) && chattr +i "$f" && chattr -i "$f" && rm "$f"',
);

const undo: (() => void)[] = [];
afterEach(() => {
  for (const one of undo.splice(0).reverse()) one();
});

const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: 'pipe' });

/** A world whose folder is a disk of its own, of that many kilobytes. */
async function onDisk(kilobytes: number): Promise<AuthWorld> {
  const world = await loggedIn({ left: -5 });
  const disk = mkdtempSync(join(tmpdir(), 'svc-disk-'));
  run('mount', '-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', disk);
  undo.push(() => run('umount', '-l', disk));
  await cp(world.folder, disk, { recursive: true });
  return { ...world, folder: disk };
}

/** Fills the disk to its last byte. */
function fill(world: AuthWorld): () => void {
  const path = join(world.folder, 'filler');
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch {
    closeSync(file);
  }
  return () => rmSync(path);
}

const list = (world: AuthWorld) => svc(world, ['contacts', 'list']);
const tokenCalls = (world: AuthWorld) => world.sent.filter(({ what }) => what.endsWith('/token')).length;
const left = async (world: AuthWorld) => (await readdir(join(world.folder, 'config'))).sort();

describe('the place of the new login is proven before the refresh token is spent', () => {
  withMounts('a full disk', async () => {
    const world = await onDisk(64);
    const free = fill(world);
    const ran = await list(world);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toMatch(/not refreshed.*the disk is full/u);
    expect(tokenCalls(world)).toBe(0);
    free();
    expect((await list(world)).exitCode).toBe(0);
    expect(tokenCalls(world)).toBe(1);
    expect(await left(world)).toEqual(['credentials.json', 'locks']);
  });

  withMounts('a disk that is read-only', async () => {
    const world = await onDisk(256);
    run('mount', '-o', 'remount,ro', world.folder);
    const ran = await list(world);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain('the disk is read-only');
    expect(tokenCalls(world)).toBe(0);
  });

  withMounts('a credentials.json that is mounted as a single file', async () => {
    const world = await onDisk(256);
    const path = join(world.folder, 'config', 'credentials.json');
    run('mount', '--bind', path, path);
    undo.push(() => run('umount', '-l', path));
    const ran = await list(world);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toMatch(/not refreshed.*mounted as a single file/u);
    expect(ran.stderr).toContain('Mount its whole folder instead');
    expect(tokenCalls(world)).toBe(0);
    expect(await left(world)).toEqual(['credentials.json', 'locks']);
  });

  withImmutable('a credentials.json that may not be changed', async () => {
    const world = await loggedIn({ left: -5 });
    const path = join(world.folder, 'config', 'credentials.json');
    run('chattr', '+i', path);
    undo.push(() => run('chattr', '-i', path));
    const ran = await list(world);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toMatch(/not refreshed.*permission denied/u);
    expect(tokenCalls(world)).toBe(0);
  });

  withMounts('a token that still works for a while is used as it is', async () => {
    const early = await loggedIn({ left: 30 });
    const disk = mkdtempSync(join(tmpdir(), 'svc-disk-'));
    run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk);
    undo.push(() => run('umount', '-l', disk));
    await cp(early.folder, disk, { recursive: true });
    const world = { ...early, folder: disk };
    fill(world);
    expect((await list(world)).exitCode).toBe(0);
    expect(tokenCalls(world)).toBe(0);
  });
});

describe('a disk that fills up while the service answers', () => {
  withMounts('where no room can be used it is said that the old pair is spent, and how to log in again', async () => {
    const world = await onDisk(64);
    world.watch = async ({ url }) => {
      if (url.endsWith('/token')) run('mount', '-o', 'remount,ro', world.folder);
    };
    Object.assign(world, { exchange: watched(world) });
    const ran = await list(world);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain('read-only');
    expect(ran.stderr).toContain('the login of profile default has probably ended.');
    expect(ran.stderr).toContain('Then log in again: svc login');
    expect(tokenCalls(world)).toBe(1);
  });

  withMounts('the new pair is kept in the room that was taken for it, and used from there', async () => {
    const world = await onDisk(64);
    let free: (() => void) | undefined;
    world.watch = async ({ url }) => {
      if (url.endsWith('/token')) free = fill(world);
    };
    Object.assign(world, { exchange: watched(world) });
    const ran = await list(world);
    expect(ran.stderr).toMatch(
      /cannot be saved in \S+: the disk is full\. The refreshed login is kept in \S+credentials\.rescue/u,
    );
    expect(ran.exitCode).toBe(0);
    // The next start finds it, on the full disk and afterwards.
    expect((await list(world)).exitCode).toBe(0);
    free?.();
    expect((await list(world)).exitCode).toBe(0);
    expect(tokenCalls(world)).toBe(1);
    // The next refresh moves it to where it belongs.
    world.clock.advance(4000_000);
    world.watch = undefined;
    expect((await list(world)).exitCode).toBe(0);
    expect(tokenCalls(world)).toBe(2);
    expect(await left(world)).toEqual(['credentials.json', 'locks']);
  });
});

/** The world was copied, so its exchange still tells the first one. */
const watched = (world: AuthWorld) => {
  const through = world.exchange;
  return async (request: Parameters<typeof through>[0]) => {
    await world.watch?.(request);
    return through(request);
  };
};

test('a pair that was rescued is used, and saved in its place by the next refresh', async () => {
  const world = await loggedIn({ left: -5 });
  const config = join(world.folder, 'config');
  const before = await readFile(join(config, 'credentials.json'), 'utf8');
  expect((await list(world)).exitCode).toBe(0);
  const fresh = await loginOf(world);
  // As it stands after a SIGKILL between the rescue and the last rename.
  const stored: string = JSON.parse(before).secrets['profile/default/oauth'];
  const { createHash } = await import('node:crypto');
  const rescue = join(config, 'credentials.rescue.profile%2Fdefault%2Foauth.json');
  const rescued = {
    version: 1,
    secret: JSON.stringify(fresh),
    newer_than: createHash('sha256').update(stored).digest('hex'),
  };
  await writeFile(join(config, 'credentials.json'), before);
  await writeFile(rescue, JSON.stringify(rescued).padEnd(9000));
  expect(await loginOf(world)).toEqual(fresh);
  expect((await list(world)).exitCode).toBe(0);
  expect(tokenCalls(world)).toBe(1);
  world.clock.advance(4000_000);
  expect((await list(world)).exitCode).toBe(0);
  expect(tokenCalls(world)).toBe(2);
  expect(await left(world)).toEqual(['credentials.json', 'locks']);
});

test.each([
  ['of a login that was replaced since', JSON.stringify({ version: 1, secret: '{}', newer_than: 'another' })],
  ['that was only made room for', ' '.repeat(5000)],
  ['that was torn', '{"version":1,"secret":"{}'],
  ['of nothing', ''],
])('a rescue file %s is passed over', async (_, text) => {
  const world = await loggedIn();
  const before = await loginOf(world);
  await mkdir(join(world.folder, 'config'), { recursive: true });
  await writeFile(join(world.folder, 'config', 'credentials.rescue.profile%2Fdefault%2Foauth.json'), text);
  expect(await loginOf(world)).toEqual(before);
  expect((await list(world)).exitCode).toBe(0);
  expect((await svc(world, ['auth', 'refresh'])).exitCode).toBe(0);
  expect(await left(world)).toEqual(['credentials.json', 'locks']);
});
