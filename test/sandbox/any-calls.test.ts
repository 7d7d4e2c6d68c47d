// @module-tag long
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Rows } from '../../src/sandbox/store/records.ts';
import { openStateFile } from '../../src/sandbox/store/state-file.ts';
import { fc } from '../chance.ts';
import { draws } from '../thorough.ts';
import { sandboxFor } from './calls.ts';

type Step = { readonly method: string; readonly path: string; readonly body?: unknown };

const id = fc.integer({ min: 1, max: 6 });
const ids = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 });
const word = fc.constantFrom('alpha', 'beta', 'gamma');
const email = word.map((name) => `${name}@example.com`);
const phone = fc.integer({ min: 0, max: 5 }).map((n) => `+1415555010${n}`);
const status = fc.constantFrom('open', 'pending', 'resolved', 'closed');
const metadata = fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 });

const post = (path: fc.Arbitrary<string> | string, body: fc.Arbitrary<unknown>): fc.Arbitrary<Step> =>
  fc.record({ method: fc.constant('POST'), path: typeof path === 'string' ? fc.constant(path) : path, body });
const patch = (path: fc.Arbitrary<string>, body: fc.Arbitrary<unknown>): fc.Arbitrary<Step> =>
  fc.record({ method: fc.constant('PATCH'), path, body });
const at = (before: string, after = ''): fc.Arbitrary<string> => id.map((n) => `${before}${n}${after}`);

/** Calls that the document allows; some name records that are not there (yet). */
const step: fc.Arbitrary<Step> = fc.oneof(
  post('/contacts/create', fc.record({ name: word, last_name: word, email, phone, metadata })),
  patch(at('/contacts/'), fc.record({ name: word, email, phone, metadata }, { requiredKeys: [] })),
  post(
    '/platform/contacts/sync',
    fc.record({
      contacts: fc.array(fc.record({ email, name: word, phone, tags: fc.array(word) }, { requiredKeys: ['email'] }), {
        minLength: 1,
        maxLength: 4,
      }),
    }),
  ),
  post('/contactslists/create', fc.record({ name: word, target_industry: word, notes: word })),
  post(at('/contactslists/', '/delete'), fc.constant(undefined)),
  post(at('/contactslists/', '/sync_contacts'), fc.record({ name: word, contacts_ids: ids })),
  post(at('/contactslists/', '/remove_contacts'), fc.record({ contacts_ids: ids })),
  post(
    at('/contactslists/', '/create_sync_contacts'),
    fc.record({ contacts: fc.array(fc.record({ name: word, email, phone }), { maxLength: 3 }) }),
  ),
  post('/tickets', fc.record({ subject: word, contact_id: id }, { requiredKeys: ['subject'] })),
  patch(
    at('/tickets/'),
    fc.record({ status, subject: word, priority: fc.integer({ min: 0, max: 4 }) }, { requiredKeys: [] }),
  ),
  post(at('/tickets/', '/notes'), fc.record({ body: word })),
  post(at('/tickets/', '/replies'), fc.record({ body: word })),
  post(at('/conversations/', '/messages'), fc.record({ body: word })),
  post(at('/conversations/', '/resolve'), fc.constant(undefined)),
  post(
    '/changelog',
    fc.record(
      {
        title: word,
        content: word,
        status: fc.constantFrom('draft', 'published'),
        published_at: fc.constant('2026-05-02'),
      },
      { requiredKeys: ['title', 'content'] },
    ),
  ),
  patch(at('/changelog/'), fc.record({ title: word, status: fc.constant('published') })),
  post(
    '/integrations/partner/events',
    fc.record({
      trigger: fc.constantFrom('order_create', 'other'),
      contact: fc.record({ name: word, email }),
      metadata,
    }),
  ),
  post('/_sandbox/clock', fc.record({ advance_seconds: fc.integer({ min: 1, max: 50_000 }) })),
  post(
    '/_sandbox/act',
    fc.record({ kind: fc.constant('customer_message'), account_id: fc.constant(1), conversation_id: id, body: word }),
  ),
);

const seed: Partial<Rows> = {
  conversations: [1, 2].map((n) => ({
    id: n,
    account_id: 1,
    status: 'open',
    handling_mode: 'ai',
    channel: 'web',
    subject: null,
    priority: 'normal',
    contact_id: null,
    ticket_id: n === 1 ? 1 : null,
    last_message_at: '2026-05-01T08:00:00.000Z',
    resolved_at: null,
    csat_rating: null,
    created_at: '2026-05-01T08:00:00.000Z',
    updated_at: '2026-05-01T08:00:00.000Z',
    messages: [],
    notes: [],
  })),
  sequences: [{ id: 1, account_id: 1, name: 'Thanks', trigger: 'order_create', is_active: true }],
};

/** The rules of the document that hold in every state. */
function judge(state: Rows, now: number): void {
  for (const ticket of state.tickets) {
    const isDone = ticket.status === 'resolved' || ticket.status === 'closed';
    expect([ticket.id, ticket.resolved_at !== null]).toEqual([ticket.id, isDone]);
    const reopened = ticket.history.filter(({ event }) => event === 'reopened').length;
    expect(ticket.reopens).toBe(reopened);
    expect(ticket.first_response_at !== null).toBe(ticket.history.some(({ event }) => event === 'replied'));
  }
  for (const chat of state.conversations) {
    if (chat.messages.some((message) => message.sender_type === 'operator')) expect(chat.handling_mode).toBe('human');
    expect(chat.resolved_at !== null).toBe(chat.status === 'resolved');
    const last = chat.messages.at(-1);
    if (last) expect(chat.last_message_at).toBe(last.created_at);
    expect(chat.messages.map((message) => message.id)).toEqual(
      chat.messages.map((message) => message.id).toSorted((a, b) => a - b),
    );
  }
  for (const entry of state.changelog) expect(entry.published_at === null).toBe(entry.status === 'draft');
  expect(new Set(state.changelog.map(({ slug }) => slug)).size).toBe(state.changelog.length);
  const contacts = new Map(state.contacts.map((contact) => [contact.contact_id, contact]));
  for (const { contact_id, contacts_list_id } of state.list_members) {
    expect(contacts.get(contact_id)?.shadow).toBe(false);
    expect(state.lists.some((list) => list.contacts_list_id === contacts_list_id)).toBe(true);
  }
  for (const { tags, created_at, updated_at } of contacts.values()) {
    expect(new Set(tags).size).toBe(tags.length);
    expect(Date.parse(created_at)).toBeLessThanOrEqual(Date.parse(updated_at));
    expect(Date.parse(updated_at)).toBeLessThanOrEqual(now);
  }
  expect(state.enrolments.length).toBe(state.events.filter(({ trigger }) => trigger === 'order_create').length);
}

test('any calls that the document allows keep its rules, and a state file that was cut off holds them all', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 120, size: 'max' }), async (steps) => {
      const folder = await mkdtemp(join(tmpdir(), 'svc-any-'));
      try {
        const path = join(folder, 'state');
        const stateFile = await openStateFile(path);
        const options = { seed, now: () => new Date('2026-05-01T09:00:00Z'), stateFile };
        const { call, control, get, sandbox } = sandboxFor(options);
        const given = new Map<string, Set<number>>();
        for (const { method, path: url, body } of steps) {
          const answer = await call(method, url, body);
          expect([url, answer.status, answer.body?.errors], JSON.stringify(body)).toEqual([
            url,
            expect.toSatisfy((code: number) => code < 500),
            answer.body?.errors,
          ]);
          const created = method === 'POST' && answer.status < 300 ? createdBy(url, answer.body) : undefined;
          if (created) {
            const seen = given.get(url) ?? new Set();
            expect(seen.has(created), `${url} gave ${created} twice`).toBe(false);
            given.set(url, seen.add(created));
          }
        }
        const state = (await control('GET', 'state')).body;
        judge(state, sandbox.now().getTime());
        const shown = state.contacts.filter((each: Rows['contacts'][number]) => !each.shadow).length;
        expect((await get('/contacts?per_page=100')).body.meta.total).toBe(shown);

        // Nothing is closed: the file is read as a killed process left it.
        const { copyFile } = await import('node:fs/promises');
        await copyFile(path, join(folder, 'copy'));
        const copy = await openStateFile(join(folder, 'copy'));
        const again = sandboxFor({ ...options, stateFile: copy });
        expect((await again.control('GET', 'state')).body).toEqual(state);
        expect(again.sandbox.now()).toEqual(sandbox.now());
        await copy.close();
        await stateFile.close();
      } finally {
        await rm(folder, { recursive: true });
      }
    }),
    { numRuns: draws(15, 40) },
  );
});

// biome-ignore lint/suspicious/noExplicitAny: answers of several endpoints
function createdBy(url: string, body: any): number | undefined {
  if (url === '/contacts/create') return body.contacts.contact_id;
  if (url === '/contactslists/create') return body.contact_list_id;
  if (url === '/tickets') return body.ticket.id;
  return url === '/changelog' ? body.entry.id : undefined;
}
