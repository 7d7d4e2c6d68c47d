import { expect, test } from 'vitest';
import { ada, sandboxFor } from './calls.ts';

test('a contact is created from its four fields and answered with id and name', async () => {
  const { post, get } = sandboxFor();
  const { status, body } = await post('/contacts/create', ada);
  expect([status, body]).toEqual([200, { contacts: { contact_id: 1, name: 'Ada' } }]);
  const { contact } = (await get('/contacts/1')).body;
  expect(contact).toMatchObject({ ...ada, company: '', website: null, country: '', tags: [], metadata: {} });
  expect(contact.updated_at).toBe(contact.created_at);
});

test('one invalid row rejects the whole batch', async () => {
  const { post, get } = sandboxFor();
  const refused = await post('/contacts/create', { contacts: [ada, { ...ada, phone: '415 555 0101' }] });
  expect(refused.status).toBe(422);
  expect(refused.body.errors).toEqual({ 'contacts.1.phone': ['must be +1 followed by ten digits'] });
  expect((await get('/contacts')).body).toEqual({
    contacts: [],
    meta: { current_page: 1, last_page: 1, total: 0 },
  });
  const made = await post('/contacts/create', { contacts: [ada, ada] });
  expect(made.body.contacts).toEqual([
    { contact_id: 1, name: 'Ada' },
    { contact_id: 2, name: 'Ada' },
  ]);
});

test('contacts are listed newest first, in pages, without updated_at', async () => {
  const { post, get } = sandboxFor();
  await post('/contacts/create', { contacts: [1, 2, 3].map((n) => ({ ...ada, name: `N${n}` })) });
  const { body } = await get('/contacts?page=2&per_page=2');
  expect(body.meta).toEqual({ current_page: 2, last_page: 2, total: 3 });
  expect(body.contacts).toHaveLength(1);
  expect(body.contacts[0]).toMatchObject({ contact_id: 1, name: 'N1' });
  expect(body.contacts[0]).not.toHaveProperty('updated_at');
  expect((await get('/contacts?page=9')).body.contacts).toEqual([]);
  for (const query of ['page=0', 'page=x', 'per_page=101', 'per_page=0', 'page=1.5']) {
    expect((await get(`/contacts?${query}`)).status, query).toBe(422);
  }
});

test('an update takes phones in any common format, merges metadata and changes only what was sent', async () => {
  const { post, patch } = sandboxFor();
  await post('/contacts/create', { ...ada, metadata: { plan: 'pro', seats: 3 } });
  const { contact } = (await patch('/contacts/1', { phone: '(415) 555-0188', metadata: { seats: 4 } })).body;
  expect(contact).toMatchObject({ ...ada, phone: '+14155550188', metadata: { plan: 'pro', seats: 4 } });
  expect((await patch('/contacts/1', { phone: 'call me' })).body.errors).toEqual({ phone: ['is not a phone number'] });
  expect((await patch('/contacts/1', { name: ' ' })).status).toBe(422);
  expect((await patch('/contacts/1', {})).status).toBe(200);
});

test('sync fills blanks, keeps what is there, unites tags, merges metadata and reports bad rows by index', async () => {
  const { post, get } = sandboxFor();
  await post('/contacts/create', { ...ada, metadata: { a: 1 } });
  const { status, body } = await post('/platform/contacts/sync', {
    contacts: [
      { email: 'ADA@example.com', name: 'Other', company: 'Sample Ltd', tags: ['vip', 'eu'], metadata: { b: 2 } },
      { email: 'no address' },
      { email: 'new@example.com', phone: 'none', tags: ['x'] },
      'not a row',
      { email: 'ada@example.com', tags: ['vip', 'new'], company: 'Later Ltd' },
    ],
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ created: 1, updated: 2, errors: [{ index: 1 }, { index: 3 }] });
  expect(body.errors[0].error).toBe('email must be an email address');
  expect((await get('/contacts/1')).body.contact).toMatchObject({
    name: 'Ada',
    company: 'Sample Ltd',
    tags: ['vip', 'eu', 'new'],
    metadata: { a: 1, b: 2 },
  });
  expect((await get('/contacts/2')).body.contact).toMatchObject({ phone: '', email: 'new@example.com', name: '' });
});

test('sync takes 1 to 200 rows', async () => {
  const { post } = sandboxFor();
  const rows = (n: number) => ({ contacts: Array.from({ length: n }, (_, i) => ({ email: `c${i}@example.com` })) });
  expect((await post('/platform/contacts/sync', rows(0))).status).toBe(422);
  expect((await post('/platform/contacts/sync', rows(201))).status).toBe(422);
  expect((await post('/platform/contacts/sync', {})).body.errors).toEqual({ contacts: ['is required'] });
  expect((await post('/platform/contacts/sync', rows(200))).body.created).toBe(200);
});

test("another account's contact is 404, never 403, for every method", async () => {
  const { post, get, patch } = sandboxFor();
  await post('/contacts/create', ada);
  expect((await get('/contacts/1', 'key_globex')).status).toBe(404);
  expect((await patch('/contacts/1', { name: '' }, 'key_globex')).status).toBe(404);
  expect((await get('/contacts', 'key_globex')).body.meta.total).toBe(0);
});
