import { Failure } from '../errors.ts';
import { foreignCode, foreignCodeFound, type OwnSchema } from './foreign-code.ts';
import { type Database, openDatabase } from './postgres.ts';
import type { Opening } from './session.ts';
import { requireTrusted } from './trust.ts';

/**
 * Nothing is found in a schema in which others may make functions: one that fits better is called in place of the server's. What
 * is written is on disk when the database says so, and each statement sees what was there as it began, whatever its
 * defaults.
 */
const ownSettings = [
  'search_path = pg_catalog, pg_temp',
  'synchronous_commit = on',
  "default_transaction_isolation = 'read committed'",
  "timezone = 'UTC'",
];

/** A database for such tables. What may run code of others there cannot come between the look for it and the write. */
export const openOwn = (own: OwnSchema, { settings = [], ...opening }: Omit<Opening, 'guard'>): Promise<Database> =>
  openDatabase({
    ...opening,
    settings: [...ownSettings, ...settings],
    guard: { text: foreignCode(own), refuse: (found, place) => foreignCodeFound(found, place, own) },
  });

/** Tables that svc makes in a schema of its own. */
export type OwnTables = {
  readonly own: OwnSchema;
  /** Make everything but the table `version`. One message, so one transaction. */
  readonly statements: string;
  /** Kept for ever: two that make the tables at once take this lock. */
  readonly lock: number;
  /** Raised with each change that an older svc could not work with. */
  readonly version: number;
  /** `The inbox in HOST was`: what may have been made by a newer svc. */
  readonly newer: (place: string) => string;
};

/**
 * Makes the tables where they are missing.
 *
 * @throws Failure where they are of a newer svc, or where code of somebody else would run with the rights of this role
 */
export async function prepareTables(database: Database, { own, ...tables }: OwnTables): Promise<void> {
  const { schema } = own;
  const table = `${schema}.version`;
  await requireTrusted((text) => database.query({ text }), database.place, own);
  const [found] = await database.query({ text: `SELECT to_regclass('${table}') IS NOT NULL AS there` });
  if (found?.there !== true) {
    const text = `
SELECT pg_advisory_xact_lock(${tables.lock});
CREATE SCHEMA IF NOT EXISTS ${schema};
${tables.statements}
CREATE TABLE IF NOT EXISTS ${table} (is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one), version integer NOT NULL);
`;
    await database.query({ text });
  }
  const written = async () => (await database.query({ text: `SELECT version FROM ${table}` }))[0]?.version;
  // Whoever made the tables may not have come to this yet, or was killed before.
  if ((await written()) === undefined) {
    const text = `INSERT INTO ${table} (version) VALUES (${tables.version}) ON CONFLICT DO NOTHING`;
    await database.query({ text, lock: `LOCK TABLE ${table} IN ROW EXCLUSIVE MODE` });
  }
  const present = await written();
  if (present === undefined) throw rowsTakenFrom(table);
  if (Number(present) <= tables.version) return;
  throw new Failure('failed', `${tables.newer(database.place)} made by a newer svc.`, { hint: 'Update svc.' });
}

/** A trigger or a policy took rows away without a word: then nothing of it may count as done. */
export const rowsTakenFrom = (table: string): Failure =>
  new Failure('failed', `In ${table} a trigger, a rule or a policy of the database takes rows away.`, {
    hint: `To see what there is: \\d ${table} in psql.`,
  });
