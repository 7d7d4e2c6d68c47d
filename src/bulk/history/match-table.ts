import { numberColumn } from '../../text/column.ts';
import { digestTable } from '../../text/digest-table.ts';
import type { RowStatus } from '../journal/lines.ts';
import type { Found } from '../journal/on-disk.ts';
import type { RowRequests } from '../rows/row-requests.ts';
import type { Table } from '../rows/row-table.ts';

/** What earlier runs say of a row of this file. */
export type Match = {
  readonly rowStatus: RowStatus;
  /** The row's name there. */
  readonly key: string;
  readonly from: Found;
};

/** Whether a row goes, of which an earlier run says that much, or to one of whose rows it is like. */
export type Goes = (ref: string, match: Match) => boolean;

/** Rows of the file, by their names, of which earlier runs speak. */
export type Matches = Table<string, Match> & {
  keys(): Iterable<string>;
  /** Of a row by its place in the file. */
  hasAt(place: number): boolean;
  /** How many each run speaks of, in the order of the file. */
  runs(): ReadonlyMap<Found, number>;
};

export type OpenMatches = Matches & {
  set(row: string, match: Pick<Match, 'key' | 'from'>): void;
  delete(row: string): void;
};

/** About 4 bytes for a row: which run, and where the row is held in what that run left, if not at its own place. */
export function matchTable({ names }: Pick<RowRequests, 'names'>): OpenMatches {
  const all: Found[] = [];
  const [runAt, keyAt] = [numberColumn(), numberColumn()];
  let size = 0;
  const at = (place: number): Match | undefined => {
    const from = all[runAt.get(place) ?? -1];
    if (!from) return undefined;
    const key = keyAt.get(place) ?? place;
    const rowStatus = from.past.rowStatuses.at(key);
    return rowStatus && { rowStatus, key: from.past.rowStatuses.nameAt(key), from };
  };
  const hasAt = (place: number) => place >= 0 && runAt.get(place) !== undefined;
  const numberOf = (from: Found): number => {
    const known = all.indexOf(from);
    return known < 0 ? all.push(from) - 1 : known;
  };
  function* pairs() {
    for (let place = 0; place < names.size(); place++) {
      const match = at(place);
      if (match) yield [names.nameAt(place), match] as const;
    }
  }
  return {
    get size() {
      return size;
    },
    hasAt,
    has: (row) => hasAt(names.find(row)),
    get(row) {
      const place = names.find(row);
      return place < 0 ? undefined : at(place);
    },
    *keys() {
      for (let place = 0; place < names.size(); place++) if (hasAt(place)) yield names.nameAt(place);
    },
    *values() {
      for (const [, match] of pairs()) yield match;
    },
    [Symbol.iterator]: pairs,
    runs() {
      const counts = new Map<Found, number>();
      for (let place = 0; place < names.size(); place++) {
        const from = all[runAt.get(place) ?? -1];
        if (from) counts.set(from, (counts.get(from) ?? 0) + 1);
      }
      return counts;
    },
    set(row, { key, from }) {
      const place = names.find(row);
      if (place < 0) return;
      if (!hasAt(place)) size++;
      runAt.set(place, numberOf(from));
      const held = from.past.rowStatuses.placeOf(key);
      keyAt.set(place, held === place ? undefined : held);
    },
    delete(row) {
      const place = names.find(row);
      if (!hasAt(place)) return;
      size--;
      runAt.set(place, undefined);
      keyAt.set(place, undefined);
    },
  };
}

/** Names that earlier runs have for rows of the file, where no row has that name now. */
export function otherNames(matches: Matches, refs: Pick<RowRequests, 'has'>) {
  const names = digestTable();
  for (const { key } of matches.values()) if (!refs.has(key)) names.add(key);
  return { has: (name: string) => names.find(name) >= 0 };
}
