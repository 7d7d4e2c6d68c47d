import { describe, expect, test } from 'vitest';
import { createGate } from '../../src/http/exchange/gate.ts';
import * as limiter from '../../src/http/exchange/limiter.ts';

describe('near the limit one request at a time goes ahead', () => {
  test('where the headers say that nothing is left', () => {
    const state = limiter.newLimiter();
    const first = limiter.started(state, 0);
    limiter.answered(state, first, 1);
    limiter.started(state, 0);
    expect(limiter.mayStart(state, 0)).toBe('turn');
  });

  test('where no header tells, after as many as the document allows', () => {
    const state = limiter.newLimiter();
    for (let i = 0; i < 30; i++) limiter.answered(state, limiter.started(state, 0, 30), undefined);
    expect(limiter.mayStart(state, 0, 30)).toBe('go');
    limiter.started(state, 0, 30);
    expect(limiter.mayStart(state, 0, 30)).toBe('turn');
  });

  test('and not beside those that started more than a minute ago: a slow service has taken them long since', () => {
    const state = limiter.newLimiter();
    for (let at = 0; at < 120_000; at += 3_000) limiter.answered(state, limiter.started(state, at, 30), undefined);
    limiter.started(state, 120_000, 30);
    expect(limiter.mayStart(state, 120_000, 30)).toBe('go');
  });

  test('a service without limits leaves no more behind than the largest limit', () => {
    const state = limiter.newLimiter();
    for (let at = 0; at < 1000; at++) limiter.answered(state, limiter.started(state, at, 30), undefined);
    expect(state.started.get('general')).toHaveLength(limiter.requestsPerMinute);
    expect(limiter.mayStart(state, 1000, 30)).toBe('go');
    limiter.started(state, 1000, 30);
    expect(limiter.mayStart(state, 1000, 30)).toBe('turn');
  });

  test('an answer that arrives late does not raise what is left', () => {
    const state = limiter.newLimiter();
    const early = limiter.started(state, 0);
    const late = limiter.started(state, 0);
    limiter.answered(state, late, 4);
    limiter.answered(state, early, 5);
    expect(state.remaining).toBeLessThanOrEqual(4);
  });
});

describe('a 429', () => {
  test('holds all that follow, and the longer of two holds counts', () => {
    const state = limiter.newLimiter();
    limiter.started(state, 0);
    limiter.started(state, 0);
    limiter.refused(state, 1000, 30_000);
    limiter.refused(state, 1500, 10_000);
    expect(limiter.mayStart(state, 2000)).toBe(29_000);
    expect(limiter.mayStart(state, 31_000)).toBe('go');
  });

  test('is followed by single requests until a few have passed', () => {
    const state = limiter.newLimiter();
    limiter.started(state, 0);
    limiter.refused(state, 0, 1000);
    for (let i = 0; i < 4; i++) {
      const ticket = limiter.started(state, 0);
      expect(limiter.mayStart(state, 2000)).toBe('turn');
      limiter.answered(state, ticket, undefined);
    }
    limiter.started(state, 0);
    expect(limiter.mayStart(state, 2000)).toBe('go');
  });
});

type Verdict =
  | { readonly ok: true; readonly remaining?: number }
  | { readonly ok: false; readonly retryAfterMs: number };
type Server = (now: number) => Verdict;

/** A window that begins with the first request and ends after a minute. */
function fixed(limit: number, headers: boolean): Server {
  let start = Number.NEGATIVE_INFINITY;
  let used = 0;
  return (now) => {
    if (now - start >= 60_000) [start, used] = [now, 0];
    if (used >= limit) return { ok: false, retryAfterMs: Math.ceil((start + 60_000 - now) / 1000) * 1000 };
    used++;
    return { ok: true, remaining: headers ? limit - used : undefined };
  };
}

/** At most `limit` in any minute. */
function sliding(limit: number, headers: boolean): Server {
  let taken: number[] = [];
  return (now) => {
    taken = taken.filter((at) => now - at < 60_000);
    if (taken.length >= limit)
      return { ok: false, retryAfterMs: Math.ceil(((taken[0] ?? 0) + 60_000 - now) / 1000) * 1000 };
    taken.push(now);
    return { ok: true, remaining: headers ? limit - taken.length : undefined };
  };
}

/** Fills by one every 60/limit seconds up to the limit. */
function bucket(limit: number, headers: boolean): Server {
  let tokens = limit;
  let last = 0;
  return (now) => {
    tokens = Math.min(limit, tokens + ((now - last) * limit) / 60_000);
    last = now;
    if (tokens < 1) return { ok: false, retryAfterMs: Math.ceil(((1 - tokens) * 60) / limit) * 1000 };
    tokens--;
    return { ok: true, remaining: headers ? Math.floor(tokens) : undefined };
  };
}

/** The fewest milliseconds in which any client could get `count` requests of `rttMs` through, `lanes` at a time. */
const optimum = {
  fixed: (limit: number, count: number) => (Math.ceil(count / limit) - 1) * 60_000,
  sliding: (limit: number, count: number) => (Math.ceil(count / limit) - 1) * 60_000,
  bucket: (limit: number, count: number) => ((count - limit) * 60_000) / limit,
};

/** Time as a queue of wake-ups, so that lanes really overlap. */
function simulated() {
  let now = 0;
  const sleepers: { at: number; wake: () => void }[] = [];
  const clock = {
    now: () => new Date(now),
    ticks: () => now,
    sleep: (ms: number) => new Promise<void>((wake) => sleepers.push({ at: now + ms, wake })),
  };
  const run = async (done: Promise<unknown>) => {
    let over = false;
    void done.then(() => {
      over = true;
    });
    while (!over) {
      await new Promise((resolve) => setImmediate(resolve));
      sleepers.sort((a, b) => a.at - b.at);
      const next = sleepers.shift();
      if (!next) continue;
      now = Math.max(now, next.at);
      next.wake();
    }
    return now;
  };
  return { clock, run };
}

async function pace(server: Server, count: number, lanes: number, rttMs: number) {
  const { clock, run } = simulated();
  const signal = new AbortController().signal;
  const shared = { leftMs: async () => 0, extend: async () => {} };
  const gate = createGate({ clock, signal, progress: () => {}, notice: () => {} }, shared);
  let left = count;
  let refusals = 0;
  const lane = async () => {
    while (left > 0) {
      left--;
      for (let again = 0; ; again++) {
        const pass = await gate.enter({ ownLimit: 30, deadline: Number.POSITIVE_INFINITY });
        await clock.sleep(rttMs / 2);
        const verdict = server(clock.now().getTime());
        await clock.sleep(rttMs / 2);
        if (verdict.ok) {
          pass.answered(verdict.remaining);
          break;
        }
        refusals++;
        await pass.refused(verdict.retryAfterMs + (2 ** again - 1) * 1000);
      }
    }
  };
  const tookMs = await run(Promise.all(Array.from({ length: lanes }, lane)));
  return { tookMs, refusals };
}

const servers = { fixed, sliding, bucket } as const;

describe.each(['fixed', 'sliding', 'bucket'] as const)('against a %s limiter', (kind) => {
  test.each([
    [1, true],
    [4, true],
    [4, false],
  ])('%i lanes take at most 2 %% more than the optimum (headers: %s)', async (lanes, headers) => {
    const count = 300;
    const rttMs = 80;
    const { tookMs, refusals } = await pace(servers[kind](30, headers), count, lanes, rttMs);
    const best = optimum[kind](30, count) + 30 * (rttMs / lanes) + rttMs;
    expect(tookMs).toBeLessThanOrEqual(best * 1.02 + rttMs);
    // One refusal a window is how a window's end is found; a bucket has as many windows as tokens.
    if (kind === 'fixed') expect(refusals).toBeLessThanOrEqual(count / 30);
  });
});
