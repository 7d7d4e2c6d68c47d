/** How the 60 requests a minute are counted (`--rate-limit`; service.md#limits-1). */
export type LimitMode = 'on' | 'sliding' | 'off';

const windowMs = 60_000;

/** Requests per minute per token (service.md#limits-1). */
export const generalLimit = 60;

/** Without a token there is no account to count for, and the token endpoint's number is not shown: both per address. */
export const addressLimit = 600;

export type Bucket = { readonly key: string; readonly limit: number };

/** What the headers of the answer say; `retryAfter`, in seconds, where the request was refused. */
export type Verdict = { readonly limit: number; readonly remaining: number; readonly retryAfter?: number };

type Count = { used(now: number): number; add(now: number): void; freeAt(now: number): number };

/** `onCounted` is told of each request that was let through, and of the buckets that it counts for. */
export function createLimiter(mode: LimitMode, onCounted?: (buckets: readonly Bucket[]) => void) {
  const counts = new Map<string, Count>();
  let swept = 0;
  const countOf = (key: string): Count => {
    const count = counts.get(key) ?? (mode === 'sliding' ? slidingCount() : fixedCount());
    counts.set(key, count);
    return count;
  };
  const sweep = (now: number) => {
    if (now - swept < windowMs) return;
    swept = now;
    for (const [key, count] of counts) if (count.used(now) === 0) counts.delete(key);
  };
  return {
    /** Counts a request in every bucket, or in none where one of them is full. */
    take(buckets: readonly Bucket[], now: number): Verdict {
      if (mode === 'off') {
        onCounted?.(buckets);
        const limit = buckets.at(-1)?.limit ?? generalLimit;
        return { limit, remaining: limit };
      }
      sweep(now);
      const waits = buckets
        .filter(({ key, limit }) => countOf(key).used(now) >= limit)
        .map(({ key, limit }) => ({ limit, remaining: 0, retryAfter: secondsUntil(countOf(key).freeAt(now), now) }));
      if (waits.length > 0) return waits.reduce((a, b) => (b.retryAfter > a.retryAfter ? b : a));
      onCounted?.(buckets);
      return strictest(
        buckets.map(({ key, limit }) => {
          const count = countOf(key);
          count.add(now);
          return { limit, remaining: limit - count.used(now) };
        }),
      );
    },
    clear: () => counts.clear(),
  };
}

/** Where two limits hold for a request, the headers show the one that runs out first. */
const strictest = (verdicts: readonly Verdict[]): Verdict =>
  verdicts.reduce((a, b) => (b.remaining <= a.remaining ? b : a));

const secondsUntil = (then: number, now: number): number => Math.max(1, Math.ceil((then - now) / 1000));

/** A window opens with the first request and ends a minute later, whatever came in between. */
function fixedCount(): Count {
  let opened = Number.NEGATIVE_INFINITY;
  let used = 0;
  return {
    used: (now) => (now - opened >= windowMs ? 0 : used),
    add: (now) => {
      if (now - opened >= windowMs) [opened, used] = [now, 0];
      used++;
    },
    freeAt: () => opened + windowMs,
  };
}

/** Any sixty seconds hold at most the limit: a request is free again a minute after it was made. */
function slidingCount(): Count {
  let times: number[] = [];
  const current = (now: number) => {
    if (times[0] !== undefined && now - times[0] >= windowMs) times = times.filter((time) => now - time < windowMs);
    return times;
  };
  return {
    used: (now) => current(now).length,
    add: (now) => {
      current(now).push(now);
    },
    freeAt: (now) => (current(now)[0] ?? now) + windowMs,
  };
}
