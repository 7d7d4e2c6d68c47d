import { type About, aboutText } from './entry.ts';
import { type Entry, entriesIn } from './read.ts';

/** An entry of which nobody knows what became of it, with what its lines say. */
export type Unsettled = { readonly seq: number; readonly about: About; readonly text: string };

/** The entries of rows that may yet be settled: what earlier runs left, and what this one could not tell. */
export type UnsettledRows = {
  /** It was begun by this process. */
  begun(seq: number): void;
  unknown(entry: Unsettled): void;
  /** Takes out those of that row and operation. */
  take(row: string, operation: string): Promise<readonly Unsettled[]>;
};

export function unsettledRows(root: string): UnsettledRows {
  const own = new Set<number>();
  const told: Unsettled[] = [];
  let earlier: Promise<Map<string, Unsettled[]>> | undefined;
  const load = async () => {
    const rows = new Map<string, Unsettled[]>();
    for (const { seq, row, outcome, ...entry } of await entriesIn(root)) {
      if (outcome !== 'unknown' || row === undefined || own.has(seq)) continue;
      const about = { ...aboutOf(entry), row };
      const key = keyOf(row, about.operation);
      rows.set(key, [...(rows.get(key) ?? []), { seq, about, text: aboutText(about) }]);
    }
    return rows;
  };
  return {
    begun: (seq) => void own.add(seq),
    unknown(entry) {
      if (entry.about.row !== undefined) told.push(entry);
    },
    async take(row, operation) {
      earlier ??= load();
      const key = keyOf(row, operation);
      const rows = await earlier;
      const left = rows.get(key) ?? [];
      rows.delete(key);
      const ours = told.filter(({ about }) => keyOf(about.row, about.operation) === key);
      for (const one of ours) told.splice(told.indexOf(one), 1);
      return [...left, ...ours];
    },
  };
}

const keyOf = (row: string | undefined, operation: string | null): string => `${operation} ${row}`;

/** What both lines of an entry say. */
function aboutOf(entry: Omit<Entry, 'seq' | 'outcome' | 'row'>): Omit<About, 'row'> {
  const { time: _, status: __, body: ___, prev: ____, ended_at: _____, ...about } = entry;
  return about;
}
