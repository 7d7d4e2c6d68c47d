import { expect } from 'vitest';
import { openInboxAdmin } from '../../../src/webhooks/store/inbox-admin.ts';
import { openPostgres } from '../../../src/webhooks/store/postgres/postgres-store.ts';
import { withPostgres } from '../own-postgres.ts';
import { arrival, forBoth, idsOf, newDatabase, outcome } from '../stores.ts';

forBoth(({ test, make }) => {
  test('an id is accepted once, also when it comes ten times at once', { tags: ['long'] }, async () => {
    const store = await (await make()).open();
    const added = await Promise.all(Array.from({ length: 10 }, () => store.add(arrival('a'))));
    expect(added.filter((each) => each === 'stored')).toHaveLength(1);
    expect(await store.add(arrival('a'))).toBe('repeat');
    expect(store.has('a')).toBe(true);
    expect(await idsOf(store)).toEqual(['a']);
    await store.close();
  });

  test('what waits is taken in the order in which it came, with its very bytes, and stays until it is settled', {
    tags: ['long'],
  }, async () => {
    const inbox = await make();
    const store = await inbox.open();
    const body = Buffer.from([0, 255, 254, 0, 10]);
    await store.add(
      arrival('odd \u0000 \ud800 id', ['app', 'crm'], { body, unreadable: 'not JSON', headers: { x: 'é\u0000' } }),
    );
    for (let n = 0; n < 20; n++) await store.add(arrival(`evt_${n}`));
    const taken = await store.take('app', 3);
    expect(taken?.waiting.map(({ arrival: { id } }) => id)).toEqual(['odd \u0000 \ud800 id', 'evt_0', 'evt_1']);
    expect(taken?.waiting[0]).toMatchObject({ tries: 0, since: '2026-01-02T03:04:05.000Z' });
    expect(Buffer.from(taken?.waiting[0]?.arrival.body ?? [])).toEqual(body);
    expect(taken?.waiting[0]?.arrival).toMatchObject({ unreadable: 'not JSON', headers: { x: 'é\u0000' } });
    await store.settle('app', [
      { id: 'odd \u0000 \ud800 id', outcome: outcome('delivered') },
      { id: 'evt_0', outcome: outcome('skipped') },
    ]);
    await store.close();
    const again = await inbox.open();
    expect((await idsOf(again))?.slice(0, 2)).toEqual(['evt_1', 'evt_2']);
    expect(await idsOf(again, 'crm')).toEqual(['odd \u0000 \ud800 id']);
    await again.close();
  });

  test('tries and dead ones are remembered over a restart', { tags: ['long'] }, async () => {
    const inbox = await make();
    const store = await inbox.open();
    for (const id of ['a', 'b', 'c']) await store.add(arrival(id));
    await store.settle('app', [{ id: 'a', outcome: outcome('failed', 4) }]);
    await store.settle('app', [{ id: 'b', outcome: outcome('dead', 8) }]);
    await store.close();
    const again = await inbox.open();
    const taken = await again.take('app', 9);
    expect(taken?.waiting.map(({ arrival: { id }, tries }) => [id, tries])).toEqual([
      ['a', 4],
      ['c', 0],
    ]);
    expect([...(await again.counts())]).toEqual([['app', { waiting: 2, dead: 1 }]]);
    await again.close();
  });

  test('beyond the limit the oldest go, but never one that waits, is dead or was rebuilt', {
    tags: ['long'],
  }, async () => {
    const inbox = await make();
    const store = await inbox.open(10);
    await store.add(arrival('waits'));
    await store.add(arrival('dead'));
    await store.add(arrival('rebuilt:ticket.created:1', []));
    await store.settle('app', [{ id: 'dead', outcome: outcome('dead') }]);
    for (let n = 0; n < 100; n++) await store.add(arrival(`evt_${n}`, []));
    await store.trim();
    await store.close();
    const again = await inbox.open(10);
    const known = await Promise.all(
      ['waits', 'dead', 'rebuilt:ticket.created:1', 'evt_0', 'evt_99'].map((id) => again.add(arrival(id))),
    );
    expect(known).toEqual(['repeat', 'repeat', 'repeat', 'stored', 'repeat']);
    await again.close();
  });

  test('it says whether it can be written', async () => {
    const store = await (await make()).open();
    await expect(store.probe()).resolves.toBeUndefined();
    await store.close();
  });

  const about = (event: string, id: string, data: object) =>
    arrival(id, ['app'], { event, body: Buffer.from(JSON.stringify({ id, event, data })) });
  const live = (id: string) => about('ticket.created', id, { ticket_id: 7 });
  const rebuilt = about('ticket.created', 'rebuilt:ticket.created:7', { ticket_id: 7 });

  test('a live event that was rebuilt already is a repeat, also after a restart', { tags: ['long'] }, async () => {
    const inbox = await make();
    const store = await inbox.open();
    expect(await store.add(rebuilt)).toBe('stored');
    expect(await store.add(live('evt_1'))).toBe('repeat');
    await store.close();
    const again = await inbox.open();
    expect(await again.add(live('evt_1'))).toBe('repeat');
    // Another record, and another event about the same one.
    expect(await again.add(about('ticket.created', 'evt_2', { ticket_id: 8 }))).toBe('stored');
    expect(await again.add(about('feedback.created', 'evt_3', { post_id: 7 }))).toBe('stored');
    expect(await idsOf(again)).toEqual(['rebuilt:ticket.created:7', 'evt_2', 'evt_3']);
    await again.close();
  });

  test('what came live is not stored once more as rebuilt, also after a restart, and two live events stay two', {
    tags: ['long'],
  }, async () => {
    const inbox = await make();
    const store = await inbox.open();
    expect(await store.add(live('evt_1'))).toBe('stored');
    expect(await store.add(rebuilt)).toBe('repeat');
    expect(await store.add(live('evt_2'))).toBe('stored');
    await store.close();
    const again = await inbox.open();
    expect(await again.add(rebuilt)).toBe('repeat');
    expect(await idsOf(again)).toEqual(['evt_1', 'evt_2']);
    await again.close();
  });

  test('of a live event and the one that is rebuilt for it, which come at the same moment, one is stored', async () => {
    const store = await (await make()).open();
    const added = await Promise.all([store.add(live('evt_1')), store.add(rebuilt), store.add(live('evt_1'))]);
    expect(added).toEqual(['stored', 'repeat', 'repeat']);
    await store.close();
  });

  test('an entry that is published again, at another time, is no repeat of the one that was rebuilt', async () => {
    const store = await (await make()).open();
    const published = (id: string, published_at: string) =>
      about('changelog.published', id, { entry_id: 3, published_at });
    expect(await store.add(published('rebuilt:changelog.published:3', '2026-01-02T03:04:05.000Z'))).toBe('stored');
    expect(await store.add(published('evt_1', '2026-01-02T03:04:05+00:00'))).toBe('repeat');
    expect(await store.add(published('evt_2', '2026-01-09T03:04:05+00:00'))).toBe('stored');
    await store.close();
  });
});

withPostgres('Postgres is asked for what waits alone, however old it is', { tags: ['long'] }, async () => {
  const url = newDatabase();
  const clock = { now: () => new Date(), ticks: () => performance.now(), sleep: async () => {} };
  const store = await openPostgres({ url, env: {}, limit: 1000, holder: 'one', clock });
  for (const id of ['old', 'done']) await store.add(arrival(id));
  await store.take('app', 9);
  await store.settle('app', [{ id: 'done', outcome: outcome('delivered') }]);
  await store.close();
  const admin = await openInboxAdmin({ env: {}, clock }, { url });
  const { seen } = await admin.newest(({ id }) => id, { isOpen: true });
  await admin.close();
  expect(seen.map(({ value }) => value)).toEqual(['old']);
});
