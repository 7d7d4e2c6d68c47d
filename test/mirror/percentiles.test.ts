// median(x), percentile(x, p) and --file of mirror sql, the same in every database.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { fc } from '../chance.ts';
import { svc } from '../svc.ts';
import { json, ok, onBothEngines, sql } from './engines.ts';

/** Beside SQLite's own words (https://sqlite.org/percentile.html), and independent of what svc does. */
function percentileOf(values: readonly number[], p: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const place = (p / 100) * (sorted.length - 1);
  const [low = 0, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place % 1);
}

/** Typed, for a column of nothing but NULL would be a text in PostgreSQL. */
const rowsOf = (pairs: readonly (readonly [group: number, x: number | null])[]): string =>
  `(VALUES ${pairs.map(([group, x]) => `(${group}, CAST(${x ?? 'NULL'} AS double precision))`).join(', ')})`;

onBothEngines('median and percentile in mirror sql', ({ test, pulled, looked, engine, server }) => {
  /** Both databases call the columns of VALUES column1 and column2. */
  const ask = (query: string, rows: string) =>
    `WITH t AS (SELECT column1 AS g, column2 AS x FROM ${rows} AS v) ${query}`;

  test('are those of the values, group by group, without the empty ones', async () => {
    const world = await looked();
    const pair = fc.tuple(
      fc.integer({ min: 1, max: 4 }),
      fc.oneof(fc.integer({ min: -1e6, max: 1e6 }), fc.double({ noNaN: true, min: -1e9, max: 1e9 }), fc.constant(null)),
    );
    const samples = fc.sample(
      fc.tuple(fc.array(pair, { minLength: 1, maxLength: 60 }), fc.integer({ min: 0, max: 1000 })),
      8,
    );
    for (const [pairs, tenths] of samples) {
      const p = tenths / 10;
      const found: { g: number; m: number | null; q: number | null }[] = await sql(
        world,
        ask(`SELECT g, median(x) AS m, percentile(x, ${p}) AS q FROM t GROUP BY g ORDER BY g`, rowsOf(pairs)),
      );
      const groups = [...new Set(pairs.map(([group]) => group))].sort();
      expect(found.map(({ g }) => g)).toEqual(groups);
      for (const { g, m, q } of found) {
        const values = pairs.flatMap(([group, x]) => (group === g && x !== null ? [x] : []));
        for (const [name, value, expected] of [
          ['median', m, percentileOf(values, 50)],
          ['percentile', q, percentileOf(values, p)],
        ] as const) {
          if (expected === null) expect({ name, value }).toEqual({ name, value: null });
          else expect(Math.abs(Number(value) - expected)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(expected)));
        }
      }
    }
  });

  test('take no rows, a filter, different values once, whole numbers, and each other', async () => {
    const world = await looked();
    const rows = '(VALUES (1, 4), (1, 1), (1, 3), (1, 2), (2, 10), (2, 10), (2, 20))';
    expect(await sql(world, ask('SELECT median(x) AS m, percentile(x, 90) AS p FROM t WHERE x < 0', rows))).toEqual([
      { m: null, p: null },
    ]);
    expect(
      await sql(
        world,
        ask(
          'SELECT median(x) AS m, median(x) FILTER (WHERE x > 2) AS f, median(DISTINCT x) AS d, percentile(x, 0) AS least, ' +
            'percentile(x, 100) AS most, (SELECT median(x) FROM t u WHERE u.g = 2) AS other FROM t WHERE g = 1',
          rows,
        ),
      ),
    ).toEqual([{ m: 2.5, f: 3.5, d: 2.5, least: 1, most: 4, other: 10 }]);
    const nested = ask(
      'SELECT median(m) AS m FROM (SELECT g, median(x) AS m FROM t GROUP BY g) AS byGroup WHERE m > (SELECT percentile(x, 0) FROM t)',
      rows,
    );
    expect(await sql(world, nested)).toEqual([{ m: 6.25 }]);
  });

  test('refuse a p beyond 0 and 100, one that changes, and a value without end, exit 2', {
    tags: ['long'],
  }, async () => {
    const world = await looked();
    const failing = async (query: string, said: string) => {
      const ran = await svc(world, ['mirror', 'sql', query]);
      expect({ query, exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ query, exitCode: 2, stdout: '' });
      expect(ran.stderr).toContain(said);
    };
    const rows = '(VALUES (1, 4), (50, 1))';
    for (const p of ['100.5', '-1', 'NULL']) {
      await failing(ask(`SELECT percentile(x, ${p}) FROM t`, rows), 'percentile() is not between 0.0 and 100.0');
    }
    await failing(ask('SELECT percentile(x, g) FROM t', rows), 'percentile() is not the same for all input rows');
    const endless = engine === 'sqlite' ? '9e999' : "CAST('Infinity' AS double precision)";
    await failing(`SELECT median(${endless})`, 'Inf input to median()');
    await failing(`SELECT percentile(${endless}, 5)`, 'Inf input to percentile()');
    await failing('SELECT median(subject) FROM tickets', engine === 'sqlite' ? 'is not numeric' : 'median(text)');
  });

  test('a query that failed in the middle leaves nothing to the next one', { tags: ['long'] }, async () => {
    const world = await looked();
    const rows = '(VALUES (1, 100), (1, 200), (2, 300))';
    const failing = ask('SELECT percentile(x, CASE WHEN x > 250 THEN 101 ELSE 50 END) FROM t', rows);
    expect((await svc(world, ['mirror', 'sql', failing])).exitCode).toBe(2);
    expect(await sql(world, ask('SELECT percentile(x, 50) AS p FROM t', '(VALUES (1, 1))'))).toEqual([{ p: 1 }]);
  });

  test('are exact over thousands of values in several groups that come mixed', async () => {
    const world = await looked();
    const from =
      engine === 'sqlite'
        ? '(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n) AS n'
        : 'generate_series(1, 5000) AS n (i)';
    // Each value once, in no order.
    const x = '(i * 1777 % 5003) * 0.1';
    const found: { g: number; m: number; q: number; same: number; own: number }[] = await sql(
      world,
      `SELECT i % 3 AS g, median(${x}) AS m, percentile(${x}, 99.5) AS q, percentile(${x}, 50) AS same, ` +
        `percentile(CASE WHEN i < 1600 THEN ${x} END, 10) AS own FROM ${from} GROUP BY 1 ORDER BY 1`,
    );
    const all = Array.from({ length: 5000 }, (_, at) => at + 1);
    for (const { g, m, q, same, own } of found) {
      const of = (most: number) => all.flatMap((i) => (i % 3 === g && i < most ? [((i * 1777) % 5003) * 0.1] : []));
      expect(m).toBeCloseTo(percentileOf(of(9999), 50) ?? 0, 9);
      expect(q).toBeCloseTo(percentileOf(of(9999), 99.5) ?? 0, 9);
      expect(same).toBe(m);
      expect(own).toBeCloseTo(percentileOf(of(1600), 10) ?? 0, 9);
    }
    expect(found).toHaveLength(3);
  });

  test('tell how long a first answer takes', async () => {
    const world = await looked();
    const hours =
      engine === 'sqlite'
        ? '(julianday(first_response_at) - julianday(created_at)) * 24'
        : 'extract(epoch FROM first_response_at - created_at) / 3600';
    const rows: { created_at: string; first_response_at: string | null }[] = await sql(
      world,
      'SELECT created_at, first_response_at FROM tickets',
    );
    const waits = rows.flatMap(({ created_at: from, first_response_at: to }) =>
      to === null ? [] : [(Date.parse(to) - Date.parse(from)) / 3_600_000],
    );
    expect(waits.length).toBeGreaterThan(10);
    const [found]: { m: number; p: number }[] = await sql(
      world,
      `SELECT median(${hours}) AS m, percentile(${hours}, 90) AS p FROM tickets`,
    );
    expect(found?.m).toBeCloseTo(percentileOf(waits, 50) ?? 0, 4);
    expect(found?.p).toBeCloseTo(percentileOf(waits, 90) ?? 0, 4);
  });

  const onServer = engine === 'postgres' ? test : undefined;
  onServer?.('of intervals are intervals, and print as durations', async () => {
    const world = await looked();
    const query =
      "SELECT median(x) AS m, percentile(x, 25) AS p, max(x) AS most, interval '-90 seconds' AS back, interval '0' AS none " +
      "FROM (VALUES (interval '1 hour'), (interval '2 hours 30 minutes'), (interval '3 days 1.5 seconds'), (NULL)) AS t (x)";
    expect(await json(world, ['mirror', 'sql', query])).toEqual([
      { m: 'PT2H30M', p: 'PT1H45M', most: 'P3DT1.5S', back: 'PT-1M-30S', none: 'PT0S' },
    ]);
    expect(
      await json(world, [
        ...['mirror', 'sql'],
        "SELECT percentile(i * interval '1 minute', 90) AS p, median(i * interval '1 minute') AS m FROM generate_series(0, 2000) AS n (i)",
      ]),
    ).toEqual([{ p: 'PT30H', m: 'PT16H40M' }]);
    const shown = await ok(world, ['mirror', 'sql', query], { columns: 100 });
    expect(shown.stdout.split('\n')[1]?.split(/ {2,}/u)).toEqual([
      '2 h 30 min',
      '1 h 45 min',
      '3 d 1.5 s',
      '-1 min -30 s',
      '0 s',
    ]);
  });

  onServer?.('answer over a window too', async () => {
    const rows = '(VALUES (1, 1), (2, 2), (3, 9))';
    expect(await sql(await looked(), ask('SELECT g, median(x) OVER (ORDER BY g) AS m FROM t', rows))).toEqual([
      { g: 1, m: 1 },
      { g: 2, m: 1.5 },
      { g: 3, m: 2 },
    ]);
  });

  onServer?.(
    'are made by the next pull in a database of an older svc, and are there for a role that only reads',
    async () => {
      const world = await pulled();
      const database = new URL(String(world.env.SVC_MIRROR_DB)).pathname.slice(1);
      const run = (text: string) => server().sql(database, text);
      run(
        "UPDATE svc_mirror.svc_schema SET columns = 'older'; DROP AGGREGATE svc_mirror.median(double precision), svc_mirror.median(interval)",
      );
      await ok(world, 'mirror pull --only lists');
      const reader = `${database}_reader`;
      run(`CREATE ROLE ${reader} LOGIN; GRANT USAGE ON SCHEMA svc_mirror TO ${reader};
      GRANT SELECT ON ALL TABLES IN SCHEMA svc_mirror TO ${reader}`);
      const asReader = { ...world, env: { ...world.env, SVC_MIRROR_DB: server().url(database, reader) } };
      expect(await sql(asReader, 'SELECT median(id) AS m FROM tickets WHERE id < 4')).toEqual([{ m: 2 }]);
    },
  );

  onServer?.('are gone with the last account, and so is the schema', async () => {
    const world = await pulled();
    const database = new URL(String(world.env.SVC_MIRROR_DB)).pathname.slice(1);
    await ok(world, 'mirror forget --yes');
    expect(server().sql(database, "SELECT to_regnamespace('svc_mirror') IS NULL").trim()).toBe('t');
  });
});

onBothEngines('mirror sql --file', ({ test, once, looked }) => {
  test('reads the query from a file, with or without a byte order mark', async () => {
    const world = await looked();
    const file = join(world.folder, 'question.sql');
    for (const mark of ['', '\uFEFF']) {
      writeFileSync(file, `${mark}-- The first one\nSELECT id FROM tickets\nORDER BY id LIMIT 1;\n`);
      expect(await json(world, ['mirror', 'sql', '--file', file])).toEqual([{ id: 1 }]);
    }
  });

  once('is exit 2 beside a query, without its file, of an empty one, and of one in another encoding', async () => {
    const world = await looked();
    const file = join(world.folder, 'another.sql');
    const refused = async (args: readonly string[], said: string) => {
      const ran = await svc(world, ['mirror', 'sql', ...args]);
      expect({ args, exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ args, exitCode: 2, stdout: '' });
      expect(ran.stderr).toContain(said);
    };
    await refused(['--file', file], 'there is no file');
    writeFileSync(file, ' \n');
    await refused(['--file', file], 'The query is empty.');
    await refused(['SELECT 1', '--file', file], 'not both');
    writeFileSync(file, Buffer.from([0x53, 0xff, 0xfe]));
    await refused(['--file', file], 'is not UTF-8 text');
    writeFileSync(file, 'DELETE FROM tickets');
    await refused(['--file', file], 'can be asked, not changed');
  });
});
