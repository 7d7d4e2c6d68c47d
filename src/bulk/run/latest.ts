/** What this run has made, as far as it tells what was there before the next row. */
export type Latest = ReturnType<typeof latestMade>;

type Made = {
  /** How many were noted when its row left first. */
  readonly since: number;
  /** When the row left, by the `Date` of the service's answers. */
  readonly leftMs?: number | undefined;
  /** When the service says that it was made. */
  readonly ms: number | undefined;
};

/** A record is older than any whose row left after its own answer had come; so of those that are left there are as many as lanes. */
export function latestMade() {
  const noted = new Map<number, number>();
  let [count, largest] = [0, 0];
  let latestMs: number | undefined;
  let behindMs = 0;
  return {
    /** How many records are noted so far. */
    count: () => count,
    note(id: number, { since, leftMs, ms }: Made) {
      for (const [one, at] of noted) if (at <= since) noted.delete(one);
      noted.set(id, ++count);
      largest = Math.max(largest, id);
      // A list may leave out the fractions of a second that an answer shows.
      if (ms === undefined) return;
      latestMs = Math.max(latestMs ?? 0, Math.floor(ms / 1000) * 1000);
      behindMs = Math.max(behindMs, (leftMs ?? ms) - ms);
    },
    /** Any of these may have been made last: answers need not come in the order in which rows were carried out. */
    ids: () => [...noted.keys()],
    /** By hand: Math.max of 10,000 ids for each row would cost more than the row. */
    largest: () => largest,
    /** When the latest of them was made; undefined where no answer has said it. */
    madeMs: () => latestMs,
    /** How far what the service says of when a record was made is behind the `Date` of its answers, in milliseconds. */
    behindMs: () => behindMs,
  };
}
