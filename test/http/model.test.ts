import { expect, test } from 'vitest';
import { fc } from '../chance.ts';
import { createWorld, svc, virtualClock } from '../svc.ts';
import { type Kind, modelService, type Trouble } from './model-service.ts';

/** Texts that a tidying service stores otherwise than they were sent. */
const text = ' Two   words e\u0301\r\n';

const commands: Readonly<Record<Kind, readonly string[]>> = {
  ticket: ['tickets', 'create', '--subject', text, '--description', text],
  contact: [
    'contacts',
    'create',
    '--name',
    ' Ada',
    '--last-name',
    'B  C',
    '--email',
    'A@Example.com',
    '--phone',
    '+12025550123',
  ],
  list: ['lists', 'create', '--name', text, '--target-industry', 'Any', '--notes', 'n'],
  entry: ['api', '/changelog', '-f', `title=${text}`, '-f', 'content=Once'],
  reply: ['tickets', 'reply', '1', '--body', text],
  note: ['tickets', 'note', '1', '--body', text],
};

const trouble: fc.Arbitrary<Trouble> = fc.record({
  seen: fc.constantFrom<Trouble['seen']>(
    'answer',
    'time-out',
    'reset',
    'tls',
    '502',
    '504',
    'page',
    'own 500',
    'other 500',
    '429',
    'refused',
  ),
  acts: fc.boolean(),
  afterMs: fc.constantFrom(0, 100, 1000, 3000, 10_000, 29_000, 60_000),
});

const story = fc.record({
  kind: fc.constantFrom<Kind>('ticket', 'contact', 'list', 'entry', 'reply', 'note'),
  troubles: fc.array(trouble, { minLength: 1, maxLength: 4 }),
  failingReads: fc.uniqueArray(fc.integer({ min: 0, max: 12 }), { maxLength: 6 }),
  tidies: fc.boolean(),
  aheadMs: fc.integer({ min: -4000, max: 4000 }),
  /** The same command again, on purpose: what is wanted is one more. */
  runs: fc.integer({ min: 1, max: 3 }),
  maxWait: fc.constantFrom('0', '2', '120'),
});

/** Nothing was done, says svc: so whoever runs it may run it again. */
const nothingHappened = [1, 7, 10];

test('a client that does what the exit code says doubles nothing, and what was called done is there', async () => {
  const endings = { done: 0, unknown: 0, nothing: 0 };
  await fc.assert(
    fc.asyncProperty(story, async ({ kind, runs, failingReads, maxWait, ...given }) => {
      const clock = virtualClock();
      const service = modelService({ ...given, failingReads: new Set(failingReads), ticks: clock.ticks });
      const world = createWorld(service.exchange, { clock });
      let done = 0;
      let unknown = 0;
      for (let run = 0; run < runs; run++) {
        for (let again = 0; again < 4; again++) {
          const { exitCode, stderr } = await svc(world, [...commands[kind], '--max-wait', maxWait]);
          expect([0, 9, ...nothingHappened], stderr).toContain(exitCode);
          if (exitCode === 0) done++;
          if (exitCode === 9) unknown++;
          if (!nothingHappened.includes(exitCode)) break;
          endings.nothing++;
        }
      }
      endings.done += done;
      endings.unknown += unknown;
      const held = service.held(kind);
      expect(held).toBeGreaterThanOrEqual(done);
      expect(held).toBeLessThanOrEqual(done + unknown);
    }),
    { numRuns: Number(process.env.SVC_MODEL_RUNS ?? 500) },
  );
  // A model in which one of them hardly happens would prove nothing.
  for (const times of Object.values(endings)) expect(times).toBeGreaterThan(100);
}, 120_000);
