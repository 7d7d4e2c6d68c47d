import type { Kept } from '../../../disk/append-log.ts';
import type { Span } from '../../../disk/log-file.ts';
import { encodeLine } from '../line.ts';
import { isIdle, type Place, type Rewriting, type State } from './state.ts';

/**
 * A rewriting leaves out at least a third of what it looks at, however much waits: so it costs each delivery the same.
 * Readers look at no more than the limit anyway.
 */
export function isWorthIt({ places, idle, idleAgain, limit }: State): boolean {
  return idle > Math.max(idleAgain, limit + Math.max(16, limit, places.size - idle));
}

/** How many deliveries are looked at in one turn of the event loop. */
const inOneTurn = 1_000;

/** Leaves out the oldest that nobody waits for, of what stands before `end`. What comes meanwhile stays. */
export function withoutOldest(state: State, rewriting: Rewriting, end: number): Kept {
  const kept = new Map<string, Place>();
  const happened = new Set<string>();
  const { places } = state;
  const { size } = places;
  let left = 0;
  const keep = (id: string, found: Place) => {
    kept.set(id, found);
    if (found.key !== undefined) happened.add(found.key);
  };
  async function* pieces() {
    const head = Buffer.from(encodeLine({ kind: 'limit', limit: state.limit }));
    let some: (Uint8Array | Span)[] = [head];
    let at = head.length;
    const move = (span: Span): Span => {
      some.push(span);
      at += span.length;
      return { start: at - span.length, length: span.length };
    };
    let seen = 0;
    for (const [id, found] of places) {
      // What came since stands behind them.
      if (seen++ === size) break;
      if (seen <= size - state.limit && isIdle(state, id)) left++;
      else keep(id, { ...found, line: move(found.line), marks: marksBefore(found, end).map(move) });
      if (seen % inOneTurn > 0) continue;
      yield some;
      some = [];
      await new Promise((resolve) => setImmediate(resolve));
    }
    yield some;
  }
  const moved: Kept['moved'] = ({ from, by }) => {
    const shifted = ({ start, length }: Span): Span => ({ start: start + by, length });
    for (const id of rewriting.touched) {
      const found = places.get(id);
      const isNew = found !== undefined && found.line.start >= from;
      const before = kept.get(id);
      if (!found || (!isNew && !before)) continue;
      const marks = found.marks.filter(({ start }) => start >= from).map(shifted);
      keep(id, {
        ...found,
        line: before?.line ?? shifted(found.line),
        marks: [...(before?.marks ?? []), ...marks],
      });
    }
    state.idle -= left;
    state.places = kept;
    state.happened = happened;
  };
  return { pieces: pieces(), holds: () => !rewriting.isStale, moved };
}

const marksBefore = ({ marks }: Place, end: number): Span[] => marks.filter(({ start }) => start < end);
