import { messageOf } from '../../errors.ts';
import { within } from '../../promise/in-time.ts';
import type { InboxStore, Taken, Waiting } from '../store/inbox-store.ts';
import type { Filter } from './filter.ts';
import { type Became, createOutcomes, type OutcomeOptions, type Outcomes } from './outcomes.ts';
import { isLast, pauseAfter, type Retry } from './retry.ts';
import type { Answer, Sink } from './sink.ts';
import { verdictOf } from './verdict.ts';

export type WorkerOptions = OutcomeOptions & {
  readonly sink: Sink;
  readonly store: Pick<InboxStore, 'isShared' | 'take' | 'settle' | 'leave'>;
  readonly filter?: Filter;
  readonly retry: Retry;
};

/** What carries events from the inbox to one sink, one after the other. It never rejects, and never ends by itself. */
export type DeliveryWorker = {
  /** Something may have come. */
  wake(): void;
  /**
   * Delivers what the sink takes, for `graceMs`, and begins nothing that would not be over by then: what is cut off comes
   * twice. One that refuses twice in a row, or had refused before, is left. What is left stays in the inbox.
   */
  drain(graceMs: number): Promise<void>;
  /** Waits for what the sink has in hand, for `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

/** What a worker knows of itself, whether it delivers one after the other or in lanes. */
export type WorkerState = WorkerOptions & {
  /** Nothing is waited for any more. */
  readonly ending: AbortController;
  /** Nothing more is begun. */
  isStopped: boolean;
  readonly cutting: AbortController;
  /** Once it ends: when that is over, in ticks, and how much of it a delivery may need. */
  over?: { readonly at: number; readonly leastMs: number; readonly began: Date };
  /** Of the last attempt. */
  lastMs: number;
  /** In a row, since it ends. */
  refusals: number;
  wake: AbortController;
  readonly outcomes: Outcomes;
};

/** `isLeft`: it is not waited for any more, for it would hold up the end. */
type State = WorkerState & { isLeft: boolean };

const piece = 100;
/** Between two takings, where the first was not full: what comes meanwhile shares a question, a sync of the sink and a commit. */
const gatherMs = 25;
/** How often an idle worker looks for what other instances accepted. */
const lookMs = 250;
/** How often it asks for a sink that another instance has, or for a database that is gone. */
const waitMs = 1_000;
/** While svc ends, an inbox that fails so often in a row is left with what waits in it. */
const failuresAtMost = 3;

export function startDeliveryWorker(options: WorkerOptions): DeliveryWorker {
  const cutting = new AbortController();
  const state: State = {
    ...options,
    ending: new AbortController(),
    isStopped: false,
    cutting,
    lastMs: 0,
    refusals: 0,
    isLeft: false,
    wake: new AbortController(),
    outcomes: createOutcomes(options, cutting.signal),
  };
  // Another instance may still have this sink in its configuration.
  const running = run(state).finally(() => options.store.leave(options.sink.name).catch(() => {}));
  const end = async (graceMs: number): Promise<void> => {
    state.over = { at: state.clock.ticks() + graceMs, leastMs: graceMs / 4, began: state.clock.now() };
    state.ending.abort();
    state.wake.abort();
    await within(state.clock, graceMs, running);
    state.cutting.abort();
    await running;
  };
  return {
    // Each abort makes an error with its stack, and this is called for each event.
    wake() {
      if (!state.wake.signal.aborted) state.wake.abort();
    },
    drain: end,
    stop(graceMs) {
      state.isStopped = true;
      return end(graceMs);
    },
  };
}

async function run(state: State): Promise<void> {
  const { clock, ending, cutting, store, sink } = state;
  let failures = 0;
  while (!cutting.signal.aborted) {
    state.wake = new AbortController();
    if (ending.signal.aborted) state.wake.abort();
    let goesOn = false;
    const began = clock.ticks();
    const isEnding = ending.signal.aborted;
    try {
      const taken = await store.take(sink.name, piece);
      failures = 0;
      if (taken && isOfOthers(state, taken)) return;
      if (!taken) await clock.sleep(waitMs, ending.signal);
      else if (taken.waiting.length === 0 && !taken.lost?.length) {
        await clock.sleep(lookMs, state.wake.signal);
        // Something may have come between this look and the end.
        goesOn = !isEnding;
      } else {
        goesOn = await deliver(state, taken);
        const leftMs = began + gatherMs - clock.ticks();
        if (taken.waiting.length < piece && leftMs > 0) await clock.sleep(leftMs, ending.signal);
      }
    } catch (error) {
      state.onProblem(sink.name, error);
      // A connection that broke just as svc is told to end says nothing against the next one.
      failures = ending.signal.aborted ? failures + 1 : 0;
      goesOn = failures < failuresAtMost;
      await (ending.signal.aborted ? clock.sleep(lookMs, cutting.signal) : clock.sleep(waitMs, ending.signal));
    }
    if (ending.signal.aborted && (!goesOn || !mayBegin(state))) return;
  }
}

/** What came after this instance closed its receiver came to another one, which can have the sink. */
function isOfOthers({ store, over }: State, { waiting: [first] }: Taken): boolean {
  return store.isShared && over !== undefined && first !== undefined && Date.parse(first.since) > over.began.getTime();
}

/** Everything that was taken, in its order, up to the first failure. Whether there is more to do while svc ends. */
async function deliver(state: State, { waiting, lost = [], held, mayDeliver }: Taken): Promise<boolean> {
  const cut = AbortSignal.any([held, state.cutting.signal]);
  for (const settled of lost) state.outcomes.add(settled);
  try {
    for (let at = 0; at < waiting.length && !cut.aborted && mayBegin(state); at += state.sink.most) {
      const { wanted, stuck } = await chosen(state, waiting.slice(at, at + state.sink.most));
      if (!mayDeliver()) return false;
      if (wanted.length > 0 && !(await attempt(state, wanted, cut))) return mayBegin(state);
      // What comes behind it is taken again, so that the order holds.
      if (stuck) {
        await refused(state, [stuck.waiting], stuck, cut);
        return mayBegin(state);
      }
      await state.outcomes.writeSoon(held);
    }
    return !cut.aborted && mayBegin(state);
  } finally {
    await state.outcomes.write(held);
  }
}

/** A sink that took long takes long again. */
function mayBegin({ over, isStopped, isLeft, lastMs, clock }: State, inMs = 0): boolean {
  if (isStopped || isLeft) return false;
  return over === undefined || clock.ticks() + inMs + Math.max(over.leastMs, 2 * lastMs) <= over.at;
}

type Refusal = Pick<Extract<Answer, { how: 'refused' }>, 'error' | 'status' | 'isFinal'> & { readonly ms: number };
type Chosen = { readonly wanted: readonly Waiting[]; readonly stuck?: Refusal & { readonly waiting: Waiting } };

/** Those that the filter wants, up to the first about which it could not decide. */
async function chosen(state: State, some: readonly Waiting[]): Promise<Chosen> {
  const { filter, clock } = state;
  if (!filter) return { wanted: some };
  const wanted: Waiting[] = [];
  for (const one of some) {
    const began = clock.ticks();
    const verdict = await verdictOf(filter, one);
    const ms = Math.round(clock.ticks() - began);
    if (verdict === 'wanted') wanted.push(one);
    else if (verdict === 'unwanted') settle(state, one, { state: 'skipped', ms: 0, tries: one.tries });
    else return { wanted, stuck: { waiting: one, error: verdict.undecided, ms } };
  }
  return { wanted };
}

/** Whether the queue goes on at once. */
async function attempt(state: State, some: readonly Waiting[], cut: AbortSignal): Promise<boolean> {
  const { clock, sink } = state;
  const began = clock.ticks();
  const answer: Answer = await sink
    .send(
      some.map(({ arrival }) => arrival),
      cut,
    )
    .catch((error: unknown) => ({ how: 'refused', error: messageOf(error) }));
  const ms = Math.round(clock.ticks() - began);
  state.lastMs = ms;
  if (answer.how === 'cut') return false;
  const { status } = answer;
  const about = { ms, ...(status !== undefined && { status }) };
  if (answer.how === 'refused') return refused(state, some, { ...answer, ms }, cut);
  state.refusals = 0;
  for (const one of some) settle(state, one, { state: 'delivered', ...about, tries: one.tries + 1 });
  return true;
}

/** Counts a try of each, and waits before the next one. Whether the queue goes on at once: where all of them are dead. */
async function refused(state: State, some: readonly Waiting[], refusal: Refusal, cut: AbortSignal): Promise<boolean> {
  const { clock, retry, ending } = state;
  const { error, status, ms, isFinal = false } = refusal;
  let most = 0;
  for (const one of some) {
    const tries = one.tries + 1;
    const isOver = isFinal || isLast(retry, one, clock);
    const about = { ms, tries, error, ...(status !== undefined && { status }) };
    settle(state, one, { state: isOver ? 'dead' : 'failed', ...about });
    if (!isOver) most = Math.max(most, tries);
  }
  if (most === 0) return true;
  await state.outcomes.write(cut);
  const pauseMs = pauseAfter(retry, most);
  if (state.over) {
    state.isLeft = ++state.refusals > 1 || !mayBegin(state, pauseMs);
    if (!state.isLeft) await clock.sleep(pauseMs, cut);
  } else {
    await clock.sleep(pauseMs, AbortSignal.any([cut, ending.signal]));
    // It had refused before svc was told to end.
    state.isLeft = ending.signal.aborted;
  }
  return false;
}

function settle(state: State, { arrival }: Waiting, became: Became): void {
  const outcome = { to: state.sink.name, at: state.clock.now().toISOString(), ...became };
  state.outcomes.add({ id: arrival.id, outcome });
}
