// Rows with the same cells of which another map makes another request than was sent.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const fresh = () => sandboxWorld({ rateLimit: 'off', seed: few });

const put = (world: SandboxWorld, name: string, text: string): string => {
  const path = join(world.folder, name);
  writeFileSync(path, text);
  return path;
};

async function note(world: SandboxWorld, file: string, flags: readonly string[], words = ['tickets', 'note']) {
  world.sent.length = 0;
  const ran = await svc(world, [...words, '--from', file, '--json', ...flags]);
  const writes = world.sent.filter((line) => !line.startsWith('GET')).sort();
  return { ...ran, writes, report: ran.stdout === '' ? {} : JSON.parse(ran.stdout) };
}

const notesOf = (...ids: readonly number[]) => ids.map((id) => `POST /tickets/${id}/notes`);

test('another text by --map: nothing is sent or called done, --again sends it, and then that is done', async () => {
  const world = fresh();
  const file = put(world, 'f.csv', 'ticket,first,second\n8,one,two\n9,uno,due\n');
  expect(await note(world, file, ['--map', 'first=body'])).toMatchObject({ exitCode: 0, writes: notesOf(8, 9) });
  const second = ['--map', 'second=body'];
  for (const more of [[], ['--yes'], ['--dry-run']]) {
    const ran = await note(world, file, [...second, ...more]);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '', writes: [] });
    expect(ran.stderr).toMatch(/2 rows of f\.csv were sent before, at .* from f\.csv, as another request: lines 2, 3/u);
    expect(ran.stderr).toContain('--again');
  }
  const again = await note(world, file, [...second, '--again', '--yes']);
  expect(again).toMatchObject({ exitCode: 0, report: { done: 2, resumed_rows: 0 }, writes: notesOf(8, 9) });
  expect(await note(world, file, second)).toMatchObject({ exitCode: 0, report: { resumed_rows: 2 }, writes: [] });
  // With the map of then they are done.
  const first = await note(world, file, ['--map', 'first=body']);
  expect(first).toMatchObject({ exitCode: 0, report: { done: 2, resumed_rows: 2 }, writes: [] });
  expect((await note(world, file, ['--map', 'first=body', '--again', '--yes'])).writes).toEqual([]);
});

test.each([
  ['in another file', 'b.csv'],
  ['in the same file', 'a.csv'],
])('another ticket by --id-map, %s', async (_, name) => {
  const world = fresh();
  const ids = (file: string, rows: string) => ['--id-map', `${put(world, file, `old,svc_id\n${rows}`)}:old`];
  const rows = 'ticket,body\n1,Imported\n2,Imported\n';
  const map = ['--map', 'ticket=id'];
  expect((await note(world, put(world, 'a.csv', rows), [...map, ...ids('ra.csv', '1,8\n2,9\n')])).exitCode).toBe(0);
  const flags = [...map, ...ids('rb.csv', '1,10\n2,11\n')];
  expect(await note(world, put(world, name, rows), flags)).toMatchObject({ exitCode: 2, writes: [] });
  const again = await note(world, join(world.folder, name), [...flags, '--again', '--yes']);
  expect(again).toMatchObject({ exitCode: 0, writes: notesOf(10, 11) });
});

test('an id of the other system that was meant as ours', async () => {
  const world = fresh();
  const rows = 'ticket,body\n8,Hello\n';
  expect((await note(world, put(world, 'a.csv', rows), [])).writes).toEqual(notesOf(8));
  const map = put(world, 'r.csv', 'old,svc_id\n8,20\n');
  const ran = await note(world, put(world, 'b.csv', rows), ['--map', 'ticket=id', '--id-map', `${map}:old`]);
  expect(ran).toMatchObject({ exitCode: 2, writes: [] });
  expect(ran.stderr).toContain('1 row of b.csv was sent before');
});

test('another value by --map-value, of a creation', async () => {
  const world = fresh();
  const file = put(world, 'f.csv', 'subject,prio\nA,x\nB,2\n');
  const flags = (value: number) => ['--map', 'prio=priority', '--map-value', `prio:x=${value}`];
  const create = (value: number, more: readonly string[] = []) =>
    note(world, file, [...flags(value), ...more], ['tickets', 'create']);
  expect((await create(4)).report).toMatchObject({ done: 2 });
  const ran = await create(1);
  expect(ran).toMatchObject({ exitCode: 2, writes: [] });
  expect(ran.stderr).toContain('line 2.');
  // The row that is the same request stays done.
  expect(await create(1, ['--again', '--yes'])).toMatchObject({ exitCode: 0, writes: ['POST /tickets'] });
});

test('a run that is not finished: its rows stop it too, and what was rejected may go in any form', async () => {
  const world = fresh();
  const file = put(world, 'f.csv', 'ticket,first,second\n8,one,one\n9,,due\n');
  const first = await note(world, file, ['--map', 'first=body']);
  expect(first.report).toMatchObject({ done: 1, rejected: 1 });
  // The done row is the same request by both.
  const ran = await note(world, file, ['--map', 'second=body']);
  expect(ran).toMatchObject({ exitCode: 0, report: { done: 2, resumed_rows: 1 }, writes: notesOf(9) });
});

test('where twice is once, the rows of a run that was stopped are done once more, as this run has them', async () => {
  const world = fresh();
  const file = put(world, 'f.csv', 'id,one,two\n8,1,3\n9,1,3\n');
  const update = (flags: readonly string[]) => note(world, file, flags, ['tickets', 'update']);
  expect((await update(['--map', 'one=priority', '--max-sends', '1'])).report).toMatchObject({ done: 1, unsent: 1 });
  const ran = await update(['--map', 'two=priority']);
  expect(ran).toMatchObject({ exitCode: 0, report: { done: 2, resumed_rows: 0 } });
  expect(ran.writes).toEqual(['PATCH /tickets/8', 'PATCH /tickets/9']);
});

test('a journal that does not say what was sent knows its rows by their cells, as ever', async () => {
  const world = fresh();
  const file = put(world, 'f.csv', 'ticket,first,second\n8,one,two\n');
  await note(world, file, ['--map', 'first=body']);
  const folder = join(world.folder, 'state', 'bulk');
  const journal = join(folder, readdirSync(folder).find((name) => name.endsWith('.jsonl')) ?? '');
  const lines = readFileSync(journal, 'utf8').replaceAll('\0', '').split('\n').slice(1).join('\n');
  const text = lines.replaceAll(/,"is":"[^"]+"/gu, '');
  const mark = (bytes: number) => `{"svc_bulk_bytes":"${String(bytes).padStart(12, '0')}"}\n`;
  writeFileSync(journal, mark(mark(0).length + Buffer.byteLength(text)) + text);
  expect(await note(world, file, ['--map', 'second=body'])).toMatchObject({ exitCode: 0, writes: [] });
});
