// @module-tag long
// PostgreSQL where another role may make functions and operators in the schema public, as everybody could up to PostgreSQL 14.
import { test as always, beforeAll, expect } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { ok, sql } from './engines.ts';
import { type PostgresServer, sharedPostgres, withPostgres } from './postgres-server.ts';

const test = withPostgres(always);
const own = `planted_${process.pid}`;
const [database, puller, evil] = [own, `${own}_puller`, `${own}_evil`];

let server: PostgresServer | undefined;
let acme: SandboxWorld;
let globex: SandboxWorld;

/** They fit better than those of the server, which take any array and any type. */
const plants = `SET ROLE ${evil};
CREATE TABLE public.ran (what text); GRANT INSERT ON public.ran TO public;
CREATE FUNCTION public.evil_eq(text[], text[]) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN BEGIN INSERT INTO public.ran VALUES ('=' || current_user); EXCEPTION WHEN OTHERS THEN NULL; END; RETURN true; END $$;
CREATE OPERATOR public.= (LEFTARG = text[], RIGHTARG = text[], FUNCTION = public.evil_eq);
CREATE FUNCTION public.unnest(text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
  BEGIN INSERT INTO public.ran VALUES ('unnest' || current_user); RETURN QUERY SELECT pg_catalog.unnest($1); END $$;`;

beforeAll(async () => {
  server = await sharedPostgres();
  if (!server) return;
  server.sql('postgres', `CREATE ROLE ${puller} LOGIN; CREATE ROLE ${evil} LOGIN`);
  server.sql('postgres', `CREATE DATABASE ${database} OWNER ${puller}`);
  server.sql(database, 'GRANT CREATE ON SCHEMA public TO public');
  server.sql(database, plants);
  const one = sandboxWorld({ rateLimit: 'off' });
  acme = { ...one, env: { ...one.env, SVC_MIRROR_DB: server.url(database, puller) } };
  globex = { ...acme, env: { ...acme.env, SVC_API_KEY: 'key_globex' } };
});

const accounts = 'SELECT DISTINCT account_id FROM svc_mirror.contacts';
const pullBoth = async () => {
  for (const world of [acme, globex]) await ok(world, 'mirror pull --only contacts');
};

test('none of theirs is called by a pull, and each account sees its own rows', async () => {
  await pullBoth();
  expect(await sql(globex, accounts)).toEqual([{ account_id: '2' }]);
  expect(server?.sql(database, 'SELECT what FROM public.ran')).toBe('');
});

test('a policy of an older svc that took their operator is made again by the next pull', async () => {
  const expression =
    '(SELECT svc_mirror.svc_bound()) IS NULL OR ARRAY[service, account_id] = (SELECT svc_mirror.svc_bound())';
  server?.sql(
    database,
    `SET search_path = svc_mirror, public; ALTER POLICY svc_own ON contacts USING (${expression}); UPDATE svc_schema SET columns = 'older'`,
  );
  const theirs =
    "SELECT count(*) FROM pg_depend WHERE classid = 'pg_policy'::regclass AND refclassid = 'pg_operator'::regclass";
  expect(server?.sql(database, theirs).trim()).toBe('1');
  await pullBoth();
  expect(server?.sql(database, theirs).trim()).toBe('0');
  expect(await sql(globex, accounts)).toEqual([{ account_id: '2' }]);
});
