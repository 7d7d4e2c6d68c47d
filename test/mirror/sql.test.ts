import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, describe, expect } from 'vitest';
import { buildSvc } from '../built.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';
import { json, ok, onBothEngines, sql } from './engines.ts';

onBothEngines('mirror sql', ({ test, once, world: fresh, pulled, looked, engine, server }) => {
  describe('what would change the copy, or anything else, is refused', () => {
    const tricks: Record<string, string> = {
      'an insert': 'INSERT INTO svc_schema (version) VALUES (99)',
      'an update': 'UPDATE contacts SET name = 1',
      'a delete that returns rows': 'DELETE FROM tickets RETURNING id',
      'a delete inside of a query': 'WITH gone AS (DELETE FROM tickets RETURNING id) SELECT * FROM gone',
      'a table': 'CREATE TABLE mine AS SELECT 1 AS one',
      'a temporary table': 'CREATE TEMP TABLE mine AS SELECT 1 AS one',
      'another file': "ATTACH 'PLACE' AS other",
      'a file made of it': "VACUUM INTO 'PLACE'",
      'a setting': 'PRAGMA journal_mode = WAL',
      'a setting of the session': 'SET default_transaction_read_only = off',
      'a program': "COPY tickets TO PROGRAM 'touch PLACE'",
      'a program of the server, inside of a query': "COPY (SELECT 1) TO PROGRAM 'touch PLACE'",
      'a second statement': 'SELECT 1; DELETE FROM tickets',
      'a second query': 'SELECT 1; SELECT 2',
      'a second statement behind a closed bracket': 'SELECT 1) AS a; DELETE FROM tickets; SELECT (1',
      'a second statement behind a comment': "SELECT ';' /* ; */ -- ;\n; DELETE FROM tickets",
      'the end of the transaction': 'COMMIT; DELETE FROM tickets',
      'a block of code': 'DO $$ BEGIN DELETE FROM tickets; END $$',
      'a query into a table': 'SELECT 1 AS one INTO mine',
      nothing: '-- only a comment',
      'a function that reads a file': "SELECT readfile('/etc/passwd')",
      'a library': "SELECT load_extension('/tmp/x.so')",
      'a tokenizer': "SELECT fts3_tokenizer('simple')",
      'a setting behind a query': 'SELECT 1; PRAGMA writable_schema = 1',
      'a plan of a change': 'EXPLAIN DELETE FROM tickets',
      'a point to go back to': 'SAVEPOINT x',
      'an index': 'REINDEX',
    };

    test('by the engine, whatever the text looks like', { tags: ['long'] }, async () => {
      const world = await looked();
      const before = await sql(world, 'SELECT count(*) AS n FROM tickets');
      const place = join(world.folder, 'elsewhere');
      for (const [what, text] of inTurn(Object.entries(tricks), engine === 'sqlite' ? 0 : 1, 2)) {
        const ran = await svc(world, ['mirror', 'sql', text.replace('PLACE', place)]);
        expect({ what, exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ what, exitCode: 2, stdout: '' });
      }
      expect(existsSync(place)).toBe(false);
      expect(await sql(world, 'SELECT count(*) AS n FROM tickets')).toEqual(before);
      expect(await sql(world, "SELECT count(*) AS n FROM contacts WHERE name = '1'")).toEqual([{ n: 0 }]);
    });

    test('a change is called that, and not a mistake of syntax', { tags: ['long'] }, async () => {
      const world = await looked();
      for (const text of ['DELETE FROM tickets', " update contacts SET name = ''", 'PRAGMA journal_mode = WAL']) {
        expect((await svc(world, ['mirror', 'sql', text])).stderr).toContain(
          'can be asked, not changed: give a SELECT',
        );
      }
      expect((await svc(world, ['mirror', 'sql', 'SELEC 1'])).stderr).toContain('The database refused this');
    });

    once('columns that have no room on a terminal are named', async () => {
      const world = await looked();
      const query = 'SELECT id, subject, description, status, created_at FROM tickets LIMIT 2';
      const narrow = await svc(world, ['mirror', 'sql', query], { columns: 60 });
      expect(narrow.stderr).toBe('2 columns have no room here: status, created_at.\nTo see them: add --output json\n');
      expect((await svc(world, ['mirror', 'sql', query], { columns: 200 })).stderr).toBe('');
      expect((await svc(world, ['mirror', 'sql', query])).stderr).toBe('');
    });

    test('the schema with --json is JSON', async () => {
      const world = await looked();
      const plain = await svc(world, ['mirror', 'schema']);
      const ran = await svc(world, ['mirror', 'schema', '--json']);
      expect(JSON.parse(ran.stdout)).toEqual({
        engine: engine === 'sqlite' ? 'sqlite' : 'postgres',
        sql: plain.stdout,
      });
    });

    test('a function that writes a file does not either', async () => {
      const world = await looked();
      const place = join('/tmp', `svc-written-${process.pid}`);
      const text =
        engine === 'sqlite'
          ? `SELECT writefile('${place}', 'x')`
          : `SELECT lo_export(lo_from_bytea(0, 'x'), '${place}')`;
      const ran = await svc(world, ['mirror', 'sql', text]);
      expect(ran.exitCode).not.toBe(0);
      expect(existsSync(place)).toBe(false);
    });
  });

  test('a name that is not there is answered with one that is, in the table that is meant', {
    tags: ['long'],
  }, async () => {
    const world = await looked();
    const asked = async (text: string) => (await svc(world, ['mirror', 'sql', text])).stderr;
    const joined = (left: string) => `SELECT t.id FROM tickets t JOIN contacts c ON ${left} = c.contact_id`;
    const told = await asked(joined('t.contact_id'));
    expect(told).toContain("contact_id is in contact: CAST(t.contact ->> 'contact_id' AS bigint)\nTo see its tables: ");
    expect(told).not.toContain('Did you mean');
    const there = await svc(world, ['mirror', 'sql', joined("CAST(t.contact ->> 'contact_id' AS bigint)"), '--json']);
    expect(JSON.parse(there.stdout).length).toBeGreaterThan(1);
    expect(await asked('SELECT c.subjct FROM tickets AS t, contacts c')).not.toContain('Did you mean');
    expect(await asked('SELECT t.subjct FROM tickets AS t, contacts c')).toContain('Did you mean t.subject?');
    expect(await asked('SELECT Contact_ID FROM tickets')).toContain("CAST(contact ->> 'contact_id' AS bigint)");
    for (const odd of ['constructor', '__proto__'])
      expect(await asked(`SELECT ${odd} FROM tickets`)).not.toContain('is in contact');
    expect(await asked('SELECT body FROM messages')).toContain(
      'Did you mean ticket_messages or conversation_messages?',
    );
    expect(await asked('SELECT id FROM tikets')).toContain('Did you mean tickets?');
  });

  test('one query may end with a semicolon and a comment, and hold both in its texts', async () => {
    const world = await looked();
    expect(await sql(world, "SELECT 'a;b' AS x -- c;d\n ; -- done\n")).toEqual([{ x: 'a;b' }]);
    expect(await sql(world, 'WITH a AS (SELECT 1 AS x) SELECT x, x FROM a')).toEqual([{ x: 1, 'x:1': 1 }]);
    expect(await sql(world, 'VALUES (1), (2)')).toHaveLength(2);
  });

  test('rows keep the order that was asked for, and columns theirs', async () => {
    const world = await looked();
    const { stdout } = await ok(world, [
      ...[
        'mirror',
        'sql',
        'SELECT status, count(*) AS n, min(id) AS "1" FROM tickets GROUP BY status ORDER BY n DESC, 1',
      ],
      ...['--output', 'csv'],
    ]);
    const [header, ...rows] = stdout.trim().split('\r\n');
    expect(header).toBe('status,n,1');
    const counts = rows.map((row) => Number(row.split(',')[1]));
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
  });

  test('a column of any name keeps its value', async () => {
    const { stdout } = await ok(await looked(), ['mirror', 'sql', 'SELECT 1 AS "__proto__", 2 AS "a""c"', '-o', 'csv']);
    expect(stdout).toBe('__proto__,"a""c"\r\n1,2\r\n');
  });

  test('a column keeps its value beside one whose name differs in capitals, and before a comment', async () => {
    const values = async (query: string) =>
      Object.values((await sql(await looked(), query))[0] as Record<string, unknown>);
    expect(await values('SELECT 1 AS "total", 2 AS "Total"')).toEqual([1, 2]);
    expect(await values('SELECT max(7), MAX(8)')).toEqual([7, 8]);
    expect(await values('SELECT 1 -- ;')).toEqual([1]);
  });

  test('the columns are there without rows', async () => {
    const world = await looked();
    const ran = await ok(world, ['mirror', 'sql', 'SELECT id, subject FROM tickets WHERE id < 0', '-o', 'csv']);
    expect(ran.stdout).toBe('id,subject\r\n');
  });

  once('a query from standard input, in every format', { tags: ['long'] }, async () => {
    const world = await looked();
    const stdin = 'SELECT id FROM tickets ORDER BY id LIMIT 2';
    expect((await ok(world, 'mirror sql -', { stdin })).stdout).toBe('1\n2\n');
    expect((await ok(world, 'mirror sql - -o jsonl', { stdin })).stdout).toBe('{"id":1}\n{"id":2}\n');
    expect((await ok(world, ['mirror', 'sql', '-', '--jq', '.[].id'], { stdin })).stdout).toBe('1\n2\n');
    expect((await ok(world, 'mirror sql - -o yaml', { stdin })).stdout).toContain('id: 1');
    expect((await svc(world, ['mirror', 'sql', '-'], { stdin: ' ' })).exitCode).toBe(2);
  });

  // Of SQLite with real processes: store.test.ts.
  const onServer = engine === 'postgres' ? test : undefined;
  const endless =
    'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) AS n FROM n WHERE x < 0';
  // One session that is asked again and again, for each start of psql costs the server a session of its own.
  let looking: Promise<Client> | undefined;
  const look = async (): Promise<Client> => {
    const client = new Client({ connectionString: server().url('postgres') });
    await client.connect();
    return client;
  };
  afterAll(async () => (await looking)?.end());
  /** Whether the server works on a query of this copy; of other files' it does. */
  const isAtWork = async ({ env }: SandboxWorld): Promise<boolean> => {
    looking ??= look();
    const database = new URL(String(env.SVC_MIRROR_DB)).pathname.slice(1);
    const active = "SELECT FROM pg_stat_activity WHERE datname = $1 AND state = 'active' AND query LIKE 'FETCH%'";
    return (await (await looking).query(active, [database])).rowCount === 1;
  };

  onServer?.('Ctrl-C ends a query without end, and the copy can be asked again', async () => {
    const world = await looked();
    const stop = new AbortController();
    const running = svc(world, ['mirror', 'sql', endless], { signal: stop.signal });
    while (!(await isAtWork(world))) await sleep(10);
    stop.abort('SIGINT');
    expect((await running).exitCode).toBe(130);
    expect(await sql(world, 'SELECT 1 AS x')).toEqual([{ x: 1 }]);
    expect(await isAtWork(world)).toBe(false);
  });

  onServer?.('at whatever moment Ctrl-C comes, no query is left at work', async () => {
    const world = await looked();
    for (const ms of [0, 20, 40, 80, 160]) {
      const stop = new AbortController();
      const running = svc(world, ['mirror', 'sql', endless], { signal: stop.signal });
      await sleep(ms);
      stop.abort('SIGINT');
      expect({ ms, exitCode: (await running).exitCode }).toEqual({ ms, exitCode: 130 });
      expect(await isAtWork(world)).toBe(false);
    }
  });

  onServer?.('the query of a process that was killed ends on the server too', async () => {
    const world = await looked();
    const built = await buildSvc();
    const folders = {
      SVC_CONFIG_DIR: join(world.folder, 'config'),
      SVC_STATE_DIR: join(world.folder, 'state'),
    };
    const env = { ...process.env, ...world.env, ...folders };
    const killed = spawn(process.execPath, [built.script, 'mirror', 'sql', endless], { env, stdio: 'ignore' });
    while (!(await isAtWork(world))) await sleep(10);
    killed.kill('SIGKILL');
    while (await isAtWork(world)) await sleep(10);
    await built.remove();
  });

  test('a mistake is told in the words of the database, exit 2', async () => {
    const world = await looked();
    const ran = await svc(world, ['mirror', 'sql', 'SELECT missing FROM nowhere']);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('nowhere');
  });

  test('a query sees the records of this account alone', async () => {
    const world = await pulled();
    const other = { ...world, env: { ...world.env, SVC_API_KEY: 'key_globex' } };
    expect((await svc(other, ['mirror', 'sql', 'SELECT 1'])).exitCode).toBe(1);
    await ok(other, 'mirror pull --only contacts');
    const [own] = (await sql(world, 'SELECT count(*) AS n FROM contacts')) as { n: number }[];
    const [its] = (await sql(other, 'SELECT count(*) AS n FROM contacts')) as { n: number }[];
    expect(own?.n).toBe(264);
    expect(its?.n).not.toBe(264);
    await ok(other, 'mirror forget --yes');
    expect(await sql(world, 'SELECT count(*) AS n FROM contacts')).toEqual([{ n: 264 }]);
  });

  test('a copy that was never made is exit 1 with the way to make it', async () => {
    const world = fresh();
    const ran = await svc(world, ['mirror', 'sql', 'SELECT 1']);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain('svc mirror pull');
    if (engine === 'sqlite') expect(readdirSync(world.folder)).not.toContain('state');
  });

  test('the schema names every table and its columns', async () => {
    const { stdout } = await ok(fresh(), 'mirror schema');
    for (const name of [
      'contacts',
      'list_members',
      'ticket_messages',
      'conversation_messages',
      'feedback',
      'changes',
    ]) {
      expect(stdout).toContain(`CREATE TABLE ${name} (`);
    }
    expect(stdout).toMatch(/CREATE TABLE list_members \(\s+"contacts_list_id" [a-zA-Z]+,\s+"contact_id"/u);
    expect(await json(await looked(), 'mirror status')).toHaveProperty('kinds');
  });
});

onBothEngines('mirror status on a terminal of 60 columns', ({ test, looked }) => {
  test('has room for every column', async () => {
    const { stdout } = await svc(await looked(), ['mirror', 'status'], { columns: 60, env: { NO_COLOR: '1' } });
    expect(stdout.split('\n')[0]?.split(/ {2,}/u)).toEqual(['Kind', 'Rows', 'Oldest read', 'Newest read', 'Complete']);
  });
});
