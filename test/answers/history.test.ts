// Everything about one person: whole, and nothing of anybody else.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { expect, test } from 'vitest';
import type { History } from '../../src/answers/history.ts';
import { historyPage } from '../../src/answers/history-page.ts';
import { historyZip } from '../../src/answers/history-zip.ts';
import { json, ok, onBothEngines } from '../mirror/engines.ts';
import { inCopy, truth } from '../mirror/truth.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { type Rows, writeRows } from './rows.ts';

type Fields = Record<string, unknown>;

const write = (world: SandboxWorld, rows: Rows) =>
  inCopy(world, (store, account) => store.write((sql) => writeRows(sql, account, rows)));

const contactOf = ({ contact }: Fields): unknown => (contact as Fields | null)?.contact_id;

/** The one who comes most often. */
function mostly(ids: readonly unknown[]): number {
  const named = ids.filter(Number).map(Number);
  const count = (id: number) => named.filter((one) => one === id).length;
  return [...new Set(named)].sort((a, b) => count(b) - count(a) || a - b)[0] ?? 0;
}

onBothEngines('contacts history', ({ test, pulled, looked, world: fresh }) => {
  test('has all that the service shows of the person, each in time, and is found by id, email and phone', {
    tags: ['long'],
  }, async () => {
    const world = await looked();
    const all = await truth(world);
    const called = mostly((all.calls ?? []).map((one) => one.contact_id));
    for (const id of [mostly((all.tickets ?? []).map(contactOf)), called]) {
      const history = (await json(world, `contacts history ${id}`)) as History;
      const contact = all.contacts?.find((one) => one.contact_id === id) as Fields;
      expect(history.contact).toEqual(contact);
      const ids = (records: readonly Fields[] = []) => records.map(({ id: own, phone_call_id: call }) => own ?? call);
      const tickets = all.tickets?.filter((one) => contactOf(one) === id) ?? [];
      expect(history.tickets.length + history.calls.length).toBeGreaterThan(0);
      expect(new Set(ids(history.tickets))).toEqual(new Set(ids(tickets)));
      for (const ticket of history.tickets) expect(tickets).toContainEqual(ticket);
      const chats = all.conversations?.filter((one) => contactOf(one) === id) ?? [];
      expect(new Set(ids(history.conversations))).toEqual(new Set(ids(chats)));
      const calls = all.calls?.filter((one) => one.contact_id === id) ?? [];
      expect(new Set(ids(history.calls))).toEqual(new Set(ids(calls)));
      const memberships = all.list_members?.filter((one) => one.contact_id === id) ?? [];
      expect(history.lists.map((one) => one.contacts_list_id)).toEqual(memberships.map((one) => one.contacts_list_id));
      const times = history.tickets.map(({ created_at: at }) => Date.parse(String(at)));
      expect(times).toEqual([...times].sort((a, b) => a - b));
      for (const name of [String(contact.email).toUpperCase(), String(contact.phone)]) {
        expect(await json(world, ['contacts', 'history', name])).toEqual(history);
      }
    }
  });

  test('knows nobody else: whoever is not there is exit 3, one of two is exit 2 with both ids, no copy exit 1', {
    tags: ['long'],
  }, async () => {
    const world = await pulled();
    await write(world, {
      contacts: [
        { contact_id: 80_001, name: 'One', email: 'twin@example.com', phone: '+4930123456' },
        { contact_id: 9_007_199_254_000_001, name: 'Last', email: 'last@example.com' },
        { contact_id: 80_002, name: 'Two', email: 'Twin@Example.com', phone: '+4930123457' },
      ],
      tickets: [{ id: 80_003, contact: { contact_id: 80_004, name: 'Shadow', email: 'shadow@example.com' } }],
    });
    const run = (name: string) => svc(world, ['contacts', 'history', name, '--json']);
    const twins = await run('twin@example.com');
    expect(twins.exitCode).toBe(2);
    for (const said of ['80001 (One)', '80002 (Two)']) expect(twins.stderr).toContain(said);
    for (const nobody of ['nobody@example.com', '9999999', '+4930123458', "' OR 1=1 --", '$1', '0'])
      expect({ nobody, code: (await run(nobody)).exitCode }).toEqual({ nobody, code: 3 });
    const { stderr } = await run('yara kim');
    expect(stderr).toContain("To look for a part of it: svc contacts find 'yara kim'\n");
    expect((await run('nobody@example.com')).stderr).toContain('svc contacts find nobody\n');
    // Of an id nothing is found by a part of it.
    const noId = await run('99999');
    expect(noId).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('svc mirror pull') });
    expect(noId.stderr).not.toContain('contacts find');
    const shadow = JSON.parse((await run('shadow@example.com')).stdout);
    expect(shadow.contact.contact_id).toBe(80_004);
    expect(JSON.parse((await run('0049 30 123456')).stdout).contact.contact_id).toBe(80_001);
    const last = JSON.parse((await run('9007199254000001')).stdout);
    expect(last.contact.contact_id).toBe(9_007_199_254_000_001);
    expect((await svc(fresh(), ['contacts', 'history', '7'])).exitCode).toBe(1);
  });

  test('a canary in every record of everybody else is in none of what it writes', { tags: ['long'] }, async () => {
    const world = await pulled();
    const canary = (place: string) => `CANARY-${place}`;
    const other = { contact_id: 71_000, name: canary('name'), last_name: canary('last'), email: 'c@canary.test' };
    const mine = {
      contact_id: 70_000,
      name: 'Mina',
      last_name: 'Own',
      email: 'mina@example.com',
      phone: '+4930111111',
    };
    const at = '2026-01-05T10:00:00Z';
    await write(world, {
      contacts: [
        { ...mine, created_at: at, metadata: { plan: 'gold' }, tags: ['vip'] },
        { ...other, phone: '+493011111', company: canary('company'), metadata: { key: canary('metadata') } },
      ],
      lists: [
        { contacts_list_id: 701, name: 'Newsletter', notes: canary('notes') },
        { contacts_list_id: 702, name: canary('list') },
      ],
      list_members: [
        { contacts_list_id: 701, contact_id: 70_000, name: 'Mina' },
        { contacts_list_id: 701, contact_id: 71_000, name: canary('member') },
        { contacts_list_id: 702, contact_id: 71_000, name: canary('member') },
      ],
      calls: [
        { phone_call_id: 70_021, contact_id: 70_000, from: '+4930111111', to: '+1', status: 'done', start_time: at },
        { phone_call_id: 71_021, contact_id: 71_000, from: canary('call'), start_time: at },
      ],
      tickets: [
        { id: 70_001, ticket_number: 'M-1', subject: 'Mine', contact: mine, created_at: at, conversation_id: 70_011 },
        { id: 70_002, ticket_number: 'M-0', subject: 'Earlier', contact: mine, created_at: '2026-01-04T10:00:00Z' },
        { id: 70_003, ticket_number: 'M-2', subject: 'Later', contact: mine, created_at: at },
        { id: 71_001, ticket_number: canary('number'), subject: canary('subject'), contact: other, created_at: at },
        { id: 71_002, subject: canary('anonymous'), contact: null, created_at: at, conversation_id: 70_012 },
      ],
      ticket_messages: [
        { ticket_id: 70_001, id: 1, direction: 'in', sender_name: 'Mina', body: 'My <b>words</b>', created_at: at },
        // The service shows a chat's messages in its ticket too, whoever the chat is with.
        {
          ticket_id: 70_001,
          id: 2,
          direction: 'in',
          sender_name: canary('chat'),
          body: canary('chat'),
          created_at: at,
        },
        // Taken out of the thread before the ticket became this person's, and after.
        {
          ticket_id: 70_002,
          id: 3,
          direction: 'in',
          body: canary('gone'),
          created_at: at,
          gone_at: '2026-03-02T00:00:00.000Z',
        },
        {
          ticket_id: 70_003,
          id: 4,
          direction: 'in',
          body: 'Deleted since',
          created_at: at,
          gone_at: '2026-03-04T00:00:00.000Z',
        },
        { ticket_id: 71_001, id: 1, direction: 'in', sender_name: canary('sender'), body: canary('body') },
        { ticket_id: 71_002, id: 1, direction: 'in', body: canary('body') },
      ],
      conversations: [
        { id: 70_011, contact: null, ticket_id: 70_001, subject: 'Chat of mine', created_at: at },
        { id: 70_012, contact: mine, subject: 'Another', created_at: at },
        { id: 71_011, contact: other, ticket_id: 70_001, subject: canary('chat'), created_at: at },
        { id: 71_012, contact: null, subject: canary('visitor'), created_at: at },
      ],
      conversation_messages: [
        { conversation_id: 70_011, id: 1, sender_type: 'visitor', body: 'Hello from chat', created_at: at },
        {
          conversation_id: 70_012,
          id: 2,
          sender_type: 'visitor',
          body: canary('gone'),
          gone_at: '2026-03-02T00:00:00.000Z',
        },
        { conversation_id: 71_011, id: 1, sender_type: 'visitor', body: canary('chat'), created_at: at },
        { conversation_id: 71_012, id: 1, sender_type: 'visitor', body: canary('visitor') },
      ],
    });
    await noteChanges(world, [
      ['contacts', 70_000, { ...mine, name: 'Minna' }, mine],
      ['contacts', 71_000, { ...other, name: canary('before') }, other],
      // It was somebody else's then.
      ['tickets', 70_001, { subject: canary('of another'), contact: other }, { subject: 'Mine', contact: mine }],
      ['tickets', 70_002, { contact: other }, { contact: mine }, '2026-03-02T00:00:00.000Z'],
      ['tickets', 70_003, { subject: 'Late', contact: mine }, { contact: mine }, '2026-03-02T00:00:00.000Z'],
      ['tickets', 70_003, { contact: other }, { contact: mine }, '2026-03-03T00:00:00.000Z'],
      ['conversations', 70_012, { contact: other }, { contact: mine }, '2026-03-02T00:00:00.000Z'],
      ['lists', 701, { name: canary('list before') }, { name: 'Newsletter' }],
    ]);
    // An account of another service, in the same database, may have the same ids.
    await noteChanges(
      world,
      [['contacts', 70_000, { name: canary('elsewhere') }, { name: 'E' }]],
      'https://elsewhere.test',
    );
    const file = join(world.folder, 'person.zip');
    const zip = async () => {
      await ok(world, ['contacts', 'history', '70000', '--zip', file]);
      return readFileSync(file);
    };
    const bytes = await zip();
    const files = unzipSync(bytes);
    expect(Object.keys(files).sort()).toEqual(['person.html', 'person.json']);
    expect(statSync(file).mode & 0o077).toBe(0);
    const [page, text] = ['person.html', 'person.json'].map((name) => strFromU8(files[name] as Uint8Array));
    const terminal = (await ok(world, 'contacts history 70000', { columns: 80, env: { NO_COLOR: '1' } })).stdout;
    for (const said of [
      /^Contact ID {5}70000$/mu,
      /^Created {8}2026-01-05/mu,
      /^metadata\.plan {2}gold$/mu,
      /^Lists {10}Newsletter/mu,
    ])
      expect(terminal).toMatch(said);
    expect(terminal).not.toMatch(/^\w+_(?:id|at) /mu);
    for (const shown of [page, text, terminal]) {
      for (const own of [
        'Mina',
        'Newsletter',
        'M-1',
        'M-0',
        'Hello from chat',
        'Chat of mine',
        'Minna',
        'Deleted since',
      ])
        expect(shown).toContain(own);
      expect(shown).not.toMatch(/canary|71_?000|493011111\b/iu);
    }
    expect(JSON.parse(String(text))).toEqual(await json(world, 'contacts history 70000'));
    expect(page).toContain('My &#60;b&#62;words');
    expect(page).not.toContain('may be missing');
    expect(page).not.toMatch(/<script|src=|href=|url\(|@import/iu);
    // The same copy, the same bytes.
    world.clock.advance(86_400_000);
    expect(await zip()).toEqual(bytes);
  });
});

test('a zip of a copy that is not whole says so to whoever reads it', { tags: ['long'] }, async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  await ok(world, 'mirror pull --only contacts');
  const file = join(world.folder, 'person.zip');
  await ok(world, ['contacts', 'history', '7', '--zip', file]);
  const files = unzipSync(readFileSync(file));
  const [page, text] = ['person.html', 'person.json'].map((name) => strFromU8(files[name] as Uint8Array));
  const { not_whole: partial } = (JSON.parse(String(text)) as History).copy;
  expect(partial).toContain('tickets');
  expect(page).toContain(`Not all was read, so records may be missing here: ${partial.join(', ')}.`);
});

test('whom the copy does not have may be among what was not read: it says so, and duplicates speaks of the copy alone', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  await ok(world, 'mirror pull --only lists');
  const nobody = await svc(world, ['contacts', 'history', 'yara.kim@fieldnote.test']);
  expect(nobody).toMatchObject({ exitCode: 3, stderr: expect.stringMatching(/may be missing: [^\n]*contacts/u) });
  const ran = await svc(world, ['contacts', 'duplicates'], { columns: 100 });
  expect(ran.stdout + ran.stderr).toContain('No two contacts of the copy look like one person.');
});

type Noted = readonly [kind: string, id: number, before: Fields, after: Fields, time?: string];

const noteChanges = (world: SandboxWorld, noted: readonly Noted[], elsewhere?: string) =>
  inCopy(world, (store, { service, id: account }) =>
    store.write(async (sql) => {
      for (const [kind, id, before, after, time = '2026-01-06T10:00:00.000Z'] of noted) {
        await sql.run(
          'INSERT INTO changes (service, account_id, "time", kind, record_id, change, "before", "after") ' +
            "VALUES ($1, $2, $3, $4, $5, 'updated', $6, $7)",
          [elsewhere ?? service, account, time, kind, id, JSON.stringify(before), JSON.stringify(after)],
          1,
        );
      }
    }),
  );

test('what changed is told like everything else: nothing as (empty), a time as the clock here shows it', () => {
  const history = {
    ...{ contact: { contact_id: 7, name: 'Ada' }, lists: [{ name: 'VIP', gone_at: '2026-01-05T08:00:00Z' }] },
    ...{ tickets: [], conversations: [], calls: [] },
    changes: [
      {
        ...{ time: '2026-01-06T10:00:00Z', kind: 'tickets', record_id: 8, change: 'updated' },
        fields: {
          first_response_at: { before: null, after: '2026-01-05T13:33:49.987Z' },
          tags: { before: ['a', 'b'], after: [] },
        },
      },
    ],
    copy: { not_whole: [], refused: [] },
  } as unknown as History;
  const page = historyPage(history, { width: 100, paint: (_, text) => text, now: undefined });
  expect(page).toContain('First response: (empty) → 2026-01-05 13:33\n');
  expect(page).toContain('Tags: a, b → (empty)\n');
  expect(page).toContain('VIP (until 2026-01-05 08:00)');
  expect(page).toContain('0 tickets, 0 conversations, 0 calls, 1 change, in time:\n');
  const nothing = historyPage({ ...history, changes: [] }, { width: 100, paint: (_, text) => text, now: undefined });
  expect(nothing).toMatch(/0 tickets, 0 conversations, 0 calls, 0 changes\.\n$/u);
  const html = strFromU8(unzipSync(historyZip(history))['person.html'] as Uint8Array);
  expect(html).toContain('<dd>(empty) → 2026-01-05 13:33</dd>');
  expect(html).toContain('<dd>a, b → (empty)</dd>');
});
