import type { Context } from '../context.ts';
import { waitingFor, withLock } from '../disk/lock/lock.ts';
import { openLog, readLog } from '../disk/log/append-log.ts';
import { checked } from '../http/exchange/checked.ts';
import { jsonIn } from '../text/json.ts';
import { counted } from '../text/number.ts';
import { fieldsIn, isText } from '../text/record.ts';
import { isTaken, post } from '../webhooks/deliver/post.ts';
import type { Arrival } from '../webhooks/store/line.ts';

type Sending = {
  readonly to: string;
  /** Remembers what was sent, and where. */
  readonly journal: string;
  readonly timeoutMs: number;
};

/** What became of each one, by its id. `repeated`: it was there before. */
export type SendResults = ReadonlyMap<string, SendResult>;
export type SendResult = 'sent' | 'repeated' | 'failed';

/** How often a URL that does not answer is tried. */
const tries = 3;
/** An app that answers to none of so many events in a row is away. */
const silentAtMost = 3;

/** Sends each one to the URL, in order, and once: also where two do so at the same time, one after the other. */
export async function sendRebuilt(ctx: Context, arrivals: readonly Arrival[], sending: Sending): Promise<SendResults> {
  const { journal, to } = sending;
  const waiting = { ...waitingFor(ctx, 'the journal of the catch-up'), maxWaitMs: 3_600_000 };
  return withLock(`${journal}.lock`, waiting, async (held) => {
    const known = new Set<string>();
    const log = await openLog(journal, { held, take: takerOf(to, known) });
    // Until it was tried, it has failed.
    const results = new Map<string, SendResult>(arrivals.map(({ id }) => [id, known.has(id) ? 'repeated' : 'failed']));
    const left = arrivals.filter(({ id }) => !known.has(id));
    let untried = left.length;
    let silent = 0;
    try {
      for (const arrival of left) {
        if (ctx.signal.aborted || silent === silentAtMost) break;
        const end = await send(checked(ctx, held.check), arrival, sending);
        untried--;
        silent = end === 'silent' ? silent + 1 : 0;
        if (end !== 'taken') continue;
        await log.append(`${JSON.stringify({ to, id: arrival.id })}\n`);
        results.set(arrival.id, 'sent');
      }
    } finally {
      await log.close();
    }
    if (untried > 0) {
      ctx.notice(
        `${counted(untried, 'more event')} ${untried === 1 ? 'was' : 'were'} not tried. Run the same command again to go on.`,
      );
    }
    return results;
  });
}

/** Ids of those that were sent to the URL. */
export async function sentBefore({ to, journal }: Pick<Sending, 'to' | 'journal'>): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  await readLog(journal, { take: takerOf(to, known) });
  return known;
}

const takerOf =
  (to: string, known: Set<string>) =>
  (text: Buffer): boolean => {
    const line = lineIn(text.toString('utf8'));
    if (line?.to === to) known.add(line.id);
    return line !== undefined;
  };

async function send(
  { exchange, clock, signal, notice }: Pick<Context, 'exchange' | 'clock' | 'signal' | 'notice'>,
  arrival: Arrival,
  sending: Sending,
): Promise<'taken' | 'refused' | 'silent'> {
  const { to, timeoutMs } = sending;
  for (let time = 1; ; time++) {
    // Not ended by the signal: what is under way may be taken, and then it must be remembered.
    const answer = await post(exchange, arrival, { to, timeoutMs });
    if (!('lost' in answer)) {
      if (isTaken(answer)) return 'taken';
      notice(`${arrival.id} was not taken: HTTP ${answer.status}`);
      return 'refused';
    }
    if (time >= tries || signal.aborted) {
      // Whose answer is lost may have it: then it comes once more.
      const was = answer.lost === 'after-sending' ? 'may not have been' : 'was not';
      notice(`${arrival.id} ${was} taken: ${answer.detail}`);
      return 'silent';
    }
    await clock.sleep(1_000 * time, signal);
  }
}

function lineIn(text: string): { readonly to: string; readonly id: string } | undefined {
  const { to, id } = fieldsIn(jsonIn(text));
  return isText(to) && isText(id) ? { to, id } : undefined;
}
