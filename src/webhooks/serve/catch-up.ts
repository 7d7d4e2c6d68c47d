import type { Context } from '../../context.ts';
import { isAway } from '../../database/postgres.ts';
import { onceDone } from '../../promise/once.ts';
import { ofAccount } from '../event/account.ts';
import { rebuildMissed } from '../receive/missed.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import type { Arrival } from '../store/line.ts';
import type { MissedOf } from './options.ts';
import type { Sinks } from './sinks.ts';

type Beside = { readonly store: InboxStore; readonly sinks: Sinks; readonly signal: AbortSignal };

/** What never arrived goes to the sinks too, beside what arrives now. */
export async function catchUp(ctx: Context, all: readonly MissedOf[], { store, sinks, signal }: Beside): Promise<void> {
  const one = ({ missed, account }: MissedOf) => {
    const take = async (arrivals: readonly Arrival[]) => {
      const own = arrivals.map((arrival) => ofAccount(account, arrival));
      const added = await Promise.all(
        own.map((arrival) => store.add({ ...arrival, sinks: sinks.for(arrival.event, account) })),
      );
      sinks.wake();
      return added.filter((each) => each === 'stored').length;
    };
    const notice = (text: string) => ctx.notice(account === undefined ? text : `${account}: ${text}`);
    return rebuildMissed({ clock: ctx.clock, notice }, missed, { take, signal });
  };
  await Promise.all(all.map(one));
}

/**
 * Accepts nothing before the start of the search is stored. A database that is not there yet is asked again for each
 * delivery: until it answers none can be stored anyway.
 */
export async function accepting(store: InboxStore, all: readonly MissedOf[]): Promise<Pick<InboxStore, 'has' | 'add'>> {
  const begin = onceDone(() => Promise.all(all.map(({ missed }) => missed.begin())));
  await begin().catch((error) => {
    if (!isAway(error)) throw error;
  });
  return {
    has: store.has,
    async add(arrival) {
      await begin();
      return store.add(arrival);
    },
  };
}
