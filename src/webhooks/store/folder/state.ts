import { webhookEvents } from '../../../api/webhooks.ts';
import type { Span } from '../../../disk/log/log-file.ts';
import { happeningIn } from '../../event/record-key.ts';
import { type Added, type Arrival, type InboxLine, isOwed, isRebuilt, settles } from '../line.ts';
import { addBytes, addEntry, type Entries, noEntries } from './entries.ts';
import { type Counted, countLine, noneCounted } from './file.ts';
import { addRun, createIndex, type Index } from './index-file.ts';
import type { Queues } from './queues.ts';

type Place = {
  readonly line: Span;
  readonly marks: Span[];
  owed: boolean;
  readonly key: string | undefined;
};

/** What is known of one file: where each delivery is, never its body. */
export type Shelf = {
  /** Of what somebody waits for, and of all that came since the index ends. */
  places: Map<string, Place>;
  /** What happened, by `keyOf`, of those: whether an event came by itself or was rebuilt. */
  happened: Set<string>;
  /** Of all the others. */
  index: Index | undefined;
  /** For the index: what came since it ends. */
  entries: Entries;
  /** How many deliveries are in the file. */
  arrivals: number;
  counted: Counted;
  /** Where the last line ends. */
  end: number;
};

export const emptyShelf = (): Shelf => ({
  places: new Map(),
  happened: new Set(),
  index: undefined,
  entries: noEntries(),
  arrivals: 0,
  counted: noneCounted(),
  end: 0,
});

/** What is known of an open inbox. */
export type State = Shelf & {
  /** On their way to the disk, by id and by what happened. */
  readonly adding: Map<string, Promise<Added>>;
  /** The index is asked for one that came: what comes later is not written before it. */
  asking: Promise<unknown> | undefined;
  readonly queues: Queues;
  readonly limit: number;
  /** After so many lines they go into the index. */
  readonly indexedAfter: number;
  /** Not before so many: the disk refused the last time. */
  indexedAgain: number;
  writtenLimit: number;
  rewriting: Rewriting | undefined;
  /** How many nobody waits for: a rewriting may leave them out. */
  idle: number;
  /** After a rewriting that failed: not again before this many are idle. */
  idleAgain: number;
  /** The file is not the one that the index was made of, or the index is damaged: each place has to be looked at. */
  isDoubtful: boolean;
};

/** The file is being rewritten beside what comes. */
export type Rewriting = {
  /** Ids of what came, or changed, since it began. */
  readonly touched: Set<string>;
  /** What came since: it stands behind what is kept. */
  later: Pick<Shelf, 'entries' | 'arrivals' | 'counted'>;
  /** What is known of the new file. */
  readonly next: Shelf;
  /** A line was found in another place than it was copied from. */
  isStale: boolean;
};

/** A line as it stands in the file. */
type Placed = { readonly span: Span; readonly bytes: Uint8Array | string };

/** Takes in what a line says, and where it is; undefined where it cannot be read. */
export function place(state: State, line: InboxLine | undefined, { span, bytes }: Placed): void {
  const { rewriting } = state;
  state.end = span.start + span.length;
  countLine(state.counted, line !== undefined);
  addBytes(state.entries, bytes);
  if (rewriting) {
    countLine(rewriting.later.counted, line !== undefined);
    addBytes(rewriting.later.entries, bytes);
  }
  if (line?.kind === 'limit') state.writtenLimit = line.limit;
  if (!line || line.kind === 'limit') return;
  const short = shortened(line);
  const { id } = short;
  if (isIdle(state, id)) state.idle--;
  shelve(state, short, span);
  enter(state.entries, short, span);
  if (line.kind === 'arrival') {
    state.arrivals++;
    state.queues.add(line.arrival);
  } else if (state.places.has(id)) state.queues.settle(id, line.outcome);
  if (rewriting) {
    rewriting.touched.add(id);
    enter(rewriting.later.entries, short, span);
    if (line.kind === 'arrival') rewriting.later.arrivals++;
  }
  if (isIdle(state, id)) state.idle++;
}

/** A line without what is only in the file. */
export type ShortLine =
  | ({ readonly kind: 'arrival'; readonly id: string } & Pick<Place, 'owed' | 'key'>)
  | Extract<InboxLine, { readonly kind: 'outcome' }>;

export function shortened(line: Exclude<InboxLine, { readonly kind: 'limit' }>): ShortLine {
  if (line.kind === 'outcome') return line;
  const { arrival } = line;
  return { kind: 'arrival', id: arrival.id, owed: isOwed(arrival), key: keyOf(arrival) };
}

export function shelve({ places, happened }: Pick<Shelf, 'places' | 'happened'>, line: ShortLine, span: Span): void {
  if (line.kind === 'arrival') {
    const { id, owed, key } = line;
    if (key !== undefined) happened.add(key);
    places.set(id, { line: span, marks: [], owed, key });
    return;
  }
  const known = places.get(line.id);
  known?.marks.push(span);
  if (known && settles(line.outcome)) known.owed = false;
}

export function enter(entries: Entries, line: ShortLine, { start }: Span): void {
  addEntry(entries, line.kind, line.id, start);
  const key = line.kind === 'arrival' ? line.key : undefined;
  if (key !== undefined) addEntry(entries, wayOf(key), key, start);
}

/** What is still owed to the app stays: it was accepted, and must not be lost. */
export function isOpen({ places, queues }: Pick<State, 'places' | 'queues'>, id: string): boolean {
  return places.get(id)?.owed === true || queues.holds(id);
}

/** Whether it may go: what was rebuilt stays too (`isRebuilt`). */
const isIdle = (state: State, id: string): boolean => state.places.has(id) && !isOpen(state, id) && !isRebuilt(id);

/** All of it goes into the index, and what nobody waits for leaves the memory. Throws where the disk refuses. */
export function moveIntoIndex(shelf: Shelf, folder: string, state: Pick<State, 'places' | 'queues'>): void {
  shelf.index ??= createIndex(folder);
  addRun(shelf.index, shelf.entries, shelf.end);
  shelf.entries = noEntries();
  for (const [id, { key }] of shelf.places) {
    if (isOpen(state, id)) continue;
    shelf.places.delete(id);
    if (key !== undefined) shelf.happened.delete(key);
  }
}

/** What an older svc wrote does not say what happened. */
function happeningOf({ happening, unreadable, event, body }: Arrival): string | undefined {
  if (happening !== undefined) return happening ?? undefined;
  if (unreadable !== undefined || !webhookEvents.some((each) => each === event)) return undefined;
  return happeningIn(body);
}

type Way = 'live' | 'rebuilt';

/** How the event of that key came. */
export const wayOf = (key: string): Way => (key.startsWith('live ') ? 'live' : 'rebuilt');

export const keyOf = (arrival: Arrival): string | undefined =>
  named(arrival, isRebuilt(arrival.id) ? 'rebuilt' : 'live');

/** The same event, which came the other way. */
export const twinOf = (arrival: Arrival): string | undefined =>
  named(arrival, isRebuilt(arrival.id) ? 'live' : 'rebuilt');

function named(arrival: Arrival, way: Way): string | undefined {
  const happening = happeningOf(arrival);
  return happening === undefined ? undefined : `${way} ${happening}`;
}
