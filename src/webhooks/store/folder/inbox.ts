import { join } from 'node:path';
import { type AppendLog, type LogOptions, openLog } from '../../../disk/append-log.ts';
import type { Span } from '../../../disk/log-file.ts';
import { type Added, type Arrival, decodeLine, encodeLine, type InboxLine, type Outcome } from '../line.ts';
import { createDamage, type Damaged, inboxFile, refuseForeign } from './file.ts';
import { createQueues, type Queues } from './queues.ts';
import { isWorthIt, withoutOldest } from './rewriting.ts';
import { keyOf, place, type State, twinOf } from './state.ts';

/**
 * The deliveries of a listener, in a file of JSON lines that only grows at its end until it is rewritten
 * without the oldest. What `add` promised is on disk. Only where each line is stays in memory, never a body.
 * One process at a time (`slot.ts`): two writers would overwrite each other.
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
  readonly queues: Pick<Queues, 'first' | 'counts' | 'waits' | 'isDead'>;
  close(): Promise<void>;
};

/** A delivery with what became of it. */
export type Received = { readonly arrival: Arrival; readonly outcomes: readonly Outcome[] };

export type InboxOptions = Pick<LogOptions, 'openFile' | 'writeNow' | 'held'> & {
  readonly limit: number;
  /** Told at once, of what is there. */
  readonly onDamage?: (damaged: Damaged) => void;
};

export async function openInbox(
  folder: string,
  { limit, held, openFile, writeNow, onDamage }: InboxOptions,
): Promise<Inbox> {
  const state: State = {
    places: new Map(),
    happened: new Set(),
    adding: new Map(),
    queues: createQueues(),
    limit,
    writtenLimit: 0,
    rewriting: undefined,
    idle: 0,
    idleAgain: 0,
  };
  await refuseForeign(folder);
  const path = join(folder, inboxFile);
  const damage = createDamage(path);
  const log = await openLog(path, {
    take(text, span) {
      const line = decodeLine(text.toString('utf8'));
      if (line) place(state, line, span);
      damage.see(line !== undefined);
      return line !== undefined;
    },
    room: 'ahead',
    deleted: 'restore',
    ...(held && { held }),
    ...(openFile && { openFile }),
    ...(writeNow && { writeNow }),
  });
  const damaged = damage.found();
  if (damaged) onDamage?.(damaged);
  const write = (line: InboxLine): Promise<void> =>
    log.append(encodeLine(line), (span) => {
      place(state, line, span);
      if (state.rewriting || !isWorthIt(state)) return;
      const rewriting = { touched: new Set<string>(), isStale: false };
      state.rewriting = rewriting;
      const over = (idleAgain: number) => Object.assign(state, { rewriting: undefined, idleAgain });
      log
        .rewriteBeside((end) => withoutOldest(state, rewriting, end))
        .then(
          () => over(0),
          () => over(state.idle + Math.max(16, state.idle / 2)),
        );
    });
  if (state.writtenLimit !== limit) await write({ kind: 'limit', limit });
  return {
    // What somebody may have taken out of the file is looked for before it counts as there.
    has: (id) => state.places.has(id) && !log.isEdited(),
    async add(arrival) {
      const { id } = arrival;
      const isGone = log.isEdited() && state.places.has(id) && !(await read(log, state, id));
      return add(state, arrival, () => write({ kind: 'arrival', arrival }), isGone);
    },
    settle: (id, outcome) => write({ kind: 'outcome', id, outcome }),
    read: (id) => read(log, state, id),
    waiting: () => [...state.places].flatMap(([id, { owed }]) => (owed ? [id] : [])),
    latest: (count) => [...state.places.keys()].slice(-count),
    queues: state.queues,
    close: () => log.close(),
  };
}

function add(state: State, arrival: Arrival, write: () => Promise<void>, isGone: boolean): Promise<Added> {
  const { places, happened, adding } = state;
  const { id } = arrival;
  const [key, twin = ''] = [keyOf(arrival), twinOf(arrival)];
  if ((places.has(id) && !isGone) || happened.has(twin)) return Promise.resolve('repeat');
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
  if (state.rewriting) state.rewriting.isStale = true;
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
