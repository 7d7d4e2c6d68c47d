import type { Arrival, Outcome } from '../line.ts';
import { isOwed, settles } from '../line.ts';
import { type Damaged, readInbox } from './file.ts';
import { slots } from './slot.ts';

type Kept<T> = { readonly at: string; readonly value: T | undefined; readonly outcomes: Outcome[]; owed: boolean };

/**
 * What the profile's listeners ever received and still keep, oldest first, each id once. Of each delivery only what
 * `view` makes of it stays in memory: an inbox may be larger. Those without a view are left out.
 */
export const received = async <T>(root: string, view: View<T>, onDamage?: OnDamage): Promise<Seen<T>[]> =>
  receivedIn(await slots(root), view, onDamage);

type OnDamage = (damaged: Damaged) => void;

export type View<T> = (arrival: Arrival) => T | undefined;
export type Seen<T> = { readonly value: T; readonly outcomes: readonly Outcome[] };

/** The same of any inboxes. */
export async function receivedIn<T>(
  folders: readonly string[],
  view: View<T>,
  onDamage?: OnDamage,
): Promise<Seen<T>[]> {
  const all = new Map<string, Kept<T>>();
  for (const folder of folders) for (const [id, kept] of await receivedBy(folder, view, onDamage)) all.set(id, kept);
  const ordered = [...all.values()].sort(byTime);
  return ordered.flatMap(({ value, outcomes }) => (value === undefined ? [] : [{ value, outcomes }]));
}

function byTime(a: { readonly at: string }, b: { readonly at: string }): number {
  if (a.at === b.at) return 0;
  return a.at < b.at ? -1 : 1;
}

async function receivedBy<T>(folder: string, view: View<T>, onDamage?: OnDamage): Promise<Map<string, Kept<T>>> {
  const kept = new Map<string, Kept<T>>();
  let limit = Number.POSITIVE_INFINITY;
  for await (const line of readInbox(folder, onDamage)) {
    if (line.kind === 'limit') limit = line.limit;
    else if (line.kind === 'arrival') {
      const { id, at, sinks = [] } = line.arrival;
      // `serve` itself knows what it must keep.
      const owed = isOwed(line.arrival) || sinks.length > 0;
      kept.set(id, { at, value: view(line.arrival), outcomes: [], owed });
    } else {
      const known = kept.get(line.id);
      known?.outcomes.push(line.outcome);
      if (known && settles(line.outcome) && line.outcome.state === undefined) known.owed = false;
    }
  }
  // The file may hold more than the limit until it is rewritten.
  let surplus = kept.size - limit;
  for (const [id, { owed }] of kept) if (surplus-- > 0 && !owed) kept.delete(id);
  return kept;
}
