import { expect, test } from 'vitest';
import { createContacts } from '../../src/api/contacts.ts';
import { addTicketNote, createTicket, replyToTicket } from '../../src/api/tickets.ts';
import type { HttpResponse, Lost } from '../../src/context.ts';
import { call, connect, type Service } from '../../src/http/call/call.ts';
import { screen, settings } from '../cli/fake-context.ts';
import { origin, sandboxWorld } from '../sandbox-world.ts';

/** What becomes of a write: the service acts on it or not, and its answer arrives or not. */
type RowStatus = { readonly acts: boolean; readonly answers: boolean };

const lost: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };

/** One run of svc that has several writes under way, as an import and an assistant do. Each has read what is there. */
async function oneRun(rowStatuses: readonly RowStatus[]) {
  const world = sandboxWorld({ rateLimit: 'off' });
  const { ctx } = screen({ env: { SVC_API_KEY: 'key_acme' } });
  const left = [...rowStatuses];
  let waiting = rowStatuses.length;
  let letGo: () => void = () => {};
  const allAreHere = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const exchange = async (request: Parameters<typeof world.exchange>[0]): Promise<HttpResponse | Lost> => {
    if (request.method !== 'POST') return world.exchange(request);
    if (--waiting === 0) letGo();
    await allAreHere;
    const { acts, answers } = left.shift() ?? { acts: true, answers: true };
    const answer = acts ? await world.exchange(request) : lost;
    return answers ? answer : lost;
  };
  const { clock } = world;
  const files = { config: world.folder, state: world.folder };
  const service = await connect({ ...ctx, exchange, clock, files }, { ...settings, baseUrl: origin, settleMs: 2000 });
  return service;
}

const ticket = { body: { subject: 'Twice', description: 'The same' } };
const rows = ['a@example.com', 'b@example.com'].map((email) => ({
  name: 'Ada',
  last_name: 'Byron',
  email,
  phone: '+12025550123',
}));

/** How each of the writes ended: the ids that it made, or the kind of its failure. */
async function idsOf(writes: readonly Promise<unknown>[]): Promise<(number[] | string)[]> {
  const ended = await Promise.allSettled(writes);
  return ended.map((one) => {
    if (one.status === 'rejected') return String(one.reason.kind ?? one.reason);
    return [...JSON.stringify(one.value).matchAll(/"(?:contact_)?id":(\d+)/gu)].map(([, id]) => Number(id));
  });
}

const tickets = (service: Service, count: number) =>
  idsOf(Array.from({ length: count }, () => call(service, createTicket, ticket)));
const batches = (service: Service, count: number) =>
  idsOf(Array.from({ length: count }, () => call(service, createContacts, { body: { contacts: rows } })));

const answered: RowStatus = { acts: true, answers: true };
const unanswered: RowStatus = { acts: true, answers: false };
const swallowed: RowStatus = { acts: false, answers: false };

const writes = { 'two equal tickets': tickets, 'two equal batches of contacts': batches };

for (const [what, send] of Object.entries(writes)) {
  test(`${what}: what the first made and was told of is not taken for the second, which never arrived`, async () => {
    const ended = await send(await oneRun([answered, swallowed]), 2);
    expect(ended.filter((one) => one === 'unknown')).toHaveLength(1);
  });

  test(`${what}: what was found for one is not found again for the other, which never arrived`, async () => {
    const ended = await send(await oneRun([unanswered, swallowed]), 2);
    expect(ended.filter((one) => one === 'unknown')).toHaveLength(1);
  });

  test(`${what}, of which both arrived and neither was answered, are found as two`, async () => {
    const ended = (await send(await oneRun([unanswered, unanswered]), 2)).flat();
    expect(ended.every((id) => typeof id === 'number')).toBe(true);
    expect(new Set(ended).size).toBe(what.includes('batch') ? 4 : 2);
  });
}

test('what is known of each of many tickets takes no table of its own', async () => {
  const service = await oneRun([answered]);
  for (const id of [8, 9, 10]) {
    await call(service, addTicketNote, { params: { id }, body: { body: 'Called' } });
    await call(service, replyToTicket, { params: { id }, body: { body: 'Hello' } });
  }
  const { made, given, open } = service.learnt;
  const names = [...made.keys(), ...given.keys(), ...open.keys()];
  expect(names.filter((name) => /\d/u.test(name))).toEqual([]);
});
