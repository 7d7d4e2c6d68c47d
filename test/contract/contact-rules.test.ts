import { describe, expect, test } from 'vitest';
import { account, newContact, person, start } from './sandbox.ts';

// The rules on contacts (service.md#contacts) and their lists that single answers do not show, sentence by sentence.

describe('contacts', () => {
  test('a list of contacts comes newest first, and an update does not change the order', async () => {
    const world = start();
    const first = await newContact(world, 1);
    const second = await newContact(world, 2);
    await world.patch(`/contacts/${first}`, { company: 'Example' });
    const { contacts } = await world.get('/contacts');
    expect(contacts.map((c: { contact_id: number }) => c.contact_id)).toEqual([second, first]);
  });

  test('an update moves updated_at and leaves created_at', async () => {
    const world = start();
    const id = await newContact(world);
    const before = (await world.get(`/contacts/${id}`)).contact;
    await world.later(60);
    const after = (await world.patch(`/contacts/${id}`, { company: 'Example' })).contact;
    expect(after.created_at).toBe(before.created_at);
    expect(Date.parse(after.updated_at) - Date.parse(before.updated_at)).toBe(60_000);
  });

  test('metadata is merged key by key, whatever the values', async () => {
    const world = start();
    const id = await newContact(world, 1, { metadata: { a: 1, b: { c: [1] }, gone: 'x' } });
    await world.patch(`/contacts/${id}`, { metadata: { b: null, d: '😀', a: [true] } });
    expect((await world.get(`/contacts/${id}`)).contact.metadata).toEqual({ a: [true], b: null, gone: 'x', d: '😀' });
  });

  test.for(['(202) 555-0123', '202-555-0123', '202.555.0123', '+1 202 555 0123', '1 (202) 555-0123', '2025550123'])(
    'on update the phone %s is stored as E.164',
    async (phone) => {
      const world = start();
      const id = await newContact(world);
      expect((await world.patch(`/contacts/${id}`, { phone })).contact.phone).toBe('+12025550123');
    },
  );

  test.for([
    ['+49 30 901820', '+4930901820'],
    ['+33 1 42 68 53 00', '+33142685300'],
    ['+442079460958', '+442079460958'],
  ])('on update the phone %s of another country is stored as %s', async ([phone, stored]) => {
    const world = start();
    const id = await newContact(world);
    expect((await world.patch(`/contacts/${id}`, { phone })).contact.phone).toBe(stored);
  });

  test.for(['call me', '12', '+', '++1', 'x'.repeat(500), '555-CALL-NOW-OR-NEVER'])(
    'on update the phone %s is refused',
    async (phone) => {
      const world = start();
      const id = await newContact(world);
      const { status, body } = await world.subject.send('key_acme', `PATCH /contacts/${id}`, { phone });
      expect([status, Object.keys(body.errors)]).toEqual([422, ['phone']]);
    },
  );

  test('on sync a phone is stored as E.164 where it can be read, and ignored where not', async () => {
    const { post, get } = start();
    const contacts = [
      { email: 'a@example.com', phone: '(202) 555-0123' },
      { email: 'b@example.com', phone: 'call me' },
    ];
    expect(await post('/platform/contacts/sync', { contacts })).toEqual({ created: 2, updated: 0, errors: [] });
    const phones = (await get('/contacts')).contacts.map((c: { phone: string }) => c.phone);
    expect(phones).toEqual(['', '+12025550123']);
  });

  test('a sync fills blanks, keeps what is there, unites tags and merges metadata', async () => {
    const world = start();
    const id = await newContact(world, 1, { company: 'Old', metadata: { a: 1 } });
    const row = { email: 'p1@example.com', name: 'Other', last_name: 'Other', phone: '+12025559999', company: 'Other' };
    await world.post('/platform/contacts/sync', { contacts: [{ ...row, tags: ['a', 'b'], metadata: { b: 2 } }] });
    await world.post('/platform/contacts/sync', { contacts: [{ email: row.email, tags: ['b', 'c'] }] });
    expect((await world.get(`/contacts/${id}`)).contact).toMatchObject({
      ...person(1),
      company: 'Old',
      tags: ['a', 'b', 'c'],
      metadata: { a: 1, b: 2 },
    });
  });

  test('the same sync twice changes nothing the second time', async () => {
    const { post, get } = start();
    const contacts = [{ ...person(1), tags: ['a'], metadata: { k: 1 } }, person(2)];
    expect(await post('/platform/contacts/sync', { contacts })).toMatchObject({ created: 2, updated: 0 });
    const before = (await get('/contacts')).contacts;
    expect(await post('/platform/contacts/sync', { contacts })).toMatchObject({ created: 0, updated: 2 });
    expect((await get('/contacts')).contacts).toEqual(before);
  });

  test('two rows of one sync with one email make one contact', async () => {
    const { post, get } = start();
    const contacts = [
      { email: 'a@example.com', name: 'First' },
      { email: 'a@example.com', company: 'Example' },
    ];
    expect(await post('/platform/contacts/sync', { contacts })).toMatchObject({ created: 1, updated: 1 });
    expect((await get('/contacts')).contacts).toMatchObject([{ name: 'First', company: 'Example' }]);
  });

  test('rows of any kind in a sync are reported by index, and the rest goes in', async () => {
    const { post } = start();
    const rows = [null, 5, 'x', [], {}, { email: 5 }, { email: '' }, { email: 'a@example.com', tags: 'x' }, person(1)];
    const { created, errors } = await post('/platform/contacts/sync', { contacts: rows });
    expect([created, errors.map((e: { index: number }) => e.index)]).toEqual([1, [0, 1, 2, 3, 4, 5, 6, 7]]);
    for (const { error } of errors) expect(error).toEqual(expect.stringMatching(/\S/u));
  });
});

describe('contact lists', () => {
  const list = { name: 'Leads', target_industry: 'Retail', notes: 'Fair' };

  test('a contact joins a list once, however often it is added', async () => {
    const { post, get } = start();
    const { contact_list_id: id } = await post('/contactslists/create', list);
    const contacts = [{ name: 'Ada', email: 'ada@example.com' }];
    await post(`/contactslists/${id}/create_sync_contacts`, { contacts });
    await post(`/contactslists/${id}/create_sync_contacts`, { contacts });
    expect((await get(`/contactslists/${id}/get_contacts`)).data).toHaveLength(1);
    expect((await get('/contacts')).meta.total).toBe(1);
  });

  test('setting the membership twice is setting it once', async () => {
    const world = start();
    const { contact_list_id: id } = await world.post('/contactslists/create', list);
    const ids = [await newContact(world, 1), await newContact(world, 2)];
    for (let i = 0; i < 2; i++) {
      await world.post(`/contactslists/${id}/sync_contacts`, { name: 'Leads', contacts_ids: [...ids, ...ids] });
    }
    const { data } = await world.get(`/contactslists/${id}/get_contacts`);
    expect(data.map((c: { contact_id: number }) => c.contact_id).toSorted()).toEqual(ids.toSorted());
  });

  test("another account's contact never gets into a list", async () => {
    const world = start('demo');
    const globex = account(world.subject, 'key_globex');
    const foreign = (await world.get('/contacts?per_page=1')).contacts[0].contact_id;
    const { contact_list_id: id } = await globex.post('/contactslists/create', list);
    await world.subject.send('key_globex', `POST /contactslists/${id}/sync_contacts`, {
      name: 'Leads',
      contacts_ids: [foreign],
    });
    expect((await globex.get(`/contactslists/${id}/get_contacts`)).data).toEqual([]);
  });

  test('metadata of a list is merged', async () => {
    const world = start();
    const { contact_list_id: id } = await world.post('/contactslists/create', { ...list, metadata: { a: 1, b: 2 } });
    await world.post(`/contactslists/${id}/update`, { name: 'Leads', metadata: { b: 3, c: 4 } });
    const lists: { contacts_list_id: number; metadata: object }[] = (await world.state()).lists;
    expect(lists.find((row) => row.contacts_list_id === id)?.metadata).toEqual({ a: 1, b: 3, c: 4 });
  });
});
