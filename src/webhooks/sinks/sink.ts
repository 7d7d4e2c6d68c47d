import type { Arrival } from '../inbox/line.ts';

/** Where `serve` passes events on. It never rejects, whatever is on its other side. */
export type Sink = {
  readonly name: string;
  /** How many it takes at once. */
  readonly most: number;
  /** `cut` ends it at once. */
  send(events: readonly Arrival[], cut: AbortSignal): Promise<Answer>;
};

/** `cut`: it was ended before there was an answer, so nothing is known. */
export type Answer =
  | { readonly how: 'taken'; readonly status?: number }
  | { readonly how: 'refused'; readonly error: string; readonly status?: number }
  | { readonly how: 'cut' };
