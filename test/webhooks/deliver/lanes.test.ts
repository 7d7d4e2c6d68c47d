// Lanes: many records at a sink at once, and each of them in order, whatever is refused, hangs or is killed.
import * as fc from 'fast-check';
import { expect, test as plain } from 'vitest';
import { startLanes } from '../../../src/webhooks/deliver/lanes.ts';
import { laneIn } from '../../../src/webhooks/event/record-key.ts';
import { draws } from '../../thorough.ts';
import { end, firstsByLane, inOrder, message, retry, worldOf } from '../lanes-world.ts';
import { forBoth } from '../stores.ts';

forBoth(({ name, test, make }) => {
  test('each record goes in order and alone, and nothing is lost, whatever is refused, hangs or is killed', {
    tags: ['long'],
  }, async () => {
    const answers = fc.array(
      fc.constantFrom('taken' as const, 'taken' as const, 'refused' as const, 'hangs' as const),
      {
        minLength: 1,
        maxLength: 12,
      },
    );
    const killedAfter = fc.array(fc.nat({ max: 15 }), { maxLength: 3 });
    const conversations = fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(answers, killedAfter, conversations, async (plan, kills, lanes) => {
        const inbox = await make();
        const world = worldOf([...plan, 'taken'], inbox.isShared ? 'shared' : 'folder');
        let store = await inbox.open();
        const other = inbox.isShared ? await inbox.open() : undefined;
        for (const [n, conversation] of lanes.entries()) await (other ?? store).add(message(`evt_${n}`, conversation));
        let workers = [store, ...(other ? [other] : [])].map((one) => world.start(one));
        const isDone = () => new Set(world.got.map(({ id }) => id)).size === lanes.length;
        for (const kill of kills) {
          const before = world.got.length;
          await world.until(() => isDone() || world.got.length >= before + kill);
          const [first, ...rest] = workers;
          if (first) await end(world, first);
          await store.close();
          store = await inbox.open();
          workers = [...rest, world.start(store)].reverse();
        }
        await world.until(isDone);
        for (const worker of workers) await end(world, worker);
        expect(world.broken).toEqual([]);
        for (const ids of firstsByLane(world).values()) expect(ids).toSatisfy(inOrder);
        await store.close();
        await other?.close();
      }),
      { numRuns: name === 'Postgres' ? draws(3, 10) : draws(12, 60), seed: 33, endOnFailure: true },
    );
  });

  test('a record whose event is refused takes no place and holds up nothing but itself', async () => {
    const store = await (await make()).open();
    const world = worldOf([]);
    const isStuck = (id: string) => id === 'evt_0' && world.got.length < 12;
    for (let n = 0; n < 14; n++) await store.add(message(`evt_${n}`, n === 13 ? 0 : n));
    const worker = startLanes(
      {
        sink: {
          name: 'app',
          most: 1,
          async send([event]) {
            const [id = '', lane = ''] = [event?.id, event && laneIn(event.body)];
            if (isStuck(id)) return { how: 'refused', error: 'no' };
            world.got.push({ id, lane });
            return { how: 'taken' };
          },
        },
        store,
        retry,
        clock: world.clock,
        onSettled: () => {},
        onProblem: () => {},
      },
      2,
    );
    await world.until(() => world.got.length === 14);
    expect(world.got.map(({ id }) => id).slice(-2)).toEqual(['evt_0', 'evt_13']);
    await end(world, worker);
    await store.close();
  });

  test('as many records as are allowed are at the sink at once, and never more', { tags: ['long'] }, async () => {
    const store = await (await make()).open();
    const world = worldOf([]);
    for (let n = 0; n < 40; n++) await store.add(message(`evt_${n}`, n));
    const worker = world.start(store, 5);
    await world.until(() => world.got.length === 40);
    expect(world.most()).toBe(5);
    expect(new Set(world.got.map(({ id }) => id)).size).toBe(40);
    await end(world, worker);
    await store.close();
  });
});

plain('a message is in the lane of its conversation, and what names no record shares one', () => {
  const body = (event: string, data: object) => Buffer.from(JSON.stringify({ event, data }));
  const one = laneIn(body('conversation.message_received', { conversation_id: 88, message_id: 1 }));
  expect(laneIn(body('conversation.message_received', { conversation_id: 88, message_id: 2 }))).toBe(one);
  expect(laneIn(body('ticket.created', { ticket_id: 88 }))).not.toBe(one);
  expect([laneIn(body('later.event', { id: 1 })), laneIn(Buffer.from('no json'))]).toEqual(['', '']);
});

plain(
  'a million waiting events stay in the inbox: only so many are known as there is room for',
  { tags: ['long'] },
  async () => {
    const world = worldOf([]);
    const asked: number[] = [];
    let next = 0;
    const all = new AbortController();
    const worker = startLanes(
      {
        sink: { name: 'app', most: 1, send: async () => ({ how: 'refused', error: 'down' }) },
        store: {
          isShared: false,
          async take(_, most, except = new Set()) {
            asked.push(except.size);
            const waiting = Array.from({ length: most }, () => ({
              arrival: message(`evt_${next}`, next++),
              tries: 0,
              since: '2026-01-02T03:04:05.000Z',
            }));
            return { waiting, held: all.signal, mayDeliver: () => true };
          },
          settle: async () => {},
          leave: async () => {},
        },
        retry,
        clock: world.clock,
        onSettled: () => {},
        onProblem: () => {},
      },
      16,
    );
    await world.until(() => asked.length >= 20 && world.clock.ticks() > 60_000);
    expect(next).toBe(2_000);
    await end(world, worker);
  },
);

plain('an idle sink asks the inbox four times a second, and at once when something comes', async () => {
  const world = worldOf([]);
  const asked: number[] = [];
  const all = new AbortController();
  const taken = { held: all.signal, mayDeliver: () => true };
  const waiting = [{ arrival: message('evt_1', 1), tries: 0, since: '2026-01-02T03:04:05.000Z' }];
  const worker = startLanes(
    {
      sink: { name: 'app', most: 1, send: async () => ({ how: 'taken' }) },
      store: {
        isShared: false,
        take: async (_, __, except) => {
          asked.push(world.clock.ticks());
          return { ...taken, waiting: asked.length === 41 && !except?.size ? waiting : [] };
        },
        settle: async () => {},
        leave: async () => {},
      },
      retry,
      clock: world.clock,
      onSettled: (_, settled) => world.settled.push(settled),
      onProblem: () => {},
    },
    16,
  );
  await world.until(() => asked.length === 40);
  expect(asked).toEqual(asked.map((_, n) => 250 * n));
  worker.wake();
  await world.until(() => world.settled.length === 1);
  expect(asked[40]).toBeLessThanOrEqual(250 * 39 + 25);
  await end(world, worker);
});

plain('what somebody settled while it waited for its next try is not sent again, and the next one goes', async () => {
  const world = worldOf([]);
  const sent: string[] = [];
  const all = new AbortController();
  const waiting = ['evt_1', 'evt_2'].map((id) => ({
    arrival: message(id, 1),
    tries: 0,
    since: '2026-01-02T03:04:05.000Z',
  }));
  const worker = startLanes(
    {
      sink: {
        name: 'app',
        most: 1,
        send: async ([one]) => {
          sent.push(one?.id ?? '');
          return one?.id === 'evt_1' ? { how: 'refused', error: 'down' } : { how: 'taken' };
        },
      },
      store: {
        isShared: false,
        take: async (_, __, except) => ({
          waiting: waiting.filter(({ arrival }) => !except?.has(arrival.id) && !sent.includes(arrival.id)),
          held: all.signal,
          mayDeliver: () => true,
          waits: (id) => id !== 'evt_1' || sent.length < 2,
        }),
        settle: async () => {},
        leave: async () => {},
      },
      retry,
      clock: world.clock,
      onSettled: (_, settled) => world.settled.push(settled),
      onProblem: () => {},
    },
    16,
  );
  await world.until(() => sent.includes('evt_2'));
  expect(sent).toEqual(['evt_1', 'evt_1', 'evt_2']);
  await end(world, worker);
});
