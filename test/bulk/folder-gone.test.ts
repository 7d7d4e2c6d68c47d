// The state folder is removed or moved away in the middle of a run.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Gone = (state: string) => void;

const ways: readonly (readonly [string, Gone])[] = [
  ['the state folder removed', (state) => rmSync(state, { recursive: true })],
  ['its folder bulk removed', (state) => rmSync(join(state, 'bulk'), { recursive: true })],
  [
    'all that was in bulk removed',
    (state) => {
      rmSync(join(state, 'bulk'), { recursive: true });
      mkdirSync(join(state, 'bulk'));
    },
  ],
  ['bulk moved away', (state) => renameSync(join(state, 'bulk'), join(state, 'bulk.old'))],
];

const subjects = Array.from({ length: 6 }, (_, at) => `Row ${at + 1}`);

function setUp(words: readonly string[], rows: string) {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const file = join(world.folder, 'f.csv');
  writeFileSync(file, rows);
  return { world, argv: [...words, '--from', file, '--json', '--settle', '1', '--concurrency', '1'] };
}

/** While the third row is on its way. */
function during(world: SandboxWorld, gone: Gone): SandboxWorld {
  let posts = 0;
  const exchange: typeof world.exchange = (request) => {
    if (request.method === 'POST' && ++posts === 3) gone(join(world.folder, 'state'));
    return world.exchange(request);
  };
  return { ...world, exchange };
}

const writesOf = (world: SandboxWorld) => world.sent.filter((line) => line.startsWith('POST')).length;

test.each(ways)('%s: the run stops, says so, and the next one sends no row twice', async (_, gone) => {
  const { world, argv } = setUp(['tickets', 'create'], `subject\n${subjects.join('\n')}\n`);
  const results = join(world.folder, 'r.csv');
  const ran = await svc(during(world, gone), [...argv, '--results', results]);
  expect(ran.exitCode, ran.stderr).toBe(1);
  expect(ran.stderr).toContain('3 of 6 rows are done.');
  expect(writesOf(world)).toBe(3);
  // Nobody else has these rows, so what became of them is told.
  expect(readFileSync(results, 'utf8').match(/,done,/gu)).toHaveLength(3);
  const next = await svc(world, argv);
  expect(next.exitCode, next.stderr).toBe(0);
  expect(JSON.parse(next.stdout)).toMatchObject({ done: 6, resumed_rows: 3 });
  expect(writesOf(world)).toBe(6);
});

test('what cannot be looked for is known to be done too', async () => {
  const { world, argv } = setUp(['tickets', 'note'], 'id,body\n8,A\n9,B\n10,C\n11,D\n');
  await svc(
    during(world, (state) => rmSync(state, { recursive: true })),
    argv,
  );
  const next = await svc(world, argv);
  expect(next.exitCode, next.stderr).toBe(0);
  expect(JSON.parse(next.stdout)).toMatchObject({ done: 4, resumed_rows: 3, unknown: 0 });
  expect(writesOf(world)).toBe(4);
});

test('where twice is once, no row is said to be left out', async () => {
  const { world, argv } = setUp(['tickets', 'update'], 'id,priority\n8,1\n9,1\n10,1\n11,1\n');
  let patches = 0;
  const exchange: typeof world.exchange = (request) => {
    if (request.method === 'PATCH' && ++patches === 3) rmSync(join(world.folder, 'state'), { recursive: true });
    return world.exchange(request);
  };
  const ran = await svc({ ...world, exchange }, argv);
  expect(ran.exitCode, ran.stderr).toBe(1);
  expect(ran.stderr).toContain('a row that it repeats changes nothing more');
  expect(ran.stderr).not.toContain('sends no row twice');
  expect(await svc(world, argv)).toMatchObject({ exitCode: 0 });
});

test('where the journal cannot be written again, nothing is promised', async () => {
  const { world, argv } = setUp(['tickets', 'create'], `subject\n${subjects.join('\n')}\n`);
  const gone: Gone = (state) => {
    rmSync(state, { recursive: true });
    // A file in the place of the folder, as of a disk that was taken out.
    writeFileSync(state, '');
  };
  const ran = await svc(during(world, gone), argv);
  expect(ran.exitCode, ran.stderr).toBe(1);
  expect(ran.stderr).toContain('3 of 6 rows are done.');
  expect(ran.stderr).not.toContain('sends no row twice');
  expect(ran.stderr).toContain('would send these rows once more');
  expect(existsSync(join(world.folder, 'state', 'bulk'))).toBe(false);
});
