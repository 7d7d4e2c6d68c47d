// A machine that sleeps: its clock of ticks stands still, and the service's goes on.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HttpRequest, Lost } from '../../src/context.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
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
