import type { Param } from '../../command/command.ts';
import { Failure } from '../../errors.ts';
import { type Item, isScheduled } from '../../release/plan.ts';

/** As people see it: what is published with a date to come is scheduled. */
export const stateOf = (entry: Pick<Item, 'status' | 'is_live'>): string =>
  isScheduled(entry) ? 'scheduled' : entry.status;

/** To the service no status is `scheduled`; who has read it in the list is told what is meant by it. */
export const withoutScheduled = <T>(status: Param<T>, hint: string): Param<T> => ({
  ...status,
  parse(texts, ...rest) {
    try {
      return status.parse(texts, ...rest);
    } catch (error) {
      if (!(error instanceof Failure) || texts.at(-1)?.trim().toLowerCase() !== 'scheduled') throw error;
      throw new Failure(error.kind, error.message, { hint });
    }
  },
});
