import { join } from 'node:path';
import { webhookEvents } from '../../api/webhooks.ts';
import { type AppendLog, type LogOptions, openLog, type Rewrite } from '../../disk/append-log.ts';
import type { Span } from '../../disk/log-file.ts';
import { happeningIn } from '../record-key.ts';
import { inboxFile } from './file.ts';
import {
  type Arrival,
  decodeLine,
  encodeLine,
  type InboxLine,
  isOwed,
  isRebuilt,
  type Outcome,
  settles,
} from './line.ts';
import { createQueues, type Queues } from './queues.ts';

/**
 * The deliveries of a listener, in a file of JSON lines that only grows at its end until it is rewritten
 * without the oldest. What `add` promised is on disk. Only where each line is stays in memory, never a body.
 * One process at a time (`seat.ts`): two writers would overwrite each other.
 */
export type Inbox = {
  has(id: string): boolean;
  /**
   * Resolves once the delivery is durable; rejects where the disk refuses, and then it is not stored. A repeat is not
   * stored: by its id, or a live event that was rebuilt already, or the other way round.
   */
  add(arrival: Arrival): Promise<Added>;
  /** No answer waits for this: if a crash loses it, the delivery is only forwarded once more. */
  settle(id: string, outcome: Outcome): Promise<void>;
  /**
   * Undefined where it is not there, or is surely damaged: then the file was searched for it. Rejects where the disk
   * does not answer, which says nothing of the delivery.
   */
  read(id: string): Promise<Received | undefined>;
  /** Ids that are still to be forwarded, oldest first. */
  waiting(): string[];
  /** The newest, oldest first. */
  latest(count: number): string[];
  /** Of `serve`: what waits for each sink. */
  readonly queues: Pick<Queues, 'first' | 'counts' | 'waits'>;
  close(): Promise<void>;
};

export type Added = 'stored' | 'repeat';

/** A delivery with what became of it. */
export type Received = { readonly arrival: Arrival; readonly outcomes: readonly Outcome[] };

type Place = { readonly line: Span; readonly marks: Span[]; owed: boolean; readonly key: string | undefined };

export type InboxOptions = Pick<LogOptions, 'openFile' | 'writeNow' | 'held'> & { readonly limit: number };

/** What is known of an open inbox: where each delivery is, never its body. */
type State = {
  places: Map<string, Place>;
  /** What happened, by `keyOf`: whether an event came by itself or was rebuilt. */
  happened: Set<string>;
  /** On their way to the disk, by id and by what happened. */
  readonly adding: Map<string, Promise<Added>>;
  readonly queues: Queues;
  limit: number;
  writtenLimit: number;
  isRewriting: boolean;
  /** How many nobody waits for: a rewriting may leave them out. */
  idle: number;
  /** After a rewriting that failed: not again before this many are idle. */
  idleAgain: number;
};

export async function openInbox(folder: string, { limit, held, openFile, writeNow }: InboxOptions): Promise<Inbox> {
  const state: State = {
    places: new Map(),
    happened: new Set(),
    adding: new Map(),
    queues: createQueues(),
    limit,
    writtenLimit: 0,
    isRewriting: false,
    idle: 0,
    idleAgain: 0,
  };
  const log = await openLog(join(folder, inboxFile), {
    take(text, span) {
      const line = decodeLine(text.toString('utf8'));
      if (line) place(state, line, span);
      return line !== undefined;
    },
    room: 'ahead',
    deleted: 'restore',
    ...(held && { held }),
    ...(openFile && { openFile }),
    ...(writeNow && { writeNow }),
  });
  const write = (line: InboxLine): Promise<void> =>
    log.append(encodeLine(line), (span) => {
      place(state, line, span);
      if (state.isRewriting || !isWorthIt(state)) return;
      state.isRewriting = true;
      const over = (idleAgain: number) => Object.assign(state, { isRewriting: false, idleAgain });
      log
        .rewrite(() => withoutOldest(state))
        .then(
          () => over(0),
          () => over(state.idle + Math.max(16, state.idle / 2)),
        );
    });
  if (state.writtenLimit !== limit) await write({ kind: 'limit', limit });
  return {
    has: (id) => state.places.has(id),
    add: (arrival) => add(state, arrival, () => write({ kind: 'arrival', arrival })),
    settle: (id, outcome) => write({ kind: 'outcome', id, outcome }),
    read: (id) => read(log, state, id),
    waiting: () => [...state.places].flatMap(([id, { owed }]) => (owed ? [id] : [])),
    latest: (count) => [...state.places.keys()].slice(-count),
    queues: state.queues,
    close: () => log.close(),
  };
}

function add(state: State, arrival: Arrival, write: () => Promise<void>): Promise<Added> {
  const { places, happened, adding } = state;
  const { id } = arrival;
  const [key, twin = ''] = [keyOf(arrival), twinOf(arrival)];
  if (places.has(id) || happened.has(twin)) return Promise.resolve('repeat');
  const before = adding.get(`id ${id}`) ?? adding.get(twin);
  if (before) return before.then(() => 'repeat');
  const names = [`id ${id}`, ...(key === undefined ? [] : [key])];
  const added = write()
    .then((): Added => 'stored')
    .finally(() => {
      for (const name of names) adding.delete(name);
    });
  for (const name of names) adding.set(name, added);
  return added;
}

const isKnown = (event: string | null): boolean => webhookEvents.some((each) => each === event);

/** What an older svc wrote does not say what happened. */
function happeningOf({ happening, unreadable, event, body }: Arrival): string | undefined {
  if (happening !== undefined) return happening ?? undefined;
  if (unreadable !== undefined || !isKnown(event)) return undefined;
  return happeningIn(body);
}

type From = 'live' | 'rebuilt';

const keyOf = (arrival: Arrival): string | undefined => named(arrival, isRebuilt(arrival.id) ? 'rebuilt' : 'live');

/** The same event, which came the other way. */
const twinOf = (arrival: Arrival): string | undefined => named(arrival, isRebuilt(arrival.id) ? 'live' : 'rebuilt');

function named(arrival: Arrival, from: From): string | undefined {
  const happening = happeningOf(arrival);
  return happening === undefined ? undefined : `${from} ${happening}`;
}

function place(state: State, line: InboxLine, span: Span): void {
  if (line.kind === 'limit') {
    state.writtenLimit = line.limit;
    return;
  }
  const id = line.kind === 'arrival' ? line.arrival.id : line.id;
  if (isIdle(state, id)) state.idle--;
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
function isIdle({ places, queues }: State, id: string): boolean {
  const found = places.get(id);
  return found !== undefined && !found.owed && !isRebuilt(id) && !queues.holds(id);
}

/**
 * Seldom, since everything waits for it: a rewriting leaves out at least a third of what it looks at, however much waits.
 * So it costs each delivery the same. Readers look at no more than the limit anyway.
 */
function isWorthIt({ places, idle, idleAgain, limit }: State): boolean {
  return idle > Math.max(idleAgain, limit + Math.max(16, limit, places.size - idle));
}

/** Leaves out the oldest that nobody waits for. */
function withoutOldest(state: State): Rewrite | undefined {
  const { places, limit } = state;
  let surplus = places.size - limit;
  const kept = new Map<string, Place>();
  const head = Buffer.from(encodeLine({ kind: 'limit', limit }));
  const spans: Span[] = [];
  let at = head.length;
  const move = (span: Span): Span => {
    spans.push(span);
    at += span.length;
    return { start: at - span.length, length: span.length };
  };
  for (const [id, found] of places) {
    if (surplus-- > 0 && isIdle(state, id)) continue;
    kept.set(id, { ...found, line: move(found.line), marks: found.marks.map(move) });
  }
  if (kept.size === places.size) return undefined;
  return {
    pieces: [head, ...spans],
    moved: () => {
      state.idle -= places.size - kept.size;
      state.places = kept;
      state.happened = new Set([...kept.values()].flatMap(({ key = [] }) => key));
    },
  };
}

/** What is not where it should be is searched for in the whole file before it is believed to be lost. */
async function read(log: AppendLog, state: State, id: string): Promise<Received | undefined> {
  for (let isSure = false; ; ) {
    const found = state.places.get(id);
    if (!found) return undefined;
    const received = receivedIn(id, await log.read([found.line, ...found.marks]));
    if (received || isSure) return received;
    isSure = await findAgain(log, state, id);
  }
}

/** False where the file was replaced meanwhile: then its place is another again. */
async function findAgain(log: AppendLog, state: State, id: string): Promise<boolean> {
  let line: Span | undefined;
  let marks: Span[] = [];
  const holds = await log.scan((text, span) => {
    const seen = decodeLine(text.toString('utf8'));
    if (seen?.kind === 'arrival' && seen.arrival.id === id) [line, marks] = [span, []];
    if (seen?.kind === 'outcome' && seen.id === id) marks.push(span);
  });
  const known = state.places.get(id);
  if (holds && line && known) state.places.set(id, { ...known, line, marks });
  return holds;
}

function receivedIn(id: string, texts: readonly (Buffer | undefined)[]): Received | undefined {
  const [first, ...marks] = texts.map((text) => text && decodeLine(text.toString('utf8')));
  if (first?.kind !== 'arrival' || first.arrival.id !== id) return undefined;
  return {
    arrival: first.arrival,
    outcomes: marks.flatMap((mark) => (mark?.kind === 'outcome' && mark.id === id ? [mark.outcome] : [])),
  };
}
