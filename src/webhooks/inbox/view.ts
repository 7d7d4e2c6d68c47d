import { readInbox } from './file.ts';
import type { Arrival, Outcome } from './line.ts';
import { settles } from './line.ts';
import { seats } from './seat.ts';

type Kept<T> = { readonly at: string; readonly value: T | undefined; readonly outcomes: Outcome[]; owed: boolean };

/**
 * What the profile's listeners ever received and still keep, oldest first, each id once. Of each delivery only what
 * `view` makes of it stays in memory: an inbox may be larger. Those without a view are left out.
 */
export async function received<T>(
  root: string,
  view: (arrival: Arrival) => T | undefined,
): Promise<{ readonly value: T; readonly outcomes: readonly Outcome[] }[]> {
  const all = new Map<string, Kept<T>>();
  for (const folder of await seats(root)) for (const [id, kept] of await receivedBy(folder, view)) all.set(id, kept);
  const ordered = [...all.values()].sort(byTime);
  return ordered.flatMap(({ value, outcomes }) => (value === undefined ? [] : [{ value, outcomes }]));
}

function byTime(a: { readonly at: string }, b: { readonly at: string }): number {
  if (a.at === b.at) return 0;
  return a.at < b.at ? -1 : 1;
}

async function receivedBy<T>(folder: string, view: (arrival: Arrival) => T | undefined): Promise<Map<string, Kept<T>>> {
  const kept = new Map<string, Kept<T>>();
  let limit = Number.POSITIVE_INFINITY;
  for await (const line of readInbox(folder)) {
    if (line.kind === 'limit') limit = line.limit;
    else if (line.kind === 'arrival') {
      const { id, at, to } = line.arrival;
      kept.set(id, { at, value: view(line.arrival), outcomes: [], owed: to !== undefined });
    } else {
      const known = kept.get(line.id);
      known?.outcomes.push(line.outcome);
      if (known && settles(line.outcome)) known.owed = false;
    }
  }
  // The file may hold more than the limit until it is rewritten.
  let surplus = kept.size - limit;
  for (const [id, { owed }] of kept) if (surplus-- > 0 && !owed) kept.delete(id);
  return kept;
}
