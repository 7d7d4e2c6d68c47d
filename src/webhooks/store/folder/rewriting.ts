import type { FoundLine, Span } from '../../../disk/log/log-file.ts';
import type { Kept } from '../../../disk/log/rewrite-beside.ts';
import { encodeLine, isRebuilt, lineIn } from '../line.ts';
import { addBytes, joinEntries, noEntries } from './entries.ts';
import { countLine, noneCounted } from './file.ts';
import {
  emptyShelf,
  enter,
  isOpen,
  moveIntoIndex,
  type Rewriting,
  type Shelf,
  type ShortLine,
  type State,
  shelve,
  shortened,
} from './state.ts';

/**
 * A rewriting leaves out at least a third of what it looks at, however much waits: so it costs each delivery the same.
 * Readers look at no more than the limit anyway.
 */
export function isWorthIt({ arrivals, idle, idleAgain, limit }: State): boolean {
  return idle > Math.max(idleAgain, limit + Math.max(16, limit, arrivals - idle));
}

const nothingLater = (): Rewriting['later'] => ({ entries: noEntries(), arrivals: 0, counted: noneCounted() });

export const newRewriting = (): Rewriting => ({
  touched: new Set(),
  later: nothingLater(),
  next: emptyShelf(),
  isStale: false,
});

/** How many lines are looked at in one turn of the event loop. */
const inOneTurn = 1_000;

type Before = { readonly folder: string; readonly end: number; readonly lines: AsyncIterable<readonly FoundLine[]> };

/** Leaves out the oldest that nobody waits for, of what stands before `end`. What comes meanwhile stays. */
export function withoutOldest(state: State, rewriting: Rewriting, { folder, end, lines }: Before): Kept {
  const { next } = rewriting;
  // What came since the rewriting was asked for stands before `end`, too.
  rewriting.later = nothingLater();
  const surplus = state.arrivals - state.limit;
  let left = 0;
  async function* pieces() {
    const head = Buffer.from(encodeLine({ kind: 'limit', limit: state.limit }));
    takeDown(next, head);
    let some: (Uint8Array | Span)[] = [head];
    next.end = head.length;
    let [looked, seen] = [0, 0];
    for await (const found of lines) {
      for (const { text, span } of found) {
        if (++looked % inOneTurn === 0) {
          yield some;
          some = [];
          await new Promise((resolve) => setImmediate(resolve));
        }
        const line = knownAt(state, { text, span }) ?? shortIn(text);
        if (!line) continue;
        if (line.kind === 'arrival') seen++;
        const { id } = line;
        // What became of one that was left out stands behind it, at times among those that stay: then it goes the next time.
        if (seen <= surplus && !isOpen(state, id) && !isRebuilt(id)) {
          if (line.kind === 'arrival') left++;
          continue;
        }
        const moved = { start: next.end, length: span.length };
        shelve(next, line, moved);
        enter(next.entries, line, moved);
        takeDown(next, text, '\n');
        if (line.kind === 'arrival') next.arrivals++;
        some.push(span);
        next.end += span.length;
        if (next.entries.starts.length >= state.indexedAfter) moveIntoIndex(next, folder, state);
      }
    }
    yield some;
  }
  const moved: Kept['moved'] = ({ by }) => {
    const { later } = rewriting;
    putBehind(state, rewriting, { from: end, by });
    joinEntries(next.entries, later.entries, { to: next.end, by });
    next.end = state.end + by;
    next.arrivals += later.arrivals;
    next.counted = { ...later.counted, lines: next.counted.lines + later.counted.lines };
    state.idle -= left;
    Object.assign(state, next);
  };
  return { pieces: pieces(), holds: () => !rewriting.isStale, moved };
}

function shortIn(text: Buffer): ShortLine | undefined {
  const line = lineIn(text);
  return line && line.kind !== 'limit' ? shortened(line) : undefined;
}

const lineBegins = '{"id":"';
const quote = 34;

/**
 * The delivery that is known to stand there, told by its id alone: to read all of it once more would take half as long as
 * to receive it.
 */
function knownAt({ places }: State, { text, span }: FoundLine): ShortLine | undefined {
  const end = text.indexOf(quote, lineBegins.length);
  const begin = text.toString('utf8', 0, Math.max(end, 0));
  // An id with characters that JSON writes otherwise is read as JSON.
  if (!begin.startsWith(lineBegins) || begin.includes('\\')) return undefined;
  const id = begin.slice(lineBegins.length);
  const place = places.get(id);
  if (place?.line.start !== span.start || place.line.length !== span.length) return undefined;
  return { kind: 'arrival', id, owed: place.owed, key: place.key };
}

function takeDown({ entries, counted }: Shelf, ...parts: readonly (Uint8Array | string)[]): void {
  for (const part of parts) addBytes(entries, part);
  countLine(counted, true);
}

/** What came, or changed, since the rewriting began. */
function putBehind(
  { places }: State,
  { next, touched }: Rewriting,
  { from, by }: { readonly from: number; readonly by: number },
): void {
  const shifted = ({ start, length }: Span): Span => ({ start: start + by, length });
  for (const id of touched) {
    const found = places.get(id);
    const isNew = found !== undefined && found.line.start >= from;
    const before = next.places.get(id);
    if (!found || (!isNew && !before)) continue;
    const marks = found.marks.filter(({ start }) => start >= from).map(shifted);
    next.places.set(id, {
      ...found,
      line: before?.line ?? shifted(found.line),
      marks: [...(before?.marks ?? []), ...marks],
    });
    if (found.key !== undefined) next.happened.add(found.key);
  }
}
