// @module-tag long
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { openPostgres } from '../../../src/webhooks/store/postgres/postgres-store.ts';
import { endAfterEach } from '../../endings.ts';
import { withPostgres } from '../own-postgres.ts';
import { arrival, idsOf, newDatabase, outcome, serverOf, withServer } from '../stores.ts';

withServer();
const endings = endAfterEach();

async function instances(count: number) {
  const url = newDatabase();
  const stores = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      openPostgres({ url, env: {}, limit: 1000, holder: `instance ${n}`, clock: { ticks: () => performance.now() } }),
    ),
  );
  for (const store of stores) endings.push(() => store.close());
  return { stores, database: /\/\/\/(\w+)/u.exec(url)?.[1] ?? '' };
}

withPostgres('an id is accepted once over all instances, whatever comes at once and in whatever order', async () => {
  const { stores } = await instances(3);
  const orders = [(ids: string[]) => ids, (ids: string[]) => ids.toReversed(), (ids: string[]) => ids.toSorted()];
  for (let round = 0; round < 10; round++) {
    const ids = Array.from({ length: 200 }, (_, n) => `evt_${round}_${n}`);
    const added = await Promise.all(
      stores.flatMap((store, k) => (orders[k]?.(ids) ?? []).map((id) => store.add(arrival(id)))),
    );
    expect(added.filter((each) => each === 'stored')).toHaveLength(200);
  }
  expect(await idsOf(stores[0] as never, 'app', 5000)).toHaveLength(2000);
});

withPostgres(
  'tables whose maker was killed before it wrote their version, or has not come to it, are finished',
  async () => {
    const { stores: [first, ...others] = [], database } = await instances(3);
    await first?.add(arrival('a'));
    await serverOf().sqlBeside(database, 'DELETE FROM svc_webhooks.version');
    expect(await Promise.all(others.map((store) => store.add(arrival('b'))))).toEqual(
      expect.arrayContaining(['stored', 'repeat']),
    );
    expect((await serverOf().sqlBeside(database, 'SELECT version FROM svc_webhooks.version')).trim()).toBe('1');
  },
);

withPostgres(
  'a sink belongs to one instance; what it did not settle goes to the next one, at once where it ends',
  async () => {
    const { stores: [first, second] = [] } = await instances(2);
    if (!first || !second) throw new Error('There are two.');
    for (const id of ['a', 'b', 'c']) await second.add(arrival(id));
    expect(await idsOf(first)).toEqual(['a', 'b', 'c']);
    expect(await idsOf(second)).toBeUndefined();
    expect(await idsOf(second, 'other')).toEqual([]);
    await first.settle('app', [{ id: 'a', outcome: outcome('delivered') }]);
    await first.close();
    expect(await idsOf(second)).toEqual(['b', 'c']);
  },
);

withPostgres('a lease that ran out hands over, and the one who had it is told', async () => {
  const { stores: [first, second] = [], database } = await instances(2);
  if (!first || !second) throw new Error('There are two.');
  await first.add(arrival('a'));
  const taken = await first.take('app', 10);
  expect(taken?.held.aborted).toBe(false);
  await serverOf().sqlBeside(database, "UPDATE svc_webhooks.sinks SET held_until = now() - interval '1 second'");
  expect(await idsOf(second)).toEqual(['a']);
  for (let waited = 0; !taken?.held.aborted && waited < 60_000; waited += 50) await sleep(50);
  expect(taken?.held.aborted).toBe(true);
  expect(await idsOf(first)).toBeUndefined();
});

withPostgres('without the database an instance lets go of its sinks before another one may have them', async () => {
  const url = newDatabase();
  let now = 0;
  const store = await openPostgres({ url, env: {}, limit: 1000, holder: 'one', clock: { ticks: () => now } });
  endings.push(() => store.close());
  await store.add(arrival('a'));
  const taken = await store.take('app', 10);
  await serverOf().crash();
  now = 12_000;
  for (let waited = 0; !taken?.held.aborted && waited < 60_000; waited += 50) await sleep(50);
  await serverOf().start();
  expect(taken?.held.aborted).toBe(true);
});

withPostgres(
  'a sink that an instance leaves, since it is not in its configuration any more, goes to another at once',
  async () => {
    const { stores: [first, second] = [] } = await instances(2);
    if (!first || !second) throw new Error('There are two.');
    await first.add(arrival('a'));
    expect(await idsOf(first)).toEqual(['a']);
    await first.leave('app');
    expect(await idsOf(second)).toEqual(['a']);
  },
);
