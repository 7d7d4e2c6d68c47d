// The service has carried a creation out, answers with its own 500, and the list in which svc looks is not as expected.
import { expect, test } from 'vitest';
import type { HttpResponse } from '../../src/context.ts';
import { fieldsIn, isRecord } from '../../src/text/record.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Rows = readonly Record<string, unknown>[];
type Bend = (rows: Rows) => { readonly rows: Rows; readonly total?: number };

const second: Bend = ([first, next, ...others]) => ({ rows: [next ?? {}, first ?? {}, ...others] });
const emptied: Bend = () => ({ rows: [], total: 0 });
const oldestOnly: Bend = (rows) => ({ rows: rows.slice(-3), total: 3 });
const firstOnly: Bend = (rows) => ({ rows: rows.slice(0, 1) });
const without =
  (id: string): Bend =>
  (rows) => ({ rows: rows.map(({ [id]: one, ...others }) => ({ ...others, other_id: one })) });
const asText =
  (id: string): Bend =>
  (rows) => ({ rows: rows.map((row) => ({ ...row, [id]: `no-${row[id]}` })) });

const ticket = ['tickets', 'create', '--subject', 'Only once', '--description', 'x'];
const contact = [
  'contacts',
  'create',
  '--name',
  'Only Once',
  '--email',
  'once@example.com',
  '--last-name',
  'X',
  '--phone',
  '+12025550123',
];
const entry = ['changelog', 'create', '--title', 'Only once', '--content', 'x'];
const list = ['lists', 'create', '--name', 'Only once', '--target-industry', 'Software', '--notes', 'x'];
const webhook = ['webhooks', 'create', 'ticket.created', 'https://example.com/once'];

async function after(argv: readonly string[], bend: Bend) {
  const world = sandboxWorld({ rateLimit: 'off', env: {} });
  const token = await world.control('POST', 'tokens', { account_id: 1, scopes: ['identity', 'webhooks:manage'] });
  const env =
    argv === webhook ? { SVC_ACCESS_TOKEN: String(fieldsIn(token).access_token) } : { SVC_API_KEY: 'key_acme' };
  let made = 0;
  const exchange: typeof world.exchange = async (request) => {
    const answer = (await world.exchange(request)) as HttpResponse;
    if (request.method === 'POST') {
      made++;
      return { ...answer, status: 500, body: '{"error":"boom"}' };
    }
    const body = JSON.parse(answer.body);
    const [key, rows] = Object.entries(body).find(([, value]) => Array.isArray(value)) ?? [];
    if (made !== 1 || key === undefined || !Array.isArray(rows)) return answer;
    const bent = bend(rows);
    const meta = isRecord(body.meta) && { meta: { ...body.meta, total: bent.total ?? body.meta.total } };
    return { ...answer, body: JSON.stringify({ ...body, [key]: bent.rows, ...meta }) };
  };
  const { exitCode } = await svc({ ...world, exchange }, [...argv, '--settle', '0'], { env });
  return { exitCode, made };
}

test.each([
  ['ticket', ticket],
  ['contact', contact],
])('a new %s that stands second on the page, behind one of the same second, is found', async (_, argv) => {
  expect(await after(argv, second)).toEqual({ exitCode: 0, made: 1 });
});

test.each([
  ['ticket', ticket],
  ['contact', contact],
  ['entry', entry],
  ['contact list', list],
])('a list without all that was there a moment ago shows of no %s that it was not made', async (_, argv) => {
  expect(await after(argv, emptied)).toEqual({ exitCode: 9, made: 1 });
});

test.each([
  ['ticket', ticket, oldestOnly],
  ['contact', contact, oldestOnly],
  ['entry', entry, oldestOnly],
  ['contact list', list, firstOnly],
])('a list with fewer than before shows of no %s that it was not made', async (_, argv, bend) => {
  expect(await after(argv, bend)).toEqual({ exitCode: 9, made: 1 });
});

test.each([
  ['contact list, whose id has another name', list, without('contacts_list_id')],
  ['contact list, whose id is a text', list, asText('contacts_list_id')],
  ['subscription, whose id has another name', webhook, without('id')],
  ['entry, whose id has another name', entry, without('id')],
])('a record without an id that svc can read may be ours: a %s', async (_, argv, bend) => {
  expect(await after(argv, bend)).toEqual({ exitCode: 9, made: 1 });
});

test('the equal record that a list without ours shows is not taken for ours', async () => {
  // Somebody else has made the same; the page counts both, and shows theirs alone.
  const theirs: Bend = ([ours, ...others]) => ({
    rows: [{ ...ours, contact_id: 900 }, ...others],
    total: others.length + 2,
  });
  expect(await after(contact, theirs)).toEqual({ exitCode: 9, made: 1 });
});
