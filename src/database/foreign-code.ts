import { Failure } from '../errors.ts';
import type { Fields } from '../text/record.ts';
import { sanitize } from '../text/sanitize.ts';

// Whoever holds TRIGGER or REFERENCES on a table adds to it while it is in use, and what they add runs with the rights of those
// who write there. A trigger's code does so in any case. A foreign key that cascades deletes or changes rows of another table, and
// the triggers of that table are run at the end of our statement, as our role (until PostgreSQL 18); its check is no code,
// unless a type of theirs brings a cast. Rules, policies, defaults, constraints and indexes are the owner's to make, who is trusted; but the
// functions in them may be of somebody who is not.

/** A schema of svc's, and the tables that it has made there. */
export type OwnSchema = {
  readonly schema: string;
  readonly tables: readonly string[];
  /** A policy that is just about to be made again, so that it does not matter what it is now. */
  readonly remade?: string;
};

/** A superuser counts as a member of every role, and has the most to lose: for it only superusers are trusted. */
export const isTrusted = (owner: string): string =>
  `(${owner} = me.oid OR (SELECT rolsuper FROM pg_roles WHERE oid = ${owner}) ` +
  `OR (NOT me.rolsuper AND pg_has_role(me.oid, ${owner}, 'MEMBER')))`;

/** What on a table may run code, with where its parts are noted. */
const additions = (remade: string): string => `
SELECT 'trigger' AS what, tgname AS name, 'pg_trigger'::regclass AS class, oid FROM pg_trigger
  WHERE tgrelid = c.oid AND NOT tgisinternal AND tgenabled <> 'D'
UNION ALL SELECT 'rule', rulename, 'pg_rewrite'::regclass, oid FROM pg_rewrite WHERE ev_class = c.oid
UNION ALL SELECT 'policy', polname, 'pg_policy'::regclass, oid FROM pg_policy WHERE polrelid = c.oid AND polname <> '${remade}'
UNION ALL SELECT 'default', attname, 'pg_attrdef'::regclass, d.oid FROM pg_attrdef d JOIN pg_attribute a
  ON a.attrelid = d.adrelid AND a.attnum = d.adnum WHERE d.adrelid = c.oid
UNION ALL SELECT 'constraint', conname, 'pg_constraint'::regclass, oid FROM pg_constraint WHERE conrelid = c.oid AND contype IN ('c', 'f', 'x')
UNION ALL SELECT 'index', x.relname, 'pg_class'::regclass, x.oid FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
  WHERE i.indrelid = c.oid AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)`;

/** Whose the parts are that it needs; those of the server itself are noted nowhere. */
const owners = `
SELECT proowner AS owner FROM pg_proc WHERE d.refclassid = 'pg_proc'::regclass AND oid = d.refobjid
UNION ALL SELECT oprowner FROM pg_operator WHERE d.refclassid = 'pg_operator'::regclass AND oid = d.refobjid
UNION ALL SELECT typowner FROM pg_type WHERE d.refclassid = 'pg_type'::regclass AND oid = d.refobjid
UNION ALL SELECT relowner FROM pg_class WHERE d.refclassid = 'pg_class'::regclass AND oid = d.refobjid`;

/** A query for what would run code of somebody else at a write to the tables: `what`, `name`, `on`, `owner`, `place`; at most one row. */
export const foreignCode = ({ schema, tables, remade = '' }: OwnSchema): string => `
SELECT found.*, c.relname AS on FROM pg_class c JOIN pg_roles me ON me.rolname = current_user CROSS JOIN LATERAL (
  SELECT 'table' AS what, c.relname AS name, pg_get_userbyid(c.relowner) AS owner, NULL::text AS place WHERE NOT ${isTrusted('c.relowner')}
  UNION ALL SELECT a.what, a.name, pg_get_userbyid(o.owner), NULL FROM (${additions(remade)}) AS a
    JOIN pg_depend d ON d.classid = a.class AND d.objid = a.oid CROSS JOIN LATERAL (${owners}) AS o WHERE NOT ${isTrusted('o.owner')}
  UNION ALL SELECT 'foreign key', f.conname, pg_get_userbyid(t.relowner), f.conrelid::regclass::text FROM pg_trigger r
    JOIN pg_constraint f ON f.oid = r.tgconstraint AND f.confrelid = c.oid JOIN pg_class t ON t.oid = f.conrelid
    WHERE r.tgrelid = c.oid AND r.tgconstrrelid <> 0 AND NOT ${isTrusted('t.relowner')}
    AND (f.confdeltype IN ('c', 'n', 'd') OR f.confupdtype IN ('c', 'n', 'd') OR EXISTS (
      SELECT FROM pg_attribute k JOIN pg_type y ON y.oid = k.atttypid
      WHERE k.attrelid = t.oid AND k.attnum = ANY (f.conkey) AND NOT ${isTrusted('y.typowner')}))
  UNION ALL SELECT 'child table', h.relname, pg_get_userbyid(h.relowner), h.oid::regclass::text FROM pg_inherits n
    JOIN pg_class h ON h.oid = n.inhrelid WHERE n.inhparent = c.oid AND NOT ${isTrusted('h.relowner')}
) AS found WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}')
AND c.relname IN (${tables.map((name) => `'${name}'`).join(', ')}) LIMIT 1`;

/** What a row of that query is refused with. */
export function foreignCodeFound(row: Fields, place: string, { schema }: OwnSchema): Failure {
  const [what, name, owner] = [String(row.what), sanitize(String(row.name)), sanitize(String(row.owner))];
  const table = `${schema}.${row.on}`;
  if (what === 'table') return belongsTo(place, table, owner);
  return new Failure('usage', `In ${place} ${table} has a ${what} of somebody else: ${name} (${owner}).`, {
    hint: `Nothing was written, for that would run their code. To go on: ${remedies[what]?.({ table, name: quote(name), schema, place: String(row.place) })}`,
  });
}

/** @param statements with which several roles share it */
export const belongsTo = (place: string, what: string, owner: string, statements = ''): Failure =>
  new Failure('usage', `In ${place} ${what} belongs to ${owner}, who could run code with the rights of your role.`, {
    hint: `Nothing was written. Log in as ${owner} or as a member of that role, or use another database.${
      statements && ` Where ${owner} is to be trusted and several roles write here, a superuser types:${statements}`
    }`,
  });

type Named = { readonly table: string; readonly name: string; readonly schema: string; readonly place: string };

const remedies: Readonly<Record<string, (named: Named) => string>> = {
  trigger: ({ table, name }) => `DROP TRIGGER ${name} ON ${table}`,
  rule: ({ table, name }) => `DROP RULE ${name} ON ${table}`,
  policy: ({ table, name }) => `DROP POLICY ${name} ON ${table}`,
  default: ({ table, name }) => `ALTER TABLE ${table} ALTER COLUMN ${name} DROP DEFAULT`,
  constraint: ({ table, name }) => `ALTER TABLE ${table} DROP CONSTRAINT ${name}`,
  index: ({ schema, name }) => `DROP INDEX ${schema}.${name}`,
  'foreign key': ({ place, name }) => `ALTER TABLE ${place} DROP CONSTRAINT ${name}`,
  'child table': ({ place, table }) => `ALTER TABLE ${place} NO INHERIT ${table}`,
};

/** As a person would type it. */
const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
