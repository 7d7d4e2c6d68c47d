import { describe, expect, test } from 'vitest';
import {
  type Cause,
  decide,
  decideAfterLook,
  type History,
  type Outcome,
  type Rules,
  untried,
} from '../../src/retry/retry.ts';
import { fc } from '../chance.ts';

const safeties = ['read', 'repeatable', 'verify', 'once'] as const;

const rules = (safety: Rules['safety'], more: Partial<Rules> = {}): Rules => ({
  safety,
  deletes: false,
  reachesCustomer: false,
  maxWaitMs: 120_000,
  ...more,
});

const settled = (status: number): Outcome => ({ type: 'settled', status });
const unsettled: Outcome = { type: 'unsettled' };
const stranger: Outcome = { type: 'unsettled', final: true };
const unsent: Outcome = { type: 'unsent', reason: 'refused' };
const refused = (retryAfterMs?: number): Outcome => ({ type: 'refused', retryAfterMs });

describe('an attempt whose outcome is not known', () => {
  test.each([
    ['read', { next: 'repeat', afterMs: 500, because: 'doubt' }],
    ['repeatable', { next: 'repeat', afterMs: 500, because: 'doubt' }],
    ['verify', { next: 'look', after: 'unsettled' }],
    ['once', { next: 'fail', as: 'unknown' }],
  ] as const)('of a %s operation', (safety, next) => {
    expect(decide(rules(safety), untried, unsettled)).toEqual(next);
  });

  test.each([
    ['read', { next: 'repeat', afterMs: 500, because: 'doubt' }],
    ['repeatable', { next: 'repeat', afterMs: 500, because: 'doubt' }],
    ['verify', { next: 'look', after: 'settled' }],
    ['once', { next: 'fail', as: 'unknown' }],
  ] as const)('of a %s operation that the service itself says has failed', (safety, next) => {
    expect(decide(rules(safety), untried, settled(500))).toEqual(next);
  });

  test.each([
    ['read', { next: 'fail', as: 'answer' }],
    ['repeatable', { next: 'fail', as: 'unknown' }],
    ['verify', { next: 'look', after: 'final' }],
    ['once', { next: 'fail', as: 'unknown' }],
  ] as const)('of a %s operation that another server or a redirect answers is not tried again', (safety, next) => {
    expect(decide(rules(safety), untried, stranger)).toEqual(next);
  });

  test.each([
    ['read', unsettled, 'answer'],
    ['read', settled(500), 'answer'],
    ['repeatable', unsettled, 'unknown'],
    ['repeatable', settled(500), 'unknown'],
  ] as const)('every time: a %s operation ends (%#)', (safety, outcome, as) => {
    expect(decide(rules(safety), { ...untried, doubts: 3 }, outcome)).toEqual({ next: 'fail', as });
  });
});

describe('after a look that found nothing of ours', () => {
  test('only what the service said has failed, and is surely absent, is sent again', () => {
    const again = { next: 'repeat', afterMs: 500 };
    const unknown = { next: 'fail', as: 'unknown' };
    const look = (after: 'settled' | 'final' | 'unsettled', isAbsent: boolean) =>
      decideAfterLook(rules('verify'), untried, { after, isAbsent });
    expect(look('settled', true)).toEqual(again);
    expect(look('settled', false)).toEqual(unknown);
    expect(look('unsettled', true)).toEqual(unknown);
    expect(look('final', true)).toEqual(unknown);
  });

  test('a message to a customer is never sent again', () => {
    const reply = rules('verify', { reachesCustomer: true });
    expect(decideAfterLook(reply, untried, { after: 'settled', isAbsent: true })).toEqual({
      next: 'fail',
      as: 'unknown',
    });
  });

  test('it ends as not stored when the service fails every time, or when there is no time left', () => {
    const ended = { next: 'fail', as: 'nothing-stored' };
    const sight = { after: 'settled', isAbsent: true } as const;
    expect(decideAfterLook(rules('verify'), { ...untried, doubts: 3 }, sight)).toEqual(ended);
    expect(decideAfterLook(rules('verify'), { ...untried, elapsedMs: 120_000 }, sight)).toEqual(ended);
  });
});

describe('a request that never left', () => {
  test('is tried three times within about two seconds, whatever it is', () => {
    for (const safety of safeties) {
      const waits = [0, 1].map((n) => decide(rules(safety), { ...untried, unsent: n }, unsent));
      expect(waits).toEqual([
        { next: 'repeat', afterMs: 500, because: 'unsent' },
        { next: 'repeat', afterMs: 1200, because: 'unsent' },
      ]);
      expect(decide(rules(safety), { ...untried, unsent: 2 }, unsent)).toEqual({ next: 'fail', as: 'network' });
    }
  });

  test.each(['tls', 'aborted', 'proxy'] as const)(
    'because of %s is not tried again: waiting changes nothing',
    (reason) => {
      expect(decide(rules('read'), untried, { type: 'unsent', reason })).toEqual({ next: 'fail', as: 'network' });
    },
  );

  test('is tried again as long as the wait ends within --max-wait, to the millisecond', () => {
    const within = (maxWaitMs: number) => decide(rules('read', { maxWaitMs }), { ...untried, elapsedMs: 100 }, unsent);
    expect(within(600)).toMatchObject({ next: 'repeat' });
    expect(within(599)).toEqual({ next: 'fail', as: 'network' });
  });
});

describe('429', () => {
  test('waits as long as it is told, and longer only where the same request is refused again', () => {
    const waits = [0, 1, 2, 3].map((refusals) => {
      const next = decide(rules('once'), { ...untried, refusals }, refused(7000));
      return next.next === 'repeat' ? next.afterMs : undefined;
    });
    expect(waits).toEqual([7000, 8000, 10_000, 14_000]);
  });

  test('is told apart from other reasons to wait', () => {
    expect(decide(rules('once'), untried, refused())).toMatchObject({ next: 'repeat', because: 'rate-limit' });
  });

  test('without a word of how long, and for less than a moment, it still waits', () => {
    expect(decide(rules('read'), untried, refused())).toMatchObject({ afterMs: 1000 });
    expect(decide(rules('read'), untried, refused(1))).toMatchObject({ afterMs: 250 });
  });

  test('ends where the wait would outlast --max-wait', () => {
    const outcome = refused(61_000);
    expect(decide(rules('read', { maxWaitMs: 60_000 }), untried, outcome)).toEqual({
      next: 'fail',
      as: 'rate-limited',
    });
  });
});

describe('a 429 that the service did not say', () => {
  const foreign = (retryAfterMs?: number): Outcome => ({ type: 'refused', retryAfterMs, isForeign: true });

  test.each([
    ['read', { next: 'repeat', afterMs: 7000, because: 'rate-limit' }],
    ['repeatable', { next: 'repeat', afterMs: 7000, because: 'foreign-limit' }],
    ['verify', { next: 'look', after: 'unsettled' }],
    ['once', { next: 'fail', as: 'unknown' }],
  ] as const)('proves nothing of a %s operation', (safety, next) => {
    expect(decide(rules(safety), untried, foreign(7000))).toEqual(next);
  });

  test('that outlasts --max-wait leaves in doubt what may have been done', () => {
    const impatient = { maxWaitMs: 0 };
    expect(decide(rules('repeatable', impatient), untried, foreign())).toEqual({ next: 'fail', as: 'unknown' });
    expect(decide(rules('read', impatient), untried, foreign())).toEqual({ next: 'fail', as: 'rate-limited' });
  });
});

describe('after an attempt that may have worked', () => {
  const doubtful = { ...untried, unsent: 2, doubts: 1 };
  const impatient = { maxWaitMs: 0 };

  test.each([
    ['a rate limit', refused(1000)],
    ['a refused connection', unsent],
    ['a refusal by the service', settled(422)],
    ['a login that ended', settled(403)],
  ])('%s does not hide the doubt of a write, and a read has none', (_, outcome) => {
    expect(decide(rules('repeatable', impatient), doubtful, outcome)).toEqual({ next: 'fail', as: 'unknown' });
    expect(decide(rules('read', impatient), doubtful, outcome)).not.toMatchObject({ as: 'unknown' });
  });

  test('a 404 on a delete is success, on a first one it is not', () => {
    const deletes = rules('repeatable', { deletes: true });
    expect(decide(deletes, { ...untried, doubts: 1 }, settled(404))).toEqual({ next: 'gone' });
    expect(decide(deletes, untried, settled(404))).toEqual({ next: 'fail', as: 'answer' });
    for (const status of [403, 409, 422]) {
      expect(decide(deletes, { ...untried, doubts: 1 }, settled(status))).toEqual({ next: 'fail', as: 'unknown' });
    }
  });
});

test.each([
  [200, { next: 'accept' }],
  [299, { next: 'accept' }],
  [300, { next: 'fail', as: 'answer' }],
  [422, { next: 'fail', as: 'answer' }],
  [499, { next: 'fail', as: 'answer' }],
  [500, { next: 'look', after: 'settled' }],
])('a first answer of %i', (status, next) => {
  expect(decide(rules('verify'), untried, settled(status))).toEqual(next);
});

test('a 401 renews the token once', () => {
  expect(decide(rules('once'), untried, settled(401))).toEqual({ next: 'renew' });
  expect(decide(rules('once'), { ...untried, renewed: true }, settled(401))).toEqual({ next: 'fail', as: 'answer' });
});

describe('a 401 that the service may not have said', () => {
  const foreign: Outcome = { type: 'settled', status: 401, isForeign: true };

  test.each([
    ['read', { next: 'renew' }],
    ['repeatable', { next: 'renew' }],
    ['verify', { next: 'look', after: 'unsettled' }],
    ['once', { next: 'fail', as: 'unknown' }],
  ] as const)('of a %s operation', (safety, next) => {
    expect(decide(rules(safety), untried, foreign)).toEqual(next);
  });

  test.each([
    ['read', { next: 'fail', as: 'unknown' }],
    ['repeatable', { next: 'fail', as: 'unknown' }],
    ['verify', { next: 'look', after: 'unsettled' }],
    ['once', { next: 'fail', as: 'unknown' }],
  ] as const)('of a %s operation, with a login that was renewed already', (safety, next) => {
    expect(decide(rules(safety), { ...untried, renewed: true }, foreign)).toEqual(next);
  });
});

const anyOutcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({
    type: fc.constant('settled' as const),
    status: fc.constantFrom(200, 201, 400, 401, 403, 404, 422, 500, 501),
  }),
  fc.record({ type: fc.constant('settled' as const), status: fc.constant(401), isForeign: fc.constant(true) }),
  fc.record({ type: fc.constant('unsettled' as const), final: fc.boolean() }),
  fc.record({
    type: fc.constant('refused' as const),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 90_000 }), { nil: undefined }),
    isForeign: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('unsent' as const),
    reason: fc.constantFrom('dns' as const, 'refused' as const, 'tls' as const),
  }),
);

const counted: Readonly<Record<Cause, 'refusals' | 'unsent' | 'doubts'>> = {
  'rate-limit': 'refusals',
  'foreign-limit': 'refusals',
  unsent: 'unsent',
  doubt: 'doubts',
};

test('whatever happens: what may still arrive is never sent again, and every run ends', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...safeties),
      fc.boolean(),
      fc.infiniteStream(fc.tuple(anyOutcome, fc.boolean())),
      (safety, reachesCustomer, steps) => {
        const rule = rules(safety, { reachesCustomer });
        let history: History = untried;
        let mayStillArrive = false;
        let taken = 0;
        for (const [outcome, isAbsent] of steps) {
          if (++taken > 400) throw new Error('does not end');
          if (safety === 'verify' || safety === 'once') expect(mayStillArrive).toBe(false);
          mayStillArrive ||= outcome.type === 'unsettled' || ('isForeign' in outcome && outcome.isForeign === true);
          const step = decide(rule, history, outcome);
          if (step.next === 'accept' || step.next === 'fail' || step.next === 'gone') return;
          if (step.next === 'renew') history = { ...history, renewed: true };
          if (step.next === 'look') {
            expect(safety).toBe('verify');
            const then = decideAfterLook(rule, history, { after: step.after, isAbsent });
            if (then.next === 'fail') return;
            expect(reachesCustomer).toBe(false);
            history = { ...history, doubts: history.doubts + 1, elapsedMs: history.elapsedMs + then.afterMs };
          }
          if (step.next === 'repeat') {
            if (step.because === 'doubt') expect(['read', 'repeatable']).toContain(safety);
            const field = counted[step.because];
            history = { ...history, [field]: history[field] + 1, elapsedMs: history.elapsedMs + step.afterMs };
            expect(history.elapsedMs).toBeLessThanOrEqual(120_000);
          }
        }
      },
    ),
  );
});
