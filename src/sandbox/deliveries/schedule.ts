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
  readonly duplicate?: number;
  readonly badSignature?: boolean;
};

/** Deliveries to one subscription start in order. */
type Line = { readonly ready: Delivery[]; readonly running: Map<number, Running> };
type Running = { readonly until: number; readonly ending: AbortController };

/** Attempts at once to one subscription. */
const atOnce = 8;
const finishedKept = 10_000;
/** How long `advance` waits for receivers, in real time, before it treats them as silent. */
const patienceMs = 500;
const stepMs = 25;

/** What is under way. */
type Schedule = DeliveriesOptions & {
  readonly lines: Map<number, Line>;
  /** Retries whose time has not come, by id. */
  readonly waiting: Map<number, Delivery>;
  readonly finished: number[];
  readonly idling: (() => void)[];
  alarm: { readonly at: number; readonly timer: NodeJS.Timeout } | undefined;
  stopped: boolean;
};

export function createDeliveries(options: DeliveriesOptions) {
  const schedule: Schedule = {
    ...options,
    lines: new Map(),
    waiting: new Map(),
    finished: [],
    idling: [],
    alarm: undefined,
    stopped: false,
  };
  const { store, now, random } = options;
  return {
    /** Takes the event for delivery and returns at once. */
    send(
      subscription: Subscription,
      event: WebhookEvent,
      data: object,
      { duplicate = 0, badSignature = false }: SendOptions = {},
    ): void {
      const first = newDelivery(
        subscription,
        { event, data, badSignature },
        { id: store.nextId(), now: now(), random },
      );
      const copies = Array.from({ length: duplicate }, () => ({ ...first, id: store.nextId() }));
      for (const delivery of [first, ...copies]) {
        store.put(delivery);
        enqueue(schedule, delivery);
      }
    },
    /** Continues what an earlier run left pending. */
    resume(): void {
      for (const delivery of store.all()) {
        if (delivery.status !== 'pending') schedule.finished.push(delivery.id);
        else schedule.waiting.set(delivery.id, delivery);
      }
      wake(schedule);
    },
    advance: (ms: number, moveClock: (ms: number) => void) => advance(schedule, ms, moveClock),
    /** When nothing is being sent; retries may still be waiting. */
    idle: () => idle(schedule),
    stop: () => stop(schedule),
  };
}

function enqueue(schedule: Schedule, delivery: Delivery): void {
  if (schedule.stopped) return; // It is kept, and the next run continues it.
  const line: Line = schedule.lines.get(delivery.subscription_id) ?? { ready: [], running: new Map() };
  schedule.lines.set(delivery.subscription_id, line);
  line.ready.push(delivery);
  // Not at once: the API answers first.
  setImmediate(() => startNext(schedule, line));
}

function startNext(schedule: Schedule, line: Line): void {
  while (!schedule.stopped && line.running.size < atOnce) {
    const delivery = line.ready.shift();
    if (!delivery) break;
    if (schedule.isActive(delivery.subscription_id)) void attempt(schedule, line, delivery);
    else finish(schedule, { ...delivery, status: 'cancelled', next_attempt_at: null });
  }
  if (isIdle(schedule)) for (const resolve of schedule.idling.splice(0)) resolve();
}

async function attempt(schedule: Schedule, line: Line, delivery: Delivery): Promise<void> {
  const startedAt = schedule.now();
  const ending = new AbortController();
  line.running.set(delivery.id, { until: startedAt.getTime() + answerWithinMs, ending });
  const outcome = await sendOnce(delivery, schedule.allowHttpTargets, ending.signal);
  line.running.delete(delivery.id);
  if (!schedule.stopped) {
    const after = afterAttempt(delivery, outcome, startedAt, schedule.now());
    if (after.status === 'pending') wait(schedule, after);
    else finish(schedule, after);
  }
  startNext(schedule, line);
}

function wait(schedule: Schedule, delivery: Delivery): void {
  schedule.store.put(delivery);
  schedule.waiting.set(delivery.id, delivery);
  setAlarm(schedule, dueAt(delivery));
}

function finish({ store, finished }: Schedule, delivery: Delivery): void {
  store.put(delivery);
  finished.push(delivery.id);
  const oldest = finished.length > finishedKept ? finished.shift() : undefined;
  if (oldest !== undefined) store.remove(oldest);
}

/** Starts what is due, and gives up on receivers that had their ten seconds by the sandbox's clock. */
function wake(schedule: Schedule): void {
  const { waiting } = schedule;
  const time = schedule.now().getTime();
  for (const delivery of waiting.values()) {
    if (dueAt(delivery) > time) continue;
    waiting.delete(delivery.id);
    enqueue(schedule, delivery);
  }
  for (const { until, ending } of running(schedule)) if (until <= time) ending.abort();
  clearTimeout(schedule.alarm?.timer);
  schedule.alarm = undefined;
  if (waiting.size > 0) setAlarm(schedule, earliest(waiting.values(), dueAt));
}

function setAlarm(schedule: Schedule, at: number): void {
  if (schedule.stopped || (schedule.alarm && schedule.alarm.at <= at)) return;
  clearTimeout(schedule.alarm?.timer);
  // At least 20 ms, so that deliveries due together share an alarm. A timer holds 2^31 ms at most.
  const ms = Math.min(Math.max(at - schedule.now().getTime(), 20), 2 ** 31 - 1);
  const timer = setTimeout(() => wake(schedule), ms);
  schedule.alarm = { at, timer };
  // A retry in a minute must not keep a process alive that is otherwise done.
  timer.unref();
}

const running = ({ lines }: Schedule): Running[] => [...lines.values()].flatMap((line) => [...line.running.values()]);

const isIdle = ({ lines }: Schedule): boolean =>
  [...lines.values()].every((line) => line.ready.length + line.running.size === 0);

const idle = (schedule: Schedule): Promise<void> =>
  new Promise((resolve) => (isIdle(schedule) ? resolve() : schedule.idling.push(resolve)));

/** How long until the next retry or time-out, by the sandbox's clock. */
function untilNext(schedule: Schedule): number {
  const next = Math.min(
    earliest(schedule.waiting.values(), dueAt),
    earliest(running(schedule), ({ until }) => until),
  );
  return next - schedule.now().getTime();
}

/**
 * Moves the sandbox's clock, from one moment to the next at which a retry is due or a receiver's time is up, so that a long
 * jump has the same effects as the time itself. Receivers that answer are given a moment to do so.
 */
async function advance(schedule: Schedule, ms: number, moveClock: (ms: number) => void): Promise<void> {
  let left = ms;
  await patiently(schedule);
  for (let step = untilNext(schedule); step <= left; step = untilNext(schedule)) {
    const by = Math.max(step, 0);
    moveClock(by);
    left -= by;
    wake(schedule);
    await patiently(schedule);
  }
  moveClock(left);
  wake(schedule);
  await patiently(schedule);
}

/** Breaks off what is being sent; it stays pending. */
async function stop(schedule: Schedule): Promise<void> {
  schedule.stopped = true;
  clearTimeout(schedule.alarm?.timer);
  for (const line of schedule.lines.values()) line.ready.length = 0;
  for (const { ending } of running(schedule)) ending.abort();
  await idle(schedule);
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

/** In small steps: a process that stands still for a while counts it once, and then hears what was answered meanwhile. */
async function patiently(schedule: Schedule): Promise<void> {
  let isOver = false;
  const over = idle(schedule).then(() => {
    isOver = true;
  });
  for (let waited = 0; waited < patienceMs && !isOver; waited += stepMs) {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([over, new Promise((resolve) => (timer = setTimeout(resolve, stepMs)))]);
    clearTimeout(timer);
  }
}
