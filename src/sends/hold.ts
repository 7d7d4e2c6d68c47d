import type { Context, SendRequest } from '../context.ts';
import { Failure, interruption, isInterruption } from '../errors.ts';
import type { Fields } from '../text/record.ts';
import type { Judging } from './judging.ts';
import { drafted } from './make.ts';
import { howToSendIt } from './words.ts';

export type Holding = { readonly holdMs: number; readonly read: () => Promise<Fields | undefined> };

/**
 * Waits before a send that was confirmed: Return sends it now, Ctrl-C keeps its text as a draft, and leaves the rows of a
 * file, which are held once, where they are. Undefined where it may go.
 */
export async function held(
  judging: Judging,
  request: SendRequest,
  { holdMs, read }: Holding,
): Promise<Failure | undefined> {
  const { ctx, settings, wish, shared } = judging;
  shared.hasHeld = true;
  // Read before the wait: after Ctrl-C nothing more is asked of the service.
  const record = await read();
  const [account, login] = [await request.account(), await request.login()];
  const onInterrupt = wish.batch === undefined ? 'keeps it as a draft' : 'sends nothing';
  const ended = await waited(ctx, { holdMs, onInterrupt, canAsk: !settings.noInput && ctx.ask.canAsk });
  if (ended === undefined) return undefined;
  if (wish.approved)
    return new Failure(ended.kind, 'Interrupted. Nothing was sent; the draft waits.', { isHeld: true });
  // The same command goes on with its rows; a draft beside them would be a second one.
  if (wish.batch !== undefined) return new Failure(ended.kind, 'Interrupted. Nothing was sent.', { isHeld: true });
  const kept = await drafted(judging, { ...request, account: async () => account, login: async () => login }, record);
  const { id, record: draft } = kept.drafted ?? {};
  return new Failure(ended.kind, `Interrupted. Nothing was sent; the text is kept as draft ${id}.`, {
    hint: howToSendIt(Number(id), String(draft?.digest), judging),
    isHeld: true,
    isWhole: true,
  });
}

type Waiting = { readonly holdMs: number; readonly onInterrupt: string; readonly canAsk: boolean };

/** A second that takes so much longer is one in which svc stood still: Ctrl-Z, then `fg`. */
const stoodStillMs = 2000;

/** The interruption that ended it early. What svc stood still for does not count: a person who stopped it may still say no. */
async function waited(ctx: Context, { holdMs, onInterrupt, canAsk }: Waiting): Promise<Failure | undefined> {
  const { clock, signal } = ctx;
  ctx.progress(undefined, 'work');
  for (let leftMs = holdMs; leftMs > 0 && !signal.aborted; ) {
    const words = `Sending in ${Math.ceil(leftMs / 1000)} s. Return sends it now, Ctrl-C ${onInterrupt}`;
    const [began, ms] = [clock.ticks(), Math.min(leftMs, 1000)];
    if (canAsk) {
      const answer = await secondOf(ctx, { words, isConsent: leftMs === holdMs }, ms);
      if (answer instanceof Failure) return answer;
      if (answer === 'now') break;
    } else {
      ctx.progress(words);
      await clock.sleep(ms, signal);
    }
    if (clock.ticks() - began < ms + stoodStillMs) leftMs -= ms;
  }
  ctx.progress(undefined);
  return signal.aborted ? interruption(signal) : undefined;
}

/** `isConsent`: in the first second, for Return between two of them is meant. */
type Second = { readonly words: string; readonly isConsent: boolean };

/** One second of the countdown, in which Return is heard. */
async function secondOf(
  { ask, clock, signal }: Context,
  { words, isConsent }: Second,
  ms: number,
): Promise<'now' | 'on' | Failure> {
  const over = new AbortController();
  const asked = ask.text(words, { signal: over.signal, isFleeting: true, isConsent }).then(
    () => 'now' as const,
    (error: unknown) => {
      if (over.signal.aborted) return 'on' as const;
      if (error instanceof Failure && isInterruption(error)) return error;
      throw error;
    },
  );
  const passed = clock.sleep(ms, signal).then(() => 'on' as const);
  const first = await Promise.race([asked, passed]);
  over.abort('over');
  // The question is off the screen before the next one is on it.
  const last = await asked;
  return first === 'on' && last !== 'on' ? last : first;
}
