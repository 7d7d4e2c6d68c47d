import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import { isTaken, post } from './post.ts';
import { type Sink, single } from './sink.ts';

type About = { readonly name: string; readonly url: string; readonly timeoutMs: number };

/** The same bytes with their original headers, to a URL. Only a complete 2xx answer counts. */
export const httpSink = ({ name, url, timeoutMs }: About, exchange: Context['exchange']): Sink =>
  single(name, async (event, cut) => {
    try {
      const answer = await post(exchange, event, { to: url, timeoutMs, signal: cut });
      if (!('lost' in answer)) {
        const { status } = answer;
        return isTaken(answer) ? { how: 'taken', status } : { how: 'refused', status, error: `HTTP ${status}` };
      }
      return answer.reason === 'aborted' && cut.aborted ? { how: 'cut' } : { how: 'refused', error: answer.reason };
    } catch (error) {
      return { how: 'refused', error: messageOf(error).slice(0, 200) };
    }
  });
