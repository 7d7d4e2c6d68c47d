import { hinted } from '../../command/at-most.ts';
import type { Param } from '../../command/command.ts';
import { type Item, isScheduled } from '../../release/plan.ts';

/** As people see it: what is published with a date to come is scheduled. */
export const stateOf = (entry: Pick<Item, 'status' | 'is_live'>): string =>
  isScheduled(entry) ? 'scheduled' : entry.status;

/** To the service no status is `scheduled`; who has read it in the list is told what is meant by it. */
export const withoutScheduled = <T>(status: Param<T>, hint: string): Param<T> =>
  hinted(status, (text) => (text.trim().toLowerCase() === 'scheduled' ? hint : undefined));
