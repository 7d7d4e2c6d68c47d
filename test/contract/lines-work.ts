import { expect } from 'vitest';
import type { Line } from './command-runner.ts';
import {
  at,
  chat,
  entry,
  hook,
  meeting,
  message,
  meta,
  note,
  post,
  reply,
  ticket,
  wholeEntry,
  wholeTicket,
} from './samples.ts';

/** As the service answers: with what was sent. */
const printer = {
  ...wholeTicket,
  ...{ subject: 'Printer on fire', description: 'Smoke', priority: 3, due_at: '2026-12-01T10:00:00Z' },
};
const piped = { ...wholeTicket, subject: 'Piped', description: 'Line one\nLine two' };
const darkMode = {
  ...wholeEntry,
  ...{ title: 'Dark mode', version: '1.2.0', labels: ['new', 'ui'] },
  ...{ status: 'published', published_at: '2026-12-01T10:00:00Z' },
};

/** Tickets, conversations, the portal, events, webhooks and meetings. */
const scheduled = { status: 'published', published_at: '2026-12-01T10:00:00.000Z' };

export const work: readonly Line[] = [
  {
    type: "tickets list --status unresolved --search 'on fire' --contact 7 --updated-since 2026-11-01T00:00:00Z",
    sends: [['GET /tickets?status=unresolved&q=on+fire&contact_id=7&updated_since=2026-11-01T00%3A00%3A00Z']],
    answers: [{ tickets: [ticket], meta }],
    prints: [ticket],
  },
  { type: 'ticket get 8', sends: [['GET /tickets/8']], answers: [{ ticket: wholeTicket }], prints: wholeTicket },
  {
    type: "tickets create --subject 'Printer on fire' --description Smoke --priority 3 --contact 7 --due-at 2026-12-01T10:00:00Z",
    looks: 'GET /tickets?per_page=100',
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
    answers: [{ ticket: printer }],
    prints: printer,
  },
  {
    type: 'tickets create --subject Piped --body-file -',
    looks: 'GET /tickets?per_page=100',
    stdin: 'Line one\nLine two\n',
    sends: [['POST /tickets', { subject: 'Piped', description: expect.stringMatching(/^Line one\nLine two\n?$/u) }]],
    answers: [{ ticket: piped }],
    prints: piped,
  },
  {
    type: 'tickets update 8 --priority 0 --clear due_at --status pending',
    sends: [['PATCH /tickets/8', { priority: 0, due_at: null, status: 'pending' }]],
    answers: [{ ticket: { ...wholeTicket, priority: 0, status: 'pending' } }],
    prints: { ...wholeTicket, priority: 0, status: 'pending' },
  },
  ...(
    [
      ['resolve', 'resolved'],
      ['close', 'closed'],
      ['reopen', 'open'],
    ] as const
  ).map(([verb, status]) => ({
    type: `tickets ${verb} 8`,
    looks: 'GET /tickets/8',
    sends: [['PATCH /tickets/8', { status }] as const],
    answers: [{ ticket: { ...wholeTicket, status } }],
    prints: { ...wholeTicket, status },
  })),
  {
    type: "tickets note 8 --body 'Called back'",
    sends: [['POST /tickets/8/notes', { body: 'Called back' }]],
    answers: [{ note }],
    prints: note,
  },
  {
    type: "tickets reply 8 --body 'We are on it'",
    looks: 'GET /tickets/8',
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
    looks: 'GET /conversations/31',
    sends: [['POST /conversations/31/messages', { body: 'Hello' }]],
    answers: [{ message, handling_mode: 'human' }],
  },
  {
    type: 'conversations resolve 31',
    sends: [['POST /conversations/31/resolve']],
    answers: [{ conversation: { ...chat, status: 'resolved' } }],
    prints: { ...chat, status: 'resolved' },
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
    looks: 'GET /changelog?per_page=100',
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
    answers: [{ entry: darkMode }],
    prints: darkMode,
  },
  {
    type: 'changelog update 9 --title Darker --clear version --clear labels',
    sends: [['PATCH /changelog/9', { title: 'Darker', version: null, labels: [] }]],
    answers: [{ entry: { ...wholeEntry, title: 'Darker' } }],
    prints: { ...wholeEntry, title: 'Darker' },
  },
  {
    type: 'changelog publish 9 --at 2026-12-01T10:00:00Z',
    sends: [['PATCH /changelog/9', { status: 'published', published_at: '2026-12-01T10:00:00Z' }]],
    answers: [{ entry: { ...wholeEntry, ...scheduled } }],
    prints: { ...wholeEntry, ...scheduled },
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
    looks: 'GET /oauth-platform/webhooks',
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
