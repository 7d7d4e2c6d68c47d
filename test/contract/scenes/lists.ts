import { filled, id, like, meta, type Scene, type Step, simple, text, time } from '../scene.ts';

const done = { success: filled('Done.') };
const leads = { name: 'Leads', target_industry: 'Retail', notes: 'From the fair' };

const create: Step = {
  send: 'POST /contactslists/create',
  body: { ...leads, metadata: { source: 'fair' } },
  status: 200,
  answer: { contact_list_id: id('list', 5) },
};

const contact = (name: string, sample: number, digit: number): Step => ({
  send: 'POST /contacts/create',
  body: { name, last_name: 'Example', email: `${name}@example.com`, phone: `+1202555010${digit}` },
  status: 200,
  answer: { contacts: { contact_id: id(name, sample), name } },
});

const members = (...names: string[]): Step => ({
  send: 'GET /contactslists/<list>/get_contacts',
  status: 200,
  answer: { data: names.map((name) => ({ contact_id: `<${name}>`, name })) },
});

export const lists: readonly Scene[] = [
  {
    title: 'a list is called contact_list_id where it is made and contacts_list_id where it is listed',
    seed: 'empty',
    steps: [
      { send: 'GET /contactslists/list', status: 200, answer: { data: [] } },
      create,
      {
        send: 'GET /contactslists/list',
        status: 200,
        answer: { data: [{ contacts_list_id: '<list>', name: 'Leads', target_industry: 'Retail' }] },
      },
    ],
  },
  {
    title: 'a list update changes only what was sent',
    seed: 'empty',
    steps: [
      create,
      {
        send: 'POST /contactslists/<list>/update',
        body: { name: 'Warm leads', metadata: { year: 2026 } },
        status: 200,
        answer: { contact_list_id: '<list>' },
      },
      {
        send: 'GET /contactslists/list',
        status: 200,
        answer: { data: [{ contacts_list_id: '<list>', name: 'Warm leads', target_industry: 'Retail' }] },
      },
    ],
  },
  {
    title: 'deleting a list leaves its contacts',
    seed: 'empty',
    steps: [
      create,
      contact('ada', 101, 1),
      {
        send: 'POST /contactslists/<list>/sync_contacts',
        body: { name: 'Leads', contacts_ids: ['<ada>'] },
        status: 200,
        answer: done,
      },
      { send: 'POST /contactslists/<list>/delete', status: 200, answer: done },
      { send: 'GET /contactslists/<list>/get_contacts', status: 404, answer: simple('Not found.') },
      { send: 'POST /contactslists/<list>/delete', status: 404, answer: simple('Not found.') },
      {
        send: 'GET /contacts',
        status: 200,
        answer: {
          contacts: [
            {
              contact_id: '<ada>',
              name: 'ada',
              last_name: 'Example',
              email: 'ada@example.com',
              phone: '+12025550101',
              company: '',
              website: null,
              country: '',
              tags: [],
              metadata: {},
              lead_status: text('new'),
              created_at: time(),
            },
          ],
          meta: meta(1),
        },
      },
    ],
  },
  {
    title: 'sync_contacts sets the whole membership, remove_contacts takes away membership only',
    seed: 'empty',
    steps: [
      create,
      contact('ada', 101, 1),
      contact('bob', 102, 2),
      contact('cem', 103, 3),
      {
        send: 'POST /contactslists/<list>/sync_contacts',
        body: { name: 'Leads', contacts_ids: ['<ada>', '<bob>'] },
        status: 200,
        answer: done,
      },
      members('ada', 'bob'),
      {
        send: 'POST /contactslists/<list>/sync_contacts',
        body: { name: 'Leads', contacts_ids: ['<cem>'] },
        status: 200,
        answer: done,
      },
      members('cem'),
      {
        send: 'POST /contactslists/<list>/remove_contacts',
        body: { contacts_ids: ['<cem>', '<ada>'] },
        status: 200,
        answer: done,
      },
      members(),
      {
        send: 'POST /contactslists/<list>/sync_contacts',
        body: { name: 'Leads', contacts_ids: [] },
        status: 200,
        answer: done,
      },
    ],
  },
  {
    title:
      'create_sync_contacts adds: it creates, or updates the one with the same email or phone, and disturbs no other',
    seed: 'empty',
    steps: [
      create,
      contact('ada', 101, 1),
      contact('bob', 102, 2),
      {
        send: 'POST /contactslists/<list>/sync_contacts',
        body: { name: 'Leads', contacts_ids: ['<ada>'] },
        status: 200,
        answer: done,
      },
      {
        send: 'POST /contactslists/<list>/create_sync_contacts',
        body: {
          contacts: [
            { name: 'bob', email: 'bob@example.com', company: 'Example' },
            { name: 'ada', email: 'other@example.com', phone: '+12025550101' },
            { name: 'dan', email: 'dan@example.com' },
          ],
        },
        status: 200,
        answer: done,
      },
      {
        send: 'GET /contactslists/<list>/get_contacts',
        status: 200,
        answer: {
          data: [
            { contact_id: '<ada>', name: 'ada' },
            { contact_id: '<bob>', name: 'bob' },
            { contact_id: id('dan', 103), name: 'dan' },
          ],
        },
      },
      {
        send: 'GET /contacts?per_page=1&page=2',
        status: 200,
        answer: {
          contacts: [
            {
              contact_id: '<bob>',
              name: 'bob',
              last_name: 'Example',
              email: 'bob@example.com',
              phone: '+12025550102',
              company: 'Example',
              website: null,
              country: '',
              tags: [],
              metadata: {},
              lead_status: text('new'),
              created_at: time(),
            },
          ],
          meta: meta(3, 2, 3),
        },
      },
    ],
  },
  {
    title: 'one row without a name refuses the whole create_sync_contacts',
    seed: 'empty',
    steps: [
      create,
      {
        send: 'POST /contactslists/<list>/create_sync_contacts',
        body: { contacts: [{ name: 'ada', email: 'ada@example.com' }, { email: 'bob@example.com' }] },
        status: 422,
        answer: {
          message: filled('The contacts.1.name field is required.'),
          errors: { 'contacts.1.name': [like(/./u, 'The contacts.1.name field is required.')] },
        },
      },
      members(),
    ],
  },
];
