import { describe, expect, test } from 'vitest';
import { base, seen, serviceOf, words } from './command-runner.ts';
import { people } from './lines-people.ts';
import { work } from './lines-work.ts';
import { chat, done, list, meta, wholeContact, wholeTicket } from './samples.ts';

const notAskedFor = { error: 'Not asked for.' };

/** What is there before anything is written. */
const before = {
  contacts: [],
  tickets: [],
  entries: [],
  webhooks: [],
  ...{ account_id: 1, name: 'Acme', billing_active: true, setup_url: null },
  ticket: wholeTicket,
  conversation: { ...chat, messages: [] },
  meta,
};

// What people type against what the service then gets, both written by hand.

test.for([...people, ...work])('svc $type', async ({ type, stdin, looks, sends, answers, prints }) => {
  let at = looks ? -1 : 0;
  // Nothing is sent where a ticket is so already.
  const ticket = { ...wholeTicket, status: type.includes('reopen') ? 'resolved' : 'open' };
  const { sent, run } = serviceOf(() => ({
    status: 200,
    body: at++ < 0 ? { ...before, ticket } : (answers[at - 1] ?? notAskedFor),
  }));
  const ran = await run([...words(type), '--json'], { stdin });
  expect(sent.map(seen), ran.stderr).toEqual([...(looks ? [[looks]] : []), ...sends]);
  expect([ran.exitCode, JSON.parse(ran.stdout)]).toEqual([0, prints ?? answers.at(-1)]);
  for (const { url, headers } of sent) {
    const token = url.includes('/oauth-platform/')
      ? 'oauth_token'
      : url.endsWith('/meetings')
        ? 'm2m_token'
        : 'key_acme';
    expect(headers.authorization).toBe(`Bearer ${token}`);
    expect(url.startsWith(`${base}/`)).toBe(true);
  }
});

describe('what needs a look before it writes', () => {
  /** Answers by route, and keeps what was written. */
  const playOn = async (type: string, routes: Record<string, unknown>, stdin?: string) => {
    const { sent, run } = serviceOf((request) => {
      const found = routes[seen(request)[0] as string];
      return found ? { status: 200, body: found } : { status: 404, body: { error: `${seen(request)[0]}?` } };
    });
    const ran = await run([...words(type), '--json'], { stdin });
    expect(ran.exitCode, ran.stderr).toBe(0);
    return sent.filter(({ method }) => method !== 'GET').map(seen);
  };
  const known = {
    'GET /contactslists/list': { data: [list] },
    'GET /contactslists/5/get_contacts': { data: [{ contact_id: 9, name: 'Bob' }] },
    'GET /contacts/7': { contact: wholeContact },
    'GET /contacts?per_page=100': { contacts: [wholeContact], meta },
    'GET /platform/account': { account_id: 1, name: 'Acme', billing_active: true, setup_url: null },
  };

  test('lists set replaces the whole membership and sends the name that the service requires', async () => {
    const path = 'POST /contactslists/5/sync_contacts';
    const written = await playOn('lists set 5 --contact 7 --contact 9 --yes', { ...known, [path]: done });
    expect(written).toEqual([[path, { name: 'Leads', contacts_ids: [7, 9] }]]);
  });

  test('lists add never sets the membership: the contact goes unchanged through the adding endpoint', async () => {
    const path = 'POST /contactslists/5/create_sync_contacts';
    const members = { data: [9, 7].map((contact_id) => ({ contact_id, name: 'x' })) };
    const routes = { ...known, 'GET /contactslists/5/get_contacts': members, [path]: done };
    const written = await playOn('lists add 5 --contact 7', routes);
    expect(written).toEqual([
      [
        path,
        {
          contacts: [
            expect.objectContaining({ name: 'Ada', last_name: 'L', email: 'ada@example.com', phone: '+12025550101' }),
          ],
        },
      ],
    ]);
  });

  test('lists import goes through the adding endpoint', async () => {
    const path = 'POST /contactslists/5/create_sync_contacts';
    const csv = 'Email,First name,Company\nada@example.com,Ada,Example\nbob@example.com,Bob,\n';
    const written = await playOn('lists import 5 -', { ...known, [path]: done }, csv);
    expect(written).toMatchObject([
      [
        path,
        {
          contacts: [
            { name: 'Ada', email: 'ada@example.com', company: 'Example' },
            { name: 'Bob', email: 'bob@example.com' },
          ],
        },
      ],
    ]);
  });
});
