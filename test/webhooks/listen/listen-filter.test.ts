import { expect, test } from 'vitest';
import { endAfterEach } from '../../endings.ts';
import { svc } from '../../svc.ts';
import { listening, liveWorld, startApp } from '../listening.ts';
import { body, deliver, secret } from '../serving.ts';

const env = { SVC_WEBHOOK_SECRET: secret };
const endings = endAfterEach();

test('--filter shows and forwards only what gives true; all is stored, and a filter that fails or hangs is told', {
  tags: ['long'],
}, async () => {
  const [world, app] = [await liveWorld(), await startApp()];
  endings.push(() => app.close());
  const filter = 'if .data.n == 3 then last(repeat(1)) else .data.n == 1 end';
  const listener = await listening(world, ['--forward-to', app.url, '--filter', filter, '--json'], { env });
  for (const [id, data] of [
    ['no', { n: 2 }],
    ['fails', 'text'],
    ['hangs', { n: 3 }],
    ['yes', { n: 1 }],
  ] as const) {
    expect(await deliver(listener.url, body(id, { data }))).toBe(204);
  }
  await listener.until(() => app.got.length === 1);
  const ran = await listener.end();
  expect(app.ids()).toEqual(['yes']);
  expect(listener.lines().map(({ id }) => id)).toEqual(['yes']);
  expect(ran.stderr).toContain('The filter failed for fails, which counts as false');
  expect(ran.stderr).toContain('more than a second for hangs');
  const all = JSON.parse((await svc(world, ['webhooks', 'inbox', 'list', '--json'], { env })).stdout);
  expect(all.map(({ id, forward }: { id: string; forward: unknown }) => [id, forward === null])).toEqual([
    ['yes', false],
    ['hangs', true],
    ['fails', true],
    ['no', true],
  ]);
  const next = await listening(world, ['--forward-to', app.url], { env });
  expect((await next.end()).stderr).not.toContain('of an earlier run');
});

test('an empty filter, which no event would pass, is refused before anything starts', async () => {
  const ran = await svc(await liveWorld(), ['webhooks', 'listen', '--filter', ' '], { env });
  expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining('--filter is empty')]);
});

test('a filter that is not jq is refused before anything starts', async () => {
  const world = await liveWorld();
  const ran = await svc(world, ['webhooks', 'listen', '--filter', '.a |'], { env });
  expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining('is not valid jq')]);
});
