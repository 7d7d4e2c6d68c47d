import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import { post } from '../deliver/post.ts';
import type { Answer, Sink } from '../deliver/sink.ts';

type About = {
  readonly url: string;
  readonly timeoutMs: number;
  /** How long to try while nothing listens there; undefined: for as long as svc runs. */
  readonly retryMs: number | undefined;
};

/** An app that breaks or hangs on one event gets it this often; then it must not hold up the others for ever. */
const brokenTries = 5;

/** The app of somebody who develops: any status is its answer, and while it is down it is tried without end. */
export function appSink({ url, timeoutMs, retryMs }: About, { exchange, clock }: Pick<Context, 'exchange' | 'clock'>) {
  /** The event that it is tried with, since when (ticks), and how often the app broke on it. */
  let current = { id: '', since: 0, broken: 0 };
  const sink: Sink = {
    name: url,
    most: 1,
    async send([event], cut): Promise<Answer> {
      if (!event) return { how: 'taken' };
      if (current.id !== event.id) current = { id: event.id, since: clock.ticks(), broken: 0 };
      try {
        const answer = await post(exchange, event, { to: url, timeoutMs, signal: cut });
        if (!('lost' in answer)) return { how: 'taken', status: answer.status };
        const { lost, reason } = answer;
        if (reason === 'aborted') return { how: 'cut' };
        if (lost === 'after-sending') current.broken++;
        // Of the first two the app has it, and its answer will be no better next time.
        const isFinal =
          reason === 'too-large' ||
          reason === 'unreadable' ||
          current.broken >= brokenTries ||
          (retryMs !== undefined && clock.ticks() - current.since >= retryMs);
        return { how: 'refused', error: reason, isFinal };
      } catch (error) {
        return { how: 'refused', error: messageOf(error).slice(0, 200), isFinal: true };
      }
    },
  };
  return sink;
}
