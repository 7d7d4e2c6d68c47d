// A copy in a folder that cannot be written is read all the same; where it cannot be, the message names what moves it.
import { copyFileSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openSqlite } from '../../src/mirror/sqlite/sqlite.ts';
import { closeFolder, withClosed } from '../closed-folder.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { pulledWorld } from './engines.ts';

/** A copy that somebody else's pull has left in a folder of theirs. */
async function sharedCopy() {
  const pulled = await pulledWorld();
  const folder = join(pulled.folder, 'theirs');
  mkdirSync(folder);
  copyFileSync(join(pulled.folder, 'state', 'mirror.db'), join(folder, 'mirror.db'));
  const world: SandboxWorld = { ...pulled, env: { ...pulled.env, SVC_MIRROR_DB: join(folder, 'mirror.db') } };
  return { world, folder, file: join(folder, 'mirror.db') };
}

const reading = [
  ['mirror', 'sql', 'SELECT count(*) AS n FROM contacts', '--json'],
  ['mirror', 'sql', 'SELECT median(contact_id) AS m FROM contacts', '--json'],
  ['mirror', 'status', '--json'],
  ['mirror', 'search', 'export', '--json'],
  ['mirror', 'changes', '--json'],
  ['tickets', 'waiting', '--json'],
  ['contacts', 'duplicates', '--json'],
  ['report', '--json'],
];

withClosed('what reads a copy reads one beside which nothing can be made', { tags: ['long'] }, async () => {
  const { world, folder } = await sharedCopy();
  const open: string[] = [];
  for (const words of reading) open.push((await svc(world, words)).stdout);
  const names = readdirSync(folder);
  closeFolder(folder);
  for (const [at, words] of reading.entries()) {
    const { exitCode, stdout } = await svc(world, words);
    expect({ words, exitCode, stdout }).toEqual({ words, exitCode: 0, stdout: open[at] });
  }
  expect(readdirSync(folder)).toEqual(names);
});

withClosed('a copy that is written while it is read is not believed', async () => {
  const { world, folder, file } = await sharedCopy();
  const view = join(folder, '..', 'view');
  mkdirSync(view);
  // Its owner may still write it.
  const named = join(closeFolder(folder, view), 'mirror.db');
  const ports = { clock: world.clock, signal: new AbortController().signal, progress: () => {}, notice: () => {} };
  const store = await openSqlite(ports, { named, isOwn: false });
  const count = () => store.read(async (sql) => (await sql.all('SELECT 1 AS one FROM lists')).length);
  expect(await count()).toBe(3);
  const torn = store.read(async (sql) => {
    const rows = await sql.all('SELECT 1 AS one FROM lists');
    utimesSync(file, 1, 1);
    return rows.length;
  });
  await expect(torn).rejects.toThrow(`The copy ${named} changed while it was read.`);
  await expect(store.write(async () => {})).rejects.toThrow('cannot be changed: its folder cannot be written');
  await store.close();
});

withClosed('what would change it names the variable that moves it', async () => {
  const { world, folder, file } = await sharedCopy();
  closeFolder(folder);
  const pull = await svc(world, ['mirror', 'pull']);
  expect(pull).toMatchObject({ exitCode: 1, stdout: '' });
  expect(pull.stderr).toContain(`The copy ${file} cannot be`);
  expect(pull.stderr).toContain('Fix that, or name another place with --db or SVC_MIRROR_DB.');
});

withClosed('what a killed process left beside it is not passed over', async () => {
  const { world, folder, file } = await sharedCopy();
  writeFileSync(`${file}-wal`, Buffer.concat([Buffer.from('377f0682', 'hex'), Buffer.alloc(60)]));
  closeFolder(folder);
  const ran = await svc(world, ['mirror', 'sql', 'SELECT 1']);
  expect(ran).toMatchObject({ exitCode: 1, stdout: '' });
  expect(ran.stderr).toContain(`${file}-wal holds a part of it, and its folder cannot be written.`);
  expect(ran.stderr).toContain('SVC_MIRROR_DB');
});

withClosed('in the state folder it is read, too', async () => {
  const world = await pulledWorld();
  closeFolder(join(world.folder, 'state'));
  const ran = await svc(world, ['mirror', 'sql', 'SELECT count(*) AS n FROM lists', '--json']);
  expect(ran).toMatchObject({ exitCode: 0, stdout: '[\n  {\n    "n": 3\n  }\n]\n' });
  const pull = await svc(world, ['mirror', 'pull']);
  expect([pull.exitCode, pull.stderr]).toEqual([1, expect.stringContaining('SVC_STATE_DIR')]);
});
