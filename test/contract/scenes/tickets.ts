import {
  anyListOf,
  anything,
  count,
  filled,
  id,
  invalid,
  like,
  meta,
  oneOf,
  type Scene,
  type Step,
  text,
  time,
} from '../scene.ts';

const item = (name: string, fields: object) => ({
  id: name,
  ticket_number: like(/^[A-Z]+.*\d+$/iu, 'T-1007'),
  subject: 'Printer on fire',
  status: 'open',
  priority: 0,
  source: 'api',
  contact: null,
  due_at: null,
  first_response_at: null,
  resolved_at: null,
  created_at: time(),
  updated_at: time(),
  ...fields,
});

const message = {
  id: count(901),
  direction: oneOf('in', 'out'),
  sender_type: text('customer'),
  sender_name: text('Ada Lovelace'),
  body: text('It is still on fire.'),
  attachments: anyListOf({ name: filled('fire.jpg'), mime: like(/\//u, 'image/jpeg'), size: count(48_213) }),
  created_at: time(),
};

const whole = (name: string, fields: object) => ({
  ...item(name, {}),
  description: '',
  reply_channel: 'email',
  conversation_id: null,
  messages: [],
  ...fields,
});

const create: Step = {
  send: 'POST /tickets',
  body: { subject: 'Printer on fire' },
  status: 201,
  answer: { ticket: { ...whole('', {}), id: id('ticket', 7) } },
};

const ada: Step = {
  send: 'POST /contacts/create',
  body: { name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com', phone: '+12025550101' },
  status: 200,
  answer: { contacts: { contact_id: id('ada', 101), name: 'Ada' } },
};

const requester = {
  contact_id: '<ada>',
  name: 'Ada',
  last_name: 'Lovelace',
  email: 'ada@example.com',
  phone: '+12025550101',
};

const forAda: Step = {
  send: 'POST /tickets',
  body: { subject: 'Printer on fire', contact_id: '<ada>' },
  status: 201,
  answer: { ticket: { ...whole('', { contact: requester }), id: id('ticket', 7) } },
};

const change = (body: object, fields: object): Step => ({
  send: 'PATCH /tickets/<ticket>',
  body,
  status: 200,
  answer: { ticket: whole('<ticket>', fields) },
});

export const tickets: readonly Scene[] = [
  {
    title: 'a new ticket is open, comes from the api, and is read back whole',
    seed: 'empty',
    steps: [
      ada,
      {
        send: 'POST /tickets',
        body: {
          subject: '😀 Printer on fire',
          description: 'Smoke since nine.',
          priority: 4,
          contact_id: '<ada>',
          due_at: '2026-12-01T10:00:00Z',
        },
        status: 201,
        answer: {
          ticket: whole('', {
            id: id('ticket', 7),
            subject: '😀 Printer on fire',
            description: 'Smoke since nine.',
            priority: 4,
            contact: requester,
            due_at: time('2026-12-01T10:00:00Z'),
            messages: anyListOf(message),
          }),
        },
      },
      {
        send: 'GET /tickets/<ticket>',
        status: 200,
        answer: {
          ticket: whole('<ticket>', {
            subject: '😀 Printer on fire',
            description: 'Smoke since nine.',
            priority: 4,
            contact: requester,
            due_at: time('2026-12-01T10:00:00Z'),
            messages: anyListOf(message),
          }),
        },
      },
    ],
  },
  {
    title: 'a list of tickets comes newest first, without description, reply_channel, conversation_id and messages',
    seed: 'empty',
    steps: [
      create,
      {
        send: 'POST /tickets',
        body: { subject: 'No sound' },
        status: 201,
        answer: { ticket: { ...whole('', { subject: 'No sound' }), id: id('second', 8) } },
      },
      {
        send: 'GET /tickets',
        status: 200,
        answer: { tickets: [item('<second>', { subject: 'No sound' }), item('<ticket>', {})], meta: meta(2) },
      },
    ],
  },
  {
    title: 'tickets are found by subject, number, contact and status; unresolved means what still needs work',
    seed: 'empty',
    steps: [
      create,
      {
        send: 'POST /tickets',
        body: { subject: 'No sound' },
        status: 201,
        answer: { ticket: { ...whole('', { subject: 'No sound' }), id: id('second', 8) } },
      },
      change({ status: 'pending' }, { status: 'pending' }),
      {
        send: 'PATCH /tickets/<second>',
        body: { status: 'closed' },
        status: 200,
        answer: { ticket: whole('<second>', { subject: 'No sound', status: 'closed', resolved_at: time() }) },
      },
      {
        send: 'GET /tickets?status=unresolved',
        status: 200,
        answer: { tickets: [item('<ticket>', { status: 'pending' })], meta: meta(1) },
      },
      {
        send: 'GET /tickets?status=closed',
        status: 200,
        answer: {
          tickets: [item('<second>', { subject: 'No sound', status: 'closed', resolved_at: time() })],
          meta: meta(1),
        },
      },
      { send: 'GET /tickets?status=open', status: 200, answer: { tickets: [], meta: meta(0) } },
      {
        send: 'GET /tickets?q=sound',
        status: 200,
        answer: {
          tickets: [item('<second>', { subject: 'No sound', status: 'closed', resolved_at: time() })],
          meta: meta(1),
        },
      },
      { send: 'GET /tickets?contact_id=1', status: 200, answer: { tickets: [], meta: meta(0) } },
      {
        send: 'GET /tickets?updated_since=2999-01-01T00%3A00%3A00Z',
        status: 200,
        answer: { tickets: [], meta: meta(0) },
      },
    ],
  },
  {
    title: 'resolving stamps resolved_at, and opening again is a change of status',
    seed: 'empty',
    steps: [
      create,
      change({ status: 'resolved' }, { status: 'resolved', resolved_at: time() }),
      change({ status: 'open' }, { status: 'open', resolved_at: anything(null) }),
    ],
  },
  {
    title: 'an update changes only what was sent, and null takes a due time away',
    seed: 'empty',
    steps: [
      create,
      change(
        { subject: 'Printer smokes', due_at: '2026-12-01T10:00:00Z' },
        { subject: 'Printer smokes', due_at: time('2026-12-01T10:00:00Z') },
      ),
      change({ priority: 2, due_at: null }, { subject: 'Printer smokes', priority: 2 }),
      change({}, { subject: 'Printer smokes', priority: 2 }),
    ],
  },
  {
    title: 'a note is answered and never shown with the ticket',
    seed: 'empty',
    steps: [
      create,
      {
        send: 'POST /tickets/<ticket>/notes',
        body: { body: 'Called back, no answer.' },
        status: 201,
        answer: { note: { id: id('note', 51), body: 'Called back, no answer.', created_at: time() } },
      },
      { send: 'GET /tickets/<ticket>', status: 200, answer: { ticket: whole('<ticket>', {}) } },
    ],
  },
  {
    title: 'a reply goes out by email, records the first response and leaves the status',
    seed: 'empty',
    steps: [
      ada,
      forAda,
      {
        send: 'POST /tickets/<ticket>/replies',
        body: { body: 'We are on it.' },
        status: 201,
        answer: {
          message: {
            id: id('reply', 902),
            channel: 'email',
            direction: 'out',
            body: 'We are on it.',
            created_at: time(),
          },
        },
      },
      {
        send: 'GET /tickets/<ticket>',
        status: 200,
        answer: {
          ticket: whole('<ticket>', {
            contact: requester,
            first_response_at: time(),
            messages: [{ ...message, id: '<reply>', direction: 'out', body: 'We are on it.', attachments: [] }],
          }),
        },
      },
    ],
  },
  {
    title: 'a reply to nobody is refused and nothing is stored',
    seed: 'empty',
    steps: [
      create,
      {
        send: 'POST /tickets/<ticket>/replies',
        body: { body: 'We are on it.' },
        status: 422,
        answer: { message: filled('The requester has no email address.'), errors: anything({}) },
      },
      { send: 'GET /tickets/<ticket>', status: 200, answer: { ticket: whole('<ticket>', {}) } },
    ],
  },
  {
    title: 'a reply whose sending fails is refused and nothing is stored',
    seed: 'empty',
    steps: [
      ada,
      forAda,
      {
        control: true,
        send: 'POST /_sandbox/act',
        body: { kind: 'sends_fail', account_id: 1, value: true },
        status: 200,
        answer: anything({}),
      },
      {
        send: 'POST /tickets/<ticket>/replies',
        body: { body: 'We are on it.' },
        status: 422,
        answer: { message: filled('The message could not be sent.'), errors: anything({}) },
      },
      { send: 'GET /tickets/<ticket>', status: 200, answer: { ticket: whole('<ticket>', { contact: requester }) } },
    ],
  },
  {
    title: "a ticket's contact must be one of the account",
    seed: 'empty',
    steps: [
      {
        send: 'POST /tickets',
        body: { subject: 'Printer on fire', contact_id: 99 },
        status: 422,
        answer: invalid('contact_id', 'There is no such contact.'),
      },
    ],
  },
];
