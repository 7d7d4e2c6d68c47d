import * as v from 'valibot';
import { expect, test } from 'vitest';
import { check } from '../../src/api/check.ts';
import { lengthOf, time } from '../../src/api/fields.ts';
import { operations } from '../../src/api/index.ts';
import { anyText, fc } from '../chance.ts';

const fieldsOf = (schema: v.GenericSchema, value: unknown) => {
  const checked = check(schema, value);
  return checked.ok ? 'accepted' : checked.fields;
};

test('an error names its field by a dotted path and says what is wanted', () => {
  expect(fieldsOf(operations.createTicket.body, { subject: 5, priority: 'high', due_at: 'soon' })).toEqual({
    subject: ['must be text'],
    priority: ['must be a whole number from 0 to 4'],
    due_at: ['must be an ISO 8601 time like 2026-01-31T09:00:00Z'],
  });
  expect(fieldsOf(operations.syncContacts.body, { contacts: [{ email: 'a@example.com' }, {}] })).toEqual({
    'contacts.1.email': ['is required'],
  });
});

test.each(['\x00a@example.com', '\x1aa@example.com', 'a\x07@example.com', 'a@exam\x7fple.com', 'a@example.c\x9fom'])(
  'an address with a control character is none: %j',
  (email) => {
    expect(fieldsOf(operations.syncContacts.body, { contacts: [{ email }] })).toEqual({
      'contacts.0.email': ['must be an email address'],
    });
    expect(fieldsOf(operations.updateContact.body, { email })).toEqual({ email: ['must be an email address'] });
  },
);

test('a body that is no object at all is one error on the whole', () => {
  for (const body of [null, 5, 'x', true]) {
    expect(fieldsOf(operations.updateTicket.body, body)).toEqual({ '': ['must be an object'] });
  }
  expect(fieldsOf(operations.updateTicket.body, undefined)).toEqual({ '': ['is required'] });
});

test('a list is not taken for an object, neither as the body nor inside it', () => {
  expect(fieldsOf(operations.updateTicket.body, ['subject'])).toEqual({ '': ['must be an object'] });
  const list = { name: 'Leads', target_industry: 'Retail', notes: 'Fair' };
  expect(fieldsOf(operations.createContactList.body, { ...list, metadata: ['a'] })).toEqual({
    metadata: ['must be an object'],
  });
  const rows = [{ email: 'a@example.com' }, { email: 'b@example.com', metadata: [1] }];
  expect(fieldsOf(operations.syncContacts.body, { contacts: rows })).toEqual({
    'contacts.1.metadata': ['must be an object'],
  });
});

test('a request with an empty list for an empty object is refused; only answers may be written so', () => {
  const body = { email: 'a@example.com', metadata: [] };
  expect(fieldsOf(operations.syncContacts.body, { contacts: [body] })).toEqual({
    'contacts.0.metadata': ['must be an object'],
  });
});

test('a contact to create is judged as one contact, a body with contacts as a batch', () => {
  expect(Object.keys(fieldsOf(operations.createContacts.body, { name: 'Ada' }))).toEqual([
    'last_name',
    'email',
    'phone',
  ]);
  expect(fieldsOf(operations.createContacts.body, { contacts: [] })).toEqual({
    contacts: ['must hold at least one contact'],
  });
  expect(fieldsOf(operations.createContacts.body, { contacts: [{ phone: '5' }] })).toEqual({
    'contacts.0.phone': ['must be +1 followed by ten digits'],
  });
  expect(fieldsOf(operations.createContacts.body, {})).toMatchObject({ name: ['is required'] });
});

test('where a list or one object may stand, a list is judged as a list', () => {
  const rows = v.union([v.array(v.object({ name: v.string() })), v.object({ name: v.string() })]);
  expect(fieldsOf(rows, [{ name: 'Ada' }])).toBe('accepted');
  expect(fieldsOf(rows, [{}])).toEqual({ '0.name': ['is required'] });
  expect(fieldsOf(rows, {})).toEqual({ name: ['is required'] });
});

test('a changelog update that changes nothing is refused', () => {
  const nothing = { '': ['must change at least one field'] };
  expect(fieldsOf(operations.updateChangelogEntry.body, {})).toEqual(nothing);
  expect(fieldsOf(operations.updateChangelogEntry.body, { title: undefined })).toEqual(nothing);
  expect(fieldsOf(operations.updateChangelogEntry.body, { unheard_of: 1 })).toEqual(nothing);
  expect(fieldsOf(operations.updateChangelogEntry.body, { version: null })).toBe('accepted');
});

test('an answer keeps the fields that the table does not know', () => {
  const answer = { account_id: 1, name: 'Acme', billing_active: true, setup_url: null, plan: { seats: 5 } };
  expect(check(operations.getAccount.response, answer)).toEqual({ ok: true, value: answer });
});

test('a choice of kinds reads as a sentence', () => {
  expect(fieldsOf(operations.createContacts.response, { contacts: 5 })).toEqual({
    contacts: ['must be a list or an object'],
  });
  expect(fieldsOf(v.object({ colour: v.picklist(['red', 'blue']) }), { colour: 'green' })).toEqual({
    colour: ['must be red or blue'],
  });
});

test('keys that mean something to JavaScript are data like any other', () => {
  const body = JSON.parse('{"subject":"x","__proto__":{"admin":true},"constructor":["a"],"toString":[1]}');
  expect(check(operations.createTicket.body, body)).toEqual({ ok: true, value: { subject: 'x' } });
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});

test('so are they in data of the caller, where every key is one', () => {
  const metadata = JSON.parse('{"__proto__":"a","constructor":"b","prototype":{"c":1},"toString":"d"}');
  const contact = { name: 'A', last_name: 'B', email: 'a@b.test', phone: '+12025550143', metadata };
  for (const body of [contact, { contacts: [contact] }]) {
    const checked = check(operations.createContacts.body, body);
    expect(JSON.stringify(checked)).toBe(JSON.stringify({ ok: true, value: body }));
  }
});

test('no JSON value makes the check throw', () => {
  const bodies = Object.values(operations).flatMap((operation) => ('body' in operation ? [operation.body] : []));
  fc.assert(
    fc.property(fc.constantFrom(...bodies), fc.jsonValue(), (schema, value) => {
      expect(typeof check(schema, value).ok).toBe('boolean');
    }),
  );
});

test('lengths count code points, lone surrogates included', { tags: ['long'] }, () => {
  expect(lengthOf('😀'.repeat(255))).toBe(255);
  fc.assert(fc.property(anyText(), (text) => lengthOf(text) === Array.from(text).length));
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0xd700, max: 0xe0ff })), (units) => {
      const text = String.fromCharCode(...units);
      return lengthOf(text) === Array.from(text).length;
    }),
  );
});

test.for([
  ['2026-01-31T09:00:00Z', true],
  ['2026-01-31T09:00:00.123+02:00', true],
  ['2026-01-31 09:00', true],
  ['2026-01-31', true],
  ['2028-02-29', true],
  ['2026-02-29', false],
  ['2026-04-31T00:00:00Z', false],
  ['2026-13-01', false],
  ['2026-01-31T25:00:00Z', false],
  ['tomorrow', false],
  ['1769853600', false],
  ['', false],
] as const)('the time %s is valid: %s', ([value, valid]) => {
  expect(check(time, value).ok).toBe(valid);
});
