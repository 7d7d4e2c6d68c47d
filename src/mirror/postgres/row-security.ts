import type { Sql } from '../tables/store.ts';
import { accountTables } from '../tables/tables.ts';
import { schemaName } from './values.ts';

// In PostgreSQL several accounts share the tables. A transaction that runs a query of the user is bound to one account, by a
// temporary view, which nothing in a read-only transaction can change; every other row is then out of its reach, by whatever
// name or function it asks. One that is not bound is another program's, or svc's own,
// whose statements name their account.

/** What keeps the accounts apart. */
export const ownPolicy = 'svc_own';

/** The view's columns are those of `bindingView`. */
const boundTo = `
CREATE OR REPLACE FUNCTION ${schemaName}.svc_bound() RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog AS $svc$
DECLARE account text[];
BEGIN
  IF to_regclass('pg_temp.svc_whose') IS NULL THEN RETURN NULL; END IF;
  EXECUTE 'SELECT ARRAY[service, account_id] FROM pg_temp.svc_whose' INTO STRICT account;
  RETURN account;
END $svc$`;

const sees =
  `(SELECT ${schemaName}.svc_bound()) IS NULL ` +
  `OR ARRAY[service, account_id] OPERATOR(pg_catalog.=) (SELECT ${schemaName}.svc_bound())`;

/** The policy of an older svc may have taken an operator that somebody else had made. What is in pg_catalog is in no list. */
const isForeign = `EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_policy'::regclass AND d.objid = p.oid
  AND d.refclassid = 'pg_operator'::regclass)`;

/** Also where an older svc made the tables. Needs the role that owns them. */
export async function guardRows(sql: Sql): Promise<void> {
  const rows = await sql.all(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid AND p.polname = '${ownPolicy}'
     WHERE c.relnamespace = '${schemaName}'::regnamespace AND c.relrowsecurity AND c.relforcerowsecurity
     AND NOT ${isForeign}`,
  );
  const done = new Set(rows.map(({ name }) => name));
  const missing = accountTables.filter((name) => !done.has(name));
  if (missing.length > 0) await sql.run(boundTo);
  for (const name of missing) await guardTable(sql, name);
}

/** A table that has the policy no longer, or not yet. */
export async function guardTable(sql: Sql, name: string): Promise<void> {
  await sql.run(`ALTER TABLE ${schemaName}.${name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`);
  await sql.run(`DROP POLICY IF EXISTS ${ownPolicy} ON ${schemaName}.${name}`);
  await sql.run(`CREATE POLICY ${ownPolicy} ON ${schemaName}.${name} USING (${sees})`);
}

/**
 * Roles that row-level security does not hold, or that reach out of the database; a role may become any that it is a member
 * of.
 */
export const unboundRoles = `
SELECT rolname FROM pg_roles WHERE pg_has_role(session_user, oid, 'MEMBER') AND (rolsuper OR rolbypassrls OR rolreplication
  OR rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program'))
ORDER BY NOT rolsuper, rolname LIMIT 1`;

/** What makes a role for queries. */
export const roleForQueries = [
  "CREATE ROLE svc_reader LOGIN PASSWORD 'choose one';",
  `GRANT USAGE ON SCHEMA ${schemaName} TO svc_reader;`,
  `GRANT SELECT ON ALL TABLES IN SCHEMA ${schemaName} TO svc_reader;`,
].join('\n');
