import { setTimeout as sleep } from 'node:timers/promises';
import { byteaArray } from '../../database/binary.ts';
import type { Database } from '../../database/postgres.ts';
import { codeOf } from '../../errors.ts';
import { type Arrival, isRebuilt } from '../inbox/line.ts';
import { keyOf, rowOf } from './rows.ts';
import { schemaName } from './schema.ts';

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
  ON CONFLICT DO NOTHING
)
SELECT encode(key, 'hex') AS key FROM fresh`;
};

const live = { name: 'svc_store', text: storing((at) => `$${at + 1}`) };

/** The keys of those that were not there before. All of the batch came live, or all were rebuilt. */
export async function store(database: Database, batch: readonly Arrival[]): Promise<Set<string>> {
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
  const stored = isLive
    ? await database.query({ ...live, values: parametersOf(columns) })
    : await alone(database, columns);
  return new Set(stored.map(({ key }) => String(key)));
}

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
async function alone(database: Database, columns: Columns): ReturnType<Database['query']> {
  const text = `SET LOCAL lock_timeout = ${lockMs};
LOCK TABLE ${schemaName}.inbox IN SHARE ROW EXCLUSIVE MODE;
${storing((at) => `ARRAY[${columns[at]?.map(literal).join(',')}]`)}`;
  for (let tries = 1; ; tries++) {
    try {
      return await database.query({ text });
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
