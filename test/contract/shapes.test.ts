import { expect, test } from 'vitest';
import { start } from './sandbox.ts';

// Every record of the demo account has exactly the fields of its table in the service's description (service.md#records).

const words = (fields: string) => fields.split(/,\s*/u).toSorted();

const person = words('contact_id, name, last_name, email, phone');
const attachment = words('name, mime, size');
const category = words('id, name');
const contactItem = words(
  'contact_id, name, last_name, email, phone, company, website, country, tags, metadata, lead_status, created_at',
);
const ticketItem = words(
  'id, ticket_number, subject, status, priority, source, contact, due_at, first_response_at, resolved_at, created_at, updated_at',
);
const ticketMessage = words('id, direction, sender_type, sender_name, body, attachments, created_at');
const conversationItem = words(
  'id, status, handling_mode, channel, subject, priority, contact, ticket_id, last_message_at, resolved_at, csat_rating, created_at, updated_at',
);
const conversationMessage = words('id, sender_type, sender_name, body, attachments, created_at');
const entryItem = words(
  'id, title, slug, version, category, labels, status, is_live, published_at, created_at, updated_at',
);
const post = words(
  'id, title, content, status, category, vote_count, comments_count, on_roadmap, created_at, updated_at',
);
const call = words('phone_call_id, contact_id, from, to, status, duration, interest_level, start_time, created_at');
const meeting = words('id, name, slug, description, duration_minutes, location_type, url');

// biome-ignore lint/suspicious/noExplicitAny: what came back is what is being judged
type Json = Record<string, any>;
const keys = (record: unknown) => Object.keys(record as object).toSorted();
const expectKeys = (record: unknown, expected: readonly string[]) => expect(keys(record)).toEqual(expected);
const eachOf = (list: unknown): Json[] => list as Json[];

const world = start('demo');
const all = async (path: string, key: string): Promise<Json[]> => {
  const found: Json[] = [];
  for (let page = 1; ; page++) {
    const body = await world.get(`${path}?per_page=100&page=${page}`);
    expectKeys(body, [key, 'meta'].toSorted());
    expectKeys(body.meta, words('current_page, last_page, total'));
    found.push(...body[key]);
    if (page >= body.meta.last_page) return found;
  }
};

const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/u;
const expectTimes = (record: Json) => {
  for (const [name, value] of Object.entries(record)) {
    if (/_at$|_time$/u.test(name) && value !== null) expect(value, name).toMatch(utc);
  }
};

test('contacts: an item without updated_at, a single one with it', async () => {
  const items = await all('/contacts', 'contacts');
  expect(items.length).toBeGreaterThanOrEqual(250);
  for (const item of items) {
    expectKeys(item, contactItem);
    expectTimes(item);
    expect(item.phone === '' || /^\+[1-9]\d{6,14}$/u.test(String(item.phone)), String(item.phone)).toBe(true);
  }
  const { contact } = await world.get(`/contacts/${items[0]?.contact_id}`);
  expectKeys(contact, [...contactItem, 'updated_at'].toSorted());
  expect(contact).toMatchObject(items[0] as object);
});

test('contact lists and their members', async () => {
  const { data } = await world.get('/contactslists/list');
  expect(data.length).toBeGreaterThanOrEqual(3);
  for (const list of data) {
    expectKeys(list, words('contacts_list_id, name, target_industry'));
    const members = (await world.get(`/contactslists/${list.contacts_list_id}/get_contacts`)).data;
    for (const member of members) expectKeys(member, words('contact_id, name'));
  }
});

test('calls, newest first', async () => {
  const items = await all('/calls', 'calls');
  expect(items.length).toBeGreaterThanOrEqual(3);
  for (const item of items) {
    expectKeys(item, call);
    expectTimes(item);
    expect(item.duration).toSatisfy(Number.isInteger);
  }
  const times = items.map(({ created_at }) => created_at);
  expect(times).toEqual(times.toSorted().reverse());
});

test('tickets: an item without the thread, a single one with it, newest first', async () => {
  const items = await all('/tickets', 'tickets');
  expect(items.length).toBeGreaterThanOrEqual(40);
  const times = items.map(({ created_at }) => created_at);
  expect(times).toEqual(times.toSorted().reverse());
  let attachments = 0;
  for (const item of items) {
    expectKeys(item, ticketItem);
    expectTimes(item);
    if (item.contact) expectKeys(item.contact, person);
    const { ticket } = await world.get(`/tickets/${item.id}`);
    expectKeys(ticket, [...ticketItem, 'description', 'reply_channel', 'conversation_id', 'messages'].toSorted());
    expect(ticket).toMatchObject(item);
    expect(['chat', 'email']).toContain(ticket.reply_channel);
    expect(ticket.status === 'resolved' || ticket.status === 'closed').toBe(ticket.resolved_at !== null);
    const sent = eachOf(ticket.messages).map((message) => message.created_at);
    expect(sent).toEqual(sent.toSorted());
    for (const message of eachOf(ticket.messages)) {
      expectKeys(message, ticketMessage);
      expectTimes(message);
      expect(['in', 'out']).toContain(message.direction);
      for (const file of eachOf(message.attachments)) {
        expectKeys(file, attachment);
        attachments++;
      }
    }
    // When a person first replied: so there is no reply without it.
    const replied = eachOf(ticket.messages).some(({ direction }) => direction === 'out');
    if (ticket.first_response_at === null) expect(replied && ticket.source !== 'chat', `${item.id}`).toBe(false);
  }
  expect(attachments).toBeGreaterThan(0);
  expect(new Set(items.map(({ ticket_number }) => ticket_number)).size).toBe(items.length);
});

test('conversations: an item without messages, a single one with them, some of nobody known', async () => {
  const items = await all('/conversations', 'conversations');
  expect(items.length).toBeGreaterThanOrEqual(20);
  for (const item of items) {
    expectKeys(item, conversationItem);
    expectTimes(item);
    if (item.contact) expectKeys(item.contact, person);
    const { conversation } = await world.get(`/conversations/${item.id}`);
    expectKeys(conversation, [...conversationItem, 'messages'].toSorted());
    const sent = eachOf(conversation.messages).map((message) => message.created_at);
    expect(sent).toEqual(sent.toSorted());
    expect(conversation.last_message_at).toBe(sent.at(-1));
    if (conversation.status === 'resolved') expect(conversation.resolved_at).not.toBeNull();
    for (const message of eachOf(conversation.messages)) {
      expectKeys(message, conversationMessage);
      expect(['visitor', 'operator', 'ai']).toContain(message.sender_type);
    }
  }
  for (const field of ['status', 'channel', 'handling_mode']) {
    expect(new Set(items.map((item) => item[field])).size, field).toBeGreaterThan(1);
  }
  expect(items.some(({ contact }) => contact === null)).toBe(true);
});

test('a ticket that came from chat and its conversation name each other', async () => {
  const linked = (await all('/conversations', 'conversations')).filter(({ ticket_id }) => ticket_id !== null);
  expect(linked.length).toBeGreaterThan(0);
  for (const { id, ticket_id } of linked) {
    expect((await world.get(`/tickets/${ticket_id}`)).ticket).toMatchObject({
      conversation_id: id,
      reply_channel: 'chat',
    });
  }
});

test('changelog entries: an item without its content, a single one with it', async () => {
  const items = await all('/changelog', 'entries');
  expect(items.length).toBeGreaterThanOrEqual(30);
  for (const item of items) {
    expectKeys(item, entryItem);
    expectTimes(item);
    if (item.category) expectKeys(item.category, category);
    expect(item.status === 'draft').toBe(item.published_at === null);
    if (item.is_live) expect(item.status).toBe('published');
  }
  expect(new Set(items.map(({ slug }) => slug)).size).toBe(items.length);
  expect(new Set(items.map((item) => item.category?.id).filter(Boolean)).size).toBeGreaterThanOrEqual(3);
  const { entry } = await world.get(`/changelog/${items[0]?.id}`);
  expectKeys(entry, [...entryItem, 'content_html'].toSorted());
});

test('feedback posts, most voted first, in three statuses and categories', async () => {
  const items = await all('/feedback', 'posts');
  expect(items.length).toBeGreaterThanOrEqual(20);
  for (const item of items) {
    expectKeys(item, post);
    if (item.category) expectKeys(item.category, category);
  }
  const votes = items.map(({ vote_count }) => Number(vote_count));
  expect(votes).toEqual(votes.toSorted((a, b) => b - a));
  expect(new Set(votes).size).toBeGreaterThan(1);
  expect(new Set(items.map(({ status }) => status)).size).toBeGreaterThanOrEqual(3);
  expect(new Set(items.map((item) => item.category?.id).filter(Boolean)).size).toBeGreaterThanOrEqual(3);
});

test('the roadmap has three columns of posts', async () => {
  const body = await world.get('/roadmap');
  expectKeys(body, ['statuses']);
  expect(body.statuses.length).toBeGreaterThanOrEqual(3);
  for (const column of body.statuses) {
    expectKeys(column, words('slug, name, color, posts'));
    for (const item of column.posts) expectKeys(item, post);
  }
});

test('there are three meeting types', async () => {
  const { body } = await world.subject.send('m2m_sandbox', 'GET /1/meetings');
  expectKeys(body, words('ok, account, meetings'));
  expect(body.meetings.length).toBeGreaterThanOrEqual(3);
  for (const item of body.meetings) expectKeys(item, meeting);
});
