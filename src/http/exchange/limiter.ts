/**
 * When a request may start. Nothing here pauses on its own account: a request waits only because the service said so
 * (429), or because it has told us that too little is left for one more beside those under way.
 *
 * The document's limits are 60 requests a minute and 30 for sync; the headers may or may not be there, and the windows
 * may be fixed, sliding or a bucket. So near the limit one request at a time goes ahead as a probe: it is the only one
 * that can be refused, and then all wait together.
 */
export type Limiter = {
  /** In the clock's ticks; nothing starts before. */
  holdUntil: number;
  inFlight: number;
  /** What the service will still take in this window, by its headers, on the careful side. */
  remaining: number | undefined;
  /** When those of the last minute started, since the last hold, by limit (`general` or an operation with its own). */
  readonly started: Map<string, number[]>;
  /** Successes in a row since the last 429; it takes a few until several go at once again. */
  successes: number;
  /** Answers so far: how many came after a request had started. */
  answers: number;
  refusedBefore: boolean;
};

export type Ticket = { readonly answersAtStart: number };

/** A window's size as documented (service.md#limits-1), for when no header tells. */
export const requestsPerMinute = 60;
const windowMs = 60_000;
const provenAfter = 4;

export const newLimiter = (): Limiter => ({
  holdUntil: 0,
  inFlight: 0,
  remaining: undefined,
  started: new Map(),
  successes: 0,
  answers: 0,
  refusedBefore: false,
});

/** `go`, `turn` (when another request has been answered), or the milliseconds to wait. */
export function mayStart(limiter: Limiter, now: number, ownLimit?: number): 'go' | 'turn' | number {
  if (now < limiter.holdUntil) return limiter.holdUntil - now;
  return limiter.inFlight === 0 || !mustProbe(limiter, now, ownLimit) ? 'go' : 'turn';
}

function mustProbe(limiter: Limiter, now: number, ownLimit: number | undefined): boolean {
  if (limiter.refusedBefore && limiter.successes < provenAfter) return true;
  if (limiter.remaining !== undefined && limiter.remaining <= 0) return true;
  if (ownLimit !== undefined) return lately(limiter, 'own', now).length >= ownLimit;
  return limiter.remaining === undefined && lately(limiter, 'general', now).length >= requestsPerMinute;
}

const lately = ({ started }: Limiter, key: string, now: number): number[] =>
  (started.get(key) ?? []).filter((at) => now - at < windowMs);

export function started(limiter: Limiter, now: number, ownLimit?: number): Ticket {
  limiter.inFlight++;
  if (limiter.remaining !== undefined) limiter.remaining--;
  for (const key of ownLimit === undefined ? ['general'] : ['general', 'own']) {
    // No limit is of more: a service without limits takes thousands in a minute.
    limiter.started.set(key, [...lately(limiter, key, now), now].slice(-requestsPerMinute));
  }
  return { answersAtStart: limiter.answers };
}

/** An answer, of any status but 429. `remaining` is the header `X-RateLimit-Remaining`. */
export function answered(limiter: Limiter, ticket: Ticket, remaining: number | undefined): void {
  limiter.inFlight--;
  if (remaining !== undefined) {
    // Those under way, and those answered since this one started, may have been counted after this answer was made.
    limiter.remaining = remaining - limiter.inFlight - (limiter.answers - ticket.answersAtStart);
  }
  limiter.answers++;
  limiter.successes++;
}

export function lost(limiter: Limiter): void {
  limiter.inFlight--;
}

/** A 429: all wait. Two refusals of one moment are one hold, the longer of both. */
export function refused(limiter: Limiter, now: number, afterMs: number): void {
  limiter.inFlight--;
  limiter.answers++;
  hold(limiter, now + afterMs);
}

export function hold(limiter: Limiter, until: number): void {
  if (until <= limiter.holdUntil) return;
  limiter.holdUntil = until;
  limiter.refusedBefore = true;
  limiter.successes = 0;
  limiter.remaining = undefined;
  limiter.started.clear();
}
