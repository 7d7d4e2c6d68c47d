// What earlier runs have left in the journals' folder, where the system does not give it.
import { chmodSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { kinIn } from '../../src/bulk/journal/copies.ts';
import type { Identity } from '../../src/bulk/journal/on-disk.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const notes = ['tickets', 'note'];
const close = ['tickets', 'close'];
const reopen = ['tickets', 'reopen'];

function setUp(text: string) {
  const world = sandboxWorld({ rateLimit: 'off' });
  const file = join(world.folder, 'f.csv');
  writeFileSync(file, text);
  const folder = join(world.folder, 'state', 'bulk');
  const pathOf = (ending: string): string => {
    const [name = '', ...others] = readdirSync(folder).filter((one) => one.endsWith(ending));
    expect(others).toEqual([]);
    return join(folder, name);
  };
  return {
    pathOf,
    async run(words: readonly string[], flags: readonly string[] = []) {
      world.sent.length = 0;
      const ran = await svc(world, [...words, '--from', file, '--yes', '--json', ...flags]);
      return { ...ran, writes: world.sent.filter((line) => !line.startsWith('GET')).length };
    },
    /** Nobody can open it, root neither. Returns what gives it back. */
    block(ending: string) {
      const path = pathOf(ending);
      renameSync(path, `${path}.kept`);
      symlinkSync(path, path);
      return () => {
        rmSync(path);
        renameSync(`${path}.kept`, path);
      };
    },
  };
}

const table = 'id,body\n8,One\n9,Two\n10,Three\n';
const ids = 'id\n7\n8\n9\n10\n11\n';

test('a journal that cannot be opened stops the run and the dry run, and is not taken for none', async () => {
  const { run, block, pathOf } = setUp(table);
  expect(await run(notes)).toMatchObject({ exitCode: 0, writes: 3 });
  const path = pathOf('.jsonl');
  const giveBack = block('.jsonl');
  for (const flags of [[], ['--dry-run']]) {
    const ran = await run(notes, flags);
    expect(ran, ran.stderr).toMatchObject({ exitCode: 1, writes: 0 });
    expect(ran.stderr).toContain(`What an earlier run has sent cannot be read: ${path}: its links lead in a circle.`);
    expect(ran.stderr).toContain('Nothing was sent now. Make that file readable');
  }
  giveBack();
  expect(await run(notes)).toMatchObject({ exitCode: 0, writes: 0 });
});

test('neither are the rows of a journal that is gone', async () => {
  const { run, block, pathOf } = setUp(table);
  await run(notes);
  rmSync(pathOf('.jsonl'));
  block('.rows');
  expect(await run(notes)).toMatchObject({ exitCode: 1, writes: 0 });
});

test('nor what another run has overtaken', { tags: ['long'] }, async () => {
  const { run, block } = setUp(ids);
  expect(await run(close, ['--max-sends', '2'])).toMatchObject({ writes: 2 });
  expect(await run(reopen)).toMatchObject({ exitCode: 0, writes: 5 });
  const giveBack = block('.over');
  expect(await run(close)).toMatchObject({ exitCode: 1, writes: 0 });
  giveBack();
  expect(await run(close)).toMatchObject({ exitCode: 0, writes: 5 });
});

test('the journal of another user, for another command, stops nothing', async () => {
  const { run, pathOf } = setUp(ids);
  await run(close, ['--max-sends', '2']);
  const path = pathOf('.jsonl');
  const account = {
    service: 'https://service.test',
    id: '1',
    isKnown: true,
    formerly: [],
  } as unknown as Identity['account'];
  const identity: Identity = { account, command: 'tickets reopen', settings: '', file: undefined };
  chmodSync(path, 0o000);
  for (let folder = dirname(path); folder !== tmpdir(); folder = dirname(folder)) chmodSync(folder, 0o755);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    expect(await kinIn(path, identity)).toBeUndefined();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

test('the journal of another command for these records stops what would overtake it, and no other', async () => {
  const { run, block } = setUp(ids);
  await run(close, ['--max-sends', '2']);
  block('.jsonl');
  expect(await run(reopen)).toMatchObject({ exitCode: 1, writes: 0 });
  expect(await run(notes, ['--body', 'Seen'])).toMatchObject({ exitCode: 0, writes: 5 });
});
