import { messageOf } from '../../errors.ts';
import { envelopeIn } from '../event/envelope.ts';
import type { Waiting } from '../store/inbox-store.ts';
import type { Filter } from './filter.ts';
import type { Became } from './outcomes.ts';
import { isLast } from './retry.ts';
import type { Answer, Sink } from './sink.ts';
import type { Window } from './window.ts';
import { settle, type WorkerOptions, type WorkerState } from './worker-state.ts';

export type Refusal = Omit<Extract<Answer, { how: 'refused' }>, 'how'> & { readonly ms: number };

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
  const answer = await giveTo(sink, [one], cut);
  const ms = took();
  if (answer.how === 'cut') return 'cut';
  if (answer.how === 'refused') return { refused: { ...answer, ms } };
  return { state: 'delivered', ms, tries: one.tries + 1, status: answer.status };
}

/** Whether it is a dead letter now. */
export function countTry(state: WorkerState, one: Waiting, refusal: Refusal): boolean {
  const { ms, error, status, isFinal = false } = refusal;
  const isDead = isFinal || isLast(state.retry, one, state.clock);
  settle(state, one, { state: isDead ? 'dead' : 'failed', ms, tries: one.tries + 1, error, status });
  return isDead;
}

/** What the sink throws counts as a refusal. Never rejects. */
export function giveTo(sink: Sink, some: readonly Waiting[], cut: AbortSignal): Promise<Answer> {
  const arrivals = some.map(({ arrival }) => arrival);
  return sink.send(arrivals, cut).catch((error: unknown) => ({ how: 'refused', error: messageOf(error) }));
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
