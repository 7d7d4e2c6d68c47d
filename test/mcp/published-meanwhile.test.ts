// Without --allow-send no text of an assistant becomes public, also where its request had to wait for the limit, or its answer was lost.
import { expect, test } from 'vitest';
import type { HttpResponse } from '../../src/context.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { connected } from './connected.ts';

const answers: HttpResponse[] = [
  { status: 429, headers: { 'retry-after': '40' }, body: '{"error":"Too many requests"}' },
  { status: 503, headers: {}, body: 'upstream is gone' },
];

test.each(answers)('a change of an entry that was published after an answer $status is not sent', async (answered) => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const [entry] = JSON.parse((await svc(world, ['changelog', 'list', '--status', 'draft', '--json'])).stdout);
  const get = async () => JSON.parse((await svc(world, ['changelog', 'get', String(entry.id), '--json'])).stdout);
  const { content_html } = await get();
  let refusals = 0;
  const exchange: typeof world.exchange = async (request) => {
    if (request.method === 'GET' || refusals++ > 0) return world.exchange(request);
    await world.exchange({ ...request, body: '{"status":"published"}' });
    return answered;
  };
  const { client, end } = await connected({ ...world, exchange }, ['--allow-write']);
  const input = { id: entry.id, content: 'Plans' };
  const answer = await client.callTool({ name: 'updateChangelogEntry', arguments: input });
  await end();
  expect(answer.isError).toBe(true);
  expect(JSON.stringify(answer.content)).toContain('changing what the public reads was not granted');
  expect(JSON.stringify(answer.content)).toContain(
    answered.status === 429 ? 'repeating does not help' : 'do NOT call again',
  );
  expect(await get()).toMatchObject({ status: 'published', content_html });
});

test('nor is one of an entry that was published while the read of it was long on its way', async () => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const [entry] = JSON.parse((await svc(world, ['changelog', 'list', '--status', 'draft', '--json'])).stdout);
  let reads = 0;
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    if (!request.url.endsWith(`/changelog/${entry.id}`) || request.method !== 'GET' || reads++ > 0) return answer;
    await svc(world, ['changelog', 'publish', String(entry.id), '--yes']);
    world.clock.advance(6000);
    return answer;
  };
  const { client, end } = await connected({ ...world, exchange }, ['--allow-write']);
  const input = { id: entry.id, title: 'Plans of ours' };
  const answer = await client.callTool({ name: 'updateChangelogEntry', arguments: input });
  await end();
  expect(JSON.stringify(answer.content)).toContain('changing what the public reads was not granted');
});
