import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import type { Arrival } from '../inbox/line.ts';
import type { Keeper } from '../keeper/keeper.ts';
import { type Missed, rebuildMissed } from '../rebuild/missed.ts';
import type { Sinks } from './sinks.ts';

type Beside = { readonly keeper: Keeper; readonly sinks: Sinks; readonly signal: AbortSignal };

/** What never arrived goes to the sinks too, beside what arrives now. */
export function catchUp(ctx: Context, missed: Missed, { keeper, sinks, signal }: Beside): Promise<void> {
  const take = async (arrivals: readonly Arrival[]) => {
    const added = await Promise.all(arrivals.map((one) => keeper.add({ ...one, sinks: sinks.for(one.event) })));
    sinks.wake();
    return added.filter((each) => each === 'stored').length;
  };
  return rebuildMissed(ctx, missed, { take, signal });
}

/**
 * Accepts nothing before the start of the search is stored. A database that is not there yet is asked again for each
 * delivery: until it answers none can be stored anyway.
 */
export async function accepting(keeper: Keeper, missed: Missed): Promise<Pick<Keeper, 'has' | 'add'>> {
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
    has: keeper.has,
    async add(arrival) {
      await begin();
      return keeper.add(arrival);
    },
  };
}
