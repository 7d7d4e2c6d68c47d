import { messageOf } from '../../errors.ts';
import type { Waiting } from '../store/inbox-store.ts';
import type { Became } from './outcomes.ts';
import type { Answer } from './sink.ts';
import { verdictOf } from './verdict.ts';
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
