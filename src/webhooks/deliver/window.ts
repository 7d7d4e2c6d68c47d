import { setMaxListeners } from 'node:events';
import { laneIn } from '../event/record-key.ts';
import type { Taken, Waiting } from '../store/inbox-store.ts';

/** What waits for one record, oldest first, as far as it is known. */
export type Lane = {
  readonly name: string;
  readonly waiting: Waiting[];
  /** Its first event is under way, or what became of it is being written. */
  isBusy: boolean;
  /** In ticks: its first event was refused and waits until then. */
  dueAt: number;
  /** While svc ends: it refused twice, or had refused before, and stays in the inbox. */
  isLeft: boolean;
  refusals: number;
};

export type Window = ReturnType<typeof openWindow>;

/** So many waiting events are known at most, and so many bytes of them: the rest stays in the inbox until there is room. */
const knownAtMost = 2_000;
const bytesAtMost = 32 * 1024 * 1024;

/** What is known of the inbox, while this instance has the sink. */
export function openWindow({ held, mayDeliver, waits }: Taken, cutting: AbortSignal) {
  const cut = AbortSignal.any([held, cutting]);
  // Each event at the sink listens to it: Node warns of more than ten.
  setMaxListeners(0, cut);
  return {
    held,
    cut,
    mayDeliver,
    waits,
    lanes: new Map<string, Lane>(),
    /** With their sizes in bytes: in a lane, under way, or not yet written. */
    known: new Map<string, number>(),
    bytes: 0,
    /** At the sink right now. */
    inFlight: 0,
    running: new Set<Promise<void>>(),
  };
}

export const isFull = ({ known, bytes }: Window): boolean => known.size >= knownAtMost || bytes >= bytesAtMost;

/** Behind all that is known of its record. */
export function put(window: Window, one: Waiting): void {
  const { id, body } = one.arrival;
  const name = laneIn(body);
  const lane = window.lanes.get(name) ?? newLane(name);
  window.lanes.set(name, lane);
  lane.waiting.push(one);
  window.known.set(id, body.length);
  window.bytes += body.length;
}

const newLane = (name: string): Lane => ({ name, waiting: [], isBusy: false, dueAt: 0, isLeft: false, refusals: 0 });

/** The first of the lane is done with. It stays known until that is written, so that it is not taken again. */
export function passOn(window: Window, lane: Lane): void {
  lane.waiting.shift();
  lane.refusals = 0;
  lane.isLeft = false;
  if (lane.waiting.length === 0) window.lanes.delete(lane.name);
}

/** What became of it is written. */
export function forget(window: Window, id: string): void {
  window.bytes -= window.known.get(id) ?? 0;
  window.known.delete(id);
}

/** Those whose first event may go now. */
export function startable({ lanes }: Window, now: number): Lane[] {
  return [...lanes.values()].filter(({ isBusy, isLeft, dueAt }) => !isBusy && !isLeft && dueAt <= now);
}

/** How long until the next refused event is due; undefined where none waits. */
export function nextDueMs({ lanes }: Window, now: number): number | undefined {
  let least: number | undefined;
  for (const { isBusy, isLeft, dueAt } of lanes.values()) {
    if (!isBusy && !isLeft && dueAt > now) least = Math.min(least ?? Number.POSITIVE_INFINITY, dueAt - now);
  }
  return least;
}
