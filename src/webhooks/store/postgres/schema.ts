import type { OwnSchema } from '../../../database/foreign-code.ts';
import { prepareTables, rowsTakenFrom } from '../../../database/own-schema.ts';
import type { Database } from '../../../database/postgres.ts';
import type { Failure } from '../../../errors.ts';

/** Where the inbox lives among the tables of others. */
export const schemaName = 'svc_webhooks';

/**
 * Ids may be of any length and hold any character, so the key is their digest, and what was received is stored as
 * bytes: then the database's encoding does not matter.
 */
const statements = `
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
`;

export const ownSchema: OwnSchema = {
  schema: schemaName,
  tables: ['inbox', 'deliveries', 'sinks', 'version', 'searches'],
};

/** The lock under which tables are written: nobody adds a trigger or a foreign key to them, and other instances write too. */
export const writing = (...tables: readonly string[]): string => lockOf(tables, 'ROW EXCLUSIVE');

export const lockOf = (tables: readonly string[], mode: string): string =>
  `LOCK TABLE ${tables.map((name) => `${schemaName}.${name}`).join(', ')} IN ${mode} MODE`;

export const rowsTaken = (table: string): Failure => rowsTakenFrom(`${schemaName}.${table}`);

/**
 * Makes the tables where they are missing.
 *
 * @throws Failure where the schema is a newer one, or where code of somebody else would run with the rights of this role
 */
export const prepareSchema = (database: Database): Promise<void> =>
  prepareTables(database, {
    ...{ own: ownSchema, statements, version: 1, lock: 7379632 },
    newer: (place) => `The inbox in ${place} was`,
  });
