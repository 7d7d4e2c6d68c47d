import { describe, expect, test } from 'vitest';
import type { Exchange, HttpRequest } from '../../src/context.ts';
import { createWorld, type RunOptions, svc } from '../svc.ts';

// What people type (product.md, section 2) against what the service then gets (service-api.txt), both written by hand.

type Line = {
  /** As typed after `svc`; quotes as a shell reads them. */
  readonly type: string;
  readonly stdin?: string;
  /** Every request, in order: method, path with query, body. Page 1 of 50 may be left unsaid. */
  readonly sends: readonly (readonly [request: string, body?: unknown])[];
  /** The answers to them. */
  readonly answers: readonly unknown[];
  /** What `--json` prints; left out where it is the answer itself. */
  readonly prints?: unknown;
};

const at = '2026-11-20T09:00:00Z';
const meta = { current_page: 1, last_page: 1, total: 1 };
const ada = { contact_id: 7, name: 'Ada', last_name: 'L', email: 'ada@example.com', phone: '+12025550101' };
const contact = {
  ...ada,
  company: '',
  website: null,
  country: '',
  tags: [],
  metadata: {},
  lead_status: 'new',
  created_at: at,
};
const wholeContact = { ...contact, updated_at: at };
const list = { contacts_list_id: 5, name: 'Leads', target_industry: 'Retail' };
const call = {
  phone_call_id: 21,
  contact_id: 7,
  from: '+12025550100',
  to: '+12025550101',
  status: 'completed',
  duration: 95,
  interest_level: 'high',
  start_time: at,
  created_at: at,
};
const ticket = {
  id: 8,
  ticket_number: 'T-8',
  subject: 'Printer on fire',
  status: 'open',
  priority: 3,
  source: 'api',
  contact: ada,
  due_at: null,
  first_response_at: null,
  resolved_at: null,
  created_at: at,
  updated_at: at,
};
const wholeTicket = { ...ticket, description: '', reply_channel: 'email', conversation_id: null, messages: [] };
const chat = {
  id: 31,
  status: 'open',
  handling_mode: 'ai',
  channel: 'web',
  subject: null,
  priority: 'normal',
  contact: null,
  ticket_id: null,
  last_message_at: at,
  resolved_at: null,
  csat_rating: null,
  created_at: at,
  updated_at: at,
};
const entry = {
  id: 9,
  title: 'Dark mode',
  slug: 'dark-mode',
  version: null,
  category: null,
  labels: [],
  status: 'draft',
  is_live: false,
  published_at: null,
  created_at: at,
  updated_at: at,
};
const wholeEntry = { ...entry, content_html: '<p>It is here.</p>' };
const post = {
  id: 61,
  title: 'Dark mode',
  content: 'My eyes.',
  status: 'planned',
  category: { id: 3, name: 'Interface' },
  vote_count: 12,
  comments_count: 2,
  on_roadmap: true,
  created_at: at,
  updated_at: at,
};
const hook = { id: 71, event_type: 'ticket.created', target_url: 'https://hooks.example.com/svc' };
const note = { id: 51, body: 'Called back', created_at: at };
const reply = { id: 902, channel: 'email', direction: 'out', body: 'We are on it', created_at: at };
const message = { id: 412, sender_type: 'operator', body: 'Hello', created_at: at };
const meeting = {
  id: 81,
  name: 'Demo',
  slug: 'demo',
  description: '',
  duration_minutes: 30,
  location_type: 'video',
  url: 'https://book.example.com/acme/demo',
};
const account = { account_id: 1, name: 'Acme', billing_active: true, setup_url: null };
const done = { success: 'Done.' };

const lines: readonly Line[] = [
  { type: 'account get', sends: [['GET /platform/account']], answers: [account] },
  {
    type: "branding update --primary-color '#102030' --from-name 'Acme Support' --social x=https://x.example.com/a --social y=https://y.example.com/b",
    sends: [
      [
        'PUT /platform/branding',
        {
          primary_color: '#102030',
          from_name: 'Acme Support',
          socials: { x: 'https://x.example.com/a', y: 'https://y.example.com/b' },
        },
      ],
    ],
    answers: [{ ok: true, updated: ['primary_color', 'from_name', 'socials'] }],
  },
  { type: 'contacts list', sends: [['GET /contacts']], answers: [{ contacts: [contact], meta }], prints: [contact] },
  {
    type: 'contact list --page 2 --per-page 10',
    sends: [['GET /contacts?page=2&per_page=10']],
    answers: [{ contacts: [contact], meta: { current_page: 2, last_page: 2, total: 11 } }],
    prints: [contact],
  },
  { type: 'contacts get 7', sends: [['GET /contacts/7']], answers: [{ contact: wholeContact }], prints: wholeContact },
  {
    type: "contacts update 7 --company Example --last-name '' --phone '(202) 555-0123' --metadata plan=pro --metadata seats=3",
    sends: [
      [
        'PATCH /contacts/7',
        { company: 'Example', last_name: '', phone: '(202) 555-0123', metadata: { plan: 'pro', seats: '3' } },
      ],
    ],
    answers: [{ contact: wholeContact }],
    prints: wholeContact,
  },
  {
    type: 'contacts create --name Ada --last-name L --email ada@example.com --phone +12025550101 --company Example',
    sends: [
      [
        'POST /contacts/create',
        { name: 'Ada', last_name: 'L', email: 'ada@example.com', phone: '+12025550101', company: 'Example' },
      ],
    ],
    answers: [{ contacts: { contact_id: 7, name: 'Ada' } }],
    prints: { contact_id: 7, name: 'Ada' },
  },
  {
    type: 'contacts create --file -',
    stdin: '[{"name":"Ada","last_name":"L","email":"ada@example.com","phone":"+12025550101"}]',
    sends: [
      [
        'POST /contacts/create',
        { contacts: [{ name: 'Ada', last_name: 'L', email: 'ada@example.com', phone: '+12025550101' }] },
      ],
    ],
    answers: [{ contacts: [{ contact_id: 7, name: 'Ada' }] }],
    prints: [{ contact_id: 7, name: 'Ada' }],
  },
  {
    type: 'contacts sync - --tag imported --metadata source=fair',
    stdin: 'E-mail,First Name,Surname,Mobile,Company,Tags\nada@example.com,Ada,L,+12025550101,Example,vip;uk\n',
    sends: [
      [
        'POST /platform/contacts/sync',
        {
          contacts: [
            {
              email: 'ada@example.com',
              name: 'Ada',
              last_name: 'L',
              phone: '+12025550101',
              company: 'Example',
              tags: ['vip', 'uk', 'imported'],
              metadata: { source: 'fair' },
            },
          ],
        },
      ],
    ],
    answers: [{ created: 1, updated: 0, errors: [] }],
    prints: expect.objectContaining({ rows: 1, created: 1, updated: 0, rejected: 0, unsent: 0, errors: [] }),
  },
  { type: 'lists list', sends: [['GET /contactslists/list']], answers: [{ data: [list] }], prints: [list] },
  {
    type: "lists create --name Leads --target-industry Retail --notes 'From the fair' --metadata year=2026",
    sends: [
      ['GET /contactslists/list'],
      [
        'POST /contactslists/create',
        { name: 'Leads', target_industry: 'Retail', notes: 'From the fair', metadata: { year: '2026' } },
      ],
    ],
    answers: [{ data: [] }, { contact_list_id: 5 }],
    prints: { contact_list_id: 5 },
  },
  {
    type: 'lists update 5 --name Warm',
    sends: [['POST /contactslists/5/update', { name: 'Warm' }]],
    answers: [{ contact_list_id: 5 }],
  },
  {
    type: 'lists update 5 --target-industry Toys',
    sends: [['GET /contactslists/list'], ['POST /contactslists/5/update', { name: 'Leads', target_industry: 'Toys' }]],
    answers: [{ data: [list] }, { contact_list_id: 5 }],
    prints: { contact_list_id: 5 },
  },
  { type: 'lists delete 5 --yes', sends: [['POST /contactslists/5/delete', {}]], answers: [done] },
  {
    type: 'lists members 5',
    sends: [['GET /contactslists/5/get_contacts']],
    answers: [{ data: [{ contact_id: 7, name: 'Ada' }] }],
    prints: [{ contact_id: 7, name: 'Ada' }],
  },
  {
    type: 'lists remove 5 --contact 7 --contact 8',
    sends: [['POST /contactslists/5/remove_contacts', { contacts_ids: [7, 8] }]],
    answers: [done],
  },
  { type: 'calls list', sends: [['GET /calls']], answers: [{ calls: [call], meta }], prints: [call] },
  {
    type: "tickets list --status unresolved --search 'on fire' --contact 7 --updated-since 2026-11-01T00:00:00Z",
    sends: [['GET /tickets?status=unresolved&q=on+fire&contact_id=7&updated_since=2026-11-01T00%3A00%3A00Z']],
    answers: [{ tickets: [ticket], meta }],
    prints: [ticket],
  },
  { type: 'ticket get 8', sends: [['GET /tickets/8']], answers: [{ ticket: wholeTicket }], prints: wholeTicket },
  {
    type: "tickets create --subject 'Printer on fire' --description Smoke --priority 3 --contact 7 --due-at 2026-12-01T10:00:00Z",
    sends: [
      [
        'POST /tickets',
        {
          subject: 'Printer on fire',
          description: 'Smoke',
          priority: 3,
          contact_id: 7,
          due_at: '2026-12-01T10:00:00Z',
        },
      ],
    ],
    answers: [{ ticket: wholeTicket }],
    prints: wholeTicket,
  },
  {
    type: 'tickets create --subject Piped --body-file -',
    stdin: 'Line one\nLine two\n',
    sends: [['POST /tickets', { subject: 'Piped', description: expect.stringMatching(/^Line one\nLine two\n?$/u) }]],
    answers: [{ ticket: wholeTicket }],
    prints: wholeTicket,
  },
  {
    type: 'tickets update 8 --priority 0 --clear due_at --status pending',
    sends: [['PATCH /tickets/8', { priority: 0, due_at: null, status: 'pending' }]],
    answers: [{ ticket: wholeTicket }],
    prints: wholeTicket,
  },
  ...(
    [
      ['resolve', 'resolved'],
      ['close', 'closed'],
      ['reopen', 'open'],
    ] as const
  ).map(([verb, status]) => ({
    type: `tickets ${verb} 8`,
    sends: [['PATCH /tickets/8', { status }] as const],
    answers: [{ ticket: wholeTicket }],
    prints: wholeTicket,
  })),
  {
    type: "tickets note 8 --body 'Called back'",
    sends: [['POST /tickets/8/notes', { body: 'Called back' }]],
    answers: [{ note }],
    prints: note,
  },
  {
    type: "tickets reply 8 --body 'We are on it'",
    sends: [['POST /tickets/8/replies', { body: 'We are on it' }]],
    answers: [{ message: reply }],
    prints: reply,
  },
  {
    type: 'conversations list --status unresolved --contact 7 --updated-since 2026-11-01T00:00:00Z',
    sends: [['GET /conversations?status=unresolved&contact_id=7&updated_since=2026-11-01T00%3A00%3A00Z']],
    answers: [{ conversations: [chat], meta }],
    prints: [chat],
  },
  {
    type: 'conversations get 31',
    sends: [['GET /conversations/31']],
    answers: [{ conversation: { ...chat, messages: [] } }],
    prints: { ...chat, messages: [] },
  },
  {
    type: 'conversation reply 31 --body Hello',
    sends: [['POST /conversations/31/messages', { body: 'Hello' }]],
    answers: [{ message, handling_mode: 'human' }],
  },
  {
    type: 'conversations resolve 31',
    sends: [['POST /conversations/31/resolve', {}]],
    answers: [{ conversation: chat }],
    prints: chat,
  },
  {
    type: 'changelog list --status draft',
    sends: [['GET /changelog?status=draft']],
    answers: [{ entries: [entry], meta }],
    prints: [entry],
  },
  { type: 'changelog get 9', sends: [['GET /changelog/9']], answers: [{ entry: wholeEntry }], prints: wholeEntry },
  {
    type: "changelog create --title 'Dark mode' --content 'It is here.' --version 1.2.0 --category-id 3 --label new --labels ui --status published --published-at 2026-12-01T10:00:00Z",
    sends: [
      [
        'POST /changelog',
        {
          title: 'Dark mode',
          content: 'It is here.',
          version: '1.2.0',
          category_id: 3,
          labels: ['new', 'ui'],
          status: 'published',
          published_at: '2026-12-01T10:00:00Z',
        },
      ],
    ],
    answers: [{ entry: wholeEntry }],
    prints: wholeEntry,
  },
  {
    type: 'changelog update 9 --title Darker --clear version --clear labels',
    sends: [['PATCH /changelog/9', { title: 'Darker', version: null, labels: [] }]],
    answers: [{ entry: wholeEntry }],
    prints: wholeEntry,
  },
  {
    type: 'changelog publish 9 --at 2026-12-01T10:00:00Z',
    sends: [['PATCH /changelog/9', { status: 'published', published_at: '2026-12-01T10:00:00Z' }]],
    answers: [{ entry: wholeEntry }],
    prints: wholeEntry,
  },
  {
    type: "feedback list --status planned --category 3 --search 'dark mode'",
    sends: [['GET /feedback?status=planned&category_id=3&q=dark+mode']],
    answers: [{ posts: [post], meta }],
    prints: [post],
  },
  {
    type: 'roadmap get',
    sends: [['GET /roadmap']],
    answers: [{ statuses: [{ slug: 'planned', name: 'Planned', color: '#102030', posts: [post] }] }],
    prints: [{ slug: 'planned', name: 'Planned', color: '#102030', posts: [post] }],
  },
  {
    type: 'events send order_create --contact-name Ada --contact-last-name L --email ada@example.com --phone +12025550101 --external-ref o-7 --metadata plan=pro --utm-source news --gclid abc --svc-ad x --value-minor 1999 --currency EUR',
    sends: [
      [
        'POST /integrations/partner/events',
        {
          trigger: 'order_create',
          external_ref: 'o-7',
          contact: { name: 'Ada', last_name: 'L', email: 'ada@example.com', phone: '+12025550101' },
          metadata: { plan: 'pro' },
          attribution: { utm_source: 'news', gclid: 'abc', svc_ad: 'x' },
          kpi: { value_minor: 1999, currency: 'EUR' },
        },
      ],
    ],
    answers: [{ status: 'ok', enrolled: 1 }],
  },
  {
    type: 'events send order_create --contact-name Ada --phone +12025550101 --value 19.99 --currency EUR',
    sends: [
      [
        'POST /integrations/partner/events',
        {
          trigger: 'order_create',
          contact: { name: 'Ada', phone: '+12025550101' },
          kpi: { value_minor: 1999, currency: 'EUR' },
        },
      ],
    ],
    answers: [{ status: 'ok', enrolled: 0 }],
  },
  {
    type: 'webhooks list',
    sends: [['GET /oauth-platform/webhooks']],
    answers: [{ webhooks: [{ ...hook, is_active: true, created_at: at }] }],
    prints: [{ ...hook, is_active: true, created_at: at }],
  },
  {
    type: 'webhooks create ticket.created https://hooks.example.com/svc',
    sends: [
      ['POST /oauth-platform/webhooks', { event_type: 'ticket.created', target_url: 'https://hooks.example.com/svc' }],
    ],
    answers: [{ ...hook, signing_secret: 'whsec_sample' }],
  },
  {
    type: 'webhooks delete 71 --yes',
    sends: [['DELETE /oauth-platform/webhooks/71']],
    answers: [{ status: 'ok' }],
  },
  {
    type: 'meetings list --account 1',
    sends: [['GET /1/meetings']],
    answers: [{ ok: true, account: { id: 1, name: 'Acme' }, meetings: [meeting] }],
    prints: [meeting],
  },
];

const base = 'https://api.example.com/prefix';
const env = {
  SVC_BASE_URL: base,
  SVC_API_KEY: 'key_acme',
  SVC_ACCESS_TOKEN: 'oauth_token',
  SVC_M2M_TOKEN: 'm2m_token',
};

/** As a shell would split it. */
const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/gu)].map(([, quoted, plain]) => quoted ?? plain ?? '');

function serviceOf(answer: (request: HttpRequest) => { status: number; body: unknown }) {
  const sent: HttpRequest[] = [];
  const exchange: Exchange = async (request) => {
    sent.push(request);
    const { status, body } = answer(request);
    const date = new Date(at).toUTCString();
    return { status, headers: { 'content-type': 'application/json', date }, body: JSON.stringify(body) };
  };
  return {
    sent,
    run: (argv: string[], options: RunOptions = {}) => svc(createWorld(exchange, { env }), argv, options),
  };
}

const seen = ({ method, url, body }: HttpRequest) => {
  const { pathname, searchParams } = new URL(url);
  if (searchParams.get('page') === '1') searchParams.delete('page');
  if (searchParams.get('per_page') === '50') searchParams.delete('per_page');
  const query = searchParams.toString();
  const request = `${method} ${pathname.replace('/prefix', '')}${query && `?${query}`}`;
  return body === undefined ? [request] : [request, JSON.parse(String(body))];
};

test.for(lines)('svc $type', async ({ type, stdin, sends, answers, prints }) => {
  let at = 0;
  const { sent, run } = serviceOf(() => ({ status: 200, body: answers[at++] ?? { error: 'Not asked for.' } }));
  const ran = await run([...words(type), '--json'], { stdin });
  expect(sent.map(seen), ran.stderr).toEqual(sends);
  expect([ran.exitCode, JSON.parse(ran.stdout)]).toEqual([0, prints ?? answers.at(-1)]);
  for (const { url, headers } of sent) {
    const token = url.includes('/oauth-platform/')
      ? 'oauth_token'
      : url.endsWith('/meetings')
        ? 'm2m_token'
        : 'key_acme';
    expect(headers.authorization).toBe(`Bearer ${token}`);
    expect(url.startsWith(`${base}/`)).toBe(true);
  }
});

describe('what needs a look before it writes', () => {
  /** Answers by route, and keeps what was written. */
  const playOn = async (type: string, routes: Record<string, unknown>, stdin?: string) => {
    const { sent, run } = serviceOf((request) => {
      const found = routes[seen(request)[0] as string];
      return found ? { status: 200, body: found } : { status: 404, body: { error: `${seen(request)[0]}?` } };
    });
    const ran = await run([...words(type), '--json'], { stdin });
    expect(ran.exitCode, ran.stderr).toBe(0);
    return sent.filter(({ method }) => method !== 'GET').map(seen);
  };
  const known = {
    'GET /contactslists/list': { data: [list] },
    'GET /contactslists/5/get_contacts': { data: [{ contact_id: 9, name: 'Bob' }] },
    'GET /contacts/7': { contact: wholeContact },
  };

  test('lists set replaces the whole membership and sends the name that the service requires', async () => {
    const path = 'POST /contactslists/5/sync_contacts';
    const written = await playOn('lists set 5 --contact 7 --contact 9 --yes', { ...known, [path]: done });
    expect(written).toEqual([[path, { name: 'Leads', contacts_ids: [7, 9] }]]);
  });

  test('lists add never sets the membership: the contact goes unchanged through the adding endpoint', async () => {
    const path = 'POST /contactslists/5/create_sync_contacts';
    const members = { data: [9, 7].map((contact_id) => ({ contact_id, name: 'x' })) };
    const routes = { ...known, 'GET /contactslists/5/get_contacts': members, [path]: done };
    const written = await playOn('lists add 5 --contact 7', routes);
    expect(written).toEqual([
      [
        path,
        {
          contacts: [
            expect.objectContaining({ name: 'Ada', last_name: 'L', email: 'ada@example.com', phone: '+12025550101' }),
          ],
        },
      ],
    ]);
  });

  test('lists import goes through the adding endpoint', async () => {
    const path = 'POST /contactslists/5/create_sync_contacts';
    const csv = 'Email,First name,Company\nada@example.com,Ada,Example\nbob@example.com,Bob,\n';
    const written = await playOn('lists import 5 -', { ...known, [path]: done }, csv);
    expect(written).toMatchObject([
      [
        path,
        {
          contacts: [
            { name: 'Ada', email: 'ada@example.com', company: 'Example' },
            { name: 'Bob', email: 'bob@example.com' },
          ],
        },
      ],
    ]);
  });
});

describe('a refusal ends with its exit code, and with --json tells it as one object', () => {
  const said = async (type: string, status: number, body: unknown) => {
    const { run } = serviceOf(() => ({ status, body }));
    const ran = await run([...words(type), '--json']);
    expect(ran.stdout).toBe('');
    return { exitCode: ran.exitCode, error: JSON.parse(ran.stderr.trim().split('\n').at(-1) as string).error };
  };

  test.for([
    [401, { error: 'Token expired.' }, 'auth', 4],
    [403, { error: 'The Support module is switched off.' }, 'forbidden', 5],
    [404, { error: 'Not found.' }, 'not-found', 3],
    [422, { message: 'The data was invalid.', errors: { subject: ['is too long.'] } }, 'rejected', 6],
    [418, { error: 'No.' }, 'rejected', 6],
  ] as const)('%i', async ([status, body, kind, code]) => {
    const { exitCode, error } = await said('tickets update 8 --priority 1', status, body);
    expect(exitCode).toBe(code);
    expect(error).toMatchObject({
      kind,
      exit_code: code,
      status,
      message: 'error' in body ? body.error : body.message,
      fields: 'errors' in body ? body.errors : null,
    });
    expect(Object.keys(error)).toEqual(['kind', 'exit_code', 'status', 'message', 'hint', 'fields']);
  });

  test('403 of a scope names the scope and the command that gets it', async () => {
    const body = { error: 'insufficient_scope', error_description: 'The token lacks the scope tickets:write.' };
    const { exitCode, error } = await said('tickets update 8 --priority 1', 403, body);
    expect(exitCode).toBe(5);
    expect(`${error.message} ${error.hint}`).toMatch(/tickets:write.*svc auth refresh --scope tickets:write/su);
  });

  test('for people every field of a refusal has its line', async () => {
    const errors = { subject: ['is too long.'], due_at: ['is no time.'] };
    const { run } = serviceOf(() => ({ status: 422, body: { message: 'The data was invalid.', errors } }));
    const { stderr, exitCode } = await run(['tickets', 'update', '8', '--priority', '1']);
    expect(exitCode).toBe(6);
    expect(stderr).toMatch(/The data was invalid\.[\s\S]*subject.*is too long\.[\s\S]*due_at.*is no time\./u);
  });
});

describe('what the document forbids is exit 2, and nothing is sent', () => {
  test.for([
    "tickets create --subject ''",
    `tickets create --subject ${'x'.repeat(256)}`,
    'tickets create --subject x --priority 5',
    'tickets create --subject x --priority high',
    'tickets create --subject x --due-at 2026-02-30',
    'tickets update 8',
    'tickets update 8 --status unresolved',
    'tickets get 0',
    'tickets get -- -1',
    'tickets get 1.5',
    'tickets get abc',
    'tickets get 99999999999999999999',
    'tickets get',
    `tickets note 8 --body ${'x'.repeat(10_001)}`,
    `tickets reply 8 --body ${'x'.repeat(16_001)}`,
    'contacts list --per-page 101',
    'contacts list --per-page 0',
    'contacts list --page 0',
    'contacts update 7',
    "contacts update 7 --name ''",
    'contacts update 7 --email nonsense',
    'contacts create --name Ada --last-name L --email ada@example.com --phone 2025550101',
    'contacts create --name Ada --email ada@example.com --phone +12025550101',
    'changelog create --title ab --content x',
    `changelog create --title abc --content x --version ${'1'.repeat(51)}`,
    'changelog update 9',
    'changelog list --status live',
    'branding update',
    'branding update --primary-color red',
    'branding update --logo-url http://cdn.example.com/a.png',
    'events send order_create --contact-name Ada',
    'events send order_create --email ada@example.com',
    'webhooks create ticket.closed https://hooks.example.com/svc',
    'webhooks create ticket.created http://hooks.example.com/svc',
    'meetings list',
    'lists set 5',
    'lists delete 5 --no-input',
  ])('svc %s', async (type) => {
    const { sent, run } = serviceOf(() => ({ status: 500, body: {} }));
    const { exitCode, stderr } = await run(words(type));
    expect([exitCode, sent], stderr).toEqual([2, []]);
    expect(stderr).toMatch(/\S/u);
  });

  test('255 emoji are a valid subject, 256 are not', async () => {
    const { sent, run } = serviceOf(() => ({ status: 201, body: { ticket: wholeTicket } }));
    expect((await run(['tickets', 'create', '--subject', '😀'.repeat(256)])).exitCode).toBe(2);
    expect((await run(['tickets', 'create', '--subject', '😀'.repeat(255)])).exitCode).toBe(0);
    expect(sent.map(seen)).toEqual([['POST /tickets', { subject: '😀'.repeat(255) }]]);
  });
});
