import { envelopeIn } from '../event/envelope.ts';
import type { Waiting } from '../store/inbox-store.ts';
import type { Filter } from './filter.ts';

/**
 * What the filter says of an event. What is no envelope no filter can judge, and somebody should see it; of several
 * accounts only its own.
 */
export async function verdictOf(filter: Filter | undefined, { arrival }: Waiting): ReturnType<Filter> {
  if (!filter) return 'wanted';
  const isJudged = arrival.account !== undefined || envelopeIn(arrival.body) !== undefined;
  return isJudged ? filter(arrival) : 'wanted';
}
