import type { Clock } from '../../../context.ts';
import { byteaArray } from '../../../database/binary.ts';
import { openOwn } from '../../../database/own-schema.ts';
import type { Database } from '../../../database/postgres.ts';
import type { Env } from '../../../env.ts';
import { onceDone } from '../../../promise/once.ts';
import type { Fields } from '../../../text/record.ts';
import type { InboxStore, Settled, Waiting } from '../inbox-store.ts';
import { createIntake } from './intake.ts';
import { createLeases } from './leases.ts';
import { arrivalIn, keyOf } from './rows.ts';
import { ownSchema, prepareSchema, rowsTaken, schemaName, writing } from './schema.ts';

export type PostgresOpening = {
  readonly url: string;
  readonly env: Env;
  readonly clock: Pick<Clock, 'ticks'>;
  /** Of this instance alone. */
  readonly holder: string;
  readonly limit: number;
};

/**
 * Every statement of many rows finds them by an index: the plan of a young inbox, of which the database has counted
 * nothing, would read all of a table for each event until it is counted.
 */
const settings = [
  'row_security = on',
  'plan_cache_mode = force_generic_plan',
  'enable_seqscan = off',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
];

export const openHooks = ({ url, env }: Pick<PostgresOpening, 'url' | 'env'>): Promise<Database> =>
  openOwn(ownSchema, {
    url,
    env,
    settings,
    application: 'svc webhooks',
    passwordHint: 'Give the password in PGPASSWORD, in .pgpass, or in the URL of inbox:.',
  });

/**
 * The inbox in Postgres, for any number of instances. A delivery gets its place when it is stored, so what was answered
 * before another delivery came has the lower one: that is the order of each sink.
 */
export async function openPostgres(opening: PostgresOpening): Promise<InboxStore> {
  const { clock, holder, limit } = opening;
  // The sinks' questions must not hold up what comes in.
  const [incoming, work] = [await openHooks(opening), await openHooks(opening)];
  const prepared = onceDone(() => prepareSchema(work));
  const intake = createIntake(incoming, prepared);
  const leases = createLeases(work, holder, clock);
  return {
    place: work.place,
    isShared: true,
    // Each sink is held by itself.
    lost: new AbortController().signal,
    has: intake.has,
    add: intake.add,
    async take(sink, most, except = new Set()) {
      await prepared();
      const held = await leases.hold(sink);
      if (!held) return undefined;
      const known = byteaArray([...except].map(keyOf));
      const rows = await work.query(
        except.size === 0 ? { ...taking, values: [sink, most] } : { ...takingOthers, values: [sink, most, known] },
      );
      return { waiting: rows.map(waitingIn), held, mayDeliver: () => !held.aborted };
    },
    async settle(sink, settled) {
      const done = await work.query({ ...settling, values: columnsOf(sink, settled) });
      if (done.length === settled.length) return;
      // What somebody else settled or gave up meanwhile waits no more.
      const keys = new Set(done.map(({ key }) => String(key)));
      const missed = settled.map(({ id }) => keyOf(id)).filter((key) => !keys.has(key.toString('hex')));
      const [left] = await work.query({ ...stillWaiting, values: [sink, byteaArray(missed)] });
      if (left) throw rowsTaken('deliveries');
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
      const text = `UPDATE ${schemaName}.version SET version = version RETURNING 1 AS one`;
      // The tables of what comes in are looked at too.
      const [one] = await incoming.query({ text, lock: writing('version', 'inbox', 'deliveries') });
      if (!one) throw rowsTaken('version');
    },
    async trim() {
      await prepared();
      const gone = await work.query({ ...trimming, values: [limit] });
      if (gone.length === 0) return;
      const [left] = await work.query({ ...stillThere, values: [gone.map(({ place }) => place)] });
      if (left) throw rowsTaken('inbox');
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

/** Without those that are known: looked up in a table of digests that the server makes once for the question. */
const takingOthers = {
  name: 'svc_take_others',
  text: `SELECT i.about, i.body, d.tries, d.since FROM ${schemaName}.deliveries d
JOIN ${schemaName}.inbox i ON i.place = d.event
WHERE d.sink = $1 AND d.state = 'waiting' AND i.key NOT IN (SELECT unnest($3::bytea[])) ORDER BY d.place LIMIT $2`,
};

// From each outcome to its delivery by the keys of both tables: with one sink for all of them, or with its state plain,
// a plan might begin at everything that waits for the sink, for each outcome once more.
const settling = {
  name: 'svc_settle',
  text: `UPDATE ${schemaName}.deliveries d SET state = s.state, tries = s.tries, outcome = s.outcome
FROM unnest($1::bytea[], $2::text[], $3::text[], $4::integer[], $5::bytea[]) AS s(key, sink, state, tries, outcome)
JOIN ${schemaName}.inbox i ON i.key = s.key
WHERE d.event = i.place AND d.sink = s.sink AND d.state || '' = 'waiting' RETURNING encode(s.key, 'hex') AS key`,
  lock: writing('deliveries'),
};

const stillWaiting = {
  text: `SELECT 1 AS one FROM unnest($2::bytea[]) AS s(key) JOIN ${schemaName}.inbox i ON i.key = s.key
JOIN ${schemaName}.deliveries d ON d.event = i.place AND d.sink = $1 WHERE d.state || '' = 'waiting' LIMIT 1`,
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
gone AS (DELETE FROM ${schemaName}.deliveries d USING old WHERE d.event = old.place),
done AS (DELETE FROM ${schemaName}.inbox i USING old WHERE i.place = old.place RETURNING i.place)
SELECT place FROM old WHERE place NOT IN (SELECT place FROM done)`,
  lock: writing('inbox', 'deliveries'),
};

/** Another instance may have deleted them at the same moment. */
const stillThere = { text: `SELECT 1 AS one FROM ${schemaName}.inbox WHERE place = ANY ($1::bigint[]) LIMIT 1` };

function columnsOf(sink: string, settled: readonly Settled[]): unknown[] {
  return [
    byteaArray(settled.map(({ id }) => keyOf(id))),
    settled.map(() => sink),
    settled.map(({ outcome: { state } }) => (state === 'failed' ? 'waiting' : state)),
    settled.map(({ outcome }) => outcome.tries),
    byteaArray(settled.map(({ outcome }) => Buffer.from(JSON.stringify(outcome)))),
  ];
}

const waitingIn = (row: Fields): Waiting => ({
  arrival: arrivalIn(row),
  tries: Number(row.tries),
  since: String(row.since),
});
