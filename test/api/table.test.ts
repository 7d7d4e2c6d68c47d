import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { check } from '../../src/api/check.ts';
import { operations } from '../../src/api/index.ts';
import { type Operation, scopes } from '../../src/api/operation.ts';
import { presetPath } from '../../src/api/path.ts';
import { webhookData, webhookEvents } from '../../src/api/webhooks.ts';
import { jsonSchemaOf } from '../../src/derive/json-schema.ts';
import { bodies, endpoints, events, scopes as writtenScopes } from '../contract/document.ts';
import { rules } from '../contract/limits.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON Schema of any shape
type Any = any;

const table: readonly Operation[] = Object.values(operations);

/** What the document shows of an entry. */
const asWritten = ({ id, method, path, scope, credentials, status, module, answer }: Operation) => ({
  id,
  method,
  path: presetPath(path),
  scope: credentials.includes('m2m') ? 'm2m' : scope,
  status,
  module,
  paged: answer.shape === 'list' && answer.paged,
});

test('the table holds the operations of the document, in its order, word by word', () => {
  expect(table.map(asWritten)).toEqual(endpoints);
});

test('every operation is found under its own id', () => {
  expect(Object.keys(operations)).toEqual(table.map(({ id }) => id));
});

test('there are the 14 scopes of the document, and each is needed by some operation', () => {
  expect(scopes).toEqual(writtenScopes);
  const needed = new Set<string | null>(table.map(({ scope }) => scope));
  expect(scopes.filter((scope) => !needed.has(scope))).toEqual([]);
});

test('webhook endpoints take an OAuth login alone, meetings the machine-to-machine token alone, the rest both others', () => {
  for (const { id, path, credentials } of table) {
    const expected = path.startsWith('/oauth-platform/')
      ? ['oauth']
      : path.endsWith('/meetings')
        ? ['m2m']
        : ['api_key', 'oauth'];
    expect(credentials, id).toEqual(expected);
  }
});

test('every parameter in a path is one of the operation, and the other way round', () => {
  for (const { id, path, params } of table) {
    const inPath = [...presetPath(path).matchAll(/\{(\w+)\}/gu)].map(([, name]) => name);
    expect(Object.keys((params as { entries?: object } | undefined)?.entries ?? {}), id).toEqual(inPath);
  }
});

test('only a GET is a read, and no GET has a body', () => {
  for (const { id, method, safety, body } of table) {
    expect(safety === 'read', id).toBe(method === 'GET');
    if (method === 'GET') expect(body, id).toBeUndefined();
  }
});

/** What is looked for after a lost answer, in the words of docs/writes.md. */
const lookedFor = {
  createContacts: 'contact',
  createContactList: 'list',
  createTicket: 'ticket',
  replyToTicket: 'replies',
  replyToConversation: 'replies',
  createChangelogEntry: 'changelog entry',
  createWebhook: 'webhook',
};

/** What cannot be looked for, likewise. */
const unknown = { addTicketNote: '`tickets note`', sendEvent: '`events send`' };

test('what may be done after a lost answer is written for every write', () => {
  const by = (safety: string) => table.filter((operation) => operation.safety === safety).map(({ id }) => id);
  expect(by('verify')).toEqual(Object.keys(lookedFor));
  expect(by('once')).toEqual(Object.keys(unknown));
});

test('docs/writes.md tells of each what svc does after a lost answer', () => {
  const rows = readFileSync(new URL('../../docs/writes.md', import.meta.url), 'utf8').match(/^\|.*\|.*\|$/gmu) ?? [];
  const told = (row: RegExp) => rows.filter((one) => row.test(one)).join('\n');
  for (const [id, words] of Object.entries(lookedFor)) expect(told(/\| svc looks for it/u), id).toContain(words);
  for (const [id, words] of Object.entries(unknown)) expect(told(/\| exit 9/u), id).toContain(words);
});

test('a body that the document gives as an example passes', () => {
  for (const { id, body } of table) {
    if (body) expect(check(body, bodies[id]), id).toMatchObject({ ok: true });
  }
});

test.for(rules)('$id: $field $says', ({ id, part, accepted, refused, field }) => {
  const schema = (operations[id as keyof typeof operations] as Operation)[part];
  if (!schema) throw new Error(`${id} has no ${part}`);
  for (const value of accepted) expect(check(schema, value)).toMatchObject({ ok: true });
  for (const value of refused) {
    const checked = check(schema, value);
    expect(checked.ok ? 'accepted' : Object.keys(checked.fields), JSON.stringify(value).slice(0, 80)).toEqual([field]);
  }
});

test('every field with a limit has its row in limits.ts', () => {
  const limits = ['maxLength', 'maxItems', 'maximum', 'enum'];
  const choices = (schema: Any): Any[] => [schema, ...(schema.anyOf ?? [])];
  // Of records inside of a field, limits.ts alone says what is tried.
  const limited = table.flatMap(({ id, query, body }) =>
    [query, body]
      .flatMap((schema) => (schema ? choices(jsonSchemaOf(schema)) : []))
      .flatMap(({ properties = {} }) => Object.entries(properties))
      .filter(([, field]) => choices(field).some((one) => limits.some((limit) => limit in one)))
      .map(([name]) => `${id}: ${name}`),
  );
  const written = new Set(rules.map(({ id, field }) => `${id}: ${field}`));
  expect(limited.length).toBeGreaterThan(20);
  expect(limited.filter((one) => !written.has(one))).toEqual([]);
});

test('a synced contact has at most 10 tags of 50 characters', () => {
  const row = (tags: string[]) => check(operations.syncContacts.body, { contacts: [{ email: 'a@example.com', tags }] });
  const tags = Array.from({ length: 10 }, (_, at) => `${at}`.padEnd(50, 'x'));
  expect(row(tags).ok).toBe(true);
  expect(row(['😀'.repeat(50)]).ok).toBe(true);
  expect(row([...tags, 'one more'])).toMatchObject({ ok: false, fields: { 'contacts.0.tags': expect.anything() } });
  expect(row(['x'.repeat(51)])).toMatchObject({ ok: false, fields: { 'contacts.0.tags.0': expect.anything() } });
});

test('the six events carry the data that the document lists', () => {
  expect(webhookEvents).toEqual(Object.keys(events));
  for (const event of webhookEvents)
    expect(Object.keys(webhookData[event].entries).join(', '), event).toBe(events[event]);
});
