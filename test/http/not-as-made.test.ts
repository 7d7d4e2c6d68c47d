// Answers to creations that show what was not sent and what the service does not make either, or an id that is older.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HttpResponse } from '../../src/context.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Json = Record<string, object>;
type Case = { readonly argv: readonly string[]; readonly path: string; readonly bend: (answer: Json) => object };

const dana = ['--name', 'Dana', '--last-name', 'Day', '--email', 'dana@example.com', '--phone', '+12025550123'];
const ticket = { argv: ['tickets', 'create', '--subject', 'Mine'], path: '/tickets' };
const reply = { argv: ['tickets', 'reply', '8', '--body', 'Hello', '--yes'], path: '/tickets/8/replies' };
const chat = { argv: ['conversations', 'reply', '1', '--body', 'Hello', '--yes'], path: '/conversations/1/messages' };
const inTicket = (more: object) => (answer: Json) => ({ ticket: { ...answer.ticket, ...more } });
const inMessage = (more: object) => (answer: Json) => ({ ...answer, message: { ...answer.message, ...more } });

const cases: Readonly<Record<string, Case>> = {
  'a ticket that is closed': { ...ticket, bend: inTicket({ status: 'closed' }) },
  'a ticket of another source': { ...ticket, bend: inTicket({ source: 'email' }) },
  'an entry that is published': {
    argv: ['changelog', 'create', '--title', 'Mine', '--content', 'C'],
    path: '/changelog',
    bend: (answer) => ({ entry: { ...answer.entry, status: 'published', is_live: true } }),
  },
  'a contact that was there long before': {
    argv: ['contacts', 'create', ...dana],
    path: '/contacts/create',
    bend: () => ({ contacts: { contact_id: 20, name: 'Dana' } }),
  },
  'a message of the customer’s': { ...reply, bend: inMessage({ direction: 'in' }) },
  'a message that stood there before': { ...reply, bend: inMessage({ id: 78 }) },
  'a message of the visitor’s': { ...chat, bend: inMessage({ sender_type: 'visitor' }) },
};

/** `isStored`: whether the service did what it was asked; the answer is bent either way. */
function answering({ path, bend }: Case, isStored: boolean) {
  const world = sandboxWorld({ rateLimit: 'off' });
  const other = sandboxWorld({ rateLimit: 'off' });
  let writes = 0;
  let looks = 0;
  const exchange: typeof world.exchange = async (request) => {
    if (writes > 0 && request.method === 'GET') looks++;
    if (request.method !== 'POST' || new URL(request.url).pathname !== path) return world.exchange(request);
    writes++;
    const answer = (await (isStored ? world : other).exchange(request)) as HttpResponse;
    expect(answer.status).toBeLessThan(300);
    return { ...answer, body: JSON.stringify(bend(JSON.parse(answer.body))) };
  };
  return { world: { ...world, exchange }, writes: () => writes, looks: () => looks };
}

for (const [what, one] of Object.entries(cases)) {
  test(`${what}, and nothing was made: exit 9, sent once`, async () => {
    const { world, writes } = answering(one, false);
    expect(await svc(world, [...one.argv, '--json'])).toMatchObject({ exitCode: 9, stdout: '' });
    expect(writes()).toBe(1);
  });

  test(`${what}, and ours was made: it is found, and shown as it is`, async () => {
    const { world, writes } = answering(one, true);
    const ran = await svc(world, [...one.argv, '--json']);
    expect(ran.exitCode).toBe(0);
    const shown = JSON.parse(ran.stdout);
    expect(shown).not.toMatchObject({ status: 'closed' });
    expect(shown.contact_id ?? shown.id).not.toBe(20);
    expect(writes()).toBe(1);
  });
}

test('rows of a file are judged in the same way', async () => {
  const { world } = answering(cases['a contact that was there long before'] as Case, false);
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, 'name,last_name,email,phone\nDana,Day,dana@example.com,+12025550123\n');
  expect(await svc(world, ['contacts', 'create', '--from', file, '--yes'])).toMatchObject({ exitCode: 9 });
});

test('what was sent is no stranger’s: another priority, contact and state', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const create = ['tickets', 'create', '--subject', 'Mine', '--priority', '3', '--contact', '5', '--json'];
  expect(await svc(world, create)).toMatchObject({ exitCode: 0 });
  const publish = [
    'changelog',
    'create',
    '--title',
    'Mine',
    '--content',
    'C',
    '--status',
    'published',
    '--yes',
    '--json',
  ];
  expect(await svc(world, publish)).toMatchObject({ exitCode: 0 });
});

const due = ['--due-at', '2027-01-02T03:04:05Z'];

test.each<Case>([
  {
    argv: [...ticket.argv, ...due],
    path: ticket.path,
    bend: inTicket({ due_at: '2027-01-02T03:04:00Z', description: '' }),
  },
  { ...reply, bend: inMessage({ body: '<p>Hello</p>' }) },
  { ...chat, bend: inMessage({ body: '<div>Hello</div>\n' }) },
  {
    ...reply,
    argv: ['tickets', 'reply', '8', '--body', 'See www.a.example', '--yes'],
    bend: inMessage({ body: '<p>See <a href="http://www.a.example">www.a.example</a></p>' }),
  },
])('a time without its seconds, and a text in markup, are what was sent: $argv', async (one) => {
  const { world, writes, looks } = answering(one, true);
  expect(await svc(world, one.argv)).toMatchObject({ exitCode: 0 });
  expect([writes(), looks()]).toEqual([1, 0]);
});

test('what an answer shows otherwise is named, of a long text the beginning', async () => {
  const at = answering({ ...ticket, bend: inTicket({ due_at: '2027-01-03T00:00:00Z' }) } as Case, false);
  const ran = await svc(at.world, [...ticket.argv, ...due]);
  expect(ran).toMatchObject({
    exitCode: 9,
    stderr: expect.stringContaining('HTTP 201, but the answer shows due_at "2027-01-03T00:00:00Z")'),
  });
  const other = answering({ ...reply, bend: inMessage({ body: 'another text '.repeat(50) }) } as Case, false);
  expect((await svc(other.world, reply.argv)).stderr).toMatch(/the answer shows body "another text [^"]{1,30}…\)/u);
});
