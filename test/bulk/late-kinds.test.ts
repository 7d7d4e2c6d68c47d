// What one command has left on its way overwrites nothing that another one writes to the same record afterwards.
import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HttpRequest } from '../../src/context.ts';
import { lateWorld, unsettledEndings } from '../http/late-service.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc, type World } from '../svc.ts';

const isPatch = ({ method }: HttpRequest) => method === 'PATCH';
const timeOut = unsettledEndings['a time-out'] ?? { status: 504, headers: {}, body: '' };

/** Its first update is given up on, and arrives after 20 seconds. */
function fresh() {
  const world = sandboxWorld({ rateLimit: 'off' });
  return { world, late: lateWorld(world, { isMeant: isPatch, ending: timeOut, afterMs: 20_000 }) };
}

function put(world: SandboxWorld, name: string, text: string): string {
  const path = join(world.folder, name);
  writeFileSync(path, text);
  return path;
}

/** Journals are as old as the clock of the world says. */
async function run(world: World, words: string, file: string, signal?: AbortSignal) {
  const ran = await svc(world, [...words.split(' '), '--from', file, '--yes', '--json'], { signal });
  const folder = join(world.folder, 'state', 'bulk');
  const now = world.clock.now();
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), now, now);
  return ran;
}

async function priorityOf(world: SandboxWorld, id: number): Promise<unknown> {
  const { tickets } = (await world.control('GET', 'state')) as { tickets: { id: number; priority: number }[] };
  return tickets.find((ticket) => ticket.id === id)?.priority;
}

const replies = 'id,body,priority\n8,We look at it now.,1\n';
const updates = 'id,priority\n8,3\n';

test.each([
  ['an update behind what followed a reply', ['tickets reply', replies], ['tickets update', updates], 3],
  ['what follows a reply behind an update', ['tickets update', updates], ['tickets reply', replies], 1],
  ['an update behind an update', ['tickets update', 'id,priority\n8,1\n'], ['tickets update', updates], 3],
] as const)('%s waits for its late copy, though both ended well', async (_, first, second, wanted) => {
  const { world, late } = fresh();
  expect(await run(late, first[0], put(world, 'first.csv', first[1]))).toMatchObject({ exitCode: 0 });
  expect(await run(late, second[0], put(world, 'second.csv', second[1]))).toMatchObject({ exitCode: 0 });
  await late.settle();
  expect(await priorityOf(world, 8)).toBe(wanted);
});

test('two rows of one file, each with a reply and a value, keep their order', async () => {
  const { world, late } = fresh();
  const file = put(world, 'rows.csv', `${replies}8,It is solved.,3\n`);
  expect(await run(late, 'tickets reply', file)).toMatchObject({ exitCode: 0 });
  await late.settle();
  expect(await priorityOf(world, 8)).toBe(3);
});

test('an update waits for what followed a reply and was never answered: exit 9', async () => {
  const { world } = fresh();
  let isFirst = true;
  const isMeant = (request: HttpRequest) => isFirst && isPatch(request);
  const late = lateWorld(world, { isMeant, ending: timeOut, afterMs: 20_000, times: 99 });
  const ran = await run(late, 'tickets reply', put(world, 'first.csv', replies));
  expect(ran.exitCode).toBe(9);
  isFirst = false;
  expect(await run(late, 'tickets update', put(world, 'second.csv', updates))).toMatchObject({ exitCode: 0 });
  await late.settle();
  expect(await priorityOf(world, 8)).toBe(3);
});

test('an update waits for what followed a reply and was on its way at Ctrl-C', async () => {
  const { world } = fresh();
  const interrupt = new AbortController();
  const late = lateWorld(world, { isMeant: isPatch, ending: timeOut, afterMs: 20_000 });
  const exchange: World['exchange'] = async (request) => {
    const answer = await late.exchange(request);
    if (isPatch(request)) interrupt.abort('SIGINT');
    return answer;
  };
  const file = put(world, 'first.csv', replies);
  const ran = await run({ ...late, exchange }, 'tickets reply', file, interrupt.signal);
  expect(ran).toMatchObject({ exitCode: 9 });
  expect(await run(late, 'tickets update', put(world, 'second.csv', updates))).toMatchObject({ exitCode: 0 });
  await late.settle();
  expect(await priorityOf(world, 8)).toBe(3);
});

test('the rows of an unfinished update go out again where a reply has set their records since', async () => {
  const { world } = fresh();
  const update = put(world, 'update.csv', 'id,priority\n8,3\n9,3\n');
  const argv = ['tickets', 'update', '--from', update, '--yes', '--json'];
  expect(await svc(world, [...argv, '--max-sends', '1'])).toMatchObject({ exitCode: 8 });
  expect(await run(world, 'tickets reply', put(world, 'reply.csv', replies))).toMatchObject({ exitCode: 0 });
  expect(await priorityOf(world, 8)).toBe(1);
  expect(await svc(world, argv)).toMatchObject({ exitCode: 0 });
  expect(await priorityOf(world, 8)).toBe(3);
});

test('an hour after its end nobody waits for a run any more', async () => {
  const { world, late } = fresh();
  expect(await run(late, 'tickets update', put(world, 'first.csv', 'id,priority\n8,1\n'))).toMatchObject({
    exitCode: 0,
  });
  await late.settle();
  world.clock.advance(3_700_000);
  const began = world.clock.ticks();
  expect(await run(late, 'tickets update', put(world, 'second.csv', updates))).toMatchObject({ exitCode: 0 });
  expect(world.clock.ticks() - began).toBeLessThan(30_000);
  expect(readdirSync(join(world.folder, 'state', 'bulk')).filter((name) => name.endsWith('.jsonl'))).toEqual([]);
});

test('a job that sets the same value again and again does not renew the mark of an old attempt', async () => {
  const { world, late } = fresh();
  const same = put(world, 'first.csv', 'id,priority\n8,1\n');
  for (let at = 0; at < 4; at++) {
    expect(await run(late, 'tickets update', same)).toMatchObject({ exitCode: 0 });
    await late.settle();
    world.clock.advance(50 * 60_000);
  }
  const began = world.clock.ticks();
  expect(await run(late, 'tickets update', put(world, 'second.csv', updates))).toMatchObject({ exitCode: 0 });
  expect(world.clock.ticks() - began).toBeLessThan(30_000);
});

test('a file of replies that grows for weeks waits for an old attempt no more, nor does an update beside it', async () => {
  const { world, late } = fresh();
  const file = put(world, 'replies.csv', replies);
  expect(await run(late, 'tickets reply', file)).toMatchObject({ exitCode: 0 });
  await late.settle();
  for (const day of [3, 6]) {
    world.clock.advance(3 * 86_400_000);
    put(world, 'replies.csv', `${replies}${day === 6 ? '8,Day 3,2\n' : ''}8,Day ${day},${day / 3 + 1}\n`);
    const began = world.clock.ticks();
    expect(await run(late, 'tickets reply', file)).toMatchObject({ exitCode: 0 });
    expect(world.clock.ticks() - began).toBeLessThan(30_000);
  }
  const began = world.clock.ticks();
  expect(await run(late, 'tickets update', put(world, 'update.csv', 'id,priority\n8,0\n'))).toMatchObject({
    exitCode: 0,
  });
  expect(world.clock.ticks() - began).toBeLessThan(30_000);
});

test('a clock that no answer confirms ends the wait after a day', async () => {
  const { world, late } = fresh();
  const exchange: World['exchange'] = async (request) => {
    const answer = await late.exchange(request);
    if (!('status' in answer)) return answer;
    const { date: _, ...headers } = answer.headers;
    return { ...answer, headers };
  };
  const undated = { ...late, exchange };
  expect(await run(undated, 'tickets update', put(world, 'first.csv', 'id,priority\n8,1\n'))).toMatchObject({
    exitCode: 0,
  });
  await late.settle();
  world.clock.advance(25 * 3_600_000);
  const began = world.clock.ticks();
  expect(await run(undated, 'tickets update', put(world, 'second.csv', updates))).toMatchObject({ exitCode: 0 });
  expect(world.clock.ticks() - began).toBeLessThan(30_000);
});

test('--restart keeps what the run before it has left on its way', async () => {
  const { world } = fresh();
  const meant = lateWorld(world, { isMeant: isPatch, ending: timeOut, afterMs: 60_000 });
  const file = put(world, 'first.csv', 'id,priority\n8,1\n9,1\n');
  const words = 'tickets update --max-sends 1';
  expect(await run(meant, words, file)).toMatchObject({ exitCode: 8 });
  // The same values, so that it need not wait.
  const again = await run(world, 'tickets update --restart', file);
  expect(again).toMatchObject({ exitCode: 0 });
  const began = world.clock.ticks();
  expect(await run(world, 'tickets update', put(world, 'second.csv', updates))).toMatchObject({ exitCode: 0 });
  expect(world.clock.ticks() - began).toBeGreaterThanOrEqual(25_000);
});
