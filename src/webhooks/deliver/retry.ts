import type { Clock } from '../../context.ts';
import type { Waiting } from '../store/inbox-store.ts';

export type Retry = {
  readonly attempts: number;
  readonly maxAgeMs: number;
  /** Before the second attempt; each further pause is twice as long. */
  readonly pauseMs: number;
  /** Default: an hour. */
  readonly longestPauseMs?: number;
};

const usualLongestPauseMs = 3_600_000;

/** After so many tries. */
export const pauseAfter = (retry: Retry, tries: number): number =>
  Math.min(retry.pauseMs * 2 ** (tries - 1), retry.longestPauseMs ?? usualLongestPauseMs);

/** Whether one that was just refused once more is a dead letter now. */
export const isLast = (retry: Retry, { tries, since }: Omit<Waiting, 'arrival'>, clock: Pick<Clock, 'now'>): boolean =>
  tries + 1 >= retry.attempts || clock.now().getTime() - Date.parse(since) >= retry.maxAgeMs;
