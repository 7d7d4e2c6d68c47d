// @module-tag long
import { expect } from 'vitest';
import { byteaArray } from '../../../src/database/binary.ts';
import { openHooks, openPostgres } from '../../../src/webhooks/store/postgres/postgres-store.ts';
import { endAfterEach } from '../../endings.ts';
import { withPostgres } from '../own-postgres.ts';
import { arrival, idsOf, newDatabase, outcome, serverOf, withServer } from '../stores.ts';

withServer();
const endings = endAfterEach();

withPostgres(
  'an event costs the same in a full inbox as in an empty one, also where the database has counted nothing yet',
  async () => {
    const url = newDatabase();
    const database = /\/\/\/(\w+)/u.exec(url)?.[1] ?? '';
    const open = () =>
      openPostgres({ url, env: {}, limit: 1e6, holder: 'one', clock: { ticks: () => performance.now() } });
    const before = await open();
    await before.add(arrival('evt_first', ['app']));
    for (const table of ['inbox', 'deliveries'])
      await serverOf().sqlBeside(database, `ALTER TABLE svc_webhooks.${table} SET (autovacuum_enabled = off)`);
    // A plan is kept for as long as the connection: made here, where there is next to nothing.
    const about = (id: string, ticket_id: number) =>
      arrival(id, ['app'], { body: Buffer.from(JSON.stringify({ id, event: 'ticket.created', data: { ticket_id } })) });
    const one = async (n: number) => {
      await before.add(about(`evt_${n}`, n));
      await idsOf(before);
      await before.settle('app', [{ id: `evt_${n}`, outcome: outcome('delivered') }]);
    };
    for (let n = 0; n < 20; n++) await one(n);
    await before.settle('app', [{ id: 'evt_first', outcome: outcome('delivered') }]);
    await Promise.all(Array.from({ length: 5_000 }, (_, n) => before.add(about(`evt_much_${n}`, 1_000 + n))));
    await before.settle(
      'app',
      Array.from({ length: 5_000 }, (_, n) => ({ id: `evt_much_${n}`, outcome: outcome('delivered') })),
    );
    for (let n = 20; n < 60; n++) await one(n);
    await Promise.all(
      Array.from({ length: 30 }, (_, n) => before.add(about(`rebuilt:ticket.created:${n}`, 9_000 + n))),
    );
    // What a connection has read is counted once it ends.
    await before.close();
    const read = await serverOf().sqlBeside(
      database,
      "SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_user_tables WHERE schemaname = 'svc_webhooks' AND relname IN ('inbox', 'deliveries')",
    );
    expect(Number(read)).toBeLessThan(5_000);
  },
);

withPostgres('bytes reach the database as they are, none, empty ones and all 256 of them', async () => {
  const database = await openHooks({ url: newDatabase(), env: {} });
  endings.push(() => database.close());
  const all = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
  for (const items of [[], [Buffer.alloc(0)], [all, Buffer.alloc(0), Buffer.from('ab')]]) {
    const [row] = await database.query({ text: 'SELECT $1::bytea[] AS items', values: [byteaArray(items)] });
    expect(row?.items).toEqual(items);
  }
});
