import { test as always, beforeAll, describe, expect } from 'vitest';
import type { SandboxWorld } from '../sandbox-world.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { ok } from './engines.ts';
import { type PostgresServer, sharedPostgres, withPostgres } from './postgres-server.ts';

const test = withPostgres(always);

// One database, two accounts, and what is tried to read the other's rows, files of the server, or change anything.
const database = `rows_${process.pid}`;
const member = `member_${process.pid}`;

let server: PostgresServer | undefined;
let acme: SandboxWorld;
let globex: SandboxWorld;

beforeAll(async () => {
  server = await sharedPostgres();
  if (!server) return;
  server.sql('postgres', `CREATE ROLE ${member} LOGIN`);
  server.sql('postgres', `CREATE DATABASE ${database} OWNER ${member}`);
  const one = sandboxWorld({ rateLimit: 'off' });
  acme = { ...one, env: { ...one.env, SVC_MIRROR_DB: server.url(database, member) } };
  globex = { ...acme, env: { ...acme.env, SVC_API_KEY: 'key_globex' } };
  await ok(acme, 'mirror pull --only contacts');
  await ok(globex, 'mirror pull --only contacts');
  server.sql(database, 'ANALYZE');
});

const asked = async (world: SandboxWorld, text: string) => {
  const { exitCode, stdout, stderr } = await svc(world, ['mirror', 'sql', text, '--output', 'json']);
  return { exitCode, stdout, stderr };
};

/** Emails of the other account: none may ever be shown. */
const foreign = (): string[] =>
  (server?.sql(database, "SET row_security = off; SELECT email FROM svc_mirror.contacts WHERE account_id <> '1'") ?? '')
    .split('\n')
    .filter((email) => email.includes('@'));

describe('a query in PostgreSQL', () => {
  const tricks = [
    'SELECT * FROM contacts',
    'SELECT * FROM svc_mirror.contacts',
    'SELECT * FROM U&"cont\\0061cts"',
    'SELECT * FROM U&"svc_mirr\\006fr"."contacts"',
    'SELECT * FROM svc_credentials, svc_mirror.contacts',
    'SELECT account_id, name, email FROM svc_mirror.contacts',
    'SELECT c::text FROM svc_mirror.contacts c',
    'SELECT * FROM pg_stats',
    "SELECT most_common_vals::text, histogram_bounds::text FROM pg_stats WHERE schemaname = 'svc_mirror'",
    'SELECT * FROM pg_statistic',
    "SELECT query_to_xml('SELECT * FROM svc_mirror.contacts', true, false, '')",
    "SELECT table_to_xml('svc_mirror.contacts', true, false, '')",
    "SELECT schema_to_xml('svc_mirror', true, false, '')",
    "SELECT database_to_xml(true, false, '')",
    "SELECT set_config('role', 'none', false), query_to_xml('SELECT * FROM svc_mirror.contacts', true, false, '')",
    "SELECT set_config('row_security', 'off', false), query_to_xml('SELECT * FROM svc_mirror.contacts', true, false, '')",
    "SELECT set_config('search_path', 'svc_mirror', false), query_to_xml('SELECT * FROM contacts', true, false, '')",
    "SELECT set_config('session_authorization', 'svc', false), query_to_xml('SELECT * FROM svc_mirror.contacts', true, false, '')",
    "SELECT query_to_xml('DROP VIEW pg_temp.svc_whose', true, false, ''), query_to_xml('SELECT * FROM svc_mirror.contacts', true, false, '')",
    "SELECT query_to_xml('CREATE OR REPLACE TEMP VIEW svc_whose AS SELECT 1', true, false, '')",
    "SELECT query_to_xml('SET TRANSACTION READ WRITE', true, false, '')",
    "SELECT set_config('transaction_read_only', 'off', false), query_to_xml('DELETE FROM svc_mirror.contacts', true, false, '')",
    "SELECT query_to_xml('ALTER TABLE svc_mirror.contacts DISABLE ROW LEVEL SECURITY', true, false, '')",
    "SELECT query_to_xml('COMMIT', true, false, ''), query_to_xml('SELECT * FROM svc_mirror.contacts', true, false, '')",
    "SELECT query_to_xml('COPY svc_mirror.contacts TO STDOUT', true, false, '')",
    'COPY svc_mirror.contacts TO STDOUT',
    'TABLE svc_mirror.contacts',
    "SELECT ts_stat('SELECT to_tsvector(email) FROM svc_mirror.contacts')",
    "SELECT word FROM ts_stat('SELECT words FROM svc_mirror.contacts')",
    "SELECT * FROM dblink('', 'SELECT email FROM svc_mirror.contacts') AS t(email text)",
    "SELECT lo_import('/etc/passwd')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_binary_file('/etc/passwd')",
    "SELECT * FROM pg_ls_dir('/')",
    'SELECT pg_reload_conf()',
    "SELECT pg_create_physical_replication_slot('left')",
    "SELECT pg_create_logical_replication_slot('left', 'pgoutput')",
    'SET ROLE svc',
    'SET ROLE NONE',
    'RESET ROLE',
    'SELECT svc_mirror.svc_bound(), * FROM svc_mirror.svc_accounts',
    'WITH x AS (DELETE FROM pg_temp.svc_whose RETURNING *) SELECT * FROM x',
    'SELECT * FROM svc_mirror.contacts WHERE CAST(email AS integer) = 1',
    'SELECT 1/(CASE WHEN account_id = $$1$$ THEN 1 ELSE 0 END) FROM svc_mirror.contacts',
    "SELECT * FROM pg_stat_activity WHERE query LIKE '%@%'",
    'SELECT * FROM svc_mirror.contacts TABLESAMPLE SYSTEM (100)',
    "SELECT currtid2('svc_mirror.contacts', '(0,1)')",
  ];

  let others: readonly string[];
  beforeAll(() => {
    others = foreign();
  });

  test.each(tricks)('shows no row of another account: %s', { tags: ['long'] }, async (text) => {
    expect(others.length).toBeGreaterThan(0);
    const { stdout, stderr } = await asked(acme, text);
    expect(others.filter((email) => (stdout + stderr).includes(email))).toEqual([]);
    expect(stdout + stderr).not.toContain('root:x:');
  });

  test('leaves nothing behind: no row less, no slot, no setting', { tags: ['long'] }, async () => {
    const count = server?.sql(database, 'SET row_security = off; SELECT count(*) FROM svc_mirror.contacts').trim();
    expect(Number(count)).toBeGreaterThan(264);
    expect(server?.sql(database, 'SELECT count(*) FROM pg_replication_slots').trim()).toBe('0');
    expect(JSON.parse((await asked(acme, 'SELECT count(*) AS n FROM svc_mirror.contacts')).stdout)).toEqual([
      { n: 264 },
    ]);
    const [own] = JSON.parse((await asked(globex, 'SELECT count(*) AS n FROM svc_mirror.contacts')).stdout);
    expect(own.n).toBe(Number(count) - 264);
  });
});

describe('a query as a superuser, or as a role that can become one,', () => {
  test('is refused with the three lines that make a role for it, and that role can ask', {
    tags: ['long'],
  }, async () => {
    const powerful = { ...acme, env: { ...acme.env, SVC_MIRROR_DB: server?.url(database) } };
    const ran = await asked(powerful, 'SELECT 1');
    expect([ran.exitCode, ran.stdout]).toEqual([2, '']);
    const lines = ran.stderr.split('\n').filter((line) => /^(?:CREATE|GRANT)/u.test(line));
    expect(lines).toHaveLength(3);
    for (const line of lines) server?.sql(database, line);
    const reader = { ...acme, env: { ...acme.env, SVC_MIRROR_DB: server?.url(database, 'svc_reader') } };
    expect(JSON.parse((await asked(reader, 'SELECT count(*) AS n FROM contacts')).stdout)).toEqual([{ n: 264 }]);
    expect(JSON.parse((await asked(reader, 'SELECT count(*) AS n FROM svc_mirror.contacts')).stdout)).toEqual([
      { n: 264 },
    ]);
    const pull = (db: string[]) => svc(reader, ['mirror', 'pull', '--only', 'lists', ...db], { env: reader.env });
    expect(ran.stderr).toContain("To pull, give the URL of the copy's owner in --db");
    const refused = await pull([]);
    expect([refused.exitCode, refused.stderr]).toEqual([
      5,
      expect.stringContaining('To pull, give in --db the URL of'),
    ]);
    expect(await pull(['--db', server?.url(database, member) ?? ''])).toMatchObject({ exitCode: 0 });
    server?.sql(database, 'GRANT svc TO svc_reader');
    expect((await asked(reader, 'SELECT 1')).exitCode).toBe(2);
    server?.sql(database, 'DROP OWNED BY svc_reader; DROP ROLE svc_reader');
  });
});

describe('forget in PostgreSQL', () => {
  test("leaves other tables alone, and keeps svc's empty tables where somebody's view needs them", {
    tags: ['long'],
  }, async () => {
    server?.sql(database, "CREATE TABLE notes (text text); INSERT INTO notes VALUES ('keep me')");
    server?.sql(database, 'CREATE VIEW theirs AS SELECT * FROM svc_mirror.contacts');
    await ok(globex, 'mirror forget --yes');
    expect((await ok(acme, 'mirror forget --yes')).stderr).toContain('what svc did not make stays');
    expect(
      server?.sql(database, 'SELECT count(*) FROM theirs; SELECT text FROM notes').split('\n').slice(0, 2),
    ).toEqual(['0', 'keep me']);
    server?.sql(database, 'DROP VIEW theirs');
    await ok(acme, 'mirror pull --only lists');
    await ok(acme, 'mirror forget --yes');
    expect(server?.sql(database, "SELECT count(*) FROM pg_namespace WHERE nspname = 'svc_mirror'").trim()).toBe('0');
    expect(server?.sql(database, 'SELECT text FROM notes').trim()).toBe('keep me');
  });
});
