import { setTimeout as sleep } from 'node:timers/promises';
import { byteaArray } from '../../../database/binary.ts';
import type { Database } from '../../../database/postgres.ts';
import { codeOf } from '../../../errors.ts';
import type { Fields } from '../../../text/record.ts';
import { type Arrival, isRebuilt } from '../line.ts';
import { keyOf, rowOf } from './rows.ts';
import { lockOf, rowsTaken, schemaName, writing } from './schema.ts';

/** The columns of a batch, as parameters or as literals. */
type Columns = readonly [
  key: readonly Buffer[],
  about: readonly Buffer[],
  body: readonly Buffer[],
  record: readonly (string | null)[],
  isRebuilt: readonly boolean[],
  queuedKey: readonly Buffer[],
  sink: readonly string[],
  since: readonly string[],
];

const types = ['bytea', 'bytea', 'bytea', 'text', 'boolean', 'bytea', 'text', 'text'];

// Places follow the order of arrival. Rows go in by key: two instances with the same ids in another order would
// otherwise each hold an id that the other waits for. A live event that was rebuilt already is a repeat, and the other
// way round; without a collation of its own, a literal would find its record by reading the whole table.
const storing = (column: (at: number) => string) => {
  const [key, about, body, record, rebuilt, queuedKey, sink, since] = types.map(
    (type, at) => `${column(at)}::${type}[]`,
  );
  return `WITH given AS (
  SELECT nextval('${schemaName}.places'::regclass) AS place, g.*
  FROM unnest(${key}, ${about}, ${body}, ${record}, ${rebuilt}) AS g(key, about, body, record, is_rebuilt)
), fresh AS (
  INSERT INTO ${schemaName}.inbox (place, key, about, body, record, is_rebuilt)
  SELECT place, key, about, body, record, is_rebuilt FROM given WHERE NOT EXISTS (
    SELECT 1 FROM ${schemaName}.inbox i WHERE i.record = given.record COLLATE "default" AND i.is_rebuilt <> given.is_rebuilt
  ) ORDER BY key, place
  ON CONFLICT (key) DO NOTHING RETURNING place, key
), queued AS (
  INSERT INTO ${schemaName}.deliveries (event, sink, place, since)
  SELECT fresh.place, s.sink, fresh.place, s.since
  FROM unnest(${queuedKey}, ${sink}, ${since}) AS s(key, sink, since) JOIN fresh ON fresh.key = s.key
  ON CONFLICT DO NOTHING RETURNING 1
)
SELECT encode(key, 'hex') AS key, (SELECT count(*) FROM queued) AS queued FROM fresh`;
};

const live = { name: 'svc_store', text: storing((at) => `$${at + 1}`), lock: writing('inbox', 'deliveries') };

/**
 * All of the batch came live, or all were rebuilt. By their keys in hexadecimal: those that were not there before, and those
 * that were. What is in neither is not stored.
 */
export async function store(database: Database, batch: readonly Arrival[]) {
  const rows = batch.map((arrival) => ({ key: keyOf(arrival.id), ...rowOf(arrival) }));
  const queued = batch.flatMap(({ sinks = [], at }, index) =>
    sinks.map((sink) => ({ key: rows[index]?.key ?? Buffer.alloc(0), sink, at })),
  );
  const columns: Columns = [
    rows.map(({ key }) => key),
    rows.map(({ about }) => about),
    rows.map(({ body }) => body),
    rows.map(({ record }) => record),
    rows.map((row) => row.isRebuilt),
    queued.map(({ key }) => key),
    queued.map(({ sink }) => sink),
    queued.map(({ at }) => at),
  ];
  const isLive = !isRebuilt(batch[0]?.id ?? '');
  const check = (stored: readonly Fields[]) => {
    const keys = new Set(stored.map(({ key }) => String(key)));
    const pairs = queued.map(({ key, sink }) => `${key.toString('hex')} ${sink}`);
    const due = new Set(pairs.filter((pair) => keys.has(pair.slice(0, pair.indexOf(' ')))));
    if (stored.length > 0 && Number(stored[0]?.queued) !== due.size) throw rowsTaken('deliveries');
  };
  const stored = isLive
    ? await database.query({ ...live, values: parametersOf(columns), check })
    : await alone(database, columns, check);
  const fresh = new Set(stored.map(({ key }) => String(key)));
  const others = rows.filter(({ key }) => !fresh.has(key.toString('hex')));
  return { fresh, there: others.length === 0 ? new Set<string>() : await thoseThere(database, others) };
}

/** Nothing is a repeat that does not stand there: a trigger that takes a row away, or a policy that hides it, looks the same. */
async function thoseThere(database: Database, others: readonly Stamp[]): Promise<Set<string>> {
  const found = await database.query({
    text: `SELECT encode(g.key, 'hex') AS key FROM unnest($1::bytea[], $2::text[], $3::boolean[]) AS g(key, record, is_rebuilt)
WHERE EXISTS (SELECT 1 FROM ${schemaName}.inbox i WHERE i.key = g.key)
OR EXISTS (SELECT 1 FROM ${schemaName}.inbox i WHERE i.record = g.record COLLATE "default" AND i.is_rebuilt <> g.is_rebuilt)`,
    values: [
      byteaArray(others.map(({ key }) => key)),
      others.map(({ record }) => record),
      others.map(({ isRebuilt: rebuilt }) => rebuilt),
    ],
  });
  return new Set(found.map(({ key }) => String(key)));
}

type Stamp = { readonly key: Buffer; readonly record: string | null; readonly isRebuilt: boolean };

function parametersOf([key, about, body, record, rebuilt, queuedKey, sink, since]: Columns): unknown[] {
  return [byteaArray(key), byteaArray(about), byteaArray(body), record, rebuilt, byteaArray(queuedKey), sink, since];
}

/** For so long what comes live waits at most, where somebody else holds the table. */
const lockMs = 2_000;
const triesAtMost = 5;

/**
 * A statement does not see what another one is storing at the same moment. So while rebuilt events are stored, no live
 * one is: this waits for those that are under way, and those that come wait for it. They take no lock of their own.
 */
async function alone(
  database: Database,
  columns: Columns,
  check: (stored: readonly Fields[]) => void,
): ReturnType<Database['query']> {
  const text = storing((at) => `ARRAY[${columns[at]?.map(literal).join(',')}]`);
  const mine = lockOf(['inbox'], 'SHARE ROW EXCLUSIVE');
  const lock = `SET LOCAL lock_timeout = ${lockMs}; ${mine}; ${writing('deliveries')}`;
  for (let tries = 1; ; tries++) {
    try {
      return await database.query({ text, lock, check });
    } catch (error) {
      const isLocked = error instanceof Error && codeOf(error.cause) === '55P03';
      if (!isLocked || tries >= triesAtMost) throw error;
      await sleep(lockMs / 2);
    }
  }
}

/** In hexadecimal, so that no setting of the server and no character of a text means anything. */
function literal(value: Buffer | string | boolean | null): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return `convert_from(${literal(Buffer.from(value))}, 'UTF8')`;
  return `decode('${value.toString('hex')}', 'hex')`;
}
