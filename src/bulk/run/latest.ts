/** What this run has made, as far as it tells what was there before the next row. */
export type Latest = {
  /** How many records are noted so far. */
  readonly count: () => number;
  /** `since`: how many were noted when its row left first. `madeMs`: when the service says that it was made. */
  readonly note: (id: number, made: { readonly since: number; readonly ms: number | undefined }) => void;
  /** Any of these may have been made last: answers need not come in the order in which rows were carried out. */
  readonly ids: () => readonly number[];
  /** By hand: Math.max of 10,000 ids for each row would cost more than the row. */
  readonly largest: () => number;
  /** When the latest of them was made; undefined where no answer has said it. */
  readonly madeMs: () => number | undefined;
};

/** A record is older than any whose row left after its own answer had come; so of those that are left there are as many as lanes. */
export function latestMade(): Latest {
  const noted = new Map<number, number>();
  let [count, largest] = [0, 0];
  let latestMs: number | undefined;
  return {
    count: () => count,
    note(id, { since, ms }) {
      for (const [one, at] of noted) if (at <= since) noted.delete(one);
      noted.set(id, ++count);
      largest = Math.max(largest, id);
      // A list may leave out the fractions of a second that an answer shows.
      if (ms !== undefined) latestMs = Math.max(latestMs ?? 0, Math.floor(ms / 1000) * 1000);
    },
    ids: () => [...noted.keys()],
    largest: () => largest,
    madeMs: () => latestMs,
  };
}
