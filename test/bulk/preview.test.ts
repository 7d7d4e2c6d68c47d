// A dry run of a file weighs its rows against what earlier runs have sent, as the run itself does.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const fresh = () => sandboxWorld({ rateLimit: 'off', seed: few });

type File = readonly [name: string, text: string];

async function from(world: SandboxWorld, [name, text]: File, flags: readonly string[] = [], words = 'tickets create') {
  const file = join(world.folder, name);
  writeFileSync(file, text);
  world.sent.length = 0;
  const ran = await svc(world, [...words.split(' '), '--from', file, '--json', ...flags]);
  const writes = world.sent.filter((line) => !line.startsWith('GET')).length;
  return { ...ran, writes, report: ran.stdout === '' ? {} : JSON.parse(ran.stdout) };
}

/** Every file below the state folder, with what it holds and when it was changed. */
function stateOf(world: SandboxWorld) {
  const folder = join(world.folder, 'state', 'bulk');
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return all.map((name) => {
    const path = join(folder, name);
    const found = statSync(path);
    return [name, found.mtimeMs, found.isFile() ? readFileSync(path, 'utf8') : 'folder'];
  });
}

const rows = (count: number, more = ''): string =>
  `subject\n${Array.from({ length: count }, (_, at) => `Row ${at + 1}\n`).join('')}${more}`;

/** Looks, proves that the look left no trace, and runs. */
async function lookedAndRun(
  world: SandboxWorld,
  file: File,
  { flags = [], words = 'tickets create' }: { readonly flags?: readonly string[]; readonly words?: string } = {},
) {
  const before = stateOf(world);
  const dry = await from(world, file, [...flags, '--dry-run'], words);
  expect(dry.writes).toBe(0);
  expect(stateOf(world)).toEqual(before);
  return { dry, real: await from(world, file, flags, words) };
}

test('of a finished file sends nothing, and says so', async () => {
  const world = fresh();
  await from(world, ['a.csv', rows(5)]);
  const { dry, real } = await lookedAndRun(world, ['a.csv', rows(5)]);
  expect(dry).toMatchObject({
    exitCode: 0,
    report: { done: 5, unsent: 0, resumed_rows: 5, would_send: 0, minutes: 0 },
  });
  expect(dry.report.sample).toEqual([]);
  expect(dry.stderr).toMatch(/This file was done at .*: nothing is sent/u);
  expect(real).toMatchObject({ exitCode: 0, writes: 0 });
});

test('of a file that was stopped in the middle shows what is left', async () => {
  const world = fresh();
  await from(world, ['a.csv', rows(70)], ['--max-sends', '4']);
  const { dry, real } = await lookedAndRun(world, ['a.csv', rows(70)], { flags: ['--max-sends', '61'] });
  expect(dry.report).toMatchObject({ done: 4, unsent: 66, would_send: 61, minutes: 2 });
  expect(dry.report.sample[0]).toMatchObject({ line: 6, body: { subject: 'Row 5' } });
  expect(dry.stderr).toContain('4 rows settled, 66 rows to send');
  expect(real.writes).toBe(61);
});

test('of the same rows in another file counts them as done, and as new with --again', async () => {
  const world = fresh();
  await from(world, ['a.csv', rows(3)]);
  const dry = await from(world, ['b.csv', rows(4)], ['--dry-run', '--again']);
  expect(dry.report).toMatchObject({ done: 0, would_send: 4 });
  expect(dry.stderr).toMatch(/Sent before, at .* from a\.csv, and sent again: 3 rows\./u);
  const { dry: plain, real } = await lookedAndRun(world, ['b.csv', rows(4)]);
  expect(plain.report).toMatchObject({ done: 3, would_send: 1 });
  expect(real).toMatchObject({ writes: 1 });
});

test.each([
  ['rows that hold what was sent before, and more', 'subject,priority\nRow 1,3\nRow 2,1\n', []],
  ['other flags while the first run is not finished', rows(3), ['--priority', '3']],
  ['rows that were sent and are gone', 'subject\nRow 2\nRow 3\n', []],
] as const)('refuses %s, as the run does', async (_, text, flags) => {
  const world = fresh();
  await from(world, ['a.csv', rows(3)], ['--max-sends', '2']);
  const { dry, real } = await lookedAndRun(world, ['a.csv', text], { flags });
  expect(real).toMatchObject({ exitCode: 2, writes: 0 });
  expect(dry).toMatchObject({ exitCode: real.exitCode, stdout: '', stderr: real.stderr });
});

test('refuses where the journal was deleted or damaged', async () => {
  const world = fresh();
  await from(world, ['a.csv', rows(3)]);
  const folder = join(world.folder, 'state', 'bulk');
  const name = readdirSync(folder).find((one) => one.endsWith('.jsonl')) ?? '';
  const journal = join(folder, name);
  writeFileSync(journal, '');
  const empty = await lookedAndRun(world, ['a.csv', rows(3)]);
  expect(empty.dry).toMatchObject({ exitCode: 1, stderr: empty.real.stderr });
  rmSync(journal);
  const gone = await lookedAndRun(world, ['a.csv', rows(3)]);
  expect(gone.dry).toMatchObject({ exitCode: 1, stderr: gone.real.stderr });
});

test('refuses while another run has the rows, and leaves its lock alone', async () => {
  const world = fresh();
  await from(world, ['a.csv', rows(3)], ['--max-sends', '2']);
  const folder = join(world.folder, 'state', 'bulk');
  const name = readdirSync(folder).find((one) => one.endsWith('.jsonl')) ?? '';
  const { newEntryName } = await import('../../src/disk/lock/lock-entry.ts');
  const lock = join(folder, name.replace(/jsonl$/u, 'lock'));
  mkdirSync(lock, { recursive: true });
  writeFileSync(join(lock, await newEntryName()), '');
  const { dry, real } = await lookedAndRun(world, ['a.csv', rows(3)]);
  expect(real).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('Another svc is sending rows of this file'),
  });
  expect(dry).toMatchObject({ exitCode: 1, stdout: '', stderr: real.stderr });
});

test('where twice is once, a finished file would go out once more', async () => {
  const world = fresh();
  const words = 'tickets update';
  await from(world, ['u.csv', 'id,priority\n1,3\n'], [], words);
  const { dry, real } = await lookedAndRun(world, ['u.csv', 'id,priority\n1,3\n'], { words });
  expect(dry.report).toMatchObject({ done: 0, would_send: 1 });
  expect(real.writes).toBe(1);
});

test('begins no history, and works where the state folder cannot be written', async () => {
  const world = fresh();
  await from(world, ['a.csv', rows(2)], ['--dry-run']);
  expect(() => stateOf(world)).toThrow('ENOENT');
  await from(world, ['a.csv', rows(2)]);
  const folder = join(world.folder, 'state', 'bulk');
  chmodSync(folder, 0o500);
  try {
    expect((await from(world, ['a.csv', rows(2)], ['--dry-run'])).report).toMatchObject({ done: 2, would_send: 0 });
  } finally {
    chmodSync(folder, 0o700);
  }
});

test('without a login says that it did not look', async () => {
  const world = fresh();
  await from(world, ['a.csv', rows(2)]);
  const { SVC_API_KEY: _, SVC_ACCESS_TOKEN: __, ...env } = world.env;
  const file = join(world.folder, 'a.csv');
  const ran = await svc({ ...world, env }, ['tickets', 'create', '--from', file, '--dry-run', '--json']);
  expect(JSON.parse(ran.stdout)).toMatchObject({ done: 0, would_send: 2 });
  expect(ran.stderr).toContain('svc did not look at what earlier runs have sent, so rows may be done already.');
});
