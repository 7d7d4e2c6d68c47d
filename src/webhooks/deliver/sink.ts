import type { Arrival } from '../store/line.ts';

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
