import { id, invalid, like, meta, type Scene, text, time } from '../scene.ts';

const ada = { name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com', phone: '+12025550101' };
const grace = { name: 'Grace', last_name: 'Hopper', email: 'grace@example.com', phone: '+12025550102' };

const stored = (contact_id: unknown, fields: object) => ({
  contact_id,
  company: '',
  website: null,
  country: '',
  tags: [],
  metadata: {},
  lead_status: text('new'),
  created_at: time(),
  ...fields,
});

const create = (name: string, sample: number, body: { name: string }) =>
  ({
    send: 'POST /contacts/create',
    body,
    status: 200,
    answer: { contacts: { contact_id: id(name, sample), name: body.name } },
  }) as const;

export const contacts: readonly Scene[] = [
  {
    title: 'a single contact is answered as one object, and read back whole',
    seed: 'empty',
    steps: [
      create('ada', 101, { ...ada, company: 'Example', website: 'https://ada.example.com', country: 'GB' } as never),
      {
        send: 'GET /contacts/<ada>',
        status: 200,
        answer: {
          contact: stored('<ada>', {
            ...ada,
            company: 'Example',
            website: 'https://ada.example.com',
            country: 'GB',
            updated_at: time(),
          }),
        },
      },
    ],
  },
  {
    title: 'a list of contacts comes newest first, without updated_at, in pages',
    seed: 'empty',
    steps: [
      create('ada', 101, ada),
      create('grace', 102, grace),
      {
        send: 'GET /contacts?page=1&per_page=1',
        status: 200,
        answer: { contacts: [stored('<grace>', grace)], meta: meta(2, 1, 2) },
      },
      {
        send: 'GET /contacts?page=2&per_page=1',
        status: 200,
        answer: { contacts: [stored('<ada>', ada)], meta: meta(2, 2, 2) },
      },
      { send: 'GET /contacts?page=3&per_page=1', status: 200, answer: { contacts: [], meta: meta(2, 3, 2) } },
    ],
  },
  {
    title: 'an account without contacts has one empty page',
    seed: 'empty',
    steps: [{ send: 'GET /contacts', status: 200, answer: { contacts: [], meta: meta(0, 1, 1) } }],
  },
  {
    title: 'a batch is answered as a list in its order',
    seed: 'empty',
    steps: [
      {
        send: 'POST /contacts/create',
        body: { contacts: [ada, grace] },
        status: 200,
        answer: {
          contacts: [
            { contact_id: id('ada', 101), name: 'Ada' },
            { contact_id: id('grace', 102), name: 'Grace' },
          ],
        },
      },
    ],
  },
  {
    title: 'one invalid row rejects the whole batch',
    seed: 'empty',
    steps: [
      {
        send: 'POST /contacts/create',
        body: { contacts: [ada, { ...grace, phone: '555' }] },
        status: 422,
        answer: invalid('contacts.1.phone', 'The phone must be +1 followed by ten digits.'),
      },
      { send: 'GET /contacts', status: 200, answer: { contacts: [], meta: meta(0) } },
    ],
  },
  {
    title: 'the same email twice creates two contacts',
    seed: 'empty',
    steps: [
      create('first', 101, ada),
      create('second', 102, ada),
      {
        send: 'GET /contacts',
        status: 200,
        answer: { contacts: [stored('<second>', ada), stored('<first>', ada)], meta: meta(2) },
      },
    ],
  },
  {
    title: 'an update changes only what was sent, merges metadata and stores any common phone as E.164',
    seed: 'empty',
    steps: [
      create('ada', 101, { ...ada, metadata: { plan: 'free', seats: 3 } } as never),
      {
        send: 'PATCH /contacts/<ada>',
        body: { company: 'Example', phone: '(202) 555-0123', metadata: { plan: 'pro', vip: true } },
        status: 200,
        answer: {
          contact: stored('<ada>', {
            ...ada,
            company: 'Example',
            phone: '+12025550123',
            metadata: { plan: 'pro', seats: 3, vip: true },
            updated_at: time(),
          }),
        },
      },
      {
        send: 'PATCH /contacts/<ada>',
        body: { phone: '+44 20 7946 0958', last_name: '' },
        status: 200,
        answer: {
          contact: stored('<ada>', {
            ...ada,
            last_name: '',
            company: 'Example',
            phone: '+442079460958',
            metadata: { plan: 'pro', seats: 3, vip: true },
            updated_at: time(),
          }),
        },
      },
    ],
  },
  {
    title: 'a phone that cannot be read is refused on update and changes nothing',
    seed: 'empty',
    steps: [
      create('ada', 101, ada),
      {
        send: 'PATCH /contacts/<ada>',
        body: { company: 'Example', phone: 'call me' },
        status: 422,
        answer: invalid('phone', 'The phone is not a phone number.'),
      },
      {
        send: 'GET /contacts/<ada>',
        status: 200,
        answer: { contact: stored('<ada>', { ...ada, updated_at: time() }) },
      },
    ],
  },
  {
    title: 'a sync creates, completes and counts; bad rows are reported by their position and stop nothing',
    seed: 'empty',
    steps: [
      create('ada', 101, { ...ada, company: 'Example' } as never),
      {
        refusedHere: true,
        send: 'POST /platform/contacts/sync',
        body: {
          contacts: [
            { email: 'new@example.com', name: 'Nova', phone: 'none', tags: ['lead'], metadata: { source: 'fair' } },
            { name: 'Without an email' },
            {
              email: 'ada@example.com',
              name: 'Augusta',
              company: 'Other',
              tags: ['vip', 'uk'],
              metadata: { seats: 3 },
            },
          ],
        },
        status: 200,
        answer: { created: 1, updated: 1, errors: [{ index: 1, error: like(/./u, 'The email is required.') }] },
      },
      {
        send: 'POST /platform/contacts/sync',
        body: { contacts: [{ email: 'ada@example.com', tags: ['uk', 'beta'], metadata: { plan: 'pro' } }] },
        status: 200,
        answer: { created: 0, updated: 1, errors: [] },
      },
      {
        send: 'GET /contacts/<ada>',
        status: 200,
        answer: {
          contact: stored('<ada>', {
            ...ada,
            company: 'Example',
            tags: ['vip', 'uk', 'beta'],
            metadata: { seats: 3, plan: 'pro' },
            updated_at: time(),
          }),
        },
      },
      {
        send: 'GET /contacts?per_page=1',
        status: 200,
        answer: {
          contacts: [
            stored(id('nova', 102), {
              name: 'Nova',
              last_name: '',
              email: 'new@example.com',
              phone: '',
              tags: ['lead'],
              metadata: { source: 'fair' },
            }),
          ],
          meta: meta(2, 1, 2),
        },
      },
    ],
  },
  {
    title: 'a sync fills a blank field',
    seed: 'empty',
    steps: [
      create('ada', 101, ada),
      {
        send: 'POST /platform/contacts/sync',
        body: { contacts: [{ email: 'ada@example.com', company: 'Example' }] },
        status: 200,
        answer: { created: 0, updated: 1, errors: [] },
      },
      {
        send: 'GET /contacts/<ada>',
        status: 200,
        answer: { contact: stored('<ada>', { ...ada, company: 'Example', updated_at: time() }) },
      },
    ],
  },
  {
    title: 'a synced contact with 11 tags, or a tag of 51 characters, is a bad row',
    seed: 'empty',
    steps: [
      {
        refusedHere: true,
        send: 'POST /platform/contacts/sync',
        body: {
          contacts: [
            { email: 'a@example.com', tags: ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11'] },
            { email: 'b@example.com', tags: ['😀'.repeat(50)] },
            { email: 'c@example.com', tags: ['😀'.repeat(51)] },
            { email: 'no address' },
          ],
        },
        status: 200,
        answer: {
          created: 1,
          updated: 0,
          errors: [
            { index: 0, error: like(/./u, 'The tags may hold at most 10.') },
            { index: 2, error: like(/./u, 'A tag may have at most 50 characters.') },
            { index: 3, error: like(/./u, 'The email is no address.') },
          ],
        },
      },
    ],
  },
];
