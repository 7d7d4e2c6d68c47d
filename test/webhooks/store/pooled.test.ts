// @module-tag long
// An inbox in Postgres behind a pooler that gives each transaction another session of the server.
import { join } from 'node:path';
import { expect } from 'vitest';
import { openPostgres } from '../../../src/webhooks/store/postgres/postgres-store.ts';
import { endAfterEach } from '../../endings.ts';
import { startPooler } from '../../mirror/pooler.ts';
import { withPostgres } from '../own-postgres.ts';
import { arrival, idsOf, newDatabase, outcome, serverOf, withServer } from '../stores.ts';

withServer();
const endings = endAfterEach();

withPostgres('behind a pooler of transactions each statement has its settings, and leaves none behind', async () => {
  const url = newDatabase();
  const database = /\/\/\/(\w+)/u.exec(url)?.[1] ?? '';
  const ask = async (text: string) => (await serverOf().sqlBeside(database, text)).trim();
  // Whoever finds these in place of the server's own is called without the settings.
  await ask(`CREATE TABLE public.ran (what text); ALTER DATABASE ${database} SET search_path = public, pg_catalog; ALTER DATABASE ${database} SET synchronous_commit = off;
CREATE FUNCTION public.unnest(text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ran VALUES (current_setting('synchronous_commit')); RETURN QUERY SELECT pg_catalog.unnest($1); END $$;
CREATE FUNCTION public.unnest(bytea[]) RETURNS SETOF bytea LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ran VALUES ('bytea'); RETURN QUERY SELECT pg_catalog.unnest($1); END $$`);
  const pooler = await startPooler(join(new URL(url).searchParams.get('host') ?? '', '.s.PGSQL.5432'));
  endings.push(async () => pooler.close());
  const through = `postgres://svc@127.0.0.1:${pooler.port}/${database}`;
  const open = (holder: string) =>
    openPostgres({ url: through, env: {}, limit: 5, holder, clock: { ticks: () => performance.now() } });
  const [one, other] = [await open('one'), await open('other')];
  endings.push(
    () => one.close(),
    () => other.close(),
  );
  const ids = Array.from({ length: 40 }, (_, n) => `evt_${n}`);
  const added = await Promise.all(ids.flatMap((id) => [one.add(arrival(id)), other.add(arrival(id))]));
  expect(added.filter((each) => each === 'stored')).toHaveLength(40);
  const waiting = await idsOf(one);
  expect(new Set(waiting)).toEqual(new Set(ids));
  expect(await idsOf(other)).toBeUndefined();
  await one.settle(
    'app',
    ids.map((id) => ({ id, outcome: outcome('delivered') })),
  );
  await one.add(arrival('rebuilt:ticket.created:9', [], { happening: 'ticket 9' }));
  await one.trim();
  await one.leave('app');
  expect(await idsOf(other)).toEqual([]);
  expect(await ask('SELECT count(*) FROM svc_webhooks.inbox')).toBe('5');
  expect(await ask('SELECT * FROM public.ran')).toBe('');
  const planted = 'CREATE TRIGGER planted BEFORE INSERT ON svc_webhooks.inbox EXECUTE FUNCTION public.code()';
  await ask(`CREATE ROLE ${database}_evil; CREATE FUNCTION public.code() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
ALTER FUNCTION public.code() OWNER TO ${database}_evil; ${planted}`);
  await expect(one.add(arrival('evt_last'))).rejects.toThrow('planted');
});
