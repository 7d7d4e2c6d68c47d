import { webhookEvents } from '../../../api/webhooks.ts';
import type { Span } from '../../../disk/log-file.ts';
import { happeningIn } from '../../event/record-key.ts';
import type { Added } from '../line.ts';
import { type Arrival, type InboxLine, isOwed, isRebuilt, settles } from '../line.ts';
import type { Queues } from './queues.ts';

export type Place = {
  readonly line: Span;
  readonly marks: Span[];
  owed: boolean;
  readonly key: string | undefined;
};

/** What is known of an open inbox: where each delivery is, never its body. */
export type State = {
  places: Map<string, Place>;
  /** What happened, by `keyOf`: whether an event came by itself or was rebuilt. */
  happened: Set<string>;
  /** On their way to the disk, by id and by what happened. */
  readonly adding: Map<string, Promise<Added>>;
  readonly queues: Queues;
  limit: number;
  writtenLimit: number;
  rewriting: Rewriting | undefined;
  /** How many nobody waits for: a rewriting may leave them out. */
  idle: number;
  /** After a rewriting that failed: not again before this many are idle. */
  idleAgain: number;
};

/** The file is being rewritten beside what comes. */
export type Rewriting = {
  /** Ids of what came, or changed, since it began. */
  readonly touched: Set<string>;
  /** A line was found in another place than it was copied from. */
  isStale: boolean;
};

/** Takes in what a line says, and where it is. */
export function place(state: State, line: InboxLine, span: Span): void {
  if (line.kind === 'limit') {
    state.writtenLimit = line.limit;
    return;
  }
  const id = line.kind === 'arrival' ? line.arrival.id : line.id;
  if (isIdle(state, id)) state.idle--;
  state.rewriting?.touched.add(id);
  if (line.kind === 'arrival') {
    const key = keyOf(line.arrival);
    if (key !== undefined) state.happened.add(key);
    state.places.set(id, { line: span, marks: [], owed: isOwed(line.arrival), key });
    state.queues.add(line.arrival);
  } else {
    const known = state.places.get(id);
    known?.marks.push(span);
    if (known && settles(line.outcome)) known.owed = false;
    if (known) state.queues.settle(id, line.outcome);
  }
  if (isIdle(state, id)) state.idle++;
}

/** What is still owed to the app stays: it was accepted, and must not be lost. So does what was rebuilt (`isRebuilt`). */
export function isIdle({ places, queues }: State, id: string): boolean {
  const found = places.get(id);
  return found !== undefined && !found.owed && !isRebuilt(id) && !queues.holds(id);
}

const isKnown = (event: string | null): boolean => webhookEvents.some((each) => each === event);

/** What an older svc wrote does not say what happened. */
function happeningOf({ happening, unreadable, event, body }: Arrival): string | undefined {
  if (happening !== undefined) return happening ?? undefined;
  if (unreadable !== undefined || !isKnown(event)) return undefined;
  return happeningIn(body);
}

type From = 'live' | 'rebuilt';

export const keyOf = (arrival: Arrival): string | undefined =>
  named(arrival, isRebuilt(arrival.id) ? 'rebuilt' : 'live');

/** The same event, which came the other way. */
export const twinOf = (arrival: Arrival): string | undefined =>
  named(arrival, isRebuilt(arrival.id) ? 'live' : 'rebuilt');

function named(arrival: Arrival, from: From): string | undefined {
  const happening = happeningOf(arrival);
  return happening === undefined ? undefined : `${from} ${happening}`;
}
