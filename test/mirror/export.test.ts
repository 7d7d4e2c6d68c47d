// mirror export: what the files hold, that increments add up to the copy, and what DIR may be.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import { exportedColumns } from '../../src/mirror/query/export-rows.ts';
import { tables } from '../../src/mirror/tables/tables.ts';
import { fc } from '../chance.ts';
import { allowed } from '../real-machine.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { draws } from '../thorough.ts';
import { change, happen } from './changes.ts';
import { json, ok, onBothEngines, sql } from './engines.ts';
import { addedUp, exportsIn, type Fields, inTheCopy, readRows } from './exported.ts';
import { request } from './truth.ts';

const withMounts = allowed('Mounting a disk', 'unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt');

const undo: (() => void)[] = [];
afterEach(() => {
  for (const one of undo.splice(0).reverse()) one();
});

let dirs = 0;
/** Another one each time, for many tests look at one copy. */
const newDir = (world: SandboxWorld): string => join(world.folder, `warehouse-${++dirs}`);

const exportTo = (world: SandboxWorld, dir: string, ...more: string[]) =>
  ok(world, ['mirror', 'export', '--to', dir, ...more]);

onBothEngines('mirror export', ({ test, once, world: fresh, pulled, looked, engine }) => {
  describe('has each row of each table, in every format', () => {
    test('Parquet with whole numbers, true and false, moments, and JSON as text', { tags: ['long'] }, async () => {
      const world = await looked();
      const dir = newDir(world);
      await exportTo(world, dir);
      const [made] = exportsIn(dir);
      expect(made?.files.map(({ table }) => table)).toEqual(tables.map(({ name }) => name));
      for (const table of tables) {
        const columns = exportedColumns(table);
        const rows = await readRows(join(made?.folder ?? '', `${table.name}.parquet`));
        const inCopy: Fields[] = await sql(world, `SELECT * FROM ${table.name} ORDER BY ${table.key.join(', ')}`);
        expect(rows).toHaveLength(inCopy.length);
        const cells = (all: readonly Fields[], as: (value: unknown, type: string) => unknown) =>
          all.map((row) => Object.fromEntries(columns.map(({ name, type }) => [name, as(row[name] ?? null, type)])));
        expect(cells(rows, shown)).toEqual(cells(inCopy, asParquet));
      }
    });

    test('JSON Lines with objects as objects, and CSV as a table', { tags: ['long'] }, async () => {
      const world = await looked();
      const dir = newDir(world);
      await exportTo(world, dir, '--format', 'jsonl');
      expect((await addedUp(dir)).rows).toEqual(await inTheCopy(world));
      await exportTo(world, dir, '--format', 'csv', '--only', 'contacts');
      const rows = await readRows(join(dir, 'export-0002', 'contacts.csv'));
      const inCopy: Fields[] = await sql(world, 'SELECT * FROM contacts ORDER BY contact_id');
      expect(rows.map(({ contact_id, name, tags, data }) => ({ contact_id, name, tags, data }))).toEqual(
        inCopy.map(({ contact_id, name, tags, data }) => ({ contact_id: String(contact_id), name, tags, data })),
      );
    });
  });

  test('tells what it wrote and where, and --only takes a kind with its parts', async () => {
    const world = await looked();
    const dir = newDir(world);
    const told: Fields[] = await json(world, ['mirror', 'export', '--to', dir, '--only', 'lists,tickets']);
    expect(told.map(({ table, file }) => [table, file])).toEqual(
      ['lists', 'list_members', 'tickets', 'ticket_messages'].map((table) => [
        table,
        join(dir, 'export-0001', `${table}.parquet`),
      ]),
    );
    expect(told.find(({ table }) => table === 'tickets')).toMatchObject({ rows: 44, gone: 0 });
    const again = await exportTo(world, dir, '--since-last', '--only', 'tickets');
    expect([again.stdout, readdirSync(dir).filter((name) => name.startsWith('export-'))]).toEqual([
      '',
      ['export-0001'],
    ]);
    expect(again.stderr).toContain('Nothing changed since the last export.');
  });

  test('with --since-last has what is new, what changed and what is gone, and nothing else', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    const dir = newDir(world);
    await exportTo(world, dir, '--format', 'jsonl', '--since-last');
    await request(world, 'PATCH', '/contacts/7', { company: 'Other' });
    await request(world, 'POST', '/contacts/create', {
      name: 'New',
      last_name: 'L',
      email: 'n@x.test',
      phone: '+14155550100',
    });
    await request(world, 'POST', '/contactslists/2/delete');
    world.clock.advance(60_000);
    await ok(world, 'mirror pull --full --only contacts,lists');
    await exportTo(world, dir, '--format', 'jsonl', '--since-last');
    const second = join(dir, 'export-0002');
    const contacts = await readRows(join(second, 'contacts.jsonl'));
    expect(contacts.map(({ name, company, gone_at }) => ({ name, company, gone_at }))).toEqual([
      { name: expect.any(String), company: 'Other', gone_at: null },
      { name: 'New', company: expect.anything(), gone_at: null },
    ]);
    const lists = await readRows(join(second, 'lists.jsonl'));
    expect(lists.map(({ contacts_list_id, gone_at }) => [contacts_list_id, typeof gone_at])).toEqual([[2, 'string']]);
    expect(existsSync(join(second, 'changelog.jsonl'))).toBe(false);
    expect(await addedUp(dir)).toEqual({ rows: await inTheCopy(world), again: 0 });
  });

  test('whatever happens between them, exports add up to the copy, and no row comes twice as it was', {
    tags: ['long'],
  }, async () => {
    const kinds = ['contacts,tickets', 'lists', 'conversations,changelog,feedback', 'calls'];
    const step = fc.record({
      changes: fc.array(change, { maxLength: 4 }),
      only: fc.option(fc.constantFrom(...kinds), { nil: undefined }),
      isFull: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
        const world = await pulled();
        const dir = newDir(world);
        for (const { changes, only, isFull } of steps) {
          for (const one of changes) await happen(world, one);
          world.clock.advance(5000);
          await svc(world, ['mirror', 'pull', ...(isFull ? ['--full'] : [])]);
          await exportTo(world, dir, '--since-last', '--format', 'jsonl', ...(only ? ['--only', only] : []));
        }
        await exportTo(world, dir, '--since-last', '--format', 'jsonl');
        expect(await addedUp(dir)).toEqual({ rows: await inTheCopy(world), again: 0 });
      }),
      { numRuns: Number(process.env.SVC_TEST_RUNS ?? (engine === 'sqlite' ? 2 : draws(1, 2))) },
    );
  });

  test('rows of a copy that was forgotten and pulled again are told as gone', { tags: ['long'] }, async () => {
    const world = await pulled();
    const dir = newDir(world);
    await exportTo(world, dir, '--format', 'jsonl', '--only', 'lists');
    await ok(world, 'mirror forget --yes');
    await request(world, 'POST', '/contactslists/2/delete');
    await ok(world, 'mirror pull --only lists');
    await exportTo(world, dir, '--format', 'jsonl', '--only', 'lists', '--since-last');
    const lists = await readRows(join(dir, 'export-0002', 'lists.jsonl'));
    expect(lists.find(({ contacts_list_id: id }) => id === 2)).toMatchObject({
      name: null,
      gone_at: expect.any(String),
    });
    const ran = await exportTo(world, dir, '--format', 'jsonl', '--only', 'lists', '--since-last');
    expect(ran.stdout).toBe('');
  });

  once(
    'of a copy that was forgotten and pulled in part nothing is told as gone before all of it was read',
    { tags: ['long'] },
    async () => {
      const world = await pulled();
      const dir = newDir(world);
      const onto = () => exportTo(world, dir, '--format', 'jsonl', '--since-last');
      await onto();
      await ok(world, 'mirror forget --yes');
      await request(world, 'POST', '/contactslists/2/delete');
      const cut = await svc(world, 'mirror pull --max-requests 20 --json'.split(' '));
      expect(cut.exitCode).toBe(8);
      // Programs are told why, not how long it took.
      const last = cut.stderr.trimEnd().split('\n').at(-1) ?? '';
      expect(JSON.parse(last).error.message).toMatch(/^Stopped by --max-requests\./u);
      const [inPart]: Fields[] = await sql(world, 'SELECT count(*) AS tickets FROM tickets');
      expect(Number(inPart?.tickets)).toBeLessThan(44);
      expect((await onto()).stderr).toContain('The copy is not whole');
      for (const { files } of exportsIn(dir)) expect(files.map(({ gone }) => gone)).toEqual(files.map(() => 0));
      await ok(world, 'mirror pull');
      await onto();
      const gone = exportsIn(dir).flatMap(({ files }) => files.filter((file) => file.gone > 0));
      expect(gone.map(({ table }) => table)).toEqual(['lists', 'list_members']);
      const { rows } = await addedUp(dir);
      const held = await inTheCopy(world);
      expect(rows.tickets).toEqual(held.tickets);
      expect(rows.contacts).toEqual(held.contacts);
      expect(rows.lists).toHaveLength((held.lists?.length ?? 0) + 1);
    },
  );

  once('two at once into one folder come one after the other', { tags: ['long'] }, async () => {
    const world = await looked();
    const dir = newDir(world);
    const runs = Array.from({ length: 3 }, () => exportTo(world, dir, '--since-last', '--format', 'jsonl'));
    await Promise.all(runs);
    expect(exportsIn(dir).map(({ number }) => number)).toEqual([1]);
    await Promise.all([exportTo(world, dir, '--only', 'calls'), exportTo(world, dir, '--only', 'lists')]);
    expect(exportsIn(dir).map(({ number, files }) => [number, files.length])).toEqual(
      expect.arrayContaining([
        [2, expect.any(Number)],
        [3, expect.any(Number)],
      ]),
    );
  });

  once('what others have in the folder stays, and what a killed export left goes', async () => {
    const world = await looked();
    const dir = newDir(world);
    mkdirSync(join(dir, '.svc-export-1-abc'), { recursive: true });
    mkdirSync(join(dir, '.svc-export-2-abc', '.seen'), { recursive: true });
    mkdirSync(join(dir, 'export-0007'));
    for (const name of [
      'contacts.parquet',
      '.svc-export-1-abc/theirs',
      'export-0007/theirs',
      '.svc-export-2-abc/calls.parquet',
    ]) {
      writeFileSync(join(dir, name), 'theirs');
    }
    const ran = await svc(world, ['mirror', 'export', '--to', dir, '--since-last']);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('export-0007 is not an export of svc, or is damaged');
    await exportTo(world, dir, '--only', 'calls');
    await exportTo(world, dir, '--only', 'calls', '--since-last');
    expect(readdirSync(dir).sort()).toEqual(
      expect.arrayContaining(['.svc-export-1-abc', 'contacts.parquet', 'export-0007', 'export-0008']),
    );
    expect(existsSync(join(dir, '.svc-export-2-abc'))).toBe(false);
  });

  once(
    'with --since-last, an export that was removed or damaged is exit 2, and nothing is written',
    { tags: ['long'] },
    async () => {
      const world = await pulled();
      const dir = newDir(world);
      await exportTo(world, dir, '--only', 'lists');
      await happen(world, { what: 'list', pick: 1 });
      await ok(world, 'mirror pull --only lists');
      await exportTo(world, dir, '--only', 'lists', '--since-last');
      const refused = async (said: string) => {
        const ran = await svc(world, ['mirror', 'export', '--to', dir, '--since-last']);
        expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode: 2, stdout: '' });
        expect(ran.stderr).toContain(said);
        expect(readdirSync(dir).some((name) => name.startsWith('.svc-export-'))).toBe(false);
      };
      writeFileSync(join(dir, 'export-0002', '.seen', 'lists'), '1 abc\n');
      await refused('is damaged');
      await exportTo(world, dir, '--only', 'lists');
      await exportTo(world, dir, '--only', 'calls');
      for (const name of ['export-0001', 'export-0002', 'export-0003']) rmSync(join(dir, name), { recursive: true });
      expect((await exportTo(world, dir, '--since-last', '--only', 'lists,calls')).stdout).toBe('');
      rmSync(join(dir, 'export-0004', '.seen'), { recursive: true });
      await refused('an export was removed');
      await exportTo(world, dir, '--only', 'lists');
      await refused('an export was removed');
      await exportTo(world, dir);
      await exportTo(world, dir, '--since-last', '--only', 'calls');
      await happen(world, { what: 'list', pick: 1 });
      await ok(world, 'mirror pull --only lists');
      await exportTo(world, dir, '--since-last');
      rmSync(join(dir, 'export-0007'), { recursive: true });
      await refused('an export was removed');
    },
  );

  once(
    'with --since-last, a newest export that has another name now is exit 2, and nothing is exported again',
    async () => {
      const world = await looked();
      const dir = newDir(world);
      await exportTo(world, dir, '--only', 'lists');
      for (const name of ['january', 'export-0007']) {
        renameSync(join(dir, 'export-0001'), join(dir, name));
        const ran = await svc(world, ['mirror', 'export', '--to', dir, '--since-last']);
        expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode: 2, stdout: '' });
        expect(ran.stderr).toContain(`${join(dir, name)} was export-0001`);
        renameSync(join(dir, name), join(dir, 'export-0001'));
      }
      expect((await exportTo(world, dir, '--since-last', '--only', 'lists')).stdout).toBe('');
      renameSync(join(dir, 'export-0001'), join(dir, 'january'));
      // A number that no export can have says nothing.
      mkdirSync(join(dir, 'theirs'));
      writeFileSync(join(dir, 'theirs', 'export.json'), '{ "number": 1e300, "files": [], "seen": [] }');
      await exportTo(world, dir, '--only', 'lists');
      expect(exportsIn(dir).map(({ number }) => number)).toEqual([2]);
      expect((await exportTo(world, dir, '--since-last', '--only', 'lists')).stdout).toBe('');
    },
  );

  test('a folder with exports of another account, a file, and a folder that cannot be made are refused', async () => {
    const world = await pulled();
    const dir = newDir(world);
    await exportTo(world, dir, '--only', 'calls');
    const other = { ...world, env: { ...world.env, SVC_API_KEY: 'key_globex' } };
    if (engine === 'sqlite') rmSync(join(world.folder, 'state'), { recursive: true });
    await ok(other, 'mirror pull --only calls');
    const refused = await svc(other, ['mirror', 'export', '--to', dir]);
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('exports of another account')]);
    const file = join(world.folder, 'file');
    writeFileSync(file, 'x');
    expect((await svc(other, ['mirror', 'export', '--to', file])).exitCode).toBe(2);
    const deep = await svc(other, ['mirror', 'export', '--to', join(file, 'deep')]);
    expect([deep.exitCode, deep.stderr]).toEqual([1, expect.stringContaining('Nothing could be exported')]);
    const proc = await svc(other, ['mirror', 'export', '--to', '/proc/svc-export']);
    expect([proc.exitCode, proc.stderr]).toEqual([1, expect.stringContaining('Nothing could be exported')]);
    expect(readdirSync(dir).filter((name) => name.startsWith('export-'))).toEqual(['export-0001']);
  });

  once('a link that leads nowhere is told as one, and stays', async () => {
    const world = await looked();
    const dir = newDir(world);
    symlinkSync(join(world.folder, 'nowhere'), dir);
    const ran = await svc(world, ['mirror', 'export', '--to', dir]);
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining('a link that leads nowhere')]);
    expect(lstatSync(dir).isSymbolicLink()).toBe(true);
  });

  test('export.json says of when the copy is, and which kinds it does not have whole', async () => {
    const whole = await looked();
    const dir = newDir(whole);
    await exportTo(whole, dir, '--only', 'calls,tickets');
    const [{ copy }] = exportsIn(dir) as [ReturnType<typeof exportsIn>[number]];
    expect(copy).toEqual({ as_of: expect.stringMatching(/^2026-/u), not_whole: [], refused: [] });
    const world = fresh();
    await svc(world, ['mirror', 'pull', '--only', 'contacts', '--max-requests', '2']);
    const other = newDir(world);
    await exportTo(world, other, '--only', 'calls,contacts');
    expect(exportsIn(other)[0]?.copy).toMatchObject({
      as_of: null,
      not_whole: expect.arrayContaining(['calls', 'contacts']),
    });
  });

  once('files and folders are for their owner alone', async () => {
    const world = await looked();
    const dir = newDir(world);
    await exportTo(world, dir, '--only', 'calls');
    const modes = [
      '',
      'export-0001',
      'export-0001/calls.parquet',
      'export-0001/export.json',
      'export-0001/.seen/calls',
    ];
    for (const name of modes) expect([name, statSync(join(dir, name)).mode & 0o077]).toEqual([name, 0]);
  });

  test('an unknown kind, and no folder, are exit 2; without a copy it is exit 1 with the way to make it', async () => {
    const world = fresh();
    const dir = newDir(world);
    expect((await svc(world, ['mirror', 'export', '--to', dir, '--only', 'people'])).exitCode).toBe(2);
    expect((await svc(world, ['mirror', 'export'])).exitCode).toBe(2);
    const ran = await svc(world, ['mirror', 'export', '--to', dir]);
    expect([ran.exitCode, existsSync(dir)]).toEqual([1, false]);
    expect(ran.stderr).toContain('svc mirror pull');
  });

  const onFullDisk = engine === 'sqlite' ? withMounts : undefined;
  onFullDisk?.(
    'a full disk is exit 1, and what was there stays, with nothing beside it',
    { tags: ['long'] },
    async () => {
      const world = await looked();
      const dir = mkdtempSync(join(tmpdir(), 'svc-disk-'));
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96k', 'tmpfs', dir]);
      undo.push(() => execFileSync('umount', ['-l', dir]));
      await exportTo(world, dir, '--only', 'calls');
      const ran = await svc(world, ['mirror', 'export', '--to', dir, '--format', 'jsonl']);
      expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining('the disk is full')]);
      expect(readdirSync(dir).filter((name) => name !== '.svc-export')).toEqual(['export-0001']);
      const again = await exportTo(world, dir, '--since-last', '--only', 'calls');
      expect(again.stdout).toBe('');
    },
  );

  test('Ctrl-C is exit 130, and adds nothing', async () => {
    const world = await looked();
    const dir = newDir(world);
    const stop = new AbortController();
    const ran = await svc(world, ['mirror', 'export', '--to', dir], {
      signal: stop.signal,
      progress: (text = '') => {
        if (text.startsWith('Exporting tickets')) stop.abort('SIGINT');
      },
    });
    expect(ran.exitCode).toBe(130);
    expect(readdirSync(dir).filter((name) => name !== '.svc-export')).toEqual([]);
  });
});

/** As hyparquet gives it: whole numbers as bigint, moments as Date. */
function shown(value: unknown, type: string): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'integer') return typeof value === 'bigint' ? Number(value) : `no bigint: ${value}`;
  if (type === 'time') return value instanceof Date ? value.getTime() : `no moment: ${value}`;
  return value;
}

function asParquet(value: unknown, type: string): unknown {
  if (value === null) return null;
  if (type === 'time') return Date.parse(String(value));
  return type === 'boolean' ? Boolean(value) : value;
}
