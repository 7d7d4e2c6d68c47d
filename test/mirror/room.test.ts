// @module-tag long
import { expect, test } from 'vitest';
import type { Exchange } from '../../src/context.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { ok } from './engines.ts';

/** A world that notes what each answer says is left of the minute. */
function watched(header: (said: string | undefined) => string | undefined = (said) => said) {
  const world = sandboxWorld({ rateLimit: 'on' });
  const seen: { status: number; left: number }[] = [];
  const exchange: Exchange = async (request) => {
    const answer = await world.exchange(request);
    if ('lost' in answer) return answer;
    const left = header(answer.headers['x-ratelimit-remaining']);
    seen.push({ status: answer.status, left: Number(left) });
    const { 'x-ratelimit-remaining': _, ...headers } = answer.headers;
    return { ...answer, headers: left === undefined ? headers : { ...headers, 'x-ratelimit-remaining': left } };
  };
  return { world: { ...world, exchange }, seen };
}

test('a pull that takes more than a minute leaves some of each minute to other commands', async () => {
  const { world, seen } = watched();
  let other: Promise<unknown> | undefined;
  const waits: number[] = [];
  await ok(world, 'mirror pull', {
    progress(text = '') {
      if (!text.includes('left in this minute')) return;
      waits.push(seen.at(-1)?.left ?? 0);
      other ??= ok(world, 'tickets get 8');
    },
  });
  expect(waits.length).toBeGreaterThan(1);
  // Of the six the other command has taken one.
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(5);
  // Neither it nor the other command was refused.
  await other;
  expect(seen.filter(({ status }) => status === 429)).toEqual([]);
});

test('what is left of a pull goes out where the minute has room for all of it', async () => {
  const { world, seen } = watched();
  const began = world.clock.ticks();
  await ok(world, 'mirror pull --only contacts,lists,feedback,calls');
  expect([seen.some(({ status }) => status === 429), world.clock.ticks() - began < 30_000]).toEqual([false, true]);
});

test.each(['0', '3', undefined])('a header that always says %s holds up nothing for long', async (said) => {
  const { world } = watched(() => said);
  const began = world.clock.ticks();
  await ok(world, 'mirror pull');
  expect(world.clock.ticks() - began).toBeLessThan(6 * 60_000);
});
