import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import type { Received } from '../store/folder/look-up.ts';
import type { Forwarding } from '../store/forwarding.ts';
import type { Outcome } from '../store/line.ts';
import { type Posting, post } from './post.ts';

/** Where it was sent is known. */
type Sent = Forwarding & { readonly to: string };

/** Sends a stored event once, beside every queue, and says how it went. Never rejects. */
export async function replay(
  { exchange, clock }: Pick<Context, 'exchange' | 'clock'>,
  { arrival }: Pick<Received, 'arrival'>,
  posting: Posting,
): Promise<Sent> {
  const { to } = posting;
  const began = clock.ticks();
  try {
    const answer = await post(exchange, arrival, posting);
    const ms = Math.round(clock.ticks() - began);
    if ('lost' in answer) return { to, state: 'failed', status: null, error: answer.reason, ms, tries: 1 };
    return { to, state: 'answered', status: answer.status, error: null, ms, tries: 1 };
  } catch (error) {
    return { to, state: 'failed', status: null, error: messageOf(error).slice(0, 200), ms: null, tries: 1 };
  }
}

/** As the inbox stores it. */
export const replayOutcome = ({ to, status, error, ms, tries }: Sent, at: Date) =>
  ({
    to,
    at: at.toISOString(),
    ...(status !== null && { status }),
    ...(error !== null && { error }),
    ms: ms ?? 0,
    tries,
    replay: true,
  }) as const satisfies Outcome;
