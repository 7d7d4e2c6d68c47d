import type { Context } from '../../context.ts';
import type { Arrival } from '../store/line.ts';

/** What a sink is opened with, whatever its kind. */
export type Opening = Pick<Context, 'exchange' | 'clock' | 'env' | 'notice'> & {
  readonly name: string;
  readonly timeoutMs: number;
  /** For how long an event is tried again. */
  readonly repeatsMs: number;
  /** Where relative paths begin. */
  readonly folder: string;
  /** The variables that hold signing secrets: no program gets them. */
  readonly hidden: () => readonly string[];
  /** Rejects where svc keeps something of its own at the path. */
  readonly refuse: (path: string) => Promise<void>;
};

/** Where events are passed on to. It never rejects, whatever is on its other side. */
export type Sink = {
  readonly name: string;
  /** How many it takes at once. */
  readonly most: number;
  /** `cut` ends it at once. */
  send(events: readonly Arrival[], cut: AbortSignal): Promise<Answer>;
  /** Lets go of what it holds open. */
  close?(): Promise<void>;
};

/** A sink that takes one event at a time, and is never given none. */
export const single = (name: string, send: (event: Arrival, cut: AbortSignal) => Promise<Answer>): Sink => ({
  name,
  most: 1,
  send: async ([event], cut) => (event ? send(event, cut) : { how: 'taken' }),
});

/** `isFinal`: another try would end no better. `cut`: it was ended before there was an answer, so nothing is known. */
export type Answer =
  | { readonly how: 'taken'; readonly status?: number }
  | { readonly how: 'refused'; readonly error: string; readonly status?: number; readonly isFinal?: boolean }
  | { readonly how: 'cut' };
