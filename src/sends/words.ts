import { hearersOf } from '../api/hearers.ts';
import { resources } from '../api/resources.ts';
import { operationNamed } from '../api/takes.ts';
import type { Settings } from '../config/settings.ts';
import type { Context, SendRequest, SendWish } from '../context.ts';
import { fieldsIn, textIn } from '../text/record.ts';
import { type Draft, digestOfDraft, type Seen } from './draft.ts';

type Act = Pick<SendRequest, 'operation' | 'body'> & {
  readonly record: { readonly kind: string; readonly id?: number | null };
  readonly number?: string | null;
};

/** What a send is, in words of a person: `a reply to T-1008`, `the publishing of entry 30`. */
export function actOf({ operation: id, body, record, number }: Act): string {
  const operation = operationNamed(id);
  const name = nameOf(record, number);
  if (!operation) return name;
  const { effect, reaches, makes, command, sets, namedBy } = operation;
  if (reaches === 'public') {
    if (!record.id) return `the publishing of “${textIn(fieldsIn(body).title) ?? 'an entry'}”`;
    return isPublishing(body) ? `the publishing of ${name}` : `a change of the published ${name}`;
  }
  if (makes && effect) return `a ${effect.of.replace(/^The /u, '')} to ${name}`;
  if (sets?.status === 'resolved') return `the resolving of ${name}`;
  if (effect && hearersOf(operation) === undefined) return `a ${effect.of.replace(/^The /u, '')} on ${name}`;
  if (namedBy && effect) return `${effect.of.replace(/^The /u, 'the ')} “${textIn(fieldsIn(body)[namedBy]) ?? ''}”`;
  return `svc ${command.join(' ')}${record.id ? ` (${name})` : ''}`;
}

/** `reply to T-1008`, in a list. */
export const actAlone = (act: Act): string => actOf(act).replace(/^(?:a|the) /u, '');

/** A server that trims, or takes capitals, publishes by "Published " too. */
export const isPublishing = (body: unknown): boolean =>
  String(fieldsIn(body).status ?? '')
    .trim()
    .toLowerCase() === 'published';

export function nameOf({ kind, id }: Act['record'], number: string | null | undefined): string {
  if (number) return number;
  const named: Readonly<Record<string, { readonly noun: string }>> = resources;
  const noun = named[kind]?.noun.split(' ').at(-1) ?? kind;
  return id ? `${noun} ${id}` : noun;
}

/** What a send does, to whom. */
export type Sending = Act & { readonly to: string | null };

/** What a send without a text does, as a whole sentence. */
export function requestInWords(sending: Sending): string {
  const { operation: id, body, record, number, to } = sending;
  const name = nameOf(record, number);
  const person = nameAlone(to) ?? 'somebody';
  const { reaches, sets, namedBy } = operationNamed(id) ?? {};
  if (reaches === 'public') {
    if (!record.id) return 'Publish a new entry; the public will read it.';
    return isPublishing(body)
      ? `Publish ${name}; the public will read it.`
      : `Change ${name}, which the public can read.`;
  }
  if (sets?.status === 'resolved') return `Resolve ${name} of ${person}; the customer may hear of it.`;
  const act = actOf(sending);
  return `Send ${act}${namedBy ? ` for ${person}` : ''}; the customer may hear of it.`;
}

/** `Draft 12: a reply to T-1008, Viktor Nakamura <v@n.test>, by email` */
export function draftInWords(draft: Draft): string {
  const { id, operation, record, number, steps } = draft;
  const act = actOf({ operation, record, number, body: steps[0]?.body });
  const more = steps.length > 1 ? `, and ${steps.length - 1} more step${steps.length > 2 ? 's' : ''}` : '';
  return `Draft ${id}: ${act}${toWhom(wayOf(draft))}${more}`;
}

/** What is no message goes by no channel. */
export const wayOf = ({
  operation,
  to,
  channel,
}: Pick<Draft, 'operation' | 'to' | 'channel'>): Pick<Seen, 'to' | 'channel'> => ({
  to,
  channel: operationNamed(operation)?.makes ? channel : null,
});

export const toWhom = ({ to, channel }: Pick<Seen, 'to' | 'channel'>): string =>
  [
    to === null || to === 'the public' ? '' : `, ${to}`,
    channel === null || channel === 'changelog' ? '' : `, by ${channel}`,
  ].join('');

/** The address is read where the draft is. */
export const nameAlone = (to: string | null): string | null => to?.replace(/(\S) <[^<>]*>$/u, '$1') ?? null;

type Asking = { readonly ctx: Pick<Context, 'ask'>; readonly settings: Pick<Settings, 'noInput'> };

type Drafting = Asking & { readonly wish: Pick<SendWish, 'draft'> };

/** Where the mode made the draft, a program is not handed the line that would send it: a person is to read it. */
export function waitsFor(draft: Draft, drafting: Drafting): string {
  const said = draftInWords({ ...draft, to: nameAlone(draft.to) });
  const { ctx, settings, wish } = drafting;
  const isForPerson = wish.draft !== true && (!ctx.ask.canAsk || settings.noInput);
  if (isForPerson) return `${said}. A person reads it at a terminal and sends it: svc drafts approve ${draft.id}`;
  return `${said}. ${howToSendIt(draft.id, digestOfDraft(draft), drafting)}`;
}

export const howToSend = (id: number): string => `To send it: svc drafts approve ${id}`;

/** Where nobody can be shown the draft, its digest says what was read. */
export const howToSendIt = (id: number, digest: string, { ctx, settings }: Asking): string =>
  ctx.ask.canAsk && !settings.noInput
    ? howToSend(id)
    : `To send it once it is read: svc drafts approve ${id} --digest ${digest}`;
