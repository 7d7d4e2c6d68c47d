import type { Clock } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import type { Settled } from '../keeper/keeper.ts';

type Needs = { readonly clock: Pick<Clock, 'ticks'>; readonly notice: (text: string) => void };

/** What people should know of sinks and the inbox: the beginning and the end of a trouble, and each dead letter. */
export type Troubles = {
  settled(sink: string, settled: Settled): void;
  inbox(error: unknown): void;
  filter(text: string): void;
};

const quietMs = 10_000;

export function createTroubles({ clock, notice }: Needs): Troubles {
  const failing = new Set<string>();
  const seldom = (say: () => void) => {
    let last = Number.NEGATIVE_INFINITY;
    return () => {
      if (clock.ticks() - last < quietMs) return;
      last = clock.ticks();
      say();
    };
  };
  let trouble: unknown;
  const tellInbox = seldom(() => notice(`The inbox does not answer: ${messageOf(trouble)}`));
  let filtered = '';
  const tellFilter = seldom(() => notice(filtered));
  return {
    settled(sink, settled) {
      const { state, error } = settled.outcome;
      if (state === 'delivered' && failing.delete(sink)) notice(`${sink} takes events again.`);
      if ((state === 'failed' || state === 'dead') && !failing.has(sink)) {
        failing.add(sink);
        if (state === 'failed')
          notice(`${sink} does not take ${settled.id.slice(0, 80)}: ${error}. It is tried again.`);
      }
      if (state === 'dead') {
        notice(`${settled.id.slice(0, 80)} is a dead letter of ${sink} after try ${settled.outcome.tries}: ${error}.`);
      }
    },
    inbox(error) {
      trouble = error;
      tellInbox();
    },
    filter(text) {
      filtered = text;
      tellFilter();
    },
  };
}
