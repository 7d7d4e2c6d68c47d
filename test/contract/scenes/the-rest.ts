import {
  anyListOf,
  anything,
  count,
  filled,
  flag,
  id,
  like,
  listOf,
  meta,
  orNull,
  type Scene,
  type Step,
  simple,
  text,
  time,
} from '../scene.ts';

const post = {
  id: id('post', 61),
  title: filled('Dark mode'),
  content: text('My eyes.'),
  status: filled('planned'),
  category: orNull({ id: count(3), name: filled('Interface') }),
  vote_count: count(12),
  comments_count: count(2),
  on_roadmap: flag(true),
  created_at: time(),
  updated_at: time(),
};

const ada: Step = {
  send: 'POST /contacts/create',
  body: { name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com', phone: '+12025550101' },
  status: 200,
  answer: { contacts: { contact_id: id('ada', 101), name: 'Ada' } },
};

export const calls: readonly Scene[] = [
  {
    title: 'a finished call is listed',
    seed: 'empty',
    steps: [
      ada,
      {
        control: true,
        send: 'POST /_sandbox/act',
        body: { kind: 'call_completed', account_id: 1, contact_id: '<ada>' },
        status: 200,
        answer: anything({}),
      },
      {
        send: 'GET /calls?page=1&per_page=10',
        status: 200,
        answer: {
          calls: [
            {
              phone_call_id: id('call', 21),
              contact_id: '<ada>',
              from: filled('+12025550100'),
              to: filled('+12025550101'),
              status: filled('completed'),
              duration: count(95),
              interest_level: text('high'),
              start_time: time(),
              created_at: time(),
            },
          ],
          meta: meta(1),
        },
      },
    ],
  },
];

export const feedback: readonly Scene[] = [
  {
    title: 'feedback posts are listed without their authors',
    seed: 'demo',
    steps: [
      {
        send: 'GET /feedback?per_page=3',
        status: 200,
        answer: {
          posts: anyListOf(post),
          meta: { current_page: 1, last_page: count(7), total: count(20) },
        },
      },
      { send: 'GET /feedback?q=no+post+says+this', status: 200, answer: { posts: [], meta: meta(0) } },
      { send: 'GET /feedback?category_id=99999&status=no-such', status: 200, answer: { posts: [], meta: meta(0) } },
    ],
  },
  {
    title: 'the roadmap comes column by column, not paginated',
    seed: 'demo',
    steps: [
      {
        send: 'GET /roadmap',
        status: 200,
        answer: {
          statuses: listOf({
            slug: filled('planned'),
            name: filled('Planned'),
            color: filled('#102030'),
            posts: anyListOf(post),
          }),
        },
      },
    ],
  },
];

export const events: readonly Scene[] = [
  {
    title: 'an event answers how many sequences it started',
    seed: 'demo',
    steps: [
      {
        as: 'oauth sequences:trigger',
        send: 'POST /integrations/partner/events',
        body: {
          trigger: 'order_create',
          external_ref: 'order-77',
          contact: { name: 'Ada', last_name: 'Lovelace', phone: '+12025550101' },
          metadata: { plan: 'pro' },
          attribution: { utm_source: 'newsletter', gclid: 'abc' },
          kpi: { value_minor: 1999, currency: 'EUR' },
        },
        status: 200,
        answer: { status: 'ok', enrolled: count(1) },
      },
      {
        send: 'POST /integrations/partner/events',
        body: { trigger: 'unheard_of', contact: { name: 'Ada', email: 'ada@example.com' } },
        status: 200,
        answer: { status: 'ok', enrolled: 0 },
      },
    ],
  },
];

const hook = 'oauth webhooks:manage';

export const webhooks: readonly Scene[] = [
  {
    title: 'a subscription shows its secret once, is listed without it, and can be deleted once',
    seed: 'empty',
    steps: [
      {
        as: hook,
        send: 'POST /oauth-platform/webhooks',
        body: { event_type: 'ticket.created', target_url: 'https://hooks.example.com/svc' },
        status: 201,
        answer: {
          id: id('hook', 71),
          event_type: 'ticket.created',
          target_url: 'https://hooks.example.com/svc',
          signing_secret: filled('<SIGNING_SECRET>'),
        },
      },
      {
        as: hook,
        send: 'GET /oauth-platform/webhooks',
        status: 200,
        answer: {
          webhooks: [
            {
              id: '<hook>',
              event_type: 'ticket.created',
              target_url: 'https://hooks.example.com/svc',
              is_active: true,
              created_at: time(),
            },
          ],
        },
      },
      { as: hook, send: 'DELETE /oauth-platform/webhooks/<hook>', status: 200, answer: { status: 'ok' } },
      { as: hook, send: 'GET /oauth-platform/webhooks', status: 200, answer: { webhooks: [] } },
      { as: hook, send: 'DELETE /oauth-platform/webhooks/<hook>', status: 404, answer: simple('Not found.') },
    ],
  },
  {
    title: 'only subscriptions of the calling connection are listed and deleted',
    seed: 'empty',
    steps: [
      {
        as: hook,
        send: 'POST /oauth-platform/webhooks',
        body: { event_type: 'contact.created', target_url: 'https://hooks.example.com/svc' },
        status: 201,
        answer: {
          id: id('hook', 71),
          event_type: 'contact.created',
          target_url: 'https://hooks.example.com/svc',
          signing_secret: filled('<SIGNING_SECRET>'),
        },
      },
      { as: `${hook} identity`, send: 'GET /oauth-platform/webhooks', status: 200, answer: { webhooks: [] } },
      {
        as: `${hook} identity`,
        send: 'DELETE /oauth-platform/webhooks/<hook>',
        status: 404,
        answer: simple('Not found.'),
      },
    ],
  },
];

export const meetings: readonly Scene[] = [
  {
    title: 'meeting types are listed for the machine-to-machine token',
    seed: 'demo',
    steps: [
      {
        as: 'm2m_sandbox',
        send: 'GET /1/meetings',
        status: 200,
        answer: {
          ok: true,
          account: { id: 1, name: 'Acme' },
          meetings: listOf({
            id: count(81),
            name: filled('Demo'),
            slug: filled('demo'),
            description: text('Half an hour.'),
            duration_minutes: count(30),
            location_type: filled('video'),
            url: like(/^https?:\/\//u, 'https://book.example.com/acme/demo'),
          }),
        },
      },
      { as: 'm2m_sandbox', send: 'GET /99999/meetings', status: 404, answer: simple('Not found.') },
    ],
  },
  {
    title: 'meetings take no API key and no OAuth token',
    seed: 'empty',
    steps: [
      { send: 'GET /1/meetings', status: 401, answer: simple('Unauthenticated.') },
      { as: 'oauth identity', send: 'GET /1/meetings', status: 401, answer: simple('Unauthenticated.') },
    ],
  },
];
