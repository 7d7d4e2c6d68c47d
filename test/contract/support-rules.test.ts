import { describe, expect, test } from 'vitest';
import { newContact, type Played, start } from './sandbox.ts';

// The states of tickets and conversations (service.md#tickets, service.md#conversations), sentence by sentence.

describe('tickets', () => {
  const ticketOf = async (world: Played, body: object = {}) => {
    const contact_id = await newContact(world);
    return (await world.post('/tickets', { subject: 'Printer', contact_id, ...body })).ticket;
  };

  test('each ticket has a number of its own, by which it is found', async () => {
    const world = start();
    const numbers: string[] = [];
    for (let i = 0; i < 5; i++) numbers.push((await world.post('/tickets', { subject: 'Same' })).ticket.ticket_number);
    expect(new Set(numbers).size).toBe(5);
    const { tickets } = await world.get(`/tickets?q=${encodeURIComponent(numbers[2] as string)}`);
    expect(tickets.map((t: { ticket_number: string }) => t.ticket_number)).toEqual([numbers[2]]);
  });

  test('every way into resolved and closed stamps resolved_at', async () => {
    for (const status of ['resolved', 'closed']) {
      const world = start();
      const { id } = await ticketOf(world);
      await world.later(30);
      const { ticket } = await world.patch(`/tickets/${id}`, { status });
      expect([ticket.status, ticket.resolved_at]).toEqual([status, '2026-11-20T09:00:30.000Z']);
    }
  });

  test('a resolved ticket that is opened again counts as a reopen and is in its history', async () => {
    const world = start();
    const { id } = await ticketOf(world);
    await world.patch(`/tickets/${id}`, { status: 'resolved' });
    await world.patch(`/tickets/${id}`, { status: 'open' });
    const row = (await world.state()).tickets.find((t: { id: number }) => t.id === id);
    expect(row.status).toBe('open');
    expect(JSON.stringify(row)).toMatch(/reopen/iu);
    expect(row.history.length).toBeGreaterThanOrEqual(3);
  });

  test('notes are kept in the history and shown nowhere', async () => {
    const world = start();
    const { id } = await ticketOf(world);
    await world.post(`/tickets/${id}/notes`, { body: 'secret remark' });
    for (const path of [`/tickets/${id}`, '/tickets', '/tickets?q=remark', '/conversations']) {
      expect(JSON.stringify(await world.get(path)), path).not.toContain('secret remark');
    }
    expect(JSON.stringify((await world.state()).tickets)).toContain('secret remark');
  });

  test('the first reply alone sets first_response_at, and no reply changes the status', async () => {
    const world = start();
    const { id } = await ticketOf(world, {});
    await world.later(60);
    await world.post(`/tickets/${id}/replies`, { body: 'One' });
    await world.later(60);
    await world.post(`/tickets/${id}/replies`, { body: 'Two' });
    const { ticket } = await world.get(`/tickets/${id}`);
    expect([ticket.status, ticket.first_response_at]).toEqual(['open', '2026-11-20T09:01:00.000Z']);
    expect(ticket.messages.map((m: { body: string }) => m.body)).toEqual(['One', 'Two']);
  });

  test('a customer who has no email address cannot be answered, and nothing is stored', async () => {
    const world = start();
    const { post, get } = world;
    await post('/platform/contacts/sync', { contacts: [{ email: 'a@example.com', name: 'A' }] });
    const [{ contact_id }] = (await get('/contacts')).contacts;
    await world.patch(`/contacts/${contact_id}`, { phone: '+12025550123' });
    const { ticket } = await post('/tickets', { subject: 'x', contact_id });
    await world.subject.control('POST act', { kind: 'sends_fail', account_id: 1, value: true });
    const refused = await world.subject.send('key_acme', `POST /tickets/${ticket.id}/replies`, { body: 'Hello' });
    expect([refused.status, typeof refused.body.message]).toEqual([422, 'string']);
    expect((await get(`/tickets/${ticket.id}`)).ticket).toMatchObject({ messages: [], first_response_at: null });
    await world.subject.control('POST act', { kind: 'sends_fail', account_id: 1, value: false });
    await post(`/tickets/${ticket.id}/replies`, { body: 'Hello' });
  });

  test('updated_since takes what changed at or after that moment', async () => {
    const world = start();
    const { ticket: first } = await world.post('/tickets', { subject: 'first' });
    await world.later(60);
    const { ticket: second } = await world.post('/tickets', { subject: 'second' });
    const since = async (time: string) =>
      (await world.get(`/tickets?updated_since=${encodeURIComponent(time)}`)).tickets.map((t: { id: number }) => t.id);
    expect(await since(first.updated_at)).toEqual([second.id, first.id]);
    expect(await since(second.updated_at)).toEqual([second.id]);
    expect(await since('2026-11-20T10:01:00+01:00')).toEqual([second.id]);
    expect(await since('2026-11-20T09:01:01Z')).toEqual([]);
    await world.later(60);
    await world.patch(`/tickets/${first.id}`, { priority: 1 });
    expect(await since('2026-11-20T09:02:00Z')).toEqual([first.id]);
  });

  test('unresolved is every status that still needs work', async () => {
    const world = start('demo');
    const all = (await world.get('/tickets?per_page=100')).tickets;
    const open = (await world.get('/tickets?per_page=100&status=unresolved')).tickets;
    const needsWork = all.filter((t: { status: string }) => !['resolved', 'closed'].includes(t.status));
    expect(open).toEqual(needsWork);
    expect(open.length).toBeGreaterThan(0);
    expect(open.length).toBeLessThan(all.length);
  });

  test('a contact_id finds the tickets of that contact', async () => {
    const world = start();
    const { id, contact } = await ticketOf(world);
    await world.post('/tickets', { subject: 'of nobody' });
    const { tickets } = await world.get(`/tickets?contact_id=${contact.contact_id}`);
    expect(tickets.map((t: { id: number }) => t.id)).toEqual([id]);
  });

  test("another account's contact is refused by its field", async () => {
    const world = start();
    const contact_id = await newContact(world);
    const { status, body } = await world.subject.send('key_globex', 'POST /tickets', { subject: 'x', contact_id });
    expect([status, Object.keys(body.errors)]).toEqual([422, ['contact_id']]);
  });

  test('a ticket that came from chat is answered in the chat, which is taken from the AI', async () => {
    const world = start('demo');
    const tickets: { id: number; conversation_id: number | null }[] = (await world.state()).tickets;
    const { id, conversation_id } = tickets.find((row) => row.conversation_id !== null) ?? {};
    expect((await world.get(`/tickets/${id}`)).ticket).toMatchObject({ source: 'chat', reply_channel: 'chat' });
    await world.later(60);
    const { message } = await world.post(`/tickets/${id}/replies`, { body: 'From the ticket' });
    expect(message).toMatchObject({ channel: 'chat', direction: 'out' });
    const { conversation } = await world.get(`/conversations/${conversation_id}`);
    expect(conversation).toMatchObject({ handling_mode: 'human', ticket_id: id });
    expect(conversation.messages.at(-1)).toMatchObject({ sender_type: 'operator', body: 'From the ticket' });
    const { ticket } = await world.get(`/tickets/${id}`);
    expect(ticket.messages.at(-1)).toMatchObject({ direction: 'out', body: 'From the ticket' });
  });
});

describe('conversations', () => {
  test('come most recently active first, and a message moves one to the top', async () => {
    const world = start('demo');
    const ids = async () => (await world.get('/conversations?per_page=100')).conversations;
    const before = await ids();
    const times = before.map((c: { last_message_at: string }) => Date.parse(c.last_message_at));
    expect(times).toEqual(times.toSorted((a: number, b: number) => b - a));
    const last = before.at(-1);
    await world.later(1);
    const sent = await world.post(`/conversations/${last.id}/messages`, { body: 'Hello' });
    const [top] = await ids();
    expect([top.id, top.last_message_at, top.handling_mode]).toEqual([last.id, sent.message.created_at, 'human']);
  });

  test('messages come oldest first, without internal notes', async () => {
    const world = start('demo');
    const { id } = (await world.get('/conversations?per_page=1')).conversations[0];
    await world.subject.control('POST act', {
      kind: 'internal_note',
      account_id: 1,
      conversation_id: id,
      body: 'staff only',
    });
    await world.later(1);
    await world.subject.control('POST act', {
      kind: 'ai_message',
      account_id: 1,
      conversation_id: id,
      body: 'from the AI',
    });
    await world.later(1);
    await world.subject.control('POST act', {
      kind: 'customer_message',
      account_id: 1,
      conversation_id: id,
      body: 'from the customer',
    });
    const { conversation } = await world.get(`/conversations/${id}`);
    expect(JSON.stringify(conversation)).not.toContain('staff only');
    const times = conversation.messages.map((m: { created_at: string }) => m.created_at);
    expect(times).toEqual(times.toSorted());
    expect(conversation.messages.slice(-2)).toMatchObject([
      { sender_type: 'ai', body: 'from the AI' },
      { sender_type: 'visitor', body: 'from the customer' },
    ]);
    expect(conversation.last_message_at).toBe(times.at(-1));
  });

  test('unresolved means neither resolved nor closed', async () => {
    const world = start('demo');
    const all = (await world.get('/conversations?per_page=100')).conversations;
    const open = (await world.get('/conversations?per_page=100&status=unresolved')).conversations;
    expect(open).toEqual(all.filter((c: { status: string }) => !['resolved', 'closed'].includes(c.status)));
    const { id } = open[0];
    await world.post(`/conversations/${id}/resolve`);
    const resolved = (await world.get('/conversations?per_page=100&status=resolved')).conversations;
    expect(resolved.map((c: { id: number }) => c.id)).toContain(id);
  });

  test('are filtered by contact and by the time of their last change', async () => {
    const world = start('demo');
    const all = (await world.get('/conversations?per_page=100')).conversations;
    const { contact } = all.find((c: { contact: object | null }) => c.contact);
    const his = (await world.get(`/conversations?per_page=100&contact_id=${contact.contact_id}`)).conversations;
    expect(his).toEqual(
      all.filter((c: { contact: { contact_id: number } | null }) => c.contact?.contact_id === contact.contact_id),
    );
    await world.later(10);
    await world.post(`/conversations/${all[3].id}/resolve`);
    const since = encodeURIComponent('2026-11-20T09:00:10.000Z');
    const changed = (await world.get(`/conversations?updated_since=${since}`)).conversations;
    expect(changed.map((c: { id: number }) => c.id)).toEqual([all[3].id]);
  });

  test('reading one changes nothing', async () => {
    const world = start('demo');
    const { id } = (await world.get('/conversations?per_page=1')).conversations[0];
    const before = (await world.state()).conversations;
    await world.get(`/conversations/${id}`);
    expect((await world.state()).conversations).toEqual(before);
  });
});
