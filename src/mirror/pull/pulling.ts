import type { Input, Operation } from '../../api/operation.ts';
import { keepHeapSmall } from '../../batch/small-heap.ts';
import { type Context, withContext } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { call, type Service } from '../../http/call/call.ts';
import { isOfOne as isOfOneAlone } from '../../http/call/of-one.ts';
import { checked } from '../../http/exchange/checked.ts';
import { once } from '../../promise/once.ts';
import { type Fields, fieldsIn } from '../../text/record.ts';
import type { KindName } from '../tables/kinds.ts';
import type { Account, Store } from '../tables/store.ts';
import { leaveRoom } from './budget.ts';
import { leftOf, type Progressing, progressOf } from './progress.ts';
import { createWriter } from './writer.ts';

export type Pulling = ReturnType<typeof preparePull>;

export type Wishes = {
  readonly only: readonly KindName[];
  readonly full: boolean;
  /** Pages of contacts and calls that are read again. */
  readonly rescan: number;
  readonly maxRequests: number | undefined;
  /** What is not complete is followed from now on, and its first reading left for later. */
  readonly follow: boolean;
  /** One of many pulls, a few seconds apart. */
  readonly isOften: boolean;
  /** What is followed begins so long ago. */
  readonly sinceMsAgo?: number;
};

/** Whoever pulls every few seconds asks politely: a page of records that were seen longest ago in each round. */
export const often = { full: false, rescan: 1, maxRequests: undefined, isOften: true } as const;

/** One kind, of which a refusal is no end. */
export type Guarded = (name: KindName, work: () => Promise<void>) => Promise<void>;

export type Tally = {
  created: number;
  updated: number;
  gone: number;
  refused?: string;
  /** Why this pull could not read it whole. */
  doubt?: string;
  /** Records that it has asked for in vain: those that answered 404, and why others could not be read. */
  readonly absent: Set<number>;
  readonly failing: Map<number, Failure>;
  /** Those that show what has changed in records of another kind. */
  readonly outdated: Set<number>;
  failedInARow: number;
  /** Those that answered 404 long enough may not be gone: the service showed no other one. */
  showsNone?: boolean;
};

/** The service whose answers tell the time of the pull. */
export type Dated = {
  readonly service: Service;
  /** The time of its last answer, by its own clock. */
  readonly serviceTime: () => string | null;
  readonly asked: () => number;
  /** Words for a wait of the rate limit, which a pull sets. */
  readonly waits: { say?: (leftMs: number) => string };
  /** Told of what each answer says is left of the minute. */
  readonly seen: { remaining?: (left: number) => void };
};

type Pulled = { readonly store: Store; readonly account: Account; readonly wishes: Wishes };

/** What a pull needs, and what it counts. */
export function preparePull({ service, serviceTime, asked, waits, seen }: Dated, { store, account, wishes }: Pulled) {
  const { ctx } = service;
  const { maxRequests } = wishes;
  const stop = new Failure('partial', `Stopped after ${maxRequests} requests, as --max-requests asks.`, {
    hint: 'What was read is kept. To go on, run the command again.',
  });
  // Not before: what the first request loads would be compiled each time under other flags.
  const heapKept = once(keepHeapSmall);
  const room = leaveRoom(ctx, service.settings.maxWaitMs);
  seen.remaining = room.see;
  const before = asked();
  let requests = before;
  let inFlight = 0;
  /** Asked right before each request: throws where another pull of the account has begun. */
  const turn = { check: () => {} };
  const asking = { ...service, ctx: checked(ctx, () => turn.check()) };
  const now = () => ctx.clock.now().toISOString();
  const told: Progressing['told'] = { done: 0, total: 0 };
  const pulling = {
    ctx,
    service,
    store,
    account,
    wishes,
    writer: createWriter(store),
    /** When it began, by this machine's clock; and now. */
    began: now(),
    now,
    serviceTime,
    turn,
    stop,
    requests: () => requests,
    inFlight: () => inFlight,
    told,
    tally: new Map<KindName, Tally>(),
    /** Kinds at whose list the service failed, and those that it answered for. */
    broken: new Set<KindName>(),
    answered: new Set<KindName>(),
    left: new Map<string, number>(),
    /** One request; throws `stop` where `--max-requests` are used up. */
    async ask<const Op extends Operation>(operation: Op, input: Input<Op>): Promise<Fields> {
      // Several may ask at once: between the answer that one may go and its going nothing is waited for.
      for (let wait = room.wait(leftOf(pulling), inFlight); wait; wait = room.wait(leftOf(pulling), inFlight))
        await wait;
      if (maxRequests !== undefined && requests >= maxRequests) throw stop;
      requests++;
      inFlight++;
      try {
        return fieldsIn(await call(asking, operation, input));
      } finally {
        heapKept();
        inFlight--;
      }
    },
  };
  waits.say = (leftMs) => progressOf(pulling, leftMs);
  return pulling;
}

/** A context whose exchange notes the service's clock, for a service that is opened with it. */
export function datedContext(ctx: Context): Omit<Dated, 'service'> & { readonly ctx: Context } {
  let latest: string | null = null;
  let asked = 0;
  const waits: Dated['waits'] = {};
  const seen: Dated['seen'] = {};
  const limitWait = (leftMs: number) => waits.say?.(leftMs);
  const exchange: Context['exchange'] = async (request) => {
    asked++;
    const answer = await ctx.exchange(request);
    if ('status' in answer) seen.remaining?.(Number.parseInt(answer.headers['x-ratelimit-remaining'] ?? '', 10));
    const date = 'status' in answer ? Date.parse(answer.headers.date ?? '') : Number.NaN;
    if (!Number.isNaN(date)) latest = new Date(date).toISOString();
    return answer;
  };
  return {
    ctx: withContext(ctx, { exchange, limitWait }),
    waits,
    seen,
    serviceTime: () => latest,
    asked: () => asked,
  };
}

export function tallyOf({ tally }: Pulling, kind: KindName): Tally {
  const present = tally.get(kind) ?? {
    created: 0,
    updated: 0,
    gone: 0,
    absent: new Set(),
    failing: new Map(),
    outdated: new Set(),
    failedInARow: 0,
  };
  tally.set(kind, present);
  return present;
}

/** What was read stays, nothing is gone by it, and the next pull tries again. */
export function notWhole(pulling: Pulling, name: KindName, doubt: string): void {
  tallyOf(pulling, name).doubt = doubt;
  pulling.ctx.notice(`Not whole: ${name}. ${doubt} The next pull tries again.`);
}

/** One record must not keep all others from the copy. Of a login, a limit, and what is not the service, that says nothing. */
export const isOfOne = ({ stop }: Pulling, reason: unknown): reason is Failure =>
  reason !== stop && isOfOneAlone(reason);
