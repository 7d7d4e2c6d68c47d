import {
  anyListOf,
  count,
  filled,
  id,
  like,
  meta,
  oneOf,
  orNull,
  type Scene,
  type Step,
  simple,
  text,
  time,
} from '../scene.ts';

const person = {
  contact_id: count(101),
  name: text('Ada'),
  last_name: text('Lovelace'),
  email: text('ada@example.com'),
  phone: orNull(text('+12025550101')),
};

const item = {
  id: id('chat', 31),
  status: filled('open'),
  handling_mode: oneOf('ai', 'human'),
  channel: filled('web'),
  subject: orNull(text('Where is my parcel?')),
  priority: filled('normal'),
  contact: orNull(person),
  ticket_id: orNull(count(7)),
  last_message_at: time(),
  resolved_at: orNull(time()),
  csat_rating: orNull(count(5)),
  created_at: time(),
  updated_at: time(),
};

const message = {
  id: count(411),
  sender_type: oneOf('visitor', 'operator', 'ai'),
  sender_name: text('Ada'),
  body: text('Where is my parcel?'),
  attachments: anyListOf({ name: filled('label.pdf'), mime: like(/\//u, 'application/pdf'), size: count(9120) }),
  created_at: time(),
};

/** The most recently active one that still needs work. */
const first: Step = {
  send: 'GET /conversations?status=unresolved&per_page=1',
  status: 200,
  answer: { conversations: [item], meta: { current_page: 1, last_page: count(12), total: count(12) } },
};

export const conversations: readonly Scene[] = [
  {
    title: 'a list of conversations holds no messages, one conversation does',
    seed: 'demo',
    steps: [
      first,
      {
        send: 'GET /conversations/<chat>',
        status: 200,
        answer: { conversation: { ...item, id: '<chat>', messages: anyListOf(message) } },
      },
    ],
  },
  {
    title: 'a message to the customer takes the chat from the AI',
    seed: 'demo',
    steps: [
      first,
      {
        send: 'POST /conversations/<chat>/messages',
        body: { body: 'It is on its way 🚚' },
        status: 201,
        answer: {
          message: { id: id('sent', 412), sender_type: 'operator', body: 'It is on its way 🚚', created_at: time() },
          handling_mode: 'human',
        },
      },
      {
        // Most recently active first: so it stands at the top now.
        send: 'GET /conversations?per_page=1',
        status: 200,
        answer: {
          conversations: [{ ...item, id: '<chat>', handling_mode: 'human' }],
          meta: { current_page: 1, last_page: count(20), total: count(20) },
        },
      },
    ],
  },
  {
    title: 'resolving a conversation answers it without messages, and twice is once',
    seed: 'demo',
    steps: [
      first,
      {
        send: 'POST /conversations/<chat>/resolve',
        status: 200,
        answer: { conversation: { ...item, id: '<chat>', status: 'resolved', resolved_at: time() } },
      },
      {
        send: 'POST /conversations/<chat>/resolve',
        status: 200,
        answer: { conversation: { ...item, id: '<chat>', status: 'resolved', resolved_at: time() } },
      },
    ],
  },
  {
    title: 'a conversation of nobody, or of another account, is not found',
    seed: 'demo',
    steps: [
      first,
      { as: 'key_globex', send: 'GET /conversations/<chat>', status: 404, answer: simple('Not found.') },
      {
        as: 'key_globex',
        send: 'POST /conversations/<chat>/messages',
        body: { body: 'Hello' },
        status: 404,
        answer: simple('Not found.'),
      },
      { as: 'key_globex', send: 'POST /conversations/<chat>/resolve', status: 404, answer: simple('Not found.') },
    ],
  },
  {
    title: 'nothing changed since the year 2999',
    seed: 'demo',
    steps: [
      {
        send: 'GET /conversations?contact_id=99999&updated_since=2999-01-01T00%3A00%3A00Z',
        status: 200,
        answer: { conversations: [], meta: meta(0) },
      },
    ],
  },
];
