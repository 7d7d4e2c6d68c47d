import type { Clock } from '../../context.ts';
import { byteaArray } from '../../database/binary.ts';
import { type Database, openDatabase } from '../../database/postgres.ts';
import { createIntake } from './intake.ts';
import type { Keeper, Settled, Waiting } from './keeper.ts';
import { createLeases } from './leases.ts';
import { arrivalIn, keyOf, type Row } from './rows.ts';
import { prepareSchema, schemaName } from './schema.ts';

type Env = Readonly<Record<string, string | undefined>>;

export type PostgresOpening = {
  readonly url: string;
  readonly env: Env;
  readonly clock: Pick<Clock, 'ticks'>;
  /** Of this instance alone. */
  readonly holder: string;
  readonly limit: number;
};

/**
 * Nothing is found in a schema in which others may make functions: one that fits better is called in place of the server's. What
 * is written is on disk when the database says so, and each statement sees what was there as it began, whatever its
 * defaults. Every statement of many rows finds them by an index: the plan of a young inbox, of which the database has
 * counted nothing, would read all of a table for each event until it is counted.
 */
const setUp = `SET search_path = pg_catalog, pg_temp; SET synchronous_commit = on; SET default_transaction_isolation = 'read committed'; SET TIME ZONE 'UTC';
SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off`;

export const openHooks = ({ url, env }: Pick<PostgresOpening, 'url' | 'env'>): Promise<Database> =>
  openDatabase({
    url,
    env,
    setUp,
    application: 'svc webhooks',
    passwordHint: 'Give the password in PGPASSWORD, in .pgpass, or in the URL of inbox:.',
  });

/**
 * The inbox in Postgres, for any number of instances. A delivery gets its place when it is stored, so what was answered
 * before another delivery came has the lower one: that is the order of each sink.
 */
export async function openPostgres(opening: PostgresOpening): Promise<Keeper> {
  const { clock, holder, limit } = opening;
  // The sinks' questions must not hold up what comes in.
  const [incoming, work] = [await openHooks(opening), await openHooks(opening)];
  let preparing: Promise<void> | undefined;
  const prepared = () => {
    preparing ??= prepareSchema(work).catch((error) => {
      preparing = undefined;
      throw error;
    });
    return preparing;
  };
  const intake = createIntake(incoming, prepared);
  const leases = createLeases(work, holder, clock);
  return {
    place: work.place,
    isShared: true,
    // Each sink is held by itself.
    lost: new AbortController().signal,
    has: intake.has,
    add: intake.add,
    async take(sink, most) {
      await prepared();
      const held = await leases.hold(sink);
      if (!held) return undefined;
      const rows = await work.query({ ...taking, values: [sink, most] });
      return { waiting: rows.map(waitingIn), held, mayDeliver: () => !held.aborted };
    },
    async settle(sink, settled) {
      await work.query({ ...settling, values: columnsOf(sink, settled) });
    },
    leave: leases.leave,
    async counts() {
      await prepared();
      const rows = await work.query(counting);
      return new Map(
        rows.map(({ sink, waiting, dead }) => [String(sink), { waiting: Number(waiting), dead: Number(dead) }]),
      );
    },
    async probe() {
      await prepared();
      await incoming.query({ text: `UPDATE ${schemaName}.version SET version = version` });
    },
    async trim() {
      await prepared();
      await work.query({ ...trimming, values: [limit] });
    },
    async close() {
      // What cannot be given back runs out by itself.
      await leases.release().catch(() => {});
      await Promise.all([incoming.close(), work.close()]);
    },
  };
}

const taking = {
  name: 'svc_take',
  text: `SELECT i.about, i.body, d.tries, d.since FROM ${schemaName}.deliveries d
JOIN ${schemaName}.inbox i ON i.place = d.event
WHERE d.sink = $1 AND d.state = 'waiting' ORDER BY d.place LIMIT $2`,
};

// From each outcome to its delivery by the keys of both tables: with one sink for all of them, or with its state plain,
// a plan might begin at everything that waits for the sink, for each outcome once more.
const settling = {
  name: 'svc_settle',
  text: `UPDATE ${schemaName}.deliveries d SET state = s.state, tries = s.tries, outcome = s.outcome
FROM unnest($1::bytea[], $2::text[], $3::text[], $4::integer[], $5::bytea[]) AS s(key, sink, state, tries, outcome)
JOIN ${schemaName}.inbox i ON i.key = s.key
WHERE d.event = i.place AND d.sink = s.sink AND d.state || '' = 'waiting'`,
};

const counting = {
  name: 'svc_count',
  text: `SELECT sink, count(*) FILTER (WHERE state = 'waiting') AS waiting, count(*) FILTER (WHERE state = 'dead') AS dead
FROM ${schemaName}.deliveries WHERE state IN ('waiting', 'dead') GROUP BY sink`,
};

/** A part at a time, so that nothing waits for long. */
const trimming = {
  text: `WITH old AS (SELECT i.place FROM ${schemaName}.inbox i
WHERE i.place <= (SELECT place FROM ${schemaName}.inbox ORDER BY place DESC OFFSET $1 LIMIT 1) AND NOT i.is_rebuilt
AND NOT EXISTS (SELECT 1 FROM ${schemaName}.deliveries d WHERE d.event = i.place AND d.state IN ('waiting', 'dead'))
ORDER BY i.place LIMIT 5000),
gone AS (DELETE FROM ${schemaName}.deliveries d USING old WHERE d.event = old.place)
DELETE FROM ${schemaName}.inbox i USING old WHERE i.place = old.place`,
};

function columnsOf(sink: string, settled: readonly Settled[]): unknown[] {
  return [
    byteaArray(settled.map(({ id }) => keyOf(id))),
    settled.map(() => sink),
    settled.map(({ outcome: { state } }) => (state === 'failed' ? 'waiting' : state)),
    settled.map(({ outcome }) => outcome.tries),
    byteaArray(settled.map(({ outcome }) => Buffer.from(JSON.stringify(outcome)))),
  ];
}

const waitingIn = (row: Row): Waiting => ({
  arrival: arrivalIn(row),
  tries: Number(row.tries),
  since: String(row.since),
});
