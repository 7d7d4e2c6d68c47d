// A machine that sleeps while a file is sent, so that its ticks stand still and the service's clock goes on; and one whose clock is set.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HttpRequest, Lost } from '../../src/context.ts';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const cut: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };

test.each([
  ['tickets', 'subject,description'],
  ['changelog', 'title,content'],
])('%s: a record of somebody else that was made meanwhile is not taken for the next row', async (group, head) => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const posts: HttpRequest[] = [];
  const exchange: typeof world.exchange = async (request) => {
    if (request.method !== 'POST') return world.exchange(request);
    posts.push(request);
    if (posts.length === 2) return cut;
    const answer = await world.exchange(request);
    if (posts.length === 1) {
      world.clock.set(3_600_000);
      await world.exchange({ ...request, body: String(request.body).replaceAll('1', '2') });
      world.clock.set(600_000);
    }
    return answer;
  };
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, `${head}\nRow 1,Text 1\nRow 2,Text 2\n`);
  const argv = [group, 'create', '--from', file, '--yes', '--concurrency', '1', '--settle', '1', '--json'];
  const ran = await svc({ ...world, exchange }, argv);
  expect(ran, ran.stderr + ran.stdout).toMatchObject({ exitCode: 9 });
  expect(posts).toHaveLength(2);
});

test.each([
  ['once', [3_600_000]],
  ['and back again', [3_600_000, -3_600_000]],
])("a row is found, and none of somebody else, where the machine's clock was set an hour on %s", async (_, sets) => {
  let setMs = 0;
  const now = (): Date => new Date(world.clock.now().getTime() - setMs);
  const world: SandboxWorld = sandboxWorld({ rateLimit: 'off', seed: few, now });
  const set = (ms: number) => {
    world.clock.set(ms);
    setMs += ms;
  };
  const left = [...sets];
  const posts: HttpRequest[] = [];
  const exchange: typeof world.exchange = async (request) => {
    if (request.method !== 'POST') return world.exchange(request);
    const row = posts.push(request);
    world.clock.advance(1000);
    // Of the last row there is one of somebody else alone, made ten minutes before.
    if (row === 5) return cut;
    if (row === 3) return (await world.exchange(request)) && cut;
    const answer = await world.exchange(request);
    if (row === 4) {
      await world.exchange({ ...request, body: String(request.body).replaceAll('4', '5') });
      world.clock.advance(600_000);
    }
    if (row < 3) set(left.shift() ?? 0);
    return answer;
  };
  const file = join(world.folder, 'rows.csv');
  writeFileSync(
    file,
    ['subject,description', ...[1, 2, 3, 4, 5].map((row) => `Row ${row},Text ${row}`), ''].join('\n'),
  );
  const argv = ['tickets', 'create', '--from', file, '--yes', '--concurrency', '1', '--settle', '1', '--json'];
  const { exitCode, stdout } = await svc({ ...world, exchange }, argv);
  expect([exitCode, posts.length, JSON.parse(stdout).done], stdout).toEqual([9, 5, 4]);
});
