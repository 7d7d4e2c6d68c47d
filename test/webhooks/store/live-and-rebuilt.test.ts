// @module-tag long
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Arrival } from '../../../src/webhooks/store/line.ts';
import { openHooks, openPostgres } from '../../../src/webhooks/store/postgres/postgres-store.ts';
import { keyOf } from '../../../src/webhooks/store/postgres/rows.ts';
import { endAfterEach } from '../../endings.ts';
import { withPostgres } from '../own-postgres.ts';
import { arrival, idsOf, newDatabase, withServer } from '../stores.ts';

// One event, live at one instance and rebuilt by another: each in a transaction that began before the other's had ended.

withServer();
const endings = endAfterEach();

const about = (id: string, ticket_id: number): Arrival =>
  arrival(id, ['app'], { body: Buffer.from(JSON.stringify({ id, event: 'ticket.created', data: { ticket_id } })) });

async function setting() {
  const url = newDatabase();
  const stores = await Promise.all(
    [1, 2].map((n) =>
      openPostgres({ url, env: {}, limit: 1000, holder: `instance ${n}`, clock: { ticks: () => performance.now() } }),
    ),
  );
  const [one, other] = stores;
  if (!one || !other) throw new Error('There are two.');
  const [watcher, blocker] = [await openHooks({ url, env: {} }), await openHooks({ url, env: {} })];
  for (const each of [...stores, watcher, blocker]) endings.push(() => each.close());
  await one.add(about('evt_before', 1));
  /** Until so many statements wait for a lock. */
  const waiting = async (count: number) => {
    for (let found = -1; found !== count; await sleep(5)) {
      const rows = await watcher.query({
        text: "SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
      });
      found = Number(rows[0]?.n);
    }
  };
  return { one, other, blocker, waiting };
}

withPostgres.each([
  ['while it is being stored live', 'evt_7', 'rebuilt:ticket.created:7'],
  ['while it is being rebuilt', 'rebuilt:ticket.created:7', 'evt_7'],
])('an event that comes the other way %s is stored once', async (_, first, second) => {
  const { one, other, blocker, waiting } = await setting();
  // Holds up the first one in the middle of its statement.
  const held = first.startsWith('rebuilt') ? 'rebuilt:ticket.created:8' : 'evt_8';
  await blocker.query({ text: 'BEGIN' });
  await blocker.query({
    text: "INSERT INTO svc_webhooks.inbox (key, about, body, is_rebuilt) VALUES ($1, '', '', false)",
    values: [keyOf(held)],
  });
  const stored = [one.add(about(first, 7)), one.add(about(held, 8))];
  await waiting(1);
  let isOver = false;
  const late = other.add(about(second, 7)).finally(() => {
    isOver = true;
  });
  await Promise.race([waiting(2), late]);
  expect(isOver).toBe(false);
  await blocker.query({ text: 'ROLLBACK' });
  const [before, between, after] = await Promise.all([...stored, late]);
  expect([between, [before, after].sort()]).toEqual(['stored', ['repeat', 'stored']]);
  const taken = before === 'stored' ? first : second;
  expect((await idsOf(one))?.sort()).toEqual(['evt_before', held, taken].sort());
});

withPostgres('whatever comes live and rebuilt at once, each event is stored once', async () => {
  const { one, other } = await setting();
  for (let round = 0; round < 20; round++) {
    const numbers = Array.from({ length: 50 }, (_, n) => 100 * round + n + 10);
    const added = await Promise.all(
      numbers.map((n) =>
        Promise.all([one.add(about(`evt_${n}`, n)), other.add(about(`rebuilt:ticket.created:${n}`, n))]),
      ),
    );
    for (const pair of added) expect([...pair].sort()).toEqual(['repeat', 'stored']);
  }
});
