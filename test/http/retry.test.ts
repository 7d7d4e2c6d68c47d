import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide, type History, mayRepeatAfterLook, type Outcome, type Rules } from '../../src/http/retry.ts';

const rules = (safety: Rules['safety'], more: Partial<Rules> = {}): Rules => ({
  safety,
  deletes: false,
  maxWaitMs: 120_000,
  ...more,
});
const fresh: History = { refusals: 0, unsent: 0, uncertain: 0, renewed: false, elapsedMs: 0 };
const answered = (status: number, more: Partial<Extract<Outcome, { type: 'answered' }>> = {}): Outcome => ({
  type: 'answered',
  status,
  readable: true,
  ...more,
});
const cut: Outcome = { type: 'lost', lost: 'after-sending', reason: 'reset' };
const unsent: Outcome = { type: 'lost', lost: 'before-sending', reason: 'refused' };

describe('a lost answer', () => {
  test.each([
    ['read', { next: 'repeat', afterMs: 500, because: 'lost' }],
    ['repeatable', { next: 'repeat', afterMs: 500, because: 'lost' }],
    ['verify', { next: 'look', afterMs: 500 }],
    ['once', { next: 'fail', as: 'unknown' }],
  ] as const)('of a %s operation', (safety, next) => {
    expect(decide(rules(safety), fresh, cut)).toEqual(next);
    expect(decide(rules(safety), fresh, answered(500))).toEqual(next);
    expect(decide(rules(safety), fresh, answered(200, { readable: false }))).toEqual(next);
  });

  test.each([
    ['read', cut, 'network'],
    ['read', answered(502), 'status'],
    ['read', answered(200, { readable: false }), 'unreadable'],
    ['repeatable', cut, 'unknown'],
    ['repeatable', answered(500), 'unknown'],
  ] as const)('every time: a %s operation ends (%#)', (safety, outcome, as) => {
    expect(decide(rules(safety), { ...fresh, uncertain: 3 }, outcome)).toEqual({ next: 'fail', as });
  });

  test('of a write is looked up even when there is no time left to repeat it', () => {
    const late = { ...fresh, uncertain: 3, elapsedMs: 200_000 };
    expect(decide(rules('verify'), late, cut)).toEqual({ next: 'look', afterMs: 0 });
    expect(mayRepeatAfterLook(rules('verify'), late)).toBe(false);
  });
});

describe('a request that never left', () => {
  test('is tried three times within about two seconds, whatever it is', () => {
    for (const safety of ['read', 'repeatable', 'verify', 'once'] as const) {
      const waits = [0, 1].map((n) => decide(rules(safety), { ...fresh, unsent: n }, unsent));
      expect(waits).toEqual([
        { next: 'repeat', afterMs: 500, because: 'unsent' },
        { next: 'repeat', afterMs: 1200, because: 'unsent' },
      ]);
      expect(decide(rules(safety), { ...fresh, unsent: 2 }, unsent)).toEqual({ next: 'fail', as: 'network' });
    }
  });

  test('is in doubt when an earlier attempt may have worked', () => {
    const doubtful = { ...fresh, unsent: 2, uncertain: 1 };
    expect(decide(rules('repeatable'), doubtful, unsent)).toEqual({ next: 'fail', as: 'unknown' });
    expect(decide(rules('read'), doubtful, unsent)).toEqual({ next: 'fail', as: 'network' });
  });

  test('a certificate that is not accepted does not get better by waiting', () => {
    const outcome: Outcome = { type: 'lost', lost: 'before-sending', reason: 'tls' };
    expect(decide(rules('read'), fresh, outcome)).toEqual({ next: 'fail', as: 'network' });
  });
});

describe('429', () => {
  test('waits as long as it is told, and longer only where the same request is refused again', () => {
    const waits = [0, 1, 2, 3].map((refusals) => {
      const next = decide(rules('once'), { ...fresh, refusals }, answered(429, { retryAfterMs: 7000 }));
      return next.next === 'repeat' ? next.afterMs : undefined;
    });
    expect(waits).toEqual([7000, 8000, 10_000, 14_000]);
  });

  test('ends where the wait would outlast --max-wait', () => {
    const outcome = answered(429, { retryAfterMs: 61_000 });
    expect(decide(rules('read', { maxWaitMs: 60_000 }), fresh, outcome)).toEqual({ next: 'fail', as: 'rate-limited' });
  });
});

test('a 404 on a repeated delete is success, on a first one it is not', () => {
  const deletes = rules('repeatable', { deletes: true });
  expect(decide(deletes, { ...fresh, uncertain: 1 }, answered(404))).toEqual({ next: 'gone' });
  expect(decide(deletes, fresh, answered(404))).toEqual({ next: 'fail', as: 'status' });
});

test('a 401 renews the token once', () => {
  expect(decide(rules('once'), fresh, answered(401))).toEqual({ next: 'renew' });
  expect(decide(rules('once'), { ...fresh, renewed: true }, answered(401))).toEqual({ next: 'fail', as: 'status' });
});

const anyOutcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({
    type: fc.constant('answered' as const),
    status: fc.constantFrom(200, 201, 302, 400, 401, 403, 404, 422, 429, 500, 503),
    readable: fc.boolean(),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 90_000 }), { nil: undefined }),
  }),
  fc.record({
    type: fc.constant('lost' as const),
    lost: fc.constantFrom('before-sending' as const, 'after-sending' as const),
    reason: fc.constantFrom(
      'dns',
      'refused',
      'tls',
      'timeout',
      'reset',
      'truncated',
      'aborted',
    ) as fc.Arbitrary<'reset'>,
  }),
);

test('whatever happens: a once operation that may have worked is never sent again, and every run ends', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('read', 'repeatable', 'verify', 'once') as fc.Arbitrary<Rules['safety']>,
      fc.infiniteStream(anyOutcome),
      (safety, outcomes) => {
        let history = fresh;
        let steps = 0;
        for (const outcome of outcomes) {
          if (++steps > 400) throw new Error('does not end');
          const step = decide(rules(safety), history, outcome);
          if (step.next === 'accept' || step.next === 'fail' || step.next === 'gone') return;
          if (step.next === 'renew') history = { ...history, renewed: true };
          if (step.next === 'look') {
            expect(safety).toBe('verify');
            if (!mayRepeatAfterLook(rules(safety), history)) return;
            history = { ...history, uncertain: history.uncertain + 1, elapsedMs: history.elapsedMs + step.afterMs };
          }
          if (step.next === 'repeat') {
            if (step.because === 'lost') expect(['read', 'repeatable']).toContain(safety);
            const field = { 'rate-limit': 'refusals', unsent: 'unsent', lost: 'uncertain' } as const;
            const counted = field[step.because];
            history = { ...history, [counted]: history[counted] + 1, elapsedMs: history.elapsedMs + step.afterMs };
            expect(history.elapsedMs).toBeLessThanOrEqual(120_000);
          }
        }
      },
    ),
  );
});
