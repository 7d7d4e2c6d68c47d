// What waits for the team, asked of the copy and held against what the service itself shows.
import { expect } from 'vitest';
import { textOf } from '../../src/answers/ask.ts';
import { type Waiting, waiting, waitingQuery } from '../../src/answers/waiting.ts';
import { json, ok, onBothEngines, sql } from '../mirror/engines.ts';
import { inCopy, truth } from '../mirror/truth.ts';
import { svc } from '../svc.ts';
import { type Rows, writeRows } from './rows.ts';
import { whatWaits } from './waiting-truth.ts';

onBothEngines('what waits', ({ test, pulled }) => {
  test('of the demo is what its own threads say, longest first', async () => {
    const world = await pulled();
    const wanted = whatWaits(await truth(world));
    const rows = await inCopy(world, (store, account) => store.read((one) => waiting(one, account)));
    expect(rows).toEqual(wanted);
    expect(new Set(rows.map(({ kind, why }) => `${kind} ${why}`)).size).toBeGreaterThan(2);
    // The query that is shown gives the same in mirror sql.
    const engine = await inCopy(world, async (store) => store.engine);
    const asked = (await sql(world, textOf(waitingQuery(engine)))) as { kind: string; id: number }[];
    expect(asked.map(({ kind, id }) => ({ kind, id }))).toEqual(rows.map(({ kind, id }) => ({ kind, id })));
  });
});

onBothEngines('svc tickets waiting', ({ test, pulled, world: fresh }) => {
  test('lists them without a request, those of one channel, and those that have waited so long', async () => {
    const world = await pulled();
    const all = (await json(world, 'tickets waiting')) as Waiting[];
    expect(all).toEqual(whatWaits(await truth(world)));
    const asked = world.sent.length;
    const ofChat = all.filter(({ channel }) => channel === 'chat');
    expect(ofChat.length).toBeGreaterThan(0);
    expect(await json(world, 'tickets waiting --channel chat')).toEqual(ofChat);
    const now = world.clock.now().getTime();
    const minutes = Math.floor((now - Date.parse(String(all[10]?.waiting_since))) / 60_000);
    const long = all.filter(({ waiting_since: since }) => Date.parse(since) <= now - minutes * 60_000);
    expect([0, all.length]).not.toContain(long.length);
    expect(await json(world, `tickets waiting --for ${minutes}m`)).toEqual(long);
    const typo = await ok(world, 'tickets waiting --channel emial');
    expect(typo.stderr).toMatch(/Nothing waits with the channel emial\. Channels of what waits: .*chat/u);
    expect((await svc(world, ['tickets', 'waiting', '--channel', ''])).exitCode).toBe(2);
    expect(await json(world, 'tickets waiting --limit 3')).toEqual(all.slice(0, 3));
    const some = await ok(world, 'tickets waiting --limit 3');
    expect(some.stderr).toContain(`Showing 3 of ${all.length}. For more: --limit N, or --all.`);
    expect((await ok(world, ['tickets', 'waiting', '--limit', String(all.length)])).stderr).not.toContain('are shown');
    expect(world.sent.length).toBe(asked);
  });

  test('in a narrow terminal shows of a conversation without a subject what it is and who waits', async () => {
    const world = await pulled();
    const all = (await json(world, 'tickets waiting')) as Waiting[];
    const wanted = all.find(({ kind, subject, contact }) => kind === 'conversation' && !subject && contact?.name);
    if (!wanted) throw new Error('No such conversation waits.');
    for (const columns of [40, 60, 80]) {
      const { stdout } = await svc(world, ['tickets', 'waiting', '--all', '--no-color'], { columns });
      const line = stdout.split('\n').find((one) => one.includes(`chat ${wanted.id} `));
      expect([columns, line]).toEqual([columns, expect.stringContaining(String(wanted.contact?.name))]);
      const [headers] = stdout.split('\n');
      if (columns >= 60) expect(headers).toMatch(/Waiting since.*Subject/u);
      if (columns >= 80) expect(headers).toContain('Kind');
    }
  });

  test('says how old the copy is, and how to make one where there is none', async () => {
    const world = await pulled();
    world.clock.advance(3 * 3_600_000);
    expect((await ok(world, 'tickets waiting')).stderr).toContain('From the local copy, 3 h old.');
    const none = await svc(fresh(), ['tickets', 'waiting']);
    expect(none.exitCode).toBe(1);
    expect(none.stderr).toContain('svc mirror pull');
    expect(none.stdout).toBe('');
  });

  test('reads a chat and its ticket as one thread, and a ticket without messages by its description', async () => {
    const world = await pulled();
    const at = (minute: number) => new Date(Date.parse('2026-02-01T10:00:00Z') + minute * 60_000).toISOString();
    const make = (rows: Rows) => inCopy(world, (store, account) => store.write((one) => writeRows(one, account, rows)));
    const ticket = { status: 'pending', created_at: at(0), source: 'chat', priority: 2, subject: 'S' };
    await make({
      tickets: [
        { id: 90_001, ticket_number: 'X-1', ...ticket, conversation_id: 95_001 },
        { id: 90_002, ticket_number: 'X-2', ...ticket, source: 'email' },
        { id: 90_003, ticket_number: 'X-3', ...ticket, status: 'resolved', conversation_id: 95_003 },
        { id: 90_004, ticket_number: 'X-4', ...ticket, conversation_id: 95_004 },
      ],
      ticket_messages: [
        { ticket_id: 90_001, id: 1, direction: 'in', created_at: at(1) },
        { ticket_id: 90_004, id: 11, direction: 'out', created_at: at(9) },
        { ticket_id: 90_004, id: 12, direction: 'in', created_at: at(9) },
      ],
      conversations: [
        { id: 95_001, status: 'open', created_at: at(0), channel: 'web', ticket_id: 90_001 },
        { id: 95_003, status: 'open', created_at: at(0), channel: 'web', ticket_id: 90_003 },
        { id: 95_004, status: 'open', created_at: at(0), channel: 'web', ticket_id: 90_004 },
      ],
      conversation_messages: [
        { conversation_id: 95_001, id: 1, sender_type: 'visitor', created_at: at(1) },
        { conversation_id: 95_001, id: 2, sender_type: 'operator', created_at: at(2) },
        { conversation_id: 95_001, id: 4, sender_type: 'visitor', created_at: at(7) },
        // In the moment of the answer, and after it by its id.
        { conversation_id: 95_001, id: 3, sender_type: 'visitor', created_at: at(2) },
        // The same two stand in the ticket too, as one thread.
        { conversation_id: 95_004, id: 11, sender_type: 'ai', created_at: at(9) },
        { conversation_id: 95_004, id: 12, sender_type: 'visitor', created_at: at(9) },
        { conversation_id: 95_003, id: 1, sender_type: 'ai', created_at: at(4) },
        { conversation_id: 95_003, id: 2, sender_type: 'visitor', created_at: at(5) },
      ],
    });
    const rows = ((await json(world, 'tickets waiting')) as Waiting[]).filter(({ id }) => id >= 90_000);
    expect(rows.map(({ kind, id, waiting_since: since, why }) => ({ kind, id, since, why }))).toEqual([
      { kind: 'ticket', id: 90_002, since: at(0), why: 'no answer yet' },
      { kind: 'ticket', id: 90_001, since: at(2), why: 'wrote again' },
      { kind: 'conversation', id: 95_003, since: at(5), why: 'wrote again' },
      { kind: 'ticket', id: 90_004, since: at(9), why: 'wrote again' },
    ]);
  });
});
