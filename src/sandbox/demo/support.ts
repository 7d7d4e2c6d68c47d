import type { Row } from '../store/records.ts';
import { acme, ago, globex, type Moment, pick } from './moment.ts';

type TicketMessage = Row<'tickets'>['messages'][number];
type ChatMessage = Row<'conversations'>['messages'][number];
type Speaker = Pick<ChatMessage, 'sender_type' | 'sender_name'>;

/** What customers ask, and what the team says to it. */
const requests: readonly (readonly [subject: string, asked: string, ...thread: string[]])[] = [
  [
    'Invoice shows the wrong VAT number',
    'Our VAT number changed in March, but the last two invoices still show the old one.',
    'Sorry about that. I have corrected the number; may I issue both invoices again?',
    'Yes please, to the same address.',
  ],
  [
    'Cannot log in after the password reset',
    'The reset link opens a blank page. I tried two browsers.',
    'The link works once and for an hour. I have sent you a fresh one.',
  ],
  [
    'Export stops at 10,000 rows',
    'The contact export ends at 10,000 rows although we have more than 14,000 contacts.',
    'Thank you for the file. You are right, the limit should not be there; it is fixed in the next release.',
    'Great. Will I be told when it is out?',
  ],
  ['Calls go to voicemail too early', 'Since Monday the assistant hangs up after three rings. It used to be six.'],
  [
    'How do I add a second team?',
    'We would like support and sales to have separate inboxes.',
    'That is under Settings, Teams. Each team can have its own inbox and hours.',
  ],
  [
    'Chat widget hides our cookie banner',
    'On phones the chat button covers the Accept button of our banner.',
    'You can move it: Widget, Position, Bottom left.',
    'That solved it, thanks!',
  ],
  ['Double charge in May', 'We were charged twice on 3 May. Please refund one of the payments.'],
  [
    'Webhook deliveries arrive twice',
    'Some events reach us two times with the same id. Is that expected?',
    'Yes: deliveries can repeat, and the id is there so that you can tell.',
  ],
  ['Need a signed data processing agreement', 'Our legal team asks for a countersigned copy before we go on.'],
  [
    'Wrong time zone in meeting invitations',
    'Invitations show UTC instead of our local time.',
    'Which calendar do you use?',
    'The one that comes with our mail.',
  ],
  ['Feature question: custom fields on tickets', 'Can we have a field for our order number?'],
  [
    'Emails land in spam at one customer',
    'One customer finds all our replies in the spam folder.',
    'Please add the two DNS records below; they prove that we may send for you.',
  ],
  [
    'Change the owner of the account',
    'I am leaving the company at the end of the month. How do I hand the account over?',
  ],
  [
    'Import refuses our CSV',
    'It says "row 214: bad phone" and I cannot see what is wrong with it.',
    'The number has one digit too few. The others are fine.',
    'Found it, thank you.',
  ],
  ['Dark mode for the portal', 'Our customers ask for it, and so do I.'],
  ['The roadmap page is blank', 'The page loads, but there are no columns on it.'],
  ['Cancel the trial', 'We decided to wait until next year. Please cancel.'],
  [
    'Rate limit while syncing contacts',
    'Our nightly job gets 429 answers. What is the limit?',
    'Sixty requests a minute for each token, and thirty for the sync.',
  ],
  ['Typo in the Danish translation', 'On the booking page it says "tirdag". It should be "tirsdag".'],
  ['Thank you!', 'No question, I just wanted to say that the new inbox is lovely.'],
];

const files: readonly TicketMessage['attachments'][number][] = [
  { name: 'invoice-2210.pdf', mime: 'application/pdf', size: 84_213 },
  { name: 'screenshot.png', mime: 'image/png', size: 312_884 },
  { name: 'contacts.csv', mime: 'text/csv', size: 1_204_551 },
];
const agents = ['Mia (Support)', 'Jon (Support)', 'Priya (Support)'];
const statuses = ['open', 'pending', 'open', 'resolved', 'closed', 'open', 'resolved', 'pending'];
const sources = ['email', 'email', 'form', 'email', 'api', 'email', 'form', 'email'];

const ticketCount = 44;
const chatTicket = 37;
const chatOfTicket = 5;

export function support(moment: Moment): { tickets: Row<'tickets'>[]; conversations: Row<'conversations'>[] } {
  let messages = 0;
  const nextMessage = () => ++messages;
  const chats = Array.from({ length: 24 }, (_, at) => conversation(moment, at + 1, nextMessage));
  const tickets = Array.from({ length: ticketCount + 3 }, (_, at) => ticket(moment, at + 1, chats, nextMessage));
  return { tickets, conversations: chats };
}

function ticket(
  moment: Moment,
  id: number,
  chats: readonly Row<'conversations'>[],
  nextMessage: () => number,
): Row<'tickets'> {
  const isAcme = id <= ticketCount;
  const isChat = id === chatTicket;
  const chat = isChat ? chats.find((each) => each.id === chatOfTicket) : undefined;
  const [subject, asked, ...thread] = pick(requests, id * 3 - 2);
  const days = (ticketCount + 4 - id) * 1.7;
  const requester = isAcme ? ((id * 29) % 250) + 1 : 264 + id - ticketCount;
  const contact_id = chat ? chat.contact_id : requester;
  const status = isChat ? 'open' : pick(statuses, id);
  const isDone = status === 'resolved' || status === 'closed';
  const created_at = ago(moment, days, 15);
  const said = chat
    ? []
    : [asked, ...thread].map((body, at) => ({
        id: nextMessage(),
        ...message(id, at, body),
        created_at: ago(moment, days - at * 0.3, 15),
      }));
  const first_response_at = said.find((each) => each.direction === 'out')?.created_at ?? null;
  const last = said.at(-1)?.created_at ?? created_at;
  const resolved_at = isDone ? laterBy(last, 7200) : null;
  return {
    id,
    account_id: isAcme ? acme : globex,
    ticket_number: `T-${1000 + id}`,
    subject: chat?.subject ?? subject,
    description: chat?.messages[0]?.body ?? asked,
    status,
    priority: pick([1, 0, 2, 1, 3, 0, 4], id),
    source: isChat ? 'chat' : pick(sources, id),
    contact_id: id % 11 === 7 ? null : contact_id,
    conversation_id: chat?.id ?? null,
    due_at: id % 6 === 0 && !isDone ? ago(moment, -((id % 5) + 1)) : null,
    first_response_at,
    resolved_at,
    created_at,
    updated_at: resolved_at ?? last,
    messages: said,
    notes: id % 9 === 0 ? [{ id, body: 'Has asked before; see the last invoice.', created_at: last }] : [],
    history: [
      { at: created_at, event: 'created', detail: { source: isChat ? 'chat' : pick(sources, id) } },
      ...(resolved_at ? [{ at: resolved_at, event: 'status_changed', detail: { from: 'open', to: status } }] : []),
    ],
    reopens: 0,
  };
}

/** Customer and team take turns, the customer first. */
function message(ticket: number, at: number, body: string): Omit<TicketMessage, 'id' | 'created_at'> {
  const isIn = at % 2 === 0;
  return {
    direction: isIn ? 'in' : 'out',
    sender_type: isIn ? 'customer' : 'agent',
    sender_name: isIn ? 'Customer' : pick(agents, ticket),
    body,
    attachments: at === 0 && ticket % 5 === 1 ? [pick(files, ticket)] : [],
  };
}

const chatTopics: readonly (readonly [subject: string | null, ...turns: string[]])[] = [
  ['Opening hours', 'Hi, are you open on Saturdays?', 'We are, from 9 to 2.', 'Perfect, see you then.'],
  [null, 'Is there a student discount?', 'There is: half price with a student card.'],
  [
    'Order not arrived',
    'My order from last week has not arrived yet.',
    'Let me look it up. Which address was it for?',
    'The one in my profile.',
    'It is out for delivery today.',
  ],
  [
    'Plan change',
    'Can I move from Starter to Growth in the middle of the month?',
    'You can; we only charge the difference.',
  ],
  [
    'Payment failed',
    'My card was declined, but the bank says it is fine.',
    'I will pass you on to a colleague who can see payments.',
    'Thanks, I will wait.',
  ],
  [null, 'Do you integrate with our calendar?', 'Yes, both ways.', 'And with shared ones?'],
  ['Missing feature', 'I miss a way to sort the list by company.', 'Thank you, I have put it on the feedback board.'],
  ['Booking moved', 'I need to move my appointment to Thursday.', 'Done: Thursday at 10.'],
];
const channels = ['web', 'web', 'whatsapp', 'email', 'web', 'instagram'];
const chatStatuses = ['open', 'open', 'resolved', 'pending', 'open', 'closed', 'resolved'];
const labels = ['normal', 'normal', 'high', 'low', 'urgent'];

function conversation(moment: Moment, id: number, nextMessage: () => number): Row<'conversations'> {
  const isTicket = id === chatOfTicket;
  const isAcme = id <= 22;
  const [subject, ...turns] = pick(chatTopics, isTicket ? 4 : id - 1);
  const contact_id = isAcme ? id * 11 : 264 + id - 22;
  const isAnonymous = !isTicket && id % 5 === 3;
  const status = isTicket ? 'open' : pick(chatStatuses, id);
  const handling_mode = !isTicket && id % 3 === 0 ? 'human' : 'ai';
  const days = ((id * 7) % 23) + 0.4;
  const visitor: Speaker = { sender_type: 'visitor', sender_name: 'Visitor' };
  const answering: Speaker =
    handling_mode === 'human'
      ? { sender_type: 'operator', sender_name: pick(agents, id) }
      : { sender_type: 'ai', sender_name: 'Assistant' };
  const messages: ChatMessage[] = turns.map((body, at) => ({
    id: nextMessage(),
    ...(at % 2 === 0 ? visitor : answering),
    body,
    attachments: [],
    created_at: ago(moment, days, -at * 3),
  }));
  const last_message_at = messages.at(-1)?.created_at ?? ago(moment, days);
  const resolved_at = status === 'resolved' || status === 'closed' ? laterBy(last_message_at, 900) : null;
  return {
    id,
    account_id: isAcme ? acme : globex,
    status,
    handling_mode,
    channel: isTicket ? 'web' : pick(channels, id),
    subject,
    priority: pick(labels, id),
    contact_id: isAnonymous ? null : contact_id,
    ticket_id: isTicket ? chatTicket : null,
    last_message_at,
    resolved_at,
    csat_rating: resolved_at && id % 2 === 0 ? 4 + (id % 4 === 0 ? 1 : 0) : null,
    created_at: messages[0]?.created_at ?? last_message_at,
    updated_at: resolved_at ?? last_message_at,
    messages,
    notes: [],
  };
}

const laterBy = (time: string, seconds: number): string => new Date(Date.parse(time) + seconds * 1000).toISOString();
