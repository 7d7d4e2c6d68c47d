import { messageOf } from '../../errors.ts';
import { envelopeIn } from '../event/envelope.ts';
import type { Waiting } from '../store/inbox-store.ts';
import type { Filter } from './filter.ts';
import type { Became } from './outcomes.ts';
import type { Answer } from './sink.ts';
import type { Window } from './window.ts';
import type { WorkerOptions } from './worker-state.ts';

export type Refusal = {
  readonly error: string;
  readonly ms: number;
  readonly status?: number;
  readonly isFinal?: boolean;
};

/** Asks the filter, and gives it to the sink. `cut`: nothing is known of it. Never rejects. */
export async function tryOne(
  options: Pick<WorkerOptions, 'filter' | 'clock' | 'sink'>,
  { cut, mayDeliver }: Pick<Window, 'cut' | 'mayDeliver'>,
  one: Waiting,
): Promise<Became | { readonly refused: Refusal } | 'cut'> {
  const { filter, clock, sink } = options;
  const began = clock.ticks();
  const took = () => Math.round(clock.ticks() - began);
  const verdict = await verdictOf(filter, one);
  if (verdict === 'unwanted') return { state: 'skipped', ms: 0, tries: one.tries };
  if (verdict !== 'wanted') return { refused: { error: verdict.undecided, ms: took() } };
  if (cut.aborted || !mayDeliver()) return 'cut';
  const answer: Answer = await sink
    .send([one.arrival], cut)
    .catch((error: unknown) => ({ how: 'refused', error: messageOf(error) }));
  const ms = took();
  if (answer.how === 'cut') return 'cut';
  if (answer.how === 'refused') return { refused: { ...answer, ms } };
  const { status } = answer;
  return { state: 'delivered', ms, tries: one.tries + 1, ...(status !== undefined && { status }) };
}

/**
 * What the filter says of an event. What is no envelope no filter can judge, and somebody should see it; of several
 * accounts only its own.
 */
export async function verdictOf(filter: Filter | undefined, { arrival }: Waiting): ReturnType<Filter> {
  if (!filter) return 'wanted';
  const isJudged = arrival.account !== undefined || envelopeIn(arrival.body) !== undefined;
  return isJudged ? filter(arrival) : 'wanted';
}
