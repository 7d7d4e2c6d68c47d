import { type Item, isScheduled } from '../../release/plan.ts';

/** As people see it: what is published with a date to come is scheduled. */
export const stateOf = (entry: Pick<Item, 'status' | 'is_live'>): string =>
  isScheduled(entry) ? 'scheduled' : entry.status;
