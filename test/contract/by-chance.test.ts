// @module-tag long
import { expect, test } from 'vitest';
import { fc } from '../chance.ts';
import { draws } from '../thorough.ts';
import { bodies, type Endpoint, endpoints } from './document.ts';
import { type Played, start } from './sandbox.ts';

// Whatever is sent, in whatever order: the state rules hold, and a refusal has one of the document's three shapes.

const path = ({ path }: Endpoint, id: string) => path.replaceAll(/\{\w+\}/gu, id);

const isRefusal = (status: number, body: Record<string, unknown>): boolean =>
  status === 422
    ? typeof body.message === 'string' &&
      Object.values(body.errors as object).every(
        (all) => Array.isArray(all) && all.every((one) => typeof one === 'string'),
      )
    : typeof body.error === 'string' &&
      (body.error !== 'insufficient_scope' || typeof body.error_description === 'string');

/** JSON that is near to what is expected: the document's own body with some of it replaced. */
const nearly = (body: unknown) =>
  fc.oneof(
    fc.jsonValue(),
    fc
      .dictionary(
        fc.constantFrom(...Object.keys((body ?? { a: 1 }) as object), 'metadata', 'tags', 'status'),
        fc.jsonValue(),
        {
          maxKeys: 3,
        },
      )
      .map((changes) => ({ ...(body as object), ...changes })),
  );

test('no body and no query makes a server failure', async () => {
  const world = start('demo');
  const ids = fc.oneof(fc.constantFrom('1', '2', '0', '-1', 'abc'), fc.integer().map(String), fc.webSegment());
  const request = fc
    .constantFrom(...endpoints)
    .chain((endpoint) => fc.tuple(fc.constant(endpoint), ids, nearly(bodies[endpoint.id]), fc.webQueryParameters()));
  const token = await world.subject.token(['webhooks:manage']);
  await fc.assert(
    fc.asyncProperty(request, async ([endpoint, id, body, query]) => {
      const as = endpoint.scope === 'm2m' ? 'm2m_sandbox' : endpoint.scope === 'webhooks:manage' ? token : 'key_acme';
      const to = `${endpoint.method} ${path(endpoint, id)}?${query}`;
      const answer = await world.subject.send(as, to, endpoint.method === 'GET' ? undefined : body);
      expect([200, 201, 401, 403, 404, 405, 422], `${to} ${JSON.stringify(body)}`).toContain(answer.status);
      if (answer.status > 201) expect(isRefusal(answer.status, answer.body), JSON.stringify(answer.body)).toBe(true);
    }),
    { numRuns: draws(100, 300) },
  );
});

type Step = (world: Played, pick: (ids: readonly number[]) => number) => Promise<unknown>;

const idsOf = async (world: Played, list: string, key: string, id = 'id'): Promise<number[]> =>
  (await world.get(`${list}?per_page=100`))[key].map((row: Record<string, number>) => row[id]);

const some = <T>(...values: T[]) => fc.constantFrom(...values);

/** Valid calls on whatever records there are. A 422 is allowed where sending fails for want of an email. */
const steps: fc.Arbitrary<Step> = fc.oneof(
  some<object>({ subject: 'x' }, { subject: 'y', priority: 4, due_at: '2026-12-01T10:00:00Z' }).map(
    (body): Step =>
      async (world) =>
        world.post('/tickets', body),
  ),
  fc.integer({ min: 1, max: 5 }).map(
    (n): Step =>
      async (world) =>
        world.post('/platform/contacts/sync', { contacts: [{ email: `p${n}@example.com`, tags: [`t${n % 3}`] }] }),
  ),
  fc.integer({ min: 1, max: 9 }).map(
    (n): Step =>
      async (world) =>
        world.post('/contacts/create', {
          name: `N${n}`,
          last_name: 'L',
          email: `p${n}@example.com`,
          phone: `+1202555010${n}`,
        }),
  ),
  some('open', 'pending', 'resolved', 'closed').map(
    (status): Step =>
      async (world, pick) => {
        const ids = await idsOf(world, '/tickets', 'tickets');
        if (ids.length > 0) await world.patch(`/tickets/${pick(ids)}`, { status });
      },
  ),
  fc.constant<Step>(async (world, pick) => {
    const [ids, contacts] = [
      await idsOf(world, '/tickets', 'tickets'),
      await idsOf(world, '/contacts', 'contacts', 'contact_id'),
    ];
    if (contacts.length > 0) await world.post('/tickets', { subject: 'z', contact_id: pick(contacts) });
    if (ids.length > 0) await world.subject.send('key_acme', `POST /tickets/${pick(ids)}/replies`, { body: 'Hello' });
  }),
  fc.constant<Step>(async (world, pick) => {
    const ids = await idsOf(world, '/tickets', 'tickets');
    if (ids.length > 0) await world.post(`/tickets/${pick(ids)}/notes`, { body: 'note' });
  }),
  fc.tuple(some('Dark mode', 'Light mode'), some('draft', 'published'), some(undefined, '2026-11-20T10:00:00Z')).map(
    ([title, status, published_at]): Step =>
      async (world) =>
        world.post('/changelog', { title, content: 'x', status, published_at }),
  ),
  some<object>({ status: 'published' }, { title: 'Dark mode' }, { version: null }, { labels: ['a'] }).map(
    (change): Step =>
      async (world, pick) => {
        const ids = await idsOf(world, '/changelog', 'entries');
        if (ids.length > 0) await world.patch(`/changelog/${pick(ids)}`, change);
      },
  ),
  fc.constant<Step>(async (world, pick) => {
    const contacts = await idsOf(world, '/contacts', 'contacts', 'contact_id');
    const { contact_list_id } = await world.post('/contactslists/create', {
      name: 'L',
      target_industry: 'R',
      notes: 'N',
    });
    const chosen = contacts.length > 0 ? [pick(contacts), pick(contacts)] : [];
    await world.post(`/contactslists/${contact_list_id}/sync_contacts`, { name: 'L', contacts_ids: chosen });
  }),
  fc.constant<Step>(async (world, pick) => {
    const ids: number[] = (await world.get('/contactslists/list')).data.map(
      (l: { contacts_list_id: number }) => l.contacts_list_id,
    );
    if (ids.length > 1) await world.post(`/contactslists/${pick(ids)}/delete`);
  }),
  fc.integer({ min: 1, max: 4000 }).map(
    (seconds): Step =>
      async (world) =>
        world.later(seconds),
  ),
);

test('any sequence of valid calls keeps the state rules', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 25 }), fc.infiniteStream(fc.nat()), async (sequence, numbers) => {
      const world = start('empty');
      const hook = { event_type: 'changelog.published', target_url: 'https://127.0.0.1:1/' };
      await world.subject.send('oauth webhooks:manage', 'POST /oauth-platform/webhooks', hook);
      const pick = (ids: readonly number[]) => ids[(numbers.next().value as number) % ids.length] as number;
      const firstResponses = new Map<number, string>();
      for (const step of sequence) {
        await step(world, pick);
        await holds(world, firstResponses);
      }
    }),
    { numRuns: draws(10, 25) },
  );
});

const isSortedDown = (values: readonly number[]) =>
  values.every((value, at) => at === 0 || value < (values[at - 1] as number));

async function holds(world: Played, firstResponses: Map<number, string>): Promise<void> {
  const [{ tickets, meta }, { contacts }, { entries }, { data: lists }, state] = await Promise.all([
    world.get('/tickets?per_page=100'),
    world.get('/contacts?per_page=100'),
    world.get('/changelog?per_page=100'),
    world.get('/contactslists/list'),
    world.state(),
  ]);
  expect([tickets.length, isSortedDown(tickets.map((t: { id: number }) => t.id))]).toEqual([meta.total, true]);
  expect(isSortedDown(contacts.map((c: { contact_id: number }) => c.contact_id))).toBe(true);
  for (const ticket of tickets) {
    if (['resolved', 'closed'].includes(ticket.status)) expect(ticket.resolved_at).not.toBeNull();
    expect(ticket.updated_at >= ticket.created_at).toBe(true);
    // Recorded once, and never again.
    const first = firstResponses.get(ticket.id);
    if (first) expect(ticket.first_response_at).toBe(first);
    if (ticket.first_response_at) firstResponses.set(ticket.id, ticket.first_response_at);
  }
  const now = Date.parse((await world.subject.send('key_acme', 'GET /contactslists/list')).headers.date as string);
  for (const entry of entries) {
    const isDue = entry.published_at !== null && Date.parse(entry.published_at) <= now;
    expect(entry.is_live).toBe(entry.status === 'published' && isDue);
    expect(entry.status === 'draft').toBe(entry.published_at === null);
  }
  const slugs = entries.map((e: { slug: string }) => e.slug);
  expect(new Set(slugs).size).toBe(slugs.length);
  // changelog.published fires once for each entry that is, or ever was, published.
  const published = entries.filter((e: { status: string }) => e.status === 'published').length;
  expect(state.deliveries.length).toBe(published);
  const known = new Set(contacts.map((c: { contact_id: number }) => c.contact_id));
  for (const { contacts_list_id } of lists) {
    const { data } = await world.get(`/contactslists/${contacts_list_id}/get_contacts`);
    const members = data.map((c: { contact_id: number }) => c.contact_id);
    expect([new Set(members).size, members.every((id: number) => known.has(id))]).toEqual([members.length, true]);
  }
}
