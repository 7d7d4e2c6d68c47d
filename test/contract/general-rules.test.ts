import { describe, expect, test } from 'vitest';
import { bodies } from './document.ts';
import { account, newContact, person, start } from './sandbox.ts';

// The general rules (service.md#requests-and-answers), and events.

describe('general rules', () => {
  test('ids are integers that are never given twice, not even of a deleted list', async () => {
    const { post } = start();
    const list = { name: 'Leads', target_industry: 'Retail', notes: 'Fair' };
    const first = (await post('/contactslists/create', list)).contact_list_id;
    await post(`/contactslists/${first}/delete`);
    const second = (await post('/contactslists/create', list)).contact_list_id;
    expect(second).toBeGreaterThan(first);
  });

  test('contacts, tickets, conversations and changelog entries cannot be deleted', async () => {
    const { subject } = start('demo');
    for (const path of ['/contacts/1', '/tickets/1', '/conversations/1', '/changelog/1', '/contactslists/1']) {
      const { status } = await subject.send('key_acme', `DELETE ${path}`);
      expect([404, 405], path).toContain(status);
      expect((await subject.send('key_acme', `GET ${path}`)).status).not.toBe(500);
    }
  });

  test('a page is 50 records unless told otherwise, and the pages together hold each record once', async () => {
    const { get, post } = start();
    await post('/contacts/create', { contacts: Array.from({ length: 120 }, (_, n) => person(n)) });
    const first = await get('/contacts');
    expect([first.contacts.length, first.meta]).toEqual([50, { current_page: 1, last_page: 3, total: 120 }]);
    const seen: number[] = [];
    for (let page = 1; page <= 3; page++) {
      seen.push(...(await get(`/contacts?page=${page}`)).contacts.map((c: { contact_id: number }) => c.contact_id));
    }
    expect(seen).toEqual([...new Set(seen)]);
    expect(seen).toEqual(seen.toSorted((a, b) => b - a));
    expect((await get('/contacts?per_page=100')).contacts).toHaveLength(100);
    expect((await get('/contacts?page=999')).contacts).toEqual([]);
  });

  test('a query that is no number is refused by its field', async () => {
    const { subject } = start();
    for (const query of ['page=abc', 'page=1.5', 'per_page=abc', 'per_page=1e1', 'page=0x1']) {
      const { status, body } = await subject.send('key_acme', `GET /contacts?${query}`);
      expect([status, Object.keys(body.errors)], query).toEqual([422, [query.split('=')[0]]]);
    }
    for (const query of ['contact_id=abc', 'updated_since=yesterday']) {
      for (const path of ['/tickets', '/conversations']) {
        const { status, body } = await subject.send('key_acme', `GET ${path}?${query}`);
        expect([status, Object.keys(body.errors)], query).toEqual([422, [query.split('=')[0]]]);
      }
    }
  });

  test('no account sees a record of the other', async () => {
    const world = start('demo');
    const globex = account(world.subject, 'key_globex');
    const ids = (rows: { contact_id?: number; id?: number }[]) => rows.map((row) => row.contact_id ?? row.id);
    for (const [path, key] of [
      ['/contacts', 'contacts'],
      ['/tickets', 'tickets'],
      ['/conversations', 'conversations'],
      ['/changelog', 'entries'],
      ['/feedback', 'posts'],
    ] as const) {
      const acme = ids((await world.get(`${path}?per_page=100`))[key]);
      const other = ids((await globex.get(`${path}?per_page=100`))[key]);
      expect(
        acme.filter((id) => other.includes(id)),
        path,
      ).toEqual([]);
    }
  });
});

describe('events', () => {
  const event = { trigger: 'order_create', contact: { name: 'Ada', email: 'ada@example.com' } };

  test('a contact made by an event is a shadow: in the state, in no list', async () => {
    const world = start();
    await world.post('/integrations/partner/events', { ...event, metadata: { plan: 'pro' } });
    expect((await world.get('/contacts')).meta.total).toBe(0);
    const state = await world.state();
    expect(state.contacts).toMatchObject([{ email: 'ada@example.com', metadata: { plan: 'pro' }, shadow: true }]);
    expect((await world.subject.send('key_acme', `GET /contacts/${state.contacts[0].contact_id}`)).status).toBe(404);
    expect(state.events).toHaveLength(1);
  });

  test('metadata is stored on a contact that is there already', async () => {
    const world = start();
    const id = await newContact(world, 1, { metadata: { a: 1 } });
    const contact = { name: 'Ada', email: person(1).email };
    await world.post('/integrations/partner/events', { ...event, contact, metadata: { b: 2 } });
    expect((await world.get(`/contacts/${id}`)).contact.metadata).toEqual({ a: 1, b: 2 });
  });

  test('an account that opted in gets real contacts', async () => {
    const { post, get } = start('empty', {
      seed: { accounts: [{ account_id: 1, name: 'Acme', exports_real_contacts: true }] as never },
    });
    await post('/integrations/partner/events', event);
    expect((await get('/contacts')).contacts).toMatchObject([{ name: 'Ada', email: 'ada@example.com' }]);
  });

  test.for([
    ['order_create', { gclid: 'x' }, 1],
    ['user_create', { fbclid: 'x' }, 1],
    ['user_subscriptions_create', { svc_ad: 'x' }, 1],
    ['order_create', undefined, 0],
    ['order_refund', { gclid: 'x' }, 0],
  ] as const)('%s with attribution %j records %i conversions', async ([trigger, attribution, conversions]) => {
    const world = start();
    await world.post('/integrations/partner/events', { ...event, trigger, attribution });
    expect((await world.state()).conversions).toHaveLength(conversions);
  });
});

test('no body that the document allows makes the sandbox fail', async () => {
  const { subject } = start('demo');
  const odd = ['\u0000', '\ud800', '__proto__', 'constructor', '<b>', "'; DROP TABLE contacts;--", '\u202e', '😀'];
  for (const text of odd) {
    const answers = await Promise.all([
      subject.send('key_acme', 'POST /contacts/create', { ...person(1), name: text, metadata: { [text]: text } }),
      subject.send('key_acme', 'POST /tickets', { subject: text, description: text }),
      subject.send('key_acme', 'POST /changelog', { title: `${text}...`, content: text, labels: [text] }),
      subject.send('key_acme', 'POST /contactslists/create', { ...(bodies.createContactList as object), name: text }),
      subject.send('key_acme', `GET /tickets?q=${encodeURIComponent(text.replaceAll(/\p{Cs}/gu, ''))}`),
    ]);
    for (const { status, body } of answers) expect(status, `${text} ${JSON.stringify(body)}`).toBeLessThan(300);
  }
});
