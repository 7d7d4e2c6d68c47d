import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listContacts } from '../../src/api/contacts.ts';
import { answerOf } from '../../src/mcp/answer.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type Connected, connected } from './connected.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every tool
type Any = any;

const most = 40_000;
let world: SandboxWorld;
let open: Connected[] = [];

beforeEach(() => {
  world = sandboxWorld({ seed: 'demo', rateLimit: 'off' });
});
afterEach(async () => {
  for (const each of open) await each.end();
  open = [];
});

async function assistant(...argv: string[]) {
  const connection = await connected(world, argv);
  open.push(connection);
  // Tools that were listed have their answers checked against their schemas by the client.
  await connection.client.listTools();
  return async (name: string, input: object = {}): Promise<Any> => {
    const result: Any = await connection.client.callTool({ name, arguments: input as Record<string, unknown> });
    const [{ text }] = result.content;
    const data = result.structuredContent;
    expect(text.length, name).toBeLessThanOrEqual(most);
    expect(JSON.stringify(data).length, name).toBeLessThanOrEqual(most);
    return { ...result, text, data };
  };
}

/** Straight to the service, past the assistant. */
async function post(path: string, body: object): Promise<Any> {
  const headers = { authorization: 'Bearer key_acme', 'content-type': 'application/json', host: '127.0.0.1' };
  const { body: answer } = await world.sandbox.handle({
    method: 'POST',
    url: path,
    headers,
    body: JSON.stringify(body),
  });
  return JSON.parse(answer);
}

async function get(path: string): Promise<Any> {
  const headers = { authorization: 'Bearer key_acme', host: '127.0.0.1' };
  return JSON.parse((await world.sandbox.handle({ method: 'GET', url: path, headers })).body);
}

/** A ticket with a long description and 30 long replies, the newest last. */
async function longTicket(letter = 'x') {
  const { ticket } = await post('/tickets', { subject: 'Long', description: letter.repeat(20_000), contact_id: 1 });
  for (let i = 0; i < 30; i++) await post(`/tickets/${ticket.id}/replies`, { body: `${i} `.padEnd(16_000, letter) });
  return (await get(`/tickets/${ticket.id}`)).ticket;
}

/** Follows the calls that `left_out` names until the text is whole. */
async function readOn(call: Any, tool: string, id: number, record: string, first: Any, field: string): Promise<string> {
  let text = '';
  let part = first;
  for (let rounds = 0; rounds < 50; rounds++) {
    const name = Object.keys(part[record]).find((key) => key === field || key.startsWith(`${field}[`)) ?? '';
    text += part[record][name];
    const next = /with fields "([^"]+)"/u.exec(part.left_out?.find((one: string) => one.startsWith(field)) ?? '')?.[1];
    if (!next) return text;
    part = (await call(tool, { id, fields: [next] })).data;
  }
  throw new Error('It never ended.');
}

describe('a long answer is cut, exactly, and says how to get the rest', () => {
  test.each([
    ['a full page', { current_page: 2, last_page: 3, total: 130 }, 50, 50],
    ['the last page, which holds fewer', { current_page: 3, last_page: 3, total: 130 }, 30, 100],
    ['the only page', { current_page: 1, last_page: 1, total: 30 }, 30, 0],
  ])('%s of a list names a page that goes on where it ends', (_, meta, here, above) => {
    const contacts = Array.from({ length: here }, (_, i) => ({ contact_id: i, name: 'x'.repeat(2000) }));
    const { structuredContent } = answerOf(listContacts, { contacts, meta }, undefined, 'b');
    const shown = (structuredContent.contacts as object[]).length;
    const [, size, page] =
      /with per_page (\d+) and page (\d+)/u.exec(String((structuredContent.left_out as string[]).at(-1))) ?? [];
    expect(shown).toBeLessThan(here);
    const begins = (Number(page) - 1) * Number(size);
    expect(begins).toBeLessThanOrEqual(above + shown);
    expect(begins + Number(size)).toBeGreaterThan(above + shown);
    expect(Number(size)).toBeGreaterThanOrEqual(shown / 2);
  });

  test('a ticket keeps its newest messages', async () => {
    const whole = await longTicket();
    const call = await assistant();
    const { data, text } = await call('getTicket', { id: whole.id });
    const { messages } = data.ticket;
    expect(messages.length).toBeGreaterThan(0);
    expect(messages).toEqual(whole.messages.slice(-messages.length));
    expect(data.left_out[0]).toContain(`the newest ${messages.length} of 30 are here`);
    expect(text).toContain(JSON.stringify(data.left_out[0]));
    const [, older] = /fields "(messages[^"]+)"/u.exec(data.left_out[0]) ?? [];
    expect(older).toBe(`messages[0:${30 - messages.length}]`);
    const before = await call('getTicket', { id: whole.id, fields: [older] });
    const [key = ''] = Object.keys(before.data.ticket);
    const [, from, to] = /^messages\[(\d+):(\d+)\]$/u.exec(key) ?? [];
    expect(before.data.ticket[key]).toEqual(whole.messages.slice(Number(from), Number(to)));
    expect(Number(to)).toBe(30 - messages.length);
  });

  test.each(['"', '\u202e', '\u0007', '😀'.slice(0, 2)])(
    'a ticket full of %j stays within its bounds',
    async (letter) => {
      const { ticket } = await post('/tickets', {
        subject: 'Odd',
        description: letter.repeat(20_000 / letter.length),
        contact_id: 1,
      });
      for (let i = 0; i < 3; i++)
        await post(`/tickets/${ticket.id}/replies`, { body: letter.repeat(16_000 / letter.length) });
      const call = await assistant();
      const { data } = await call('getTicket', { id: ticket.id });
      expect((await readOn(call, 'getTicket', ticket.id, 'ticket', data, 'description')) === ticket.description).toBe(
        true,
      );
    },
  );

  test('a changelog entry that is longer than an answer can be read in parts', async () => {
    const { entry } = await post('/changelog', { title: 'Long', content: 'word '.repeat(11_900) });
    const call = await assistant();
    const { data } = await call('getChangelogEntry', { id: entry.id });
    expect(Object.keys(data.entry)).toContain('title');
    expect(
      (await readOn(call, 'getChangelogEntry', entry.id, 'entry', data, 'content_html')) === entry.content_html,
    ).toBe(true);
  });

  test('a page of long records keeps the first, and names the page that has the next', async () => {
    for (let i = 0; i < 60; i++) {
      await post('/contacts/create', {
        name: `N${i}`,
        last_name: 'L',
        email: `n${i}@example.com`,
        phone: '+12025550123',
        metadata: { notes: 'n'.repeat(5_000) },
      });
    }
    const call = await assistant();
    const { contacts: all } = await get('/contacts?per_page=50');
    const { data } = await call('listContacts');
    const kept = data.contacts.length;
    expect(data.contacts).toEqual(all.slice(0, kept));
    expect(kept).toBeGreaterThan(3);
    const [, size, page] = /per_page (\d+) and page (\d+)/u.exec(data.left_out[0]) ?? [];
    const next = await call('listContacts', { per_page: Number(size), page: Number(page) });
    expect(next.data.contacts.map((one: Any) => one.contact_id)).toContain(all[kept].contact_id);
    const short = await call('listContacts', { fields: ['contact_id', 'email'] });
    expect(short.data.contacts).toEqual(all.map(({ contact_id, email }: Any) => ({ contact_id, email })));
    expect(short.data).not.toHaveProperty('left_out');
  });

  test('one contact with metadata of a hundred thousand characters is read in parts', async () => {
    const notes = Array.from({ length: 20_000 }, (_, i) => `${i} `).join('');
    const body = {
      name: 'M',
      last_name: 'L',
      email: 'm@example.com',
      phone: '+12025550124',
      metadata: { plan: 'pro', notes },
    };
    const { contacts: made } = await post('/contacts/create', body);
    const call = await assistant();
    const { data } = await call('getContact', { id: made.contact_id });
    expect(data.contact).toMatchObject({ name: 'M', metadata: { plan: 'pro' } });
    expect(data.left_out[0]).toMatch(/^metadata\.notes has [\d,]+ characters/u);
    const [, next] = /fields "([^"]+)"/u.exec(data.left_out[0]) ?? [];
    const part = await call('getContact', { id: made.contact_id, fields: next });
    // A model may write the list down, or the list as a text.
    for (const fields of [[next], JSON.stringify([next])])
      expect((await call('getContact', { id: made.contact_id, fields })).data).toEqual(part.data);
    const [[key = '', value] = []] = Object.entries<Any>(part.data.contact);
    const [, from, to] = /^metadata\.notes\[(\d+):(\d+)\]$/u.exec(key) ?? [];
    expect(value === notes.slice(Number(from), Number(to))).toBe(true);
    expect(next).toBe(`metadata.notes[${from}:]`);
    // In a list too.
    expect((await call('listContacts', { per_page: 1 })).data.left_out[0]).toContain('getContact');
  });

  test('members of a large list can be read on', async () => {
    const contacts = Array.from({ length: 1_500 }, (_, i) => ({
      name: `Member number ${i}`,
      email: `member${i}@example.com`,
    }));
    await post('/contactslists/1/create_sync_contacts', { contacts });
    const { data: all } = await get('/contactslists/1/get_contacts');
    const call = await assistant();
    const seen: unknown[] = [];
    let input: object = { contactList: 1 };
    for (let rounds = 0; rounds < 10; rounds++) {
      const { data } = await call('listContactListMembers', input);
      seen.push(...data.data);
      const next = /fields "(\[[^"]+)"/u.exec(data.left_out?.[0] ?? '')?.[1];
      if (!next) break;
      input = { contactList: 1, fields: next };
    }
    expect(seen).toEqual(all);
  });

  test('what a write answers is bounded too, and says which tool reads the rest', async () => {
    const { id } = await longTicket();
    const call = await assistant('--allow-write');
    const { data } = await call('updateTicket', { id, priority: 3 });
    expect(data.ticket.priority).toBe(3);
    expect(data.left_out[0]).toMatch(/For the rest call getTicket with fields/u);
  });

  test('of 2,000 bad rows the first 50 are named, and all are counted', async () => {
    const call = await assistant('--allow-write');
    const rows = Array.from({ length: 2_000 }, (_, i) => ({ email: `nonsense ${i} ${'y'.repeat(200)}` }));
    const { data } = await call('contacts_sync', { rows });
    expect(data).toMatchObject({ rows: 2_000, rejected: 2_000, created: 0 });
    expect(data.errors.map(({ line }: Any) => line)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    expect(data.left_out[0]).toContain('the first 50 of 2,000 bad rows');
  });

  test('a batch that is wrong in every row is refused in few words', async () => {
    const call = await assistant('--allow-write');
    const { text, isError } = await call('createContacts', {
      contacts: Array.from({ length: 3_000 }, () => ({ email: 'x', phone: 'y' })),
    });
    expect(isError).toBe(true);
    expect(text).toContain('more like these');
  });
});

describe('`fields`', () => {
  test('picks from records and lists, nested, as a list or as one text', async () => {
    const call = await assistant();
    const { ticket } = await get('/tickets/1');
    const picked = { subject: ticket.subject, contact: { email: ticket.contact?.email ?? null } };
    expect((await call('getTicket', { id: 1, fields: ['subject', 'contact.email'] })).data).toEqual({ ticket: picked });
    expect((await call('getTicket', { id: 1, fields: 'subject, contact.email' })).data).toEqual({ ticket: picked });
    const { data } = await call('listTickets', { fields: 'id', per_page: 2 });
    expect(data.tickets.map(Object.keys)).toEqual([['id'], ['id']]);
    expect(data.meta.total).toBeGreaterThan(2);
    const all = await call('listTickets', { status: 'all', fields: 'id', per_page: 2 });
    expect(all.data.meta.total).toBe(data.meta.total);
    expect((await call('getAccount', { fields: 'name' })).data).toEqual({ name: 'Acme' });
  });

  test.each([
    ['nonsense', 'There is no field "nonsense" here.'],
    ['subject[0]', 'There is no field "subject[0]" here.'],
    ['id[0:3]', '"id" is neither a text nor a list here'],
    [7, 'must be a list of names of fields'],
  ])('%j is refused by name', async (fields, message) => {
    const call = await assistant();
    const { text, isError } = await call('getTicket', { id: 1, fields });
    expect(isError).toBe(true);
    expect(text).toContain(message);
  });
});

describe('finding', () => {
  test('findContact reads every page', async () => {
    const { contacts } = await get('/contacts?per_page=100&page=3');
    const [oldest] = contacts.slice(-1);
    const call = await assistant();
    const { data, text } = await call('findContact', { q: oldest.email.toUpperCase() });
    expect(data).toEqual({ contacts: [oldest] });
    expect(text).toContain('1 contact found.');
    expect((await call('findContact', { q: 'nobody at all' })).data).toEqual({ contacts: [] });
    expect((await call('findContact', { q: ' ' })).isError).toBe(true);
  });

  test('findContact tells what it found when the time is up', async () => {
    world = sandboxWorld({ seed: 'demo', latencyMs: 45_000 });
    const call = await assistant('--timeout', '100');
    const { data } = await call('findContact', { q: 'nobody at all' });
    expect(data.contacts).toEqual([]);
    expect(data.left_out[0]).toMatch(/^Looked at the newest 100 contacts only\./u);
  });

  test('findTicket knows a ticket by its number before those that only mention it', async () => {
    const { tickets } = await get('/tickets?per_page=1');
    const number = tickets[0].ticket_number;
    await post('/tickets', { subject: `Again: ${number}` });
    const call = await assistant();
    const { data } = await call('findTicket', { q: number.toLowerCase(), fields: 'ticket_number' });
    expect(data).toEqual({ tickets: [{ ticket_number: number }] });
    expect((await call('findTicket', { q: 'Again:' })).data.tickets).toHaveLength(1);
  });
});

test('contacts_sync tells a client that asks how far it is', async () => {
  const connection = await connected(world, ['--allow-write']);
  open.push(connection);
  const seen: Any[] = [];
  const rows = Array.from({ length: 450 }, (_, i) => ({ email: `row${i}@example.com`, name: 'Row' }));
  const call = { name: 'contacts_sync', arguments: { rows } };
  await connection.client.callTool(call, undefined, { onprogress: (progress) => seen.push(progress) });
  expect(seen.map(({ progress, total }) => [progress, total])).toEqual([
    [200, 450],
    [400, 450],
    [450, 450],
  ]);
});

describe('a call that is written oddly', () => {
  test('may say null for no arguments', async () => {
    const connection = await connected(world);
    open.push(connection);
    const params: Any = { name: 'getAccount', arguments: null };
    const answer: Any = await connection.client.callTool(params);
    expect(answer.structuredContent.name).toBe('Acme');
    for (const wrong of ['x', [1], 7]) {
      const call = connection.client.callTool({ name: 'getAccount', arguments: wrong as Any });
      await expect(call).rejects.toThrow('The arguments must be an object, for example {"id": 7}.');
    }
  });

  test('says in words that an update needs something to change', async () => {
    const call = await assistant('--allow-write');
    const { text, data } = await call('updateChangelogEntry', { id: 1 });
    expect(text).toContain('\n- needs at least one field to change: title, content, version');
    expect(data.error.kind).toBe('usage');
  });
});
