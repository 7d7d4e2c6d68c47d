import { expect, test } from 'vitest';
import type { HttpRequest } from '../../src/context.ts';
import { pulledWorld } from '../mirror/engines.ts';
import { svc } from '../svc.ts';

const env = { SVC_WEBHOOK_SECRET: 'whsec_x' };

test('what happens while a pull of half an hour reads is asked of the service, and is not taken to be in the copy', {
  tags: ['long'],
}, async () => {
  const world = await pulledWorld();
  world.clock.advance(3_600_000);
  for (let number = 0; number < 12; number++)
    await svc(world, ['tickets', 'create', '--subject', `Number ${number}`, '--description', 'x', '--contact', '1']);
  world.clock.advance(3_600_000);
  let reads = 0;
  let missed: { readonly id?: number } = {};
  const exchange = async (request: HttpRequest) => {
    if (request.method === 'GET' && /\/tickets\/\d+$/u.test(request.url)) {
      world.clock.advance(180_000);
      const create = ['tickets', 'create', '--subject', 'Meanwhile', '--description', 'x', '--json'];
      if (++reads === 3) missed = JSON.parse((await svc(world, create)).stdout);
    }
    return world.exchange(request);
  };
  expect((await svc({ ...world, exchange }, ['mirror', 'pull', '--only', 'tickets'])).exitCode).toBe(0);
  expect(reads).toBeGreaterThanOrEqual(12);
  const argv = ['webhooks', 'catch-up', '--since', '50m', '--events', 'ticket.created', '--dry-run', '--json'];
  const { stdout } = await svc(world, argv, { env });
  expect(stdout).toContain(`ticket.created:${missed.id}`);
});
