// @module-tag long
// PostgreSQL behind a pooler that gives each transaction another session, and tables that others had a hand in.
import { join } from 'node:path';
import { afterAll, test as always, beforeAll, describe, expect } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { draws } from '../thorough.ts';
import { ok, sql } from './engines.ts';
import { startPooler } from './pooler.ts';
import { type PostgresServer, sharedPostgres, withPostgres } from './postgres-server.ts';

const test = withPostgres(always);
const own = `pooled_${process.pid}`;
const [database, puller, reader, evil] = [own, `${own}_puller`, `${own}_reader`, `${own}_evil`];

let server: PostgresServer | undefined;
let pooler: Awaited<ReturnType<typeof startPooler>> | undefined;
let readers: Awaited<ReturnType<typeof startPooler>> | undefined;
let acme: SandboxWorld;
let globex: SandboxWorld;
const at = (world: SandboxWorld, url: string | undefined): SandboxWorld => ({
  ...world,
  env: { ...world.env, SVC_MIRROR_DB: url },
});
const through = (world: SandboxWorld, role: string) =>
  at(world, `postgres://${role}@127.0.0.1:${(role === reader ? readers : pooler)?.port}/${database}`);

beforeAll(async () => {
  server = await sharedPostgres();
  if (!server) return;
  server.sql('postgres', `CREATE ROLE ${puller} LOGIN; CREATE ROLE ${reader} LOGIN; CREATE ROLE ${evil} LOGIN`);
  server.sql('postgres', `CREATE DATABASE ${database} OWNER ${puller}`);
  const socket = join(new URL(server.url(database)).searchParams.get('host') ?? '', '.s.PGSQL.5432');
  [pooler, readers] = [await startPooler(socket), await startPooler(socket)];
  acme = at(sandboxWorld({ rateLimit: 'off' }), server.url(database, puller));
  globex = { ...acme, env: { ...acme.env, SVC_API_KEY: 'key_globex' } };
});
afterAll(() => {
  pooler?.close();
  readers?.close();
});

const count = 'SELECT count(*) AS n FROM svc_mirror.contacts';

describe('behind a pooler of transactions', () => {
  test('pulls of two accounts at once are whole, and no query shows a row of the other', async () => {
    const kinds = ['mirror', 'pull', '--only', 'contacts,lists'];
    const both = [through(acme, puller), through(globex, puller)] as const;
    await Promise.all(both.map((world) => ok(world, kinds)));
    server?.sql(
      database,
      `GRANT USAGE ON SCHEMA svc_mirror TO ${reader}; GRANT SELECT ON ALL TABLES IN SCHEMA svc_mirror TO ${reader}; ` +
        `ALTER ROLE ${reader} SET search_path = svc_mirror, public`,
    );
    const truth = server?.sql(
      database,
      'SET row_security = off; SELECT count(*) FROM svc_mirror.contacts GROUP BY account_id ORDER BY account_id',
    );
    const [a, g] = (truth ?? '').trim().split('\n').map(Number);
    expect([a, Number(g) > 0]).toEqual([264, true]);
    for (const role of Array.from({ length: draws(1, 2) }, () => [puller, reader]).flat()) {
      expect(await sql(through(globex, role), count)).toEqual([{ n: g }]);
      expect(await sql(through(globex, role), 'SELECT count(*) AS n FROM contacts')).toEqual([{ n: g }]);
      expect(await sql(through(acme, role), count)).toEqual([{ n: a }]);
    }
  });

  test('a second pull of an account waits for the first, whose lock is not a session’s', async () => {
    const world = through(acme, puller);
    let isFirst = true;
    const slow = {
      ...world,
      exchange: async (asked: Parameters<SandboxWorld['exchange']>[0]) => {
        if (isFirst) {
          isFirst = false;
          const other = await svc(world, ['mirror', 'pull', '--only', 'lists', '--max-wait', '0']);
          expect(other.stderr).toContain('Another svc has used the copy of this account');
          expect(other.exitCode).toBe(1);
        }
        return world.exchange(asked);
      },
    };
    await ok(slow, 'mirror pull --only lists');
    expect(isFirst).toBe(false);
    await ok(world, 'mirror pull --only lists');
  });

  test('nothing is left in the sessions, and other programs read what their role may', async () => {
    expect(server?.sql(database, `SET ROLE ${puller}; ${count}`).trim()).not.toBe('0');
    expect(server?.sql(database, "SELECT count(*) FROM pg_class WHERE relname = 'svc_whose'").trim()).toBe('0');
  });

  test('a query may do no more than its role, and says so', async () => {
    const ran = await svc(acme, ['mirror', 'sql', "SELECT lo_import('/etc/passwd')"]);
    expect(ran.exitCode).not.toBe(0);
    expect(ran.stderr).not.toContain('needs CREATE');
  });
});

describe('where others have a hand in the tables', () => {
  test('a pull writes nothing where a trigger is of a role that is not trusted; its own may be there', async () => {
    server?.sql(
      database,
      "CREATE FUNCTION public.tf() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'; " +
        `ALTER FUNCTION public.tf() OWNER TO ${evil}; ` +
        'CREATE TRIGGER zz AFTER INSERT ON svc_mirror.lists FOR EACH ROW EXECUTE FUNCTION public.tf()',
    );
    const ran = await svc(acme, ['mirror', 'pull', '--only', 'lists']);
    expect([ran.exitCode, ran.stderr]).toEqual([
      2,
      expect.stringContaining('lists has a trigger of somebody else: zz'),
    ]);
    server?.sql(database, `ALTER FUNCTION public.tf() OWNER TO ${puller}`);
    await ok(acme, 'mirror pull --only lists');
    server?.sql(database, 'DROP FUNCTION public.tf() CASCADE');
  });

  test('code that comes while a pull runs is not run either, and rows that are taken away are no success', async () => {
    server?.sql(
      database,
      `GRANT USAGE ON SCHEMA svc_mirror TO ${evil}; GRANT TRIGGER ON ALL TABLES IN SCHEMA svc_mirror TO ${evil};
       CREATE SCHEMA evil AUTHORIZATION ${evil}; SET ROLE ${evil}; GRANT USAGE ON SCHEMA evil TO public;
       CREATE TABLE evil.ran (who text); GRANT INSERT ON evil.ran TO public;
       CREATE FUNCTION evil.code() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO evil.ran VALUES (current_user); RETURN NEW; END $$`,
    );
    let requests = 0;
    const world = {
      ...acme,
      exchange: async (asked: Parameters<SandboxWorld['exchange']>[0]) => {
        if (++requests === 3)
          server?.sql(
            database,
            `SET ROLE ${evil}; CREATE TRIGGER late BEFORE INSERT OR UPDATE ON svc_mirror.contacts EXECUTE FUNCTION evil.code()`,
          );
        return acme.exchange(asked);
      },
    };
    const ran = await svc(world, ['mirror', 'pull', '--full', '--only', 'contacts']);
    expect([ran.exitCode, ran.stderr]).toEqual([
      2,
      expect.stringContaining('DROP TRIGGER "late" ON svc_mirror.contacts'),
    ]);
    expect(server?.sql(database, 'SELECT * FROM evil.ran')).toBe('');
    server?.sql(database, 'DROP SCHEMA evil CASCADE');
    // Of the role itself: it may have it, but not so that a pull says that it is done.
    server?.sql(
      database,
      `SET ROLE ${puller}; CREATE FUNCTION svc_mirror.less() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
       CREATE TRIGGER less BEFORE UPDATE ON svc_mirror.svc_kinds FOR EACH ROW EXECUTE FUNCTION svc_mirror.less()`,
    );
    const taken = await svc(acme, ['mirror', 'pull', '--full', '--only', 'contacts']);
    expect([taken.exitCode, taken.stderr]).toEqual([1, expect.stringContaining('takes rows away')]);
    server?.sql(database, 'DROP FUNCTION svc_mirror.less() CASCADE');
    await ok(acme, 'mirror pull --full --only contacts');
  });

  test('a pull writes nothing where schema, table or function belongs to a role that is not trusted', async () => {
    for (const [what, back] of [
      [`ALTER SCHEMA svc_mirror OWNER TO ${evil}`, `ALTER SCHEMA svc_mirror OWNER TO ${puller}`],
      [`ALTER TABLE svc_mirror.lists OWNER TO ${evil}`, `ALTER TABLE svc_mirror.lists OWNER TO ${puller}`],
      [
        `ALTER FUNCTION svc_mirror.svc_bound() OWNER TO ${evil}`,
        `ALTER FUNCTION svc_mirror.svc_bound() OWNER TO ${puller}`,
      ],
    ] as const) {
      server?.sql(
        database,
        `GRANT ALL ON ALL TABLES IN SCHEMA svc_mirror TO ${puller}; ${what}; ` +
          `GRANT ALL ON SCHEMA svc_mirror TO ${puller}; GRANT ALL ON svc_mirror.lists TO ${puller}`,
      );
      for (const world of [acme, at(acme, server?.url(database))]) {
        const ran = await svc(world, ['mirror', 'pull', '--only', 'lists']);
        expect([ran.exitCode, ran.stderr], what).toEqual([2, expect.stringContaining('could run code')]);
      }
      server?.sql(database, back);
    }
    // A team may share a role.
    server?.sql(database, `ALTER TABLE svc_mirror.lists OWNER TO ${evil}; GRANT ${evil} TO ${puller}`);
    await ok(acme, 'mirror pull --only lists');
  });
});

describe('a server that ends the session of a pull', () => {
  test('is exit 1: what was read before is kept, so it is not that nothing happened', async () => {
    let requests = 0;
    const world = {
      ...acme,
      exchange: async (asked: Parameters<SandboxWorld['exchange']>[0]) => {
        if (++requests === 4)
          server?.sql(
            database,
            `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${database}' AND application_name = 'svc mirror'`,
          );
        return acme.exchange(asked);
      },
    };
    const ran = await svc(world, ['mirror', 'pull', '--full', '--only', 'contacts,calls']);
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining('cannot be reached')]);
    await ok(acme, 'mirror pull --only contacts,calls');
  });
});
