import type { Database } from '../../../database/postgres.ts';
import { type OwnSchema, requireTrusted } from '../../../database/trust.ts';
import { Failure } from '../../../errors.ts';

/** Where the inbox lives among the tables of others. */
export const schemaName = 'svc_webhooks';

/** Raised with each change that an older svc could not work with. */
const version = 1;

/**
 * Ids may be of any length and hold any character, so the key is their digest, and what was received is stored as
 * bytes: then the database's encoding does not matter.
 */
const statements = `
SELECT pg_advisory_xact_lock(7379632);
CREATE SCHEMA IF NOT EXISTS ${schemaName};
CREATE SEQUENCE IF NOT EXISTS ${schemaName}.places;
CREATE TABLE IF NOT EXISTS ${schemaName}.inbox (
  place bigint PRIMARY KEY DEFAULT nextval('${schemaName}.places'::regclass),
  key bytea NOT NULL UNIQUE,
  about bytea NOT NULL,
  body bytea NOT NULL,
  record text,
  is_rebuilt boolean NOT NULL,
  stored_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS inbox_record ON ${schemaName}.inbox (record);
CREATE TABLE IF NOT EXISTS ${schemaName}.deliveries (
  event bigint NOT NULL,
  sink text NOT NULL,
  place bigint NOT NULL,
  state text NOT NULL DEFAULT 'waiting',
  tries integer NOT NULL DEFAULT 0,
  since text NOT NULL,
  outcome bytea,
  PRIMARY KEY (event, sink)
);
CREATE INDEX IF NOT EXISTS deliveries_waiting ON ${schemaName}.deliveries (sink, place) WHERE state = 'waiting';
CREATE INDEX IF NOT EXISTS deliveries_dead ON ${schemaName}.deliveries (sink, place) WHERE state = 'dead';
CREATE TABLE IF NOT EXISTS ${schemaName}.sinks (
  name text PRIMARY KEY,
  holder text NOT NULL,
  held_until timestamptz NOT NULL
);
CREATE TABLE IF NOT EXISTS ${schemaName}.version (is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one), version integer NOT NULL);
`;

const first = `INSERT INTO ${schemaName}.version (version) VALUES (${version}) ON CONFLICT DO NOTHING`;

export const ownSchema: OwnSchema = {
  schema: schemaName,
  tables: ['inbox', 'deliveries', 'sinks', 'version', 'searches'],
};

/** The lock under which tables are written: nobody adds a trigger or a foreign key to them, and other instances write too. */
export const writing = (...tables: readonly string[]): string => lockOf(tables, 'ROW EXCLUSIVE');

export const lockOf = (tables: readonly string[], mode: string): string =>
  `LOCK TABLE ${tables.map((name) => `${schemaName}.${name}`).join(', ')} IN ${mode} MODE`;

/** A trigger or a policy took rows away without a word: then nothing of it may count as done. */
export const rowsTaken = (table: string): Failure =>
  new Failure('failed', `In ${schemaName}.${table} a trigger, a rule or a policy of the database takes rows away.`, {
    hint: `To see what there is: \\d ${schemaName}.${table} in psql.`,
  });

/**
 * Makes the tables where they are missing.
 *
 * @throws Failure where the schema is a newer one, or where code of somebody else would run with the rights of this role
 */
export async function prepareSchema(database: Database): Promise<void> {
  await requireTrusted((text) => database.query({ text }), database.place, ownSchema);
  const [found] = await database.query({ text: `SELECT to_regclass('${schemaName}.version') IS NOT NULL AS there` });
  // Several statements in one message are one transaction.
  if (found?.there !== true) await database.query({ text: statements });
  const written = async () => {
    const [row] = await database.query({ text: `SELECT version FROM ${schemaName}.version` });
    return row?.version;
  };
  // Whoever made the tables may not have come to this yet, or was killed before.
  if ((await written()) === undefined) await database.query({ text: first, lock: writing('version') });
  const own = await written();
  if (own === undefined) throw rowsTaken('version');
  if (Number(own) <= version) return;
  throw new Failure('failed', `The inbox in ${database.place} was made by a newer svc.`, { hint: 'Update svc.' });
}
