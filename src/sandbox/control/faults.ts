import * as v from 'valibot';
import { answerOf, tooManyRequests } from '../answer.ts';

const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

export const Fault = v.pipe(
  v.object({
    method: v.optional(v.pipe(v.string(), v.toUpperCase())),
    /** A prefix. */
    path: v.optional(v.string()),
    /** Which of the requests that match: 1 is the next. */
    nth: v.optional(whole(1, 1_000_000), 1),
    /** How many of them, from the nth on. */
    times: v.optional(whole(1, 1_000_000), 1),
    action: v.picklist(['status', 'rate-limit', 'delay', 'drop-before', 'drop-after', 'truncate', 'malformed', 'html']),
    status: v.optional(whole(100, 599)),
    ms: v.optional(whole(0, 3_600_000)),
    retry_after: v.optional(whole(0, 86_400)),
  }),
  v.check((fault) => fault.action !== 'status' || fault.status !== undefined, 'the action status needs a status'),
  v.check((fault) => fault.action !== 'delay' || fault.ms !== undefined, 'the action delay needs ms'),
);

export type Fault = v.InferOutput<typeof Fault>;

export function createFaults() {
  let waiting: { readonly fault: Fault; seen: number }[] = [];
  return {
    add(faults: readonly Fault[]): void {
      waiting.push(...faults.map((fault) => ({ fault, seen: 0 })));
    },
    /** The fault that this request meets. It counts for every one that it matches. */
    meet(method: string, path: string): Fault | undefined {
      if (waiting.length === 0) return undefined;
      let met: Fault | undefined;
      for (const each of waiting) {
        const { fault } = each;
        if (fault.method !== undefined && fault.method !== method) continue;
        if (fault.path !== undefined && !path.startsWith(fault.path)) continue;
        each.seen++;
        if (each.seen >= fault.nth) met ??= fault;
      }
      waiting = waiting.filter(({ fault, seen }) => seen < fault.nth + fault.times - 1);
      return met;
    },
    all: (): readonly Fault[] => waiting.map(({ fault }) => fault),
    clear(): void {
      waiting = [];
    },
  };
}

/** What stands in for an answer that a fault keeps the service from giving. */
export function answerInstead(fault: Fault) {
  if (fault.action === 'rate-limit') return answerOf(tooManyRequests(fault.retry_after ?? 1));
  const status = fault.status ?? 500;
  return { status, body: { error: `The sandbox was told to answer ${status}.` }, headers: undefined };
}

export const brokenPage =
  '<!doctype html><html><head><title>Error</title></head><body><h1>Something went wrong</h1></body></html>';
