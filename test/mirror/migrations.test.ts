// @module-tag long
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'vitest';
import { svc } from '../svc.ts';
import { ok, onBothEngines, sql } from './engines.ts';

// A copy as an older or a newer svc left it, opened by this one.

onBothEngines('a copy of another version', ({ test, world: fresh, engine, server }) => {
  type World = ReturnType<typeof fresh>;
  const databaseOf = (one: World) => new URL(String(one.env.SVC_MIRROR_DB)).pathname.slice(1);
  /** What the last statement answers, as text. */
  const change = (one: World, ...statements: string[]): string => {
    if (engine === 'postgres')
      return server().sql(databaseOf(one), `SET search_path TO svc_mirror; ${statements.join('; ')}`);
    const { Database } = createRequire(import.meta.url)('node-sqlite3-wasm') as typeof import('node-sqlite3-wasm');
    const database = new Database(join(one.folder, 'state', 'mirror.db'));
    // Alone it can also read what Node's own SQLite wrote.
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    for (const text of statements.slice(0, -1)) database.exec(text);
    const rows = database.all(statements.at(-1) ?? '');
    database.close();
    return JSON.stringify(rows);
  };
  /** The tables, columns and indexes that stand in the copy. */
  const shape = (one: World): string =>
    change(
      one,
      engine === 'sqlite'
        ? 'SELECT t.name, c.name AS part FROM sqlite_schema t LEFT JOIN pragma_table_info(t.name) c ORDER BY 1, 2'
        : "SELECT table_name || column_name FROM information_schema.columns WHERE table_schema = 'svc_mirror' UNION ALL " +
            "SELECT indexdef FROM pg_indexes WHERE schemaname = 'svc_mirror' ORDER BY 1",
    );
  const kept = (one: World) => sql(one, 'SELECT contact_id, email, first_seen_at FROM contacts ORDER BY contact_id');

  // What the first copies had otherwise.
  const version0 = [
    'DROP INDEX contacts_email',
    'DROP INDEX contacts_email_key',
    'CREATE INDEX contacts_email ON contacts (service, account_id, email_key)',
    'ALTER TABLE svc_schema DROP COLUMN columns',
    'SELECT version FROM svc_schema',
  ];

  test('of version 0 is brought up, with every row', async () => {
    const one = fresh();
    await ok(one, 'mirror pull --only contacts');
    const [rows, made] = [await kept(one), shape(one)];
    change(one, ...version0);
    expect(shape(one)).not.toBe(made);
    expect(await kept(one)).toEqual(rows);
    expect(shape(one)).toBe(made);
    await ok(one, 'mirror pull --only contacts');
  });

  test('of version 0 is brought up once where two come at once', async () => {
    const one = fresh();
    await ok(one, 'mirror pull --only contacts');
    const [rows, made] = [await kept(one), shape(one)];
    change(one, ...version0);
    expect(await Promise.all([kept(one), kept(one)])).toEqual([rows, rows]);
    expect(shape(one)).toBe(made);
  });

  test('that cannot be brought up stays as it was, and is brought up when it can be', async () => {
    const one = fresh();
    await ok(one, 'mirror pull --only contacts');
    const rows = await kept(one);
    // The step makes an index of that name after it has changed svc_schema.
    change(one, ...version0.slice(0, -1), 'CREATE TABLE contacts_email_key (id integer)', 'SELECT 1');
    const before = shape(one);
    expect((await svc(one, ['mirror', 'sql', 'SELECT 1'])).exitCode).not.toBe(0);
    expect(shape(one)).toBe(before);
    change(one, 'DROP TABLE contacts_email_key', 'SELECT 1');
    expect(await kept(one)).toEqual(rows);
  });

  test('of an svc that knew fewer kinds gets their tables, and the next pull fills them', async () => {
    const one = fresh();
    await ok(one, 'mirror pull --only contacts,feedback');
    const feedback = 'SELECT id, title, content FROM feedback ORDER BY id';
    const [rows, posts, made] = [await kept(one), await sql(one, feedback), shape(one)];
    const words = engine === 'sqlite' ? ['DROP TABLE feedback_words'] : [];
    const older = [
      "DELETE FROM svc_kinds WHERE kind = 'feedback'",
      "UPDATE svc_schema SET columns = 'older'",
      'SELECT 1',
    ];
    change(one, 'DROP TABLE feedback', ...words, ...older);
    expect(await sql(one, feedback)).toEqual([]);
    expect(shape(one)).toBe(made);
    expect(await kept(one)).toEqual(rows);
    await ok(one, 'mirror pull --only feedback');
    expect(await sql(one, feedback)).toEqual(posts);
    expect(posts).not.toEqual([]);
  });

  test('of a newer svc is refused, and not touched', async () => {
    const one = fresh();
    await ok(one, 'mirror pull --only lists');
    change(one, "UPDATE svc_schema SET version = 99, columns = 'newer'", 'DROP TABLE feedback', 'SELECT 1');
    const before = shape(one);
    const ran = await svc(one, ['mirror', 'pull']);
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining('newer svc')]);
    expect(shape(one)).toBe(before);
    expect(change(one, 'SELECT version, columns FROM svc_schema')).toContain('newer');
  });
});
