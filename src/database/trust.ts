import type { Fields } from '../text/record.ts';
import { belongsTo, foreignCode, foreignCodeFound, isTrusted, type OwnSchema } from './foreign-code.ts';

// Whoever owns a table has code run with the rights of those who write to it: triggers, rules, defaults, policies. Whoever may
// make a function in a schema of the search path, has it called in place of the server's. So svc writes only where everything
// belongs to its own role, to one that it is a member of, or to a superuser, who can do all of that anyway.

type Ask = (text: string) => Promise<readonly Fields[]>;

const strangers = ({ schema }: OwnSchema) => `
SELECT pg_get_userbyid(owner) AS owner, what FROM pg_roles me, (
  SELECT nspowner AS owner, 'the schema ${schema}' AS what FROM pg_namespace WHERE nspname = '${schema}'
  UNION ALL SELECT relowner, relname FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}')
  UNION ALL SELECT proowner, proname FROM pg_proc WHERE pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}')
  UNION ALL SELECT typowner, typname FROM pg_type WHERE typnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}')
  UNION ALL SELECT oprowner, oprname FROM pg_operator WHERE oprnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}')
) AS made WHERE me.rolname = current_user AND NOT ${isTrusted('owner')} LIMIT 1`;

/** What gives all of it to a role that several share: sequences of columns, indexes and rows' types go with their tables. */
const giving = ({ schema }: OwnSchema) => `
WITH n AS (SELECT oid, nspname, nspowner FROM pg_namespace WHERE nspname = '${schema}')
SELECT 'CREATE ROLE svc_team' AS statement
UNION ALL SELECT format('GRANT svc_team TO %s', string_agg(DISTINCT format('%I', who), ', ')) FROM (
  SELECT current_user::text AS who UNION SELECT pg_get_userbyid(nspowner)::text FROM n
  UNION SELECT pg_get_userbyid(relowner)::text FROM pg_class JOIN n ON n.oid = relnamespace) AS roles
UNION ALL SELECT format('ALTER SCHEMA %I OWNER TO svc_team', nspname) FROM n
UNION ALL (SELECT format('ALTER %s %I.%I OWNER TO svc_team', CASE relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, nspname, relname)
  FROM pg_class c JOIN n ON n.oid = relnamespace WHERE relkind IN ('r', 'p', 'v', 'S') AND NOT EXISTS (
    SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'a') ORDER BY relname)
UNION ALL SELECT format('ALTER ROUTINE %I.%I(%s) OWNER TO svc_team', nspname, proname, pg_get_function_identity_arguments(p.oid)) FROM pg_proc p JOIN n ON n.oid = pronamespace`;

/** Who may only read writes nothing that code could run with. */
const mayWrite = ({ schema }: OwnSchema) => `
SELECT 1 AS one FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}')
  AND relkind IN ('r', 'p', 'v', 'f') AND (has_table_privilege(oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
  OR has_any_column_privilege(oid, 'INSERT, UPDATE'))
UNION ALL SELECT 1 FROM pg_namespace WHERE nspname = '${schema}' AND has_schema_privilege(oid, 'CREATE') LIMIT 1`;

/**
 * Before the first write.
 *
 * @throws Failure `usage` where code of somebody else would run with the rights of this role
 */
export async function requireTrusted(ask: Ask, place: string, own: OwnSchema): Promise<void> {
  if ((await ask(mayWrite(own))).length === 0) return;
  const [stranger] = await ask(strangers(own));
  if (stranger) {
    const statements = (await ask(giving(own))).map(({ statement }) => `\n${statement};`).join('');
    throw belongsTo(place, String(stranger.what), String(stranger.owner), statements);
  }
  await requireOwnCode(ask, place, own);
}

/**
 * Before each write, under a lock that keeps everybody from adding more.
 *
 * @throws Failure `usage` as above
 */
export async function requireOwnCode(ask: Ask, place: string, own: OwnSchema): Promise<void> {
  const [found] = await ask(foreignCode(own));
  if (found) throw foreignCodeFound(found, place, own);
}
