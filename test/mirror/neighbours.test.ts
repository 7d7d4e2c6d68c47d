// What stands beside the file of a copy, and files with several names.
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { endings } from '../../src/mirror/sqlite/neighbours.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { ok, sql } from './engines.ts';

let world: SandboxWorld;
beforeAll(() => {
  world = sandboxWorld({ rateLimit: 'off' });
});
const fresh = () => mkdtempSync(join(world.folder, 'beside-'));
const pull = (file: string) => svc(world, ['mirror', 'pull', '--only', 'lists', '--db', file]);

describe('where a copy is to be made', () => {
  const ways: Readonly<Record<string, (at: string, precious: string) => void>> = {
    'a file': (at) => writeFileSync(at, 'precious'),
    'a hard link': (at, precious) => linkSync(precious, at),
    'a link': (at, precious) => symlinkSync(precious, at),
    'a folder': (at) => mkdirSync(at),
    ...(process.platform !== 'win32' && { 'a pipe': (at: string) => void execFileSync('mkfifo', [at]) }),
  };
  test.each(endings.flatMap((ending) => Object.keys(ways).map((way) => [ending, way] as const)))(
    'what has the name with %s, %s, stays as it is: exit 2',
    async (ending, way) => {
      for (const isEmpty of [false, true]) {
        const folder = fresh();
        const [file, precious] = [join(folder, 'm.db'), join(folder, 'precious')];
        writeFileSync(precious, 'precious');
        if (isEmpty) writeFileSync(file, '');
        ways[way]?.(`${file}${ending}`, precious);
        const ran = await pull(file);
        expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining(`${file}${ending}`)]);
        expect(readFileSync(precious, 'utf8')).toBe('precious');
        if (way === 'a file') expect(readFileSync(`${file}${ending}`, 'utf8')).toBe('precious');
      }
    },
  );

  test('an empty file with a journal of SQLite beside it is what a killed svc leaves, and becomes a copy', async () => {
    const file = join(fresh(), 'm.db');
    writeFileSync(file, '');
    writeFileSync(`${file}.undo`, Buffer.concat([Buffer.from('d9d505f920a163d7', 'hex'), Buffer.alloc(504)]));
    writeFileSync(`${file}-journal`, '');
    expect((await pull(file)).exitCode).toBe(0);
  });
});

describe('beside a copy that is there', () => {
  test.each(endings)('what somebody put at %s stays, and no command touches it: exit 2', async (ending) => {
    const file = join(fresh(), 'm.db');
    await ok(world, ['mirror', 'pull', '--only', 'lists', '--db', file]);
    const beside = `${file}${ending}`;
    writeFileSync(beside, 'precious');
    for (const line of [
      ['pull', '--only', 'lists'],
      ['sql', 'SELECT 1'],
      ['forget', '--yes'],
    ]) {
      const ran = await svc(world, ['mirror', ...line, '--db', file]);
      expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining(beside)]);
      expect(readFileSync(beside, 'utf8')).toBe('precious');
    }
  });

  test('files in folders that have the names of its locks hold up nothing, and stay', async () => {
    const file = join(fresh(), 'm.db');
    await ok(world, ['mirror', 'pull', '--only', 'lists', '--db', file]);
    for (const lock of ['busy', 'native']) {
      mkdirSync(`${file}.${lock}`, { recursive: true });
      writeFileSync(`${file}.${lock}/x`, 'precious');
    }
    await ok(world, ['mirror', 'pull', '--only', 'lists', '--db', file]);
    await ok(world, ['mirror', 'forget', '--yes', '--db', file]);
    for (const lock of ['busy', 'native']) expect(readFileSync(`${file}.${lock}/x`, 'utf8')).toBe('precious');
  });
});

test('a copy with a second name is refused, for each name has locks and journals of its own', {
  tags: ['long'],
}, async () => {
  const folder = fresh();
  const file = join(folder, 'a.db');
  await ok(world, ['mirror', 'pull', '--only', 'lists', '--db', file]);
  linkSync(file, join(folder, 'b.db'));
  for (const name of ['a.db', 'b.db']) {
    const ran = await pull(join(folder, name));
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining('several names')]);
    const asked = await svc(world, ['mirror', 'sql', '--db', join(folder, name), 'SELECT 1']);
    expect([asked.exitCode, asked.stdout]).toEqual([2, '']);
  }
  execFileSync('rm', [join(folder, 'b.db')]);
  const named = { ...world, env: { ...world.env, SVC_MIRROR_DB: file } };
  expect(await sql(named, 'SELECT count(*) AS n FROM lists')).toEqual([{ n: 3 }]);
});
