import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { type Missed, rebuildMissed } from '../receive/missed.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import type { Arrival } from '../store/line.ts';
import type { Sinks } from './sinks.ts';

type Beside = { readonly store: InboxStore; readonly sinks: Sinks; readonly signal: AbortSignal };

/** What never arrived goes to the sinks too, beside what arrives now. */
export function catchUp(ctx: Context, missed: Missed, { store, sinks, signal }: Beside): Promise<void> {
  const take = async (arrivals: readonly Arrival[]) => {
    const added = await Promise.all(arrivals.map((one) => store.add({ ...one, sinks: sinks.for(one.event) })));
    sinks.wake();
    return added.filter((each) => each === 'stored').length;
  };
  return rebuildMissed(ctx, missed, { take, signal });
}

/**
 * Accepts nothing before the start of the search is stored. A database that is not there yet is asked again for each
 * delivery: until it answers none can be stored anyway.
 */
export async function accepting(store: InboxStore, missed: Missed): Promise<Pick<InboxStore, 'has' | 'add'>> {
  let begun: Promise<void> | undefined;
  const begin = () => {
    begun ??= missed.begin().catch((error) => {
      begun = undefined;
      throw error;
    });
    return begun;
  };
  await begin().catch((error) => {
    if (!(error instanceof Failure) || error.kind !== 'network') throw error;
  });
  return {
    has: store.has,
    async add(arrival) {
      await begin();
      return store.add(arrival);
    },
  };
}
