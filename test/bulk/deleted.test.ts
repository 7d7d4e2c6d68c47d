// Journals that somebody deletes.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const rows = 'id,body\n8,One\n9,Two\n10,Three\n';

function setUp() {
  const world = sandboxWorld({ rateLimit: 'off' });
  const file = join(world.folder, 'f.csv');
  writeFileSync(file, rows);
  const folder = join(world.folder, 'state', 'bulk');
  const gone = (ending: string) => {
    const names = readdirSync(folder).filter((name) => name.endsWith(ending));
    for (const name of names) rmSync(join(folder, name));
    return names.length;
  };
  return { world, argv: ['tickets', 'note', '--from', file, '--json', '--concurrency', '1'], gone };
}

const writesOf = (world: SandboxWorld) => world.sent.filter((line) => line.startsWith('POST')).length;

test.each([[[]], [['--max-sends', '1']]])(
  'after a run with %j: the next one sends nothing and says so',
  async (flags) => {
    const { world, argv, gone } = setUp();
    await svc(world, [...argv, ...flags]);
    expect(gone('.jsonl')).toBe(1);
    world.sent.length = 0;
    for (const more of [[], ['--yes']]) {
      const ran = await svc(world, [...argv, ...more]);
      expect(ran.exitCode, ran.stderr).toBe(1);
      expect(ran.stderr).toContain('The journal of an earlier run is gone');
    }
    expect(writesOf(world)).toBe(0);
    // As the message says.
    expect(gone('.rows')).toBe(1);
    expect(await svc(world, argv)).toMatchObject({ exitCode: 0 });
    expect(writesOf(world)).toBe(3);
  },
);

test('other rows are not concerned, nor is a run that never began', { tags: ['long'] }, async () => {
  const { world, argv, gone } = setUp();
  await svc(world, argv);
  gone('.jsonl');
  const other = ['tickets', 'note', '--from', '-', '--json'];
  expect(await svc(world, other, { stdin: 'id,body\n8,Other\n' })).toMatchObject({ exitCode: 0 });
  expect(await svc(world, [...argv, '--restart', '--yes'])).toMatchObject({ exitCode: 0 });
});

test('while the run writes it: it is there again at the end, and nothing is sent twice', async () => {
  const { world, argv, gone } = setUp();
  let posts = 0;
  const exchange: typeof world.exchange = (request) => {
    if (request.method === 'POST' && ++posts === 2) expect(gone('.jsonl')).toBe(1);
    return world.exchange(request);
  };
  expect(await svc({ ...world, exchange }, argv)).toMatchObject({ exitCode: 0 });
  world.sent.length = 0;
  expect(await svc(world, argv)).toMatchObject({ exitCode: 0 });
  expect(writesOf(world)).toBe(0);
});

test.each(['rejected', 'unsent', ''])('--id-map takes no id of a row that is "%s"', async (status) => {
  const { world } = setUp();
  const results = join(world.folder, 'r.csv');
  writeFileSync(results, `old_id,svc_line,svc_status,svc_id,svc_error\nA,2,${status},8,\n`);
  const argv = ['tickets', 'note', '--from', '-', '--map', 'ticket=id', '--id-map', `${results}:old_id`, '--json'];
  const ran = await svc(world, argv, { stdin: 'ticket,body\nA,Secret\n' });
  expect(ran.exitCode).not.toBe(0);
  expect(writesOf(world)).toBe(0);
});
