import type { getConversation } from '../api/conversations.ts';
import type { Output } from '../api/operation.ts';
import type { getTicket } from '../api/tickets.ts';
import { fullName } from '../text/full-name.ts';
import { readingWidth } from '../text/measure.ts';
import { sanitize } from '../text/sanitize.ts';
import { cells, cut, pad, wrap } from '../text/width.ts';
import { styleOfStatus, timeForPeople } from './cells.ts';
import type { Style, Terminal } from './view.ts';

type Ticket = Output<typeof getTicket>['ticket'];
type Conversation = Output<typeof getConversation>['conversation'];

type Attachment = Pick<Ticket['messages'][number]['attachments'][number], 'name' | 'mime'> & { readonly size?: number };

export type Message = Pick<Ticket['messages'][number], 'body' | 'created_at'> & {
  /** Of tickets. */
  readonly direction?: 'in' | 'out';
  readonly sender_type: string;
  readonly sender_name?: string;
  readonly attachments?: readonly Attachment[];
};

/** A field that an answer lacks is left out, never a crash. */
type Thread<T extends Ticket | Conversation> = Pick<T, 'id' | 'status' | 'created_at'> & {
  readonly [K in keyof T]?: K extends 'messages' ? readonly Message[] : T[K];
};

/** A ticket as one reads it: what it is about, who asks, and what was said, oldest first. */
export function ticketThread(ticket: Thread<Ticket>, terminal: Terminal): string {
  const { conversation_id: conversation, reply_channel: channel } = ticket;
  const replies =
    channel === 'chat' && conversation ? `by chat, in conversation ${conversation}` : channel && `by ${channel}`;
  return screen([
    title(terminal, ticket.subject ?? '', ticket.ticket_number ?? `#${ticket.id}`),
    facts(terminal, ticket.status, [
      ticket.priority !== undefined && `priority ${ticket.priority}`,
      ticket.source && `by ${ticket.source}`,
      `opened ${timeForPeople(ticket.created_at, terminal.now)}`,
    ]),
    fields(terminal, [
      ['Customer', person(ticket.contact)],
      ['Replies go', replies],
      ['Answered', time(terminal, ticket.first_response_at)],
      ['Due', time(terminal, ticket.due_at)],
      ['Resolved', time(terminal, ticket.resolved_at)],
    ]),
    // Where the request is also the thread's first message, once is enough.
    body(terminal, ticket.messages?.[0]?.body.trim() === ticket.description?.trim() ? '' : (ticket.description ?? '')),
    ...messages(terminal, ticket.messages),
  ]);
}

/** A chat as one reads it. */
export function conversationThread(conversation: Thread<Conversation>, terminal: Terminal): string {
  const { handling_mode: mode, csat_rating: rating, ticket_id: ticket } = conversation;
  return screen([
    title(terminal, conversation.subject || 'Conversation', `#${conversation.id}`),
    facts(terminal, conversation.status, [
      conversation.channel && `on ${conversation.channel}`,
      mode && (mode === 'ai' ? 'answered by the AI' : 'answered by the team'),
      conversation.priority !== undefined && `priority ${conversation.priority}`,
      `begun ${timeForPeople(conversation.created_at, terminal.now)}`,
    ]),
    fields(terminal, [
      ['Customer', person(conversation.contact) ?? 'anonymous'],
      ['Ticket', ticket ? String(ticket) : undefined],
      ['Resolved', time(terminal, conversation.resolved_at)],
      ['Rating', typeof rating === 'number' ? String(rating) : undefined],
    ]),
    ...messages(terminal, conversation.messages),
  ]);
}

const indent = 2;

export const screen = (blocks: readonly string[]): string => `${blocks.filter((block) => block !== '').join('\n\n')}\n`;

/** What a thread is about, above its number. */
export function title({ width, paint }: Terminal, subject: string, number: string): string {
  const [lines, side] = [wrap(sanitize(subject), readingWidth(width)), sanitize(number)];
  return [...lines.map((line) => paint('bold', line)), paint('dim', cut(side, width))]
    .filter((line) => line !== '')
    .join('\n');
}

function facts({ width, paint }: Terminal, status: string, others: readonly (string | false | undefined)[]): string {
  const [first = '', ...more] = wrap(
    [status, ...others]
      .filter(Boolean)
      .map((fact) => sanitize(String(fact)))
      .join(' · '),
    width,
  );
  const shown = sanitize(status);
  const style = styleOfStatus(status);
  // The status leads the first line; painting must not disturb how the line was broken.
  const painted = style && first.startsWith(shown) ? paint(style, shown) + first.slice(shown.length) : first;
  return [painted, ...more].join('\n');
}

/** Names and values beside each other; below a name that is longer than `room`. The values are made harmless before. */
export function fields(
  { width, paint }: Terminal,
  rows: readonly (readonly [name: string, value: string | undefined])[],
  room = 12,
): string {
  return rows
    .flatMap(([name, value]) => {
      if (value === undefined || value === '') return [];
      const beside = wrap(value, Math.max(1, readingWidth(width) - room));
      const [first = '', ...more] = beside;
      const indented = (lines: readonly string[]) => lines.map((line) => ' '.repeat(room) + line);
      return cells(name) < room
        ? [`${paint('dim', pad(name, room))}${first}`, ...indented(more)]
        : [...wrap(name, readingWidth(width)).map((line) => paint('dim', line)), ...indented(beside)];
    })
    .join('\n');
}

function person(contact: Ticket['contact'] | undefined): string | undefined {
  if (!contact) return undefined;
  const name = fullName(contact);
  const ways = [contact.email && `<${contact.email}>`, contact.phone].filter(Boolean).join(' ');
  const id = contact.contact_id === undefined ? '' : `(contact ${contact.contact_id})`;
  return sanitize([name, ways, id].filter(Boolean).join(' '));
}

const time = ({ now }: Terminal, iso: string | null | undefined): string | undefined =>
  iso ? timeForPeople(iso, now) : undefined;

/** A text as it stands in a thread, indented. */
export function body({ width }: Terminal, text: string): string {
  const lines = wrap(sanitize(text.trim(), { keepNewlines: true }), Math.max(1, readingWidth(width) - indent));
  return text.trim() === '' ? '' : lines.map((line) => (line === '' ? '' : ' '.repeat(indent) + line)).join('\n');
}

/** What was said, a block each, oldest first. */
export const messages = (terminal: Terminal, all: readonly Message[] = []): string[] =>
  all.map((message) => {
    const [who, style] = sides[sideOf(message)];
    const name = sanitize(message.sender_name || who);
    const about = [who.toLowerCase() !== name.toLowerCase() && who, timeForPeople(message.created_at, terminal.now)]
      .filter(Boolean)
      .join(' · ');
    const { width, paint } = terminal;
    const shownName = cut(name, Math.max(1, width - indent));
    const heading = wrap(`${shownName} ${about}`, width)
      .join('\n')
      .replace(shownName, () => paint(style, shownName));
    return [
      heading,
      body(terminal, message.body),
      ...(message.attachments ?? []).map((file) => attachment(terminal, file)),
    ]
      .filter((line) => line !== '')
      .join('\n');
  });

const sides: Readonly<Record<'customer' | 'team' | 'ai', readonly [who: string, style: Style]>> = {
  customer: ['customer', 'cyan'],
  team: ['team', 'green'],
  ai: ['AI', 'magenta'],
};

function sideOf({ direction, sender_type: type }: Message): keyof typeof sides {
  if (type === 'ai') return 'ai';
  if (direction !== undefined) return direction === 'in' ? 'customer' : 'team';
  return type === 'operator' ? 'team' : 'customer';
}

function attachment({ width, paint }: Terminal, { name, mime, size }: Attachment): string {
  const text = `+ ${sanitize(name)} (${sanitize(mime)}, ${bytes(size)})`;
  return ' '.repeat(indent) + paint('dim', cut(text, Math.max(1, width - indent)));
}

function bytes(size: number | undefined): string {
  if (size === undefined) return 'unknown size';
  if (size < 1000) return `${size} B`;
  return size < 1_000_000 ? `${Math.round(size / 1000)} kB` : `${(size / 1_000_000).toFixed(1)} MB`;
}
