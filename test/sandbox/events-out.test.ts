import { expect, test } from 'vitest';
import { check } from '../../src/api/check.ts';
import { type WebhookEvent, webhookData } from '../../src/api/webhooks.ts';
import { eventData } from '../../src/sandbox/deliveries/events-out.ts';

const created_at = '2026-11-20T12:00:00Z';
/** What a record has besides, and no event may carry. */
const inside = { notes: [{ body: 'internal' }], author_email: 'author@example.com', updated_at: created_at };

const contact = { contact_id: 7, account_id: 1, name: 'Ada', last_name: 'Sample', email: 'ada@example.com', phone: '' };
const call = { phone_call_id: 3, account_id: 1, contact_id: 7, from: '+12025550100', to: '+12025550101', duration: 61 };
const ticket = {
  id: 5,
  account_id: 1,
  ticket_number: 'T-5',
  subject: 'Help',
  status: 'open',
  priority: 2,
  source: 'api',
};
const conversation = { id: 9, account_id: 1, contact_id: null, channel: 'web' };
const message = { id: 11, sender_type: 'visitor' as const, body: 'Hello', created_at, sender_name: 'Visitor' };
const entry = { id: 4, account_id: 1, title: 'New', version: '1.2.0', slug: 'new', status: 'published' };
const post = { id: 6, account_id: 1, title: 'Idea', content: 'Text', status: 'planned', category_id: 2, created_at };

// The fields of each event, by hand from the service's description (service.md#webhooks-4).
const events: [WebhookEvent, object, object][] = [
  [
    'contact.created',
    eventData['contact.created']({ ...inside, ...contact, lead_status: 'new' }),
    { contact_id: 7, name: 'Ada', email: 'ada@example.com', phone: '', lead_status: 'new' },
  ],
  [
    'call.completed',
    eventData['call.completed']({ ...inside, ...call, ended_reason: 'hangup' }),
    { phone_call_id: 3, contact_id: 7, from: '+12025550100', to: '+12025550101', duration: 61, ended_reason: 'hangup' },
  ],
  [
    'ticket.created',
    eventData['ticket.created']({ ...inside, ...ticket, contact_id: null, created_at }),
    {
      ticket_id: 5,
      account_id: 1,
      ticket_number: 'T-5',
      subject: 'Help',
      status: 'open',
      priority: 2,
      source: 'api',
      contact_id: null,
      created_at,
    },
  ],
  [
    'conversation.message_received',
    eventData['conversation.message_received']({ ...inside, ...conversation }, message),
    {
      conversation_id: 9,
      message_id: 11,
      account_id: 1,
      contact_id: null,
      channel: 'web',
      sender_type: 'visitor',
      body: 'Hello',
      created_at,
    },
  ],
  [
    'changelog.published',
    eventData['changelog.published']({ ...inside, ...entry, published_at: created_at }),
    { entry_id: 4, account_id: 1, title: 'New', version: '1.2.0', slug: 'new', published_at: created_at },
  ],
  [
    'feedback.created',
    eventData['feedback.created']({ ...inside, ...post }),
    { post_id: 6, account_id: 1, title: 'Idea', status: 'planned', category_id: 2, created_at },
  ],
];

test.each(events)('%s carries the fields of the document and no others', (event, data, expected) => {
  expect(data).toEqual(expected);
  expect(check(webhookData[event], data)).toEqual({ ok: true, value: expected });
});

const bodies: [string, string, string][] = [
  ['a body of 2000 characters', 'x'.repeat(2000), 'x'.repeat(2000)],
  ['one more', 'x'.repeat(2001), 'x'.repeat(2000)],
  ['2000 emoji', '😀'.repeat(2000), '😀'.repeat(2000)],
  ['2001 emoji', '😀'.repeat(2001), '😀'.repeat(2000)],
  ['an emoji at the cut', `${'x'.repeat(1999)}😀y`, `${'x'.repeat(1999)}😀`],
  ['letters behind emoji', `${'😀'.repeat(1500)}${'x'.repeat(1000)}`, `${'😀'.repeat(1500)}${'x'.repeat(500)}`],
  ['nothing', '', ''],
];

test.each(bodies)('a message is cut to 2000 characters: %s', (_, body, cut) => {
  expect(eventData['conversation.message_received'](conversation, { ...message, body }).body).toBe(cut);
});
