import type { WebhookEvent } from '../../api/webhooks.ts';
import { afterAttempt, answerWithinMs, type Delivery, newDelivery, type Subscription } from './attempts.ts';
import { isAllowedTarget, type Outcome, post } from './post.ts';

/** Where deliveries are kept. Rows are replaced, never changed in place. */
export type DeliveryStore = {
  all(): Iterable<Delivery>;
  put(delivery: Delivery): void;
  remove(id: number): void;
  nextId(): number;
};

export type DeliveriesOptions = {
  readonly store: DeliveryStore;
  /** The sandbox's clock. */
  readonly now: () => Date;
  readonly random: (bytes: number) => Uint8Array;
  readonly allowHttpTargets: boolean;
  /** Asked before every attempt: subscriptions end when the customer disconnects the app. */
  readonly isActive: (subscriptionId: number) => boolean;
};

export type SendOptions = {
  /** How often the same delivery is sent once more. */
  readonly duplicate?: number | undefined;
  readonly badSignature?: boolean | undefined;
};

export type Deliveries = {
  /** Takes the event for delivery and returns at once. */
  send(subscription: Subscription, event: WebhookEvent, data: object, options?: SendOptions): void;
  /** Takes up what an earlier run left pending. */
  resume(): void;
  /**
   * Moves the sandbox's clock, from one moment to the next at which a retry is due or a receiver's time is up, so that a
   * long jump plays out as the time itself would have. Receivers that answer are given a moment to do so.
   */
  advance(ms: number, moveClock: (ms: number) => void): Promise<void>;
  /** When nothing is being sent; retries may still be waiting. */
  idle(): Promise<void>;
  /** Breaks off what is being sent; it stays pending. */
  stop(): Promise<void>;
};

/** Deliveries to one subscription start in order. */
type Line = { readonly ready: Delivery[]; readonly running: Map<number, Running> };
type Running = { readonly until: number; readonly ending: AbortController; readonly delivery: Delivery };

/** To one subscription. */
const atOnce = 8;
const finishedKept = 10_000;
/** How long `advance` waits for receivers, in real time, before it takes them for silent. */
const patienceMs = 500;

export function createDeliveries({ store, now, random, allowHttpTargets, isActive }: DeliveriesOptions): Deliveries {
  const lines = new Map<number, Line>();
  const waiting = new Map<number, Delivery>();
  const finished: number[] = [];
  const idling: (() => void)[] = [];
  let alarm: { readonly at: number; readonly timer: NodeJS.Timeout } | undefined;
  let stopped = false;

  function enqueue(delivery: Delivery): void {
    if (stopped) return; // It is kept, and taken up by the next run.
    const line: Line = lines.get(delivery.subscription_id) ?? { ready: [], running: new Map() };
    lines.set(delivery.subscription_id, line);
    line.ready.push(delivery);
    // Not at once: the API answers first.
    setImmediate(() => startNext(line));
  }

  function startNext(line: Line): void {
    while (!stopped && line.running.size < atOnce) {
      const delivery = line.ready.shift();
      if (!delivery) break;
      if (isActive(delivery.subscription_id)) void attempt(line, delivery);
      else finish({ ...delivery, status: 'cancelled', next_attempt_at: null });
    }
    if (isIdle()) for (const resolve of idling.splice(0)) resolve();
  }

  async function attempt(line: Line, delivery: Delivery): Promise<void> {
    const startedAt = now();
    const ending = new AbortController();
    line.running.set(delivery.id, { until: startedAt.getTime() + answerWithinMs, ending, delivery });
    const outcome = await sendOnce(delivery, allowHttpTargets, ending.signal);
    line.running.delete(delivery.id);
    if (!stopped) {
      const after = afterAttempt(delivery, outcome, startedAt, now());
      if (after.status === 'pending') wait(after);
      else finish(after);
    }
    startNext(line);
  }

  function wait(delivery: Delivery): void {
    store.put(delivery);
    waiting.set(delivery.id, delivery);
    setAlarm(dueAt(delivery));
  }

  function finish(delivery: Delivery): void {
    store.put(delivery);
    finished.push(delivery.id);
    if (finished.length > finishedKept) store.remove(finished.shift() as number);
  }

  /** Starts what is due, and gives up on receivers that had their ten seconds by the sandbox's clock. */
  function wake(): void {
    const time = now().getTime();
    for (const delivery of waiting.values()) {
      if (dueAt(delivery) > time) continue;
      waiting.delete(delivery.id);
      enqueue(delivery);
    }
    for (const { until, ending } of running()) if (until <= time) ending.abort();
    clearTimeout(alarm?.timer);
    alarm = undefined;
    if (waiting.size > 0) setAlarm(earliest(waiting.values(), dueAt));
  }

  function setAlarm(at: number): void {
    if (stopped || (alarm && alarm.at <= at)) return;
    clearTimeout(alarm?.timer);
    // Not sooner than 20 ms, so that many which fall due together share an alarm; and a timer holds 2^31 ms at most.
    const timer = setTimeout(wake, Math.min(Math.max(at - now().getTime(), 20), 2 ** 31 - 1));
    alarm = { at, timer };
    // A retry in a minute is no reason to keep a process alive that is otherwise done.
    timer.unref();
  }

  const running = (): Running[] => [...lines.values()].flatMap((line) => [...line.running.values()]);
  const isIdle = () => [...lines.values()].every((line) => line.ready.length + line.running.size === 0);
  const idle = () => new Promise<void>((resolve) => (isIdle() ? resolve() : idling.push(resolve)));

  /** How long until something happens by itself, by the sandbox's clock. */
  function untilNext(): number {
    const next = Math.min(
      earliest(waiting.values(), dueAt),
      earliest(running(), ({ until }) => until),
    );
    return next - now().getTime();
  }

  return {
    send(subscription, event, data, { duplicate = 0, badSignature = false } = {}) {
      const first = newDelivery(
        subscription,
        { event, data, badSignature },
        { id: store.nextId(), now: now(), random },
      );
      const copies = Array.from({ length: duplicate }, () => ({ ...first, id: store.nextId() }));
      for (const delivery of [first, ...copies]) {
        store.put(delivery);
        enqueue(delivery);
      }
    },
    resume() {
      for (const delivery of store.all()) {
        if (delivery.status !== 'pending') finished.push(delivery.id);
        else waiting.set(delivery.id, delivery);
      }
      wake();
    },
    async advance(ms, moveClock) {
      let left = ms;
      await patiently(idle());
      for (let step = untilNext(); step <= left; step = untilNext()) {
        const by = Math.max(step, 0);
        moveClock(by);
        left -= by;
        wake();
        await patiently(idle());
      }
      moveClock(left);
      wake();
      await patiently(idle());
    },
    idle,
    async stop() {
      stopped = true;
      clearTimeout(alarm?.timer);
      for (const line of lines.values()) line.ready.length = 0;
      for (const { ending } of running()) ending.abort();
      await idle();
    },
  };
}

function sendOnce(delivery: Delivery, allowHttpTargets: boolean, signal: AbortSignal): Promise<Outcome> {
  const { target_url: target, event, signature, body } = delivery;
  if (!isAllowedTarget(target, allowHttpTargets)) return Promise.resolve({ outcome: 'not_allowed' });
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'svc-sandbox',
    'x-svc-event': event,
    'x-svc-signature': signature,
  };
  return post({ target, headers, body: Buffer.from(body), timeoutMs: answerWithinMs, signal });
}

function earliest<Item>(items: Iterable<Item>, timeOf: (item: Item) => number): number {
  let first = Number.POSITIVE_INFINITY;
  for (const item of items) first = Math.min(first, timeOf(item));
  return first;
}

const dueAt = ({ next_attempt_at }: Delivery): number => Date.parse(next_attempt_at ?? '');

async function patiently(idle: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([idle, new Promise((resolve) => (timer = setTimeout(resolve, patienceMs)))]);
  clearTimeout(timer);
}
