// @module-tag long
// Where twice is once: what a run that was stopped has settled counts no more once another run wrote to the same records.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { runOrKill } from './killing.ts';

const fresh = () => sandboxWorld({ rateLimit: 'off' });

const put = (world: SandboxWorld, name: string, text: string): string => {
  const path = join(world.folder, name);
  writeFileSync(path, text);
  return path;
};

async function run(world: SandboxWorld, words: readonly string[], file: string, flags: readonly string[] = []) {
  world.sent.length = 0;
  const ran = await svc(world, [...words, '--from', file, '--yes', '--json', ...flags]);
  const writes = world.sent.filter((line) => !line.startsWith('GET')).length;
  return { ...ran, writes, report: ran.stdout === '' ? {} : JSON.parse(ran.stdout) };
}

type Ticket = { readonly id: number; readonly status: string; readonly priority: number };

async function ticketsOf(world: SandboxWorld, ids: readonly number[]): Promise<readonly Ticket[]> {
  const { tickets } = (await world.control('GET', 'state')) as { tickets: readonly Ticket[] };
  return ids.flatMap((id) => tickets.find((ticket) => ticket.id === id) ?? []);
}

const statusOf = async (world: SandboxWorld, ids: readonly number[]) => [
  ...new Set((await ticketsOf(world, ids)).map(({ status }) => status)),
];

const ids = [7, 8, 9, 10, 11];
const most = ['--max-sends', '2'];
const [close, reopen, update] = [
  ['tickets', 'close'],
  ['tickets', 'reopen'],
  ['tickets', 'update'],
];

test('another command for these records: the rows that were settled go out again', async () => {
  const world = fresh();
  const file = put(world, 'ids.txt', ids.join('\n'));
  expect((await run(world, close, file, most)).writes).toBe(2);
  expect((await run(world, reopen, file)).writes).toBe(5);
  const ran = await run(world, close, file);
  expect(ran).toMatchObject({ exitCode: 0, writes: 5, report: { done: 5, resumed_rows: 0 } });
  expect(await statusOf(world, ids)).toEqual(['closed']);
});

test('another command for other records takes nothing from it', async () => {
  const world = fresh();
  const file = put(world, 'ids.txt', ids.join('\n'));
  await run(world, close, file, most);
  await run(world, reopen, put(world, 'others.txt', '8\n12\n'));
  const ran = await run(world, close, file);
  expect(ran).toMatchObject({ exitCode: 0, writes: 4, report: { done: 5, resumed_rows: 1 } });
  expect(await statusOf(world, ids)).toEqual(['closed']);
});

test.each([
  ['a pipe', '-'],
  ['a file', 'ids.txt'],
])('another list from %s is other work', async (_, name) => {
  const world = fresh();
  const from = async (list: readonly number[], flags: readonly string[] = []) => {
    const text = list.map((id) => `{"id":${id}}\n`).join('');
    const piped = name === '-';
    world.sent.length = 0;
    const argv = [...close, '--from', piped ? '-' : put(world, name, text), '--yes', '--json', ...flags];
    const ran = await svc(world, argv, piped ? { stdin: text } : {});
    return { ...ran, writes: world.sent.filter((line) => !line.startsWith('GET')).length };
  };
  expect((await from(ids, most)).writes).toBe(2);
  await run(world, reopen, put(world, 'again.csv', 'id\n7\n'));
  expect(await from([7, 12], [])).toMatchObject({ exitCode: 0, writes: 2 });
  expect(await statusOf(world, [7, 12])).toEqual(['closed']);
  // The first list is still there to go on with, but for the record that was written since.
  expect(await from(ids)).toMatchObject({ exitCode: 0, writes: 4 });
  expect(await statusOf(world, ids)).toEqual(['closed']);
});

test('other values for these records, and then the first file again', async () => {
  const world = fresh();
  const file = put(
    world,
    'a.csv',
    ids.map((id) => `${id},1`).reduce((all, row) => `${all}${row}\n`, 'id,priority\n'),
  );
  await run(world, update, file, most);
  await run(world, update, put(world, 'b.csv', 'id,priority\n7,3\n8,3\n'));
  const ran = await run(world, update, file);
  expect(ran).toMatchObject({ exitCode: 0, report: { done: 5 } });
  expect((await ticketsOf(world, ids)).map(({ priority }) => priority)).toEqual([1, 1, 1, 1, 1]);
});

test('the same whole file alone goes on', async () => {
  const world = fresh();
  const file = put(world, 'ids.txt', ids.join('\n'));
  await run(world, close, file, most);
  const dry = await run(world, close, file, ['--dry-run']);
  expect(dry.report).toMatchObject({ resumed_rows: 2 });
  expect(await run(world, close, file)).toMatchObject({ exitCode: 0, writes: 3, report: { resumed_rows: 2 } });
});

test('a dry run says how many rows go out again', async () => {
  const world = fresh();
  const file = put(world, 'ids.txt', ids.join('\n'));
  await run(world, close, file, most);
  await run(world, reopen, file);
  expect((await run(world, close, file, ['--dry-run'])).report).toMatchObject({ resumed_rows: 0 });
});

test('a row that is sent after all takes all later rows for its record with it, wherever svc is killed', async () => {
  const better = ['--map-value', 'prio:x=1', '--concurrency', '1'];
  for (let at = 0, isOver = false; !isOver; at++) {
    const world = fresh();
    // Without the value the first row cannot be sent.
    const file = put(world, 'u.csv', 'id,prio\n7,x\n7,3\n8,2\n8,1\n');
    const argv = [...update, '--from', file, '--yes', '--json', '--map', 'prio=priority'];
    expect((await svc(world, [...argv, '--max-sends', '2'])).exitCode).toBe(8);
    const { ran, next } = await runOrKill(world, [...argv, ...better], { at, heard: true });
    isOver = ran !== undefined;
    expect((await svc(next, [...argv, ...better])).exitCode).toBe(0);
    expect((await ticketsOf(world, [7, 8])).map(({ priority }) => priority)).toEqual([3, 1]);
  }
});
