import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import { passedOn } from './forward.ts';
import type { Answer, Sink } from './sink.ts';

type About = { readonly name: string; readonly url: string; readonly timeoutMs: number };

/** The same bytes with their original headers, to a URL. Only a complete 2xx answer counts. */
export const httpSink = ({ name, url, timeoutMs }: About, exchange: Context['exchange']): Sink => ({
  name,
  most: 1,
  async send([event], cut): Promise<Answer> {
    if (!event) return { how: 'taken' };
    try {
      const answer = await exchange({
        method: 'POST',
        url,
        headers: passedOn(event.headers),
        body: event.body,
        timeoutMs,
        signal: cut,
      });
      if (!('lost' in answer)) {
        const { status } = answer;
        if (status >= 200 && status < 300) return { how: 'taken', status };
        return { how: 'refused', status, error: `HTTP ${status}` };
      }
      return answer.reason === 'aborted' && cut.aborted ? { how: 'cut' } : { how: 'refused', error: answer.reason };
    } catch (error) {
      return { how: 'refused', error: messageOf(error).slice(0, 200) };
    }
  },
});
