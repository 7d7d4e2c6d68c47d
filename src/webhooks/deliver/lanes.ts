import type { Taken, Waiting } from '../store/inbox-store.ts';
import { countTry, type Refusal, tryOne } from './attempt.ts';
import { pauseAfter } from './retry.ts';
import { forget, isFull, type Lane, nextDueMs, openWindow, passOn, put, startable, type Window } from './window.ts';
import {
  type DeliveryWorker,
  failuresAtMost,
  gatherMs,
  isOfOthers,
  lookMs,
  mayBegin,
  newState,
  piece,
  settle,
  type WorkerOptions,
  type WorkerState,
  waitMs,
  wakeUp,
  workerOf,
} from './worker-state.ts';

type State = WorkerState & {
  readonly concurrency: number;
  window: Window | undefined;
  /** When the inbox was asked, in ticks. */
  askedAt: number;
  failures: number;
};

/** Like the worker that delivers one after the other, with up to `concurrency` records at the sink at once. */
export function startLanes(options: WorkerOptions, concurrency: number): DeliveryWorker {
  const onSettled: WorkerOptions['onSettled'] = (name, settled) => {
    if (settled.outcome.state !== 'failed' && state.window) forget(state.window, settled.id);
    options.onSettled(name, settled);
  };
  const state: State = {
    ...newState(options, onSettled),
    ...{ concurrency, window: undefined, askedAt: Number.NEGATIVE_INFINITY, failures: 0 },
  };
  // What had refused before is left.
  const onEnd = () => {
    for (const lane of state.window?.lanes.values() ?? []) if (lane.refusals > 0) lane.isLeft = true;
  };
  return workerOf(state, run(state), () => poke(state), onEnd);
}

/** A place at the sink does not wait for an inbox that is being asked. */
function poke(state: State): void {
  begin(state);
  wakeUp(state);
}

async function run(state: State): Promise<void> {
  const { clock, cutting, ending } = state;
  while (!cutting.signal.aborted) {
    state.wake = new AbortController();
    if (state.window?.held.aborted) await letGo(state);
    const isEnding = ending.signal.aborted;
    const found = needsMore(state) ? await look(state) : undefined;
    begin(state);
    // Something may have come between the last look and the end.
    if (isEnding && isOver(state) && (found === false || !hasRoom(state))) break;
    await clock.sleep(restMs(state, found), state.wake.signal);
  }
  await letGo(state);
}

const hasRoom = (state: State): boolean => mayBegin(state) && !(state.window && isFull(state.window));

/** Whether nothing is under way, and nothing more may be begun. */
function isOver(state: State): boolean {
  const { window } = state;
  if (!window) return true;
  if (window.running.size > 0) return false;
  return !mayBegin(state) || ![...window.lanes.values()].some(({ isLeft }) => !isLeft);
}

/** Another instance may have the sink now: what is under way is cut, and nothing that was known counts any more. */
async function letGo(state: State): Promise<void> {
  const { window } = state;
  if (!window) return;
  await Promise.all(window.running);
  await state.outcomes.write(window.held);
  state.window = undefined;
}

/** The inbox is asked before the lanes run dry, and not for each event. */
function needsMore(state: State): boolean {
  const { window, clock, concurrency, isStopped } = state;
  const now = clock.ticks();
  if (isStopped || now - state.askedAt < gatherMs) return false;
  if (!window) return true;
  return !isFull(window) && startable(window, now).length < 2 * concurrency;
}

/** Whether there was something new. */
async function look(state: State): Promise<boolean> {
  const { clock, store, sink, ending, cutting } = state;
  state.askedAt = clock.ticks();
  try {
    const taken = await store.take(sink.name, piece, new Set(state.window?.known.keys()));
    state.failures = 0;
    if (!taken) {
      await letGo(state);
      await clock.sleep(waitMs, ending.signal);
      return false;
    }
    if (state.window && state.window.held !== taken.held) await letGo(state);
    state.window ??= openWindow(taken, cutting.signal);
    return !taken.held.aborted && takeIn(state, state.window, taken);
  } catch (error) {
    state.onProblem(sink.name, error);
    state.failures = ending.signal.aborted ? state.failures + 1 : 0;
    await clock.sleep(ending.signal.aborted ? lookMs : waitMs, ending.signal.aborted ? cutting.signal : ending.signal);
    return ending.signal.aborted && state.failures < failuresAtMost;
  }
}

function takeIn(state: State, window: Window, { waiting, lost = [], mayDeliver }: Taken): boolean {
  const { outcomes } = state;
  window.mayDeliver = mayDeliver;
  for (const settled of lost) {
    window.known.set(settled.id, 0);
    outcomes.add(settled);
  }
  if (lost.length > 0) start(state, window, outcomes.write(window.held));
  const own = waiting.filter((one) => !isOfOthers(state, one));
  for (const one of own) put(window, one);
  return own.length + lost.length > 0;
}

function start(state: State, window: Window, work: Promise<void>): void {
  const running = work
    .catch((error) => state.onProblem(state.sink.name, error))
    .finally(() => {
      window.running.delete(running);
      poke(state);
    });
  window.running.add(running);
}

/** How long there is nothing to do, unless something comes or ends. */
function restMs({ window, clock, askedAt }: State, found: boolean | undefined): number {
  const now = clock.ticks();
  const gatheredMs = askedAt + gatherMs - now;
  // Where it was not asked, it was too early to ask, or there is enough to do.
  const most = (found ?? gatheredMs > 0) ? Math.max(1, gatheredMs) : lookMs;
  return Math.min(most, (window && nextDueMs(window, now)) ?? most);
}

function begin(state: State): void {
  const { window, clock, concurrency } = state;
  if (!window) return;
  for (const lane of startable(window, clock.ticks())) {
    // A replay settled it while it waited for its next try.
    for (let [one] = lane.waiting; one && window.waits?.(one.arrival.id) === false; [one] = lane.waiting) {
      passOn(window, lane);
      forget(window, one.arrival.id);
    }
    if (lane.waiting.length === 0) continue;
    if (window.inFlight >= concurrency || window.cut.aborted || !mayBegin(state) || !window.mayDeliver()) return;
    lane.isBusy = true;
    window.inFlight++;
    start(state, window, deliverFirst(state, window, lane));
  }
}

/** Frees its place at the sink as soon as the sink has answered, and its record once that cannot be lost out of order. */
async function deliverFirst(state: State, window: Window, lane: Lane): Promise<void> {
  const [one] = lane.waiting;
  if (!one) return;
  const tried = await tryOne(state, window, one).finally(() => {
    window.inFlight--;
    poke(state);
  });
  if (tried === 'cut') return;
  if ('refused' in tried) await refused(state, window, { lane, one, ...tried.refused });
  else {
    state.refusals = 0;
    state.lastMs = tried.ms;
    settle(state, one, tried);
    passOn(window, lane);
    await state.outcomes.writeSoon(window.held);
  }
  lane.isBusy = false;
}

type Refused = Refusal & { readonly lane: Lane; readonly one: Waiting };

async function refused(state: State, window: Window, { lane, one, ...refusal }: Refused): Promise<void> {
  const { clock, retry, concurrency, over } = state;
  state.lastMs = refusal.ms;
  const isDead = countTry(state, one, refusal);
  const tries = one.tries + 1;
  // An app that is down must not hold up the end.
  if (over && ++state.refusals > concurrency) state.isStopped = true;
  if (isDead) {
    passOn(window, lane);
    return state.outcomes.writeSoon(window.held);
  }
  lane.waiting[0] = { ...one, tries };
  lane.refusals++;
  const pauseMs = pauseAfter(retry, tries);
  // Two outcomes of one event must not be written at once.
  await state.outcomes.write(window.cut);
  lane.dueAt = clock.ticks() + pauseMs;
  if (state.over) lane.isLeft = lane.refusals > 1 || !mayBegin(state, pauseMs);
}
