import type { Taken, Waiting } from '../store/inbox-store.ts';
import { countTry, giveTo, type Refusal, verdictOf } from './attempt.ts';
import { pauseAfter } from './retry.ts';
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

/** `isLeft`: it is not waited for any more, for it would hold up the end. */
type State = WorkerState & { isLeft: boolean };

export function startDeliveryWorker(options: WorkerOptions): DeliveryWorker {
  const state: State = { ...newState(options), isLeft: false };
  return workerOf(state, run(state), () => wakeUp(state));
}

/** Nothing more is begun where it would hold up the end. */
const mayGoOn = (state: State, inMs = 0): boolean => !state.isLeft && mayBegin(state, inMs);

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
      const [first] = taken?.waiting ?? [];
      if (first && isOfOthers(state, first)) return;
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
    if (ending.signal.aborted && (!goesOn || !mayGoOn(state))) return;
  }
}

/** Everything that was taken, in its order, up to the first failure. Whether there is more to do while svc ends. */
async function deliver(state: State, { waiting, lost = [], held, mayDeliver, waits }: Taken): Promise<boolean> {
  const cut = AbortSignal.any([held, state.cutting.signal]);
  for (const settled of lost) state.outcomes.add(settled);
  try {
    for (let at = 0; at < waiting.length && !cut.aborted && mayGoOn(state); at += state.sink.most) {
      const some = waiting.slice(at, at + state.sink.most).filter(({ arrival }) => waits?.(arrival.id) ?? true);
      const { wanted, stuck } = await chosen(state, some);
      if (!mayDeliver()) return false;
      if (wanted.length > 0 && !(await attempt(state, wanted, cut))) return mayGoOn(state);
      // What comes behind it is taken again, so that the order holds.
      if (stuck) {
        await refused(state, [stuck.waiting], stuck, cut);
        return mayGoOn(state);
      }
      await state.outcomes.writeSoon(held);
    }
    return !cut.aborted && mayGoOn(state);
  } finally {
    await state.outcomes.write(held);
  }
}

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
  const answer = await giveTo(sink, some, cut);
  const ms = Math.round(clock.ticks() - began);
  state.lastMs = ms;
  if (answer.how === 'cut') return false;
  if (answer.how === 'refused') return refused(state, some, { ...answer, ms }, cut);
  const { status } = answer;
  state.refusals = 0;
  for (const one of some) settle(state, one, { state: 'delivered', ms, status, tries: one.tries + 1 });
  return true;
}

/** Counts a try of each, and waits before the next one. Whether the queue goes on at once: where all of them are dead. */
async function refused(state: State, some: readonly Waiting[], refusal: Refusal, cut: AbortSignal): Promise<boolean> {
  const { clock, retry, ending } = state;
  let most = 0;
  for (const one of some) if (!countTry(state, one, refusal)) most = Math.max(most, one.tries + 1);
  if (most === 0) return true;
  await state.outcomes.write(cut);
  const pauseMs = pauseAfter(retry, most);
  if (state.over) {
    state.isLeft = ++state.refusals > 1 || !mayGoOn(state, pauseMs);
    if (!state.isLeft) await clock.sleep(pauseMs, cut);
  } else {
    await clock.sleep(pauseMs, AbortSignal.any([cut, ending.signal]));
    // It had refused before svc was told to end.
    state.isLeft = ending.signal.aborted;
  }
  return false;
}
