import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { check } from '../../src/api/check.ts';
import { operations } from '../../src/api/index.ts';
import type { Operation } from '../../src/api/operation.ts';
import type { KindName } from '../../src/mirror/tables/kinds.ts';
import { kinds } from '../../src/sandbox/store/records.ts';
import { parseSeed } from '../../src/sandbox/store/seed-file.ts';
import { sandboxFor } from './calls.ts';

const now = () => new Date('2026-05-01T09:00:00Z');
const demo = () => sandboxFor({ seed: 'demo', now });

test('the demo account holds what its users are promised', async () => {
  const { control } = demo();
  const state = (await control('GET', 'state')).body;
  const acme = (kind: string) => state[kind].filter((row: { account_id: number }) => row.account_id === 1);
  const atLeast = {
    contacts: 250,
    calls: 3,
    tickets: 40,
    conversations: 20,
    changelog: 30,
    changelog_categories: 3,
    feedback: 20,
    feedback_categories: 3,
    feedback_statuses: 3,
    roadmap_columns: 3,
    lists: 3,
    meetings: 3,
    // The tests of the copy prove nothing of a kind that is empty.
  } satisfies Record<KindName, number> & Record<string, number>;
  for (const [kind, number] of Object.entries(atLeast)) {
    expect(acme(kind).length, kind).toBeGreaterThanOrEqual(number);
  }
  const values = (kind: string, field: string) => new Set(acme(kind).map((row: Record<string, unknown>) => row[field]));
  expect(values('tickets', 'source')).toContain('chat');
  expect(values('conversations', 'status').size).toBeGreaterThan(2);
  expect(values('conversations', 'channel').size).toBeGreaterThan(2);
  expect(values('conversations', 'handling_mode')).toEqual(new Set(['ai', 'human']));
  expect(values('conversations', 'contact_id')).toContain(null);
  expect(values('feedback', 'vote_count').size).toBe(acme('feedback').length);
  expect(new Set(acme('contacts').map(({ email }: { email: string }) => email)).size).toBe(acme('contacts').length);
  expect(new Set(acme('contacts').map(({ phone }: { phone: string }) => phone)).size).toBe(acme('contacts').length);
  expect(
    acme('tickets').some((each: { messages: { attachments: [] }[] }) => each.messages[0]?.attachments.length),
  ).toBe(true);
});

test('it is the same in every run, and every text in it is safe to publish', async () => {
  const first = (await demo().control('GET', 'state')).text;
  expect((await demo().control('GET', 'state')).text).toBe(first);
  for (const [, domain] of first.matchAll(/@([\w.-]+)/gu)) expect(domain).toMatch(/\.(?:test|com)$/u);
  for (const [, number] of first.matchAll(/\+1\d{3}(\d{7})/gu)) expect(number).toMatch(/^55501/u);
});

test('every read of the demo account has the shape that the table gives it', async () => {
  const { get, control } = demo();
  const tokens = (await control('POST', 'tokens', { account_id: 1 })).body;
  for (const operation of Object.values(operations) as Operation[]) {
    if (operation.method !== 'GET') continue;
    const token = operation.credentials[0] === 'm2m' ? 'm2m_sandbox' : tokens.access_token;
    const path = operation.path.replaceAll(/\{\w+\}/gu, '1');
    const { status, body } = await get(path, token);
    expect([path, status]).toEqual([path, 200]);
    expect([path, check(operation.response, body)]).toEqual([path, { ok: true, value: body }]);
  }
});

test('the state that the control endpoint shows is a seed that gives the same state again', async () => {
  const text = (await demo().control('GET', 'state')).text;
  const again = sandboxFor({ seed: parseSeed(text, 'state.json'), now });
  expect((await again.control('GET', 'state')).body).toEqual(JSON.parse(text));
});

test.each([
  ['not json', 'is not JSON'],
  ['[]', 'is not a JSON object'],
  ['{"people": []}', 'holds "people"'],
  ['{"contacts": {}}', 'is wrong at contacts: must be a list'],
  ['{"contacts": [{"contact_id": "7"}]}', 'is wrong at contacts.0.'],
  [
    '{"changelog_categories": [{"id":1,"account_id":1,"name":"a"},{"id":1,"account_id":1,"name":"b"}]}',
    'has two changelog_categories with one id',
  ],
])('the seed %s is refused', (text, problem) => {
  expect(() => parseSeed(text, 'seed.json')).toThrow(problem);
});

test('a seed may leave out all that it does not care about', async () => {
  const seed = parseSeed('{"contacts":[{"contact_id":7,"account_id":1,"name":"Ada"}]}', 'seed.json');
  const { get, post } = sandboxFor({ seed });
  expect((await get('/contacts/7')).body.contact).toMatchObject({ name: 'Ada', email: '', lead_status: 'new' });
  const next = { name: 'B', last_name: 'Sample', email: 'b@example.com', phone: '+14155550100' };
  expect((await post('/contacts/create', next)).body.contacts.contact_id).toBe(8);
});

test('docs/sandbox.md names every kind that a seed may have', () => {
  const page = readFileSync(new URL('../../docs/sandbox.md', import.meta.url), 'utf8');
  const [listed = ''] = page.match(/^Kinds: [\s\S]*?\n\n/mu) ?? [];
  expect(kinds.filter((kind) => !listed.includes(`\`${kind}\``))).toEqual([]);
});
