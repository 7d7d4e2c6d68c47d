import { join } from 'node:path';
import { type AppendLog, type LogOptions, openLog } from '../../../disk/log/append-log.ts';
import type { Span } from '../../../disk/log/log-file.ts';
import { isDone } from '../../../promise/whether.ts';
import { type Added, type Arrival, encodeLine, type InboxLine, lineIn, type Outcome } from '../line.ts';
import { newestIn } from './backwards.ts';
import { inboxFile, type OnDamage, refuseForeign, tellDamage } from './file.ts';
import { closeIndex } from './index-file.ts';
import { createKeeping, type Keeping } from './keeping.ts';
import { isIndexed, maybeIndexed, read } from './look-up.ts';
import { begin } from './opening.ts';
import type { Queues } from './queues.ts';
import { keyOf, place, type State, twinOf } from './state.ts';

export type Inbox = Awaited<ReturnType<typeof openInbox>>;

export type InboxOptions = Pick<LogOptions, 'openFile' | 'writeNow' | 'held'> & {
  readonly limit: number;
  /** Told at once, of what is there. */
  readonly onDamage?: OnDamage;
  /** For tests: after so many lines they go into the index. */
  readonly indexedAfter?: number;
};

/** Some 30,000 events with what became of them: 30 MB of memory. */
const usuallyIndexedAfter = 100_000;

/**
 * The deliveries of a listener, in a file of JSON lines that only grows at its end until it is rewritten
 * without the oldest. What `add` promised is on disk. In memory is where each line is of what somebody waits for and of
 * what came last, never a body; of the others an index says it, which can be made again from the file.
 * One process at a time (`slot.ts`): two writers would overwrite each other.
 */
export async function openInbox(folder: string, options: InboxOptions) {
  const { limit, held, onDamage, indexedAfter = usuallyIndexedAfter } = options;
  await refuseForeign(folder);
  // Whoever the lock was taken from may still write into the index.
  const { state, isSure } = await begin(folder, { limit, indexedAfter, isFresh: held?.isTakenOver === true });
  const keeping = createKeeping(folder, state, held);
  let log: AppendLog;
  try {
    log = await openAt(folder, state, { options, keeping });
  } catch (error) {
    if (state.index) await closeIndex(state.index);
    throw error;
  }
  tellDamage(folder, state.counted, onDamage);
  keeping.opened(log, { isSure });
  const isDoubtful = () => state.isDoubtful || log.isEdited();
  const write = (line: InboxLine): Promise<void> => {
    const bytes = encodeLine(line);
    return log.append(bytes, (span) => {
      place(state, line, { span, bytes });
      keeping.placed(log);
    });
  };
  if (state.writtenLimit !== limit) await write({ kind: 'limit', limit });
  /** Of `serve`: what waits for each sink. */
  const queues: Pick<Queues, 'first' | 'counts' | 'waits' | 'isDead'> = state.queues;
  return {
    /** Known to be there: what somebody may have taken out of the file is looked for before it counts as there. */
    has: (id: string) => state.places.has(id) && !isDoubtful(),
    /**
     * Resolves once the delivery is durable; rejects where the disk refuses, and then it is not stored. A repeat is not
     * stored: by its id, or a live event that was rebuilt already, or the other way round.
     */
    add(arrival: Arrival): Promise<Added> {
      const { id } = arrival;
      const adding = (isGone: boolean) =>
        add(log, state, { arrival, write: () => write({ kind: 'arrival', arrival }), isGone });
      if (!state.places.has(id) || !isDoubtful()) return adding(false);
      return read(log, state, id).then((found) => adding(!found));
    },
    /** No answer waits for this: if a crash loses it, the delivery is only forwarded once more. */
    settle: (id: string, outcome: Outcome) => write({ kind: 'outcome', id, outcome }),
    /**
     * Undefined where it is not there, or is surely damaged: then the file was searched for it. Rejects where the disk
     * does not answer, which says nothing of the delivery.
     */
    read: (id: string) => read(log, state, id),
    /** Ids that are still to be forwarded, oldest first. */
    waiting: () => [...state.places].flatMap(([id, { owed }]) => (owed ? [id] : [])),
    /** The newest, oldest first. */
    latest: async (count: number) => (await newestIn(folder, count)).reverse(),
    queues,
    close: () => keeping.close(log),
  };
}

type Opening = { readonly options: InboxOptions; readonly keeping: Keeping };

function openAt(
  folder: string,
  state: State,
  { options: { held, openFile, writeNow }, keeping }: Opening,
): Promise<AppendLog> {
  return openLog(join(folder, inboxFile), {
    take(text, span: Span) {
      const line = lineIn(text);
      place(state, line, { span, bytes: text });
      keeping.taken();
      return line !== undefined;
    },
    from: state.end,
    room: 'ahead',
    deleted: 'restore',
    held,
    openFile,
    writeNow,
  });
}

type Adding = { readonly arrival: Arrival; readonly write: () => Promise<void>; readonly isGone: boolean };

function add(log: AppendLog, state: State, { arrival, write, isGone }: Adding): Promise<Added> {
  const { adding } = state;
  const { id } = arrival;
  const [key, twin = ''] = [keyOf(arrival), twinOf(arrival)];
  if ((state.places.has(id) && !isGone) || state.happened.has(twin)) return Promise.resolve('repeat');
  const before = adding.get(`id ${id}`) ?? adding.get(twin);
  if (before) return before.then(() => 'repeat');
  const names = [`id ${id}`, ...(key === undefined ? [] : [key])];
  // Most are new, which the filter in memory says: they wait for no file.
  const isThere = maybeIndexed(state, arrival) ? isIndexed(log, state, arrival) : undefined;
  const over = () => {
    for (const name of names) adding.delete(name);
  };
  const added = storeInTurn(state, { isThere, write });
  added.then(over, over);
  for (const name of names) adding.set(name, added);
  return added;
}

type InTurn = { readonly isThere: Promise<boolean> | undefined; readonly write: () => Promise<void> };

/** What came before another one is written before it, though the index is asked for it first. */
async function storeInTurn(state: State, { isThere, write }: InTurn): Promise<Added> {
  const { asking: before } = state;
  if (!isThere && !before) {
    await write();
    return 'stored';
  }
  // It is waited for only when it is its turn.
  isThere?.catch(() => {});
  const turn = (async () => {
    await before;
    return (await isThere) ? undefined : { written: write() };
  })();
  const over = isDone(turn);
  state.asking = over;
  const begun = await turn;
  if (state.asking === over) state.asking = undefined;
  if (!begun) return 'repeat';
  await begun.written;
  return 'stored';
}
