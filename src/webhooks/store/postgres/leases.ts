import type { Clock } from '../../../context.ts';
import type { Database } from '../../../database/postgres.ts';
import { rowsTaken, schemaName, writing } from './schema.ts';

const leaseMs = 15_000;
/** This instance lets go earlier than others may take: its clock and the database's do not run alike. */
const ownMs = 12_000;
const renewMs = 4_000;

const claim = {
  name: 'svc_claim',
  text: `INSERT INTO ${schemaName}.sinks AS s (name, holder, held_until)
VALUES ($1, $2, clock_timestamp() + interval '${leaseMs} milliseconds')
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
WHERE s.holder = excluded.holder OR s.held_until < clock_timestamp() RETURNING name`,
  lock: writing('sinks'),
};

/** Somebody else's, until it runs out: a moment ago it might still have been. */
const elsewhere = {
  text: `SELECT 1 AS one FROM ${schemaName}.sinks WHERE name = $1 AND holder <> $2 AND held_until > clock_timestamp() - interval '5 seconds'`,
};

const renewal = {
  name: 'svc_renew',
  text: `UPDATE ${schemaName}.sinks SET held_until = clock_timestamp() + interval '${leaseMs} milliseconds'
WHERE holder = $1 AND name = ANY($2::text[]) RETURNING name`,
  lock: writing('sinks'),
};

const giving = {
  text: `UPDATE ${schemaName}.sinks SET held_until = clock_timestamp() - interval '1 second' WHERE holder = $1 AND ($2::text IS NULL OR name = $2)`,
  lock: writing('sinks'),
};

/** Which sinks this instance has. Another one may have a sink once nobody renewed it for 15 seconds. */
export function createLeases(database: Database, holder: string, clock: Pick<Clock, 'ticks'>) {
  const leases = new Map<string, { readonly lost: AbortController; until: number }>();
  let renewedAt = clock.ticks();
  let renewing = false;
  const lose = (sink: string) => {
    leases.get(sink)?.lost.abort();
    leases.delete(sink);
  };
  const renew = async () => {
    const began = clock.ticks();
    const names = [...leases.keys()];
    const rows = await database.query({ ...renewal, values: [holder, names] });
    renewedAt = began;
    const kept = new Set(rows.map(({ name }) => name));
    for (const name of names) {
      const lease = leases.get(name);
      if (!kept.has(name)) lose(name);
      else if (lease) lease.until = began + ownMs;
    }
  };
  const timer = setInterval(() => {
    const now = clock.ticks();
    for (const [sink, { until }] of leases) if (now >= until) lose(sink);
    if (renewing || leases.size === 0 || now - renewedAt < renewMs) return;
    renewing = true;
    void renew()
      .catch(() => {})
      .finally(() => {
        renewing = false;
      });
  }, 500);
  timer.unref();
  return {
    /** Undefined while another instance has the sink. The signal fires when this one may not use it any more. */
    async hold(sink: string): Promise<AbortSignal | undefined> {
      const lease = leases.get(sink);
      const began = clock.ticks();
      if (lease && began < lease.until) return lease.lost.signal;
      if (lease) lose(sink);
      const [row] = await database.query({ ...claim, values: [sink, holder] });
      if (!row) {
        const [other] = await database.query({ ...elsewhere, values: [sink, holder] });
        if (!other) throw rowsTaken('sinks');
        return undefined;
      }
      const fresh = { lost: new AbortController(), until: began + ownMs };
      leases.set(sink, fresh);
      return fresh.lost.signal;
    },
    /** Gives one back. */
    async leave(sink: string): Promise<void> {
      if (!leases.has(sink)) return;
      lose(sink);
      await database.query({ ...giving, values: [holder, sink] });
    },
    /** Gives all of them back. */
    async release(): Promise<void> {
      clearInterval(timer);
      for (const sink of [...leases.keys()]) lose(sink);
      await database.query({ ...giving, values: [holder, null] });
    },
  };
}
