import { within } from '../../promise/in-time.ts';
import type { InboxStore, Waiting } from '../store/inbox-store.ts';
import type { Filter } from './filter.ts';
import { type Became, createOutcomes, type OutcomeOptions, type Outcomes } from './outcomes.ts';
import type { Retry } from './retry.ts';
import type { Sink } from './sink.ts';

export type WorkerOptions = OutcomeOptions & {
  readonly sink: Sink;
  readonly store: Pick<InboxStore, 'isShared' | 'take' | 'settle' | 'leave'>;
  readonly filter?: Filter;
  readonly retry: Retry;
};

/** What carries events from the inbox to one sink, one after the other. It never rejects, and never ends by itself. */
export type DeliveryWorker = ReturnType<typeof workerOf>;

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

export const piece = 100;
/** Between two takings, where the first was not full: what comes meanwhile shares a question, a sync of the sink and a commit. */
export const gatherMs = 25;
/** How often an idle worker looks for what other instances accepted. */
export const lookMs = 250;
/** How often it asks for a sink that another instance has, or for a database that is gone. */
export const waitMs = 1_000;
/** While svc ends, an inbox that fails so often in a row is left with what waits in it. */
export const failuresAtMost = 3;

export function newState(options: WorkerOptions, onSettled = options.onSettled): WorkerState {
  const cutting = new AbortController();
  return {
    ...options,
    cutting,
    ending: new AbortController(),
    outcomes: createOutcomes({ ...options, onSettled }, cutting.signal),
    isStopped: false,
    lastMs: 0,
    refusals: 0,
    wake: new AbortController(),
  };
}

/** What others see of a worker that runs. `wake` has it look again, `onEnd` is called as it is told to end. */
export function workerOf(state: WorkerState, run: Promise<void>, wake: () => void, onEnd: () => void = () => {}) {
  // Another instance may still have this sink in its configuration.
  const running = run.finally(() => state.store.leave(state.sink.name).catch(() => {}));
  /**
   * Delivers what the sink takes, for `graceMs`, and begins nothing that would not be over by then: what is cut off comes
   * twice. One that refuses twice in a row, or had refused before, is left. What is left stays in the inbox.
   */
  const drain = async (graceMs: number): Promise<void> => {
    state.over = { at: state.clock.ticks() + graceMs, leastMs: graceMs / 4, began: state.clock.now() };
    onEnd();
    state.ending.abort();
    wake();
    await within(state.clock, graceMs, running);
    state.cutting.abort();
    wake();
    await running;
  };
  return {
    /** Something may have come. */
    wake,
    drain,
    /** Waits for what the sink has in hand, for `graceMs`. */
    stop(graceMs: number): Promise<void> {
      state.isStopped = true;
      return drain(graceMs);
    },
  };
}

/** Each abort makes an error with its stack, and this is called for each event. */
export function wakeUp({ wake }: WorkerState): void {
  if (!wake.signal.aborted) wake.abort();
}

/** Whether a delivery that begins in `inMs` would be over in time: a sink that took long takes long again. */
export function mayBegin({ over, isStopped, lastMs, clock }: WorkerState, inMs = 0): boolean {
  if (isStopped) return false;
  return over === undefined || clock.ticks() + inMs + Math.max(over.leastMs, 2 * lastMs) <= over.at;
}

/** What came after this instance closed its receiver came to another one, which can have the sink. */
export const isOfOthers = ({ store, over }: WorkerState, { since }: Waiting): boolean =>
  store.isShared && over !== undefined && Date.parse(since) > over.began.getTime();

/** What became of one event at the sink. */
export function settle(state: WorkerState, { arrival }: Waiting, became: Became): void {
  const outcome = { to: state.sink.name, at: state.clock.now().toISOString(), ...became };
  state.outcomes.add({ id: arrival.id, outcome });
}
