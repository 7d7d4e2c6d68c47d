import type { SendRequest } from '../context.ts';
import { Failure } from '../errors.ts';
import { sanitize } from '../text/sanitize.ts';
import { textField } from './draft.ts';
import type { Judging } from './lazy.ts';
import { seenOf } from './seen.ts';
import { actOf, toWhom } from './words.ts';

type Fields = Readonly<Record<string, unknown>>;

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
      hint: 'Nothing was sent. To leave it for a person, add --draft',
    });
  ctx.progress(undefined);
  const shown = sendInWords(request, record);
  if (wish.face !== 'bulk') {
    if (await ctx.ask.confirm('Send this?', { shown })) return undefined;
    return declined();
  }
  ctx.notice(shown);
  const answer = await ctx.ask.choose('Send this?', [
    { value: 'yes', name: 'Send this one' },
    { value: 'all', name: 'Send this one and all that follow' },
    { value: 'no', name: 'Stop here' },
  ]);
  shared.isAgreedToAll = answer === 'all';
  return answer === 'yes' || answer === 'all' ? undefined : declined();
}

const declined = (): Failure => new Failure('failed', 'Declined. Nothing was sent.', { isHeld: true });

/** What would be sent, and to whom, for a person to read. */
export function sendInWords(
  { operation, hearers, body, record: about }: SendRequest,
  record: Fields | undefined,
): string {
  const seen = seenOf({ hearers, body, record });
  const act = actOf({ operation, body, record: about, number: seen.number });
  const name = textField(body);
  const text = name === undefined ? '' : `\n\n${sanitize(String(Object(body)[name]), { keepNewlines: true })}\n`;
  return `${sanitize(`${act}${toWhom(seen)}`)}${text}`;
}
