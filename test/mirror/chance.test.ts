// @module-tag long
import { expect } from 'vitest';
import { fc } from '../chance.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { change, happen } from './changes.ts';
import { ok, onBothEngines } from './engines.ts';
import { copied, truth, withoutContacts } from './truth.ts';

/** A pull, what happens at which of its requests, and how it ends. */
const pulled = fc.record({
  during: fc.array(fc.record({ at: fc.integer({ min: 1, max: 60 }), change }), { maxLength: 4 }),
  endAt: fc.option(fc.integer({ min: 1, max: 80 }), { nil: undefined }),
  how: fc.constantFrom('killed', 'cut', '--max-requests'),
  full: fc.boolean(),
});

type Pulled = typeof pulled extends fc.Arbitrary<infer P> ? P : never;

async function pullAmong(world: SandboxWorld, { during, endAt, how, full }: Pulled): Promise<void> {
  let requests = 0;
  const end = new AbortController();
  const exchange: SandboxWorld['exchange'] = async (asked) => {
    requests++;
    for (const { at, change: one } of during) if (at === requests) await happen(world, one);
    if (requests === endAt && how === 'killed') {
      end.abort('SIGTERM');
      return { lost: 'after-sending', reason: 'aborted', detail: 'ended' };
    }
    if (requests === endAt && how === 'cut') throw new Error('svc itself fails here');
    return world.exchange(asked);
  };
  const words = ['mirror', 'pull', ...(full ? ['--full'] : [])];
  if (endAt !== undefined && how === '--max-requests') words.push('--max-requests', String(Math.max(2, endAt)));
  await svc({ ...world, exchange }, words, { signal: end.signal });
}

/** More of them with SVC_TEST_RUNS. */
const runs = Number(process.env.SVC_TEST_RUNS ?? 2);

onBothEngines('by chance', ({ test, world: fresh }) => {
  test('after any changes, ends and pulls the copy is what the service shows', async () => {
    const step = fc.oneof({ arbitrary: change, weight: 3 }, { arbitrary: pulled, weight: 2 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const world = fresh();
        for (const one of steps) await ('what' in one ? happen(world, one) : pullAmong(world, one));
        world.clock.advance(5_000);
        await ok(world, 'mirror pull --rescan 20');
        expect(withoutContacts(await copied(world))).toEqual(withoutContacts(await truth(world)));
        await ok(world, 'mirror pull --full');
        expect(await copied(world)).toEqual(await truth(world));
      }),
      { numRuns: runs },
    );
  });
});
