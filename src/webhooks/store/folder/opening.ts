import type { FileHandle } from 'node:fs/promises';
import { readAt } from '../../../disk/log/log-file.ts';
import { lineIn } from '../line.ts';
import { openInboxFile } from './file.ts';
import { closeIndex, isAsItWas, removeIndexes } from './index-file.ts';
import { forgetKnown, type Known, openKnown, wasChanged } from './known.ts';
import { createQueues } from './queues.ts';
import { emptyShelf, isOpen, type State, shelve, shortened } from './state.ts';

type Wanted = {
  readonly limit: number;
  readonly indexedAfter: number;
  /** Nothing that is known counts. */
  readonly isFresh: boolean;
};

/** `isSure`: nobody can have changed the inbox since. */
type Begun = { readonly state: State; readonly isSure: boolean };

/** What is known already of the inbox in the folder; nothing where its index does not fit. */
export async function begin(folder: string, wanted: Wanted): Promise<Begun> {
  const inbox = wanted.isFresh ? undefined : await openInboxFile(folder);
  const begun = inbox && (await goOn(folder, inbox, wanted).finally(() => inbox.close()));
  if (begun) return begun;
  await forgetKnown(folder);
  return { state: newState(wanted), isSure: true };
}

function newState({ limit, indexedAfter }: Wanted): State {
  return {
    ...emptyShelf(),
    adding: new Map(),
    asking: undefined,
    queues: createQueues(),
    limit,
    indexedAfter,
    indexedAgain: indexedAfter,
    writtenLimit: 0,
    rewriting: undefined,
    idle: 0,
    idleAgain: 0,
    isDoubtful: false,
  };
}

async function goOn(folder: string, inbox: FileHandle, wanted: Wanted): Promise<Begun | undefined> {
  const found = await openKnown(folder, inbox, 'r+');
  const isChanged = await wasChanged(folder);
  if (!found) return undefined;
  const { index, known } = found;
  const state = newState(wanted);
  const atOnce = { pause: async () => {}, isOver: () => false };
  const holds = (isChanged !== true || (await isAsItWas(index, inbox, atOnce))) && (await takeIn(state, inbox, known));
  if (!holds) {
    await closeIndex(index);
    return undefined;
  }
  await removeIndexes(folder, index.name);
  state.index = index;
  return { state, isSure: isChanged !== undefined };
}

/** What somebody still waits for is read again; false where it does not stand there any more. */
async function takeIn(state: State, inbox: FileHandle, known: Known): Promise<boolean> {
  for (const span of known.open) {
    const line = lineIn(await readAt(inbox, span));
    if (!line || line.kind === 'limit') return false;
    shelve(state, shortened(line), span);
    if (line.kind === 'arrival') state.queues.add(line.arrival);
    else state.queues.settle(line.id, line.outcome);
  }
  for (const sink of known.sinks) state.queues.know(sink);
  state.writtenLimit = known.limit;
  state.arrivals = known.arrivals;
  state.idle = known.idle;
  state.counted = { ...known.counted };
  state.end = known.end;
  return true;
}

/** What is known now, where everything up to the index's end stands in memory or in the index. */
export function knownOf(state: State): Known {
  const open = [...state.places].flatMap(([id, { line, marks }]) => (isOpen(state, id) ? [line, ...marks] : []));
  return {
    limit: state.writtenLimit,
    arrivals: state.arrivals,
    idle: state.idle,
    sinks: [...state.queues.counts().keys()],
    counted: { ...state.counted },
    end: state.end,
    open: open.sort((a, b) => a.start - b.start),
  };
}
