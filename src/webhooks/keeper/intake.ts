import type { Database } from '../../database/postgres.ts';
import { type Arrival, isRebuilt } from '../inbox/line.ts';
import type { Added, Keeper } from './keeper.ts';
import { keyOf, rowOf } from './rows.ts';
import { schemaName } from './schema.ts';

type Adding = {
  readonly arrival: Arrival;
  readonly done: (added: Added) => void;
  readonly failed: (error: unknown) => void;
};

/** The most in one statement, and their bytes. */
const most = 500;
const mostBytes = 8 * 1024 * 1024;
/** How many ids are remembered, so that most repeats cost no question. */
const remembered = 10_000;

/** What comes while the database is busy goes to it together: one statement, one commit. */
export function createIntake(database: Database, prepared: () => Promise<void>): Pick<Keeper, 'has' | 'add'> {
  const queue: Adding[] = [];
  const known = new Set<string>();
  let working = false;
  const remember = (id: string) => {
    if (id.length > 200) return;
    known.add(id);
    for (const oldest of known) {
      if (known.size <= remembered) break;
      known.delete(oldest);
    }
  };
  const work = async () => {
    working = true;
    // What comes in the same turn of the event loop goes together.
    await new Promise((resolve) => setImmediate(resolve));
    for (let batch = batchOf(queue); batch.length > 0; batch = batchOf(queue)) {
      try {
        await prepared();
        const stored = await store(database, batch);
        for (const { arrival, done } of batch) {
          const key = keyOf(arrival.id).toString('hex');
          remember(arrival.id);
          // The second of two in one batch is a repeat.
          done(stored.delete(key) ? 'stored' : 'repeat');
        }
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    working = false;
  };
  return {
    has: (id) => known.has(id),
    add: (arrival) =>
      new Promise((done, failed) => {
        queue.push({ arrival, done, failed });
        if (!working) void work();
      }),
  };
}

function batchOf(queue: Adding[]): Adding[] {
  let bytes = 0;
  let count = 0;
  for (const { arrival } of queue) {
    bytes += arrival.body.length;
    // The statement does not see its own rows: one of each kind for the same record would both be stored.
    if (isRebuilt(arrival.id) !== isRebuilt(queue[0]?.arrival.id ?? '')) break;
    if (count >= most || (count > 0 && bytes > mostBytes)) break;
    count++;
  }
  return queue.splice(0, count);
}

const storing = {
  name: 'svc_store',
  // Places follow the order of arrival. Rows go in by key: two instances with the same ids in another order would
  // otherwise each hold an id that the other waits for. A live event that was rebuilt already is a repeat, and the other
  // way round; no record is rebuilt before the service has given up on it, so the two never come at the same time.
  text: `WITH given AS (
  SELECT nextval('${schemaName}.places') AS place, g.*
  FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::text[], $5::boolean[]) AS g(key, about, body, record, is_rebuilt)
), fresh AS (
  INSERT INTO ${schemaName}.inbox (place, key, about, body, record, is_rebuilt)
  SELECT place, key, about, body, record, is_rebuilt FROM given WHERE NOT EXISTS (
    SELECT 1 FROM ${schemaName}.inbox i WHERE i.record = given.record AND i.is_rebuilt <> given.is_rebuilt
  ) ORDER BY key, place
  ON CONFLICT (key) DO NOTHING RETURNING place, key
), queued AS (
  INSERT INTO ${schemaName}.deliveries (event, sink, place, since)
  SELECT fresh.place, s.sink, fresh.place, s.since
  FROM unnest($6::bytea[], $7::text[], $8::text[]) AS s(key, sink, since) JOIN fresh ON fresh.key = s.key
  ON CONFLICT DO NOTHING
)
SELECT encode(key, 'hex') AS key FROM fresh`,
};

/** The keys of those that were not there before. */
async function store(database: Database, batch: readonly Adding[]): Promise<Set<string>> {
  const rows = batch.map(({ arrival }) => ({ key: keyOf(arrival.id), ...rowOf(arrival) }));
  const queued = batch.flatMap(({ arrival: { sinks = [], at } }, index) =>
    sinks.map((sink) => ({ key: rows[index]?.key, sink, at })),
  );
  const stored = await database.query({
    ...storing,
    values: [
      rows.map(({ key }) => key),
      rows.map(({ about }) => about),
      rows.map(({ body }) => body),
      rows.map(({ record }) => record),
      rows.map(({ isRebuilt }) => isRebuilt),
      queued.map(({ key }) => key),
      queued.map(({ sink }) => sink),
      queued.map(({ at }) => at),
    ],
  });
  return new Set(stored.map(({ key }) => String(key)));
}
