import { join } from 'node:path';
import { type AppendLog, type LogOptions, openLog, type Rewrite } from '../../disk/append-log.ts';
import type { Span } from '../../disk/log-file.ts';
import { inboxFile } from './file.ts';
import { type Arrival, decodeLine, encodeLine, type InboxLine, isRebuilt, type Outcome, settles } from './line.ts';
import { createQueues, type Queues } from './queues.ts';

/**
 * The deliveries of a listener, in a file of JSON lines that only grows at its end until it is rewritten
 * without the oldest. What `add` promised is on disk. Only where each line is stays in memory, never a body.
 * One process at a time (`seat.ts`): two writers would overwrite each other.
 */
export type Inbox = {
  has(id: string): boolean;
  /** Resolves once the delivery is durable; rejects where the disk refuses, and then it is not stored. */
  add(arrival: Arrival): Promise<void>;
  /** No answer waits for this: if a crash loses it, the delivery is only forwarded once more. */
  settle(id: string, outcome: Outcome): Promise<void>;
  read(id: string): Promise<Received | undefined>;
  /** Ids that are still to be forwarded, oldest first. */
  waiting(): string[];
  /** The newest, oldest first. */
  latest(count: number): string[];
  /** Of `serve`: what waits for each sink. */
  readonly queues: Pick<Queues, 'first' | 'counts'>;
  close(): Promise<void>;
};

/** A delivery with what became of it. */
export type Received = { readonly arrival: Arrival; readonly outcomes: readonly Outcome[] };

type Place = { readonly line: Span; readonly marks: Span[]; owed: boolean };

export type InboxOptions = Pick<LogOptions, 'openFile' | 'writeNow' | 'held'> & { readonly limit: number };

/** What is known of an open inbox: where each delivery is, never its body. */
type State = {
  places: Map<string, Place>;
  readonly queues: Queues;
  limit: number;
  writtenLimit: number;
  isRewriting: boolean;
};

export async function openInbox(folder: string, { limit, held, openFile, writeNow }: InboxOptions): Promise<Inbox> {
  const state: State = { places: new Map(), queues: createQueues(), limit, writtenLimit: 0, isRewriting: false };
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
      // Seldom, since everything waits for it: readers look at no more than the limit anyway.
      if (state.isRewriting || state.places.size <= limit + Math.max(16, limit)) return;
      state.isRewriting = true;
      const isOver = () => {
        state.isRewriting = false;
      };
      log.rewrite(() => withoutOldest(state)).then(isOver, isOver);
    });
  if (state.writtenLimit !== limit) await write({ kind: 'limit', limit });
  return {
    has: (id) => state.places.has(id),
    add: (arrival) => write({ kind: 'arrival', arrival }),
    settle: (id, outcome) => write({ kind: 'outcome', id, outcome }),
    read: (id) => read(log, state.places.get(id)),
    waiting: () => [...state.places].flatMap(([id, { owed }]) => (owed ? [id] : [])),
    latest: (count) => [...state.places.keys()].slice(-count),
    queues: state.queues,
    close: () => log.close(),
  };
}

function place(state: State, line: InboxLine, span: Span): void {
  if (line.kind === 'limit') state.writtenLimit = line.limit;
  else if (line.kind === 'arrival') {
    state.places.set(line.arrival.id, { line: span, marks: [], owed: line.arrival.to !== undefined });
    state.queues.add(line.arrival);
  } else {
    const known = state.places.get(line.id);
    known?.marks.push(span);
    if (known && settles(line.outcome)) known.owed = false;
    if (known) state.queues.settle(line.id, line.outcome);
  }
}

/** Leaves out the oldest. What is still owed to the app stays: it was accepted, and must not be lost. */
function withoutOldest(state: State): Rewrite | undefined {
  const { places, limit } = state;
  if (places.size <= limit + Math.max(16, limit)) return undefined;
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
    if (surplus-- > 0 && !found.owed && !isRebuilt(id) && !state.queues.holds(id)) continue;
    kept.set(id, { line: move(found.line), marks: found.marks.map(move), owed: found.owed });
  }
  if (kept.size === places.size) return undefined;
  return {
    pieces: [head, ...spans],
    moved: () => {
      state.places = kept;
    },
  };
}

async function read(log: AppendLog, found: Place | undefined): Promise<Received | undefined> {
  if (!found) return undefined;
  const texts = await log.read([found.line, ...found.marks]);
  const [first, ...marks] = texts.map((text) => text && decodeLine(text.toString('utf8')));
  if (first?.kind !== 'arrival') return undefined;
  return {
    arrival: first.arrival,
    outcomes: marks.flatMap((mark) => (mark?.kind === 'outcome' ? [mark.outcome] : [])),
  };
}
