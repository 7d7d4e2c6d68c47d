import { diskWords } from '../../disk/file/disk-failure.ts';
import { appendLines } from '../../disk/log/append-lines.ts';
import { codeOf, messageOf } from '../../errors.ts';
import { before } from '../../promise/aborted.ts';
import { oneByOne } from '../../promise/one-by-one.ts';
import { envelopeIn } from '../event/envelope.ts';
import type { Arrival } from '../store/line.ts';
import type { Answer, Opening, Sink } from './sink.ts';

type About = Pick<Opening, 'name' | 'timeoutMs'> & Partial<Pick<Opening, 'refuse'>> & { readonly path: string };

/** A file of JSON lines: each the envelope as it came, of several accounts with `account`. Many events share one sync. */
export function fileSink({ name, path, timeoutMs, refuse }: About): Sink {
  // A file on a network that is gone never answers, and each write that hangs keeps one of the few threads of all sinks
  // and of the inbox. So the next one waits for it.
  const inTurn = oneByOne();
  return {
    name,
    most: 100,
    async send(events, cut): Promise<Answer> {
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        // One after the other: several accounts may have one file.
        const written = inTurn(async () => {
          // It was given up while it waited, and comes again.
          if (!timeout.aborted && !cut.aborted) await appendLines(path, events.map(lineOf), refuse);
        });
        await before(AbortSignal.any([timeout, cut]), written);
        return { how: 'taken' };
      } catch (error) {
        if (cut.aborted) return { how: 'cut' };
        return { how: 'refused', error: timeout.aborted ? 'timeout' : whyOf(error).slice(0, 200) };
      }
    },
  };
}

const whyOf = (error: unknown): string => {
  const code = codeOf(error) ?? '';
  return code === 'ENOENT' ? 'it leads into a folder that is not there' : (diskWords[code] ?? messageOf(error));
};

function lineOf({ id, account, event, at, body, unreadable }: Arrival): string {
  const bytes = Buffer.from(body);
  const text = bytes.toString('utf8');
  if (unreadable === undefined && account === undefined && !/[\n\r]/u.test(text)) return text;
  const envelope = unreadable === undefined ? envelopeIn(body) : undefined;
  // What is no envelope is told apart by its field `unreadable`.
  const line = envelope ?? { id, event, received_at: at, unreadable, base64: bytes.toString('base64') };
  return JSON.stringify(account === undefined ? line : { ...line, account });
}
