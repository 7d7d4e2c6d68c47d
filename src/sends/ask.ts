import type { Context, SendRequest } from '../context.ts';
import { Failure } from '../errors.ts';
import type { Terminal } from '../output/view.ts';
import { usualWidth } from '../text/layout.ts';
import type { Fields } from '../text/record.ts';
import { sanitize } from '../text/sanitize.ts';
import { wrap } from '../text/width.ts';
import type { Judging } from './judging.ts';
import { sendBlocks } from './page.ts';
import { seenOf } from './seen.ts';
import { actOf, toWhom, wayOf } from './words.ts';

/**
 * Mode `ask`: a person at a terminal sees the text and agrees; --yes does not count. Undefined where they do. The rest
 * of a command may be agreed to at once.
 */
export async function askedFor(
  { ctx, settings, wish, shared }: Judging,
  request: SendRequest,
  record: Fields | undefined,
): Promise<Failure | undefined> {
  if (wish.face === 'mcp')
    return new Failure(
      'forbidden',
      'This account asks a person before anything reaches a customer. Nothing was sent.',
      {
        isHeld: true,
        hint: 'Start svc mcp with --draft-sends: then each becomes a draft that a person approves.',
      },
    );
  if (shared.isAgreedToAll) return undefined;
  if (!ctx.ask.canAsk || settings.noInput)
    return new Failure('usage', 'A person must see this before it is sent (sends is ask), whatever --yes says.', {
      isHeld: true,
      hint: `Nothing was sent. To leave it for a person, ${wish.hasOwnDraft ? 'run it with SVC_SENDS=draft' : 'add --draft'}`,
    });
  ctx.progress(undefined);
  ctx.progress(undefined, 'work');
  const shown = sendInWords(request, record, plainTerminal(ctx));
  if (wish.face !== 'bulk') {
    if (await ctx.ask.confirm('Send this?', { shown })) return undefined;
    return declined();
  }
  for (const line of [...shown.split('\n'), '']) ctx.notice(line);
  const answer = await ctx.ask.choose('Send this?', [
    // Return takes the first.
    { value: 'no', name: 'Stop here' },
    { value: 'yes', name: 'Send this one' },
    { value: 'all', name: 'Send this one and all that follow' },
  ]);
  shared.isAgreedToAll = answer === 'all';
  if (answer === 'yes' || answer === 'all') return undefined;
  // The rows that wait behind it are not asked for one by one.
  shared.stopped = declined();
  return shared.stopped;
}

const declined = (): Failure => new Failure('failed', 'Declined. Nothing was sent.', { isHeld: true });

/** What would be sent, and to whom, for a person to read. */
export function sendInWords(
  { operation, hearers, body, record: about }: SendRequest,
  record: Fields | undefined,
  terminal: Terminal,
): string {
  const seen = seenOf({ operation, hearers, body, record });
  const sending = { operation, body, record: about, number: seen.number, to: seen.to };
  const head = sanitize(`${actOf(sending)}${toWhom(wayOf({ ...seen, operation }))}`);
  const blocks = sendBlocks(sending, terminal, hearers === 'public' ? record : undefined);
  return [wrap(head, terminal.width).join('\n'), ...blocks].filter((block) => block !== '').join('\n\n');
}

/** What a person reads of it, however wide the terminal is, to see whether it is still the same. */
export const readIn = (request: SendRequest, record: Fields | undefined): string =>
  sendInWords(request, record, { width: usualWidth, paint: (_, text) => text, now: new Date(0) });

/** Questions stand on standard error, and are made harmless there: colours too. */
export const plainTerminal = ({ stderr, clock }: Pick<Context, 'stderr' | 'clock'>): Terminal => ({
  width: stderr.columns || usualWidth,
  paint: (_, text) => text,
  now: clock.now(),
});
