import { Failure } from '../errors.ts';

// Whoever owns a table has code run with the rights of those who write to it: triggers, rules, defaults, policies. Whoever may
// make a function in a schema of the search path, has it called in place of the server's. So svc writes only where everything
// belongs to its own role, to one that it is a member of, or to a superuser, who can do all of that anyway.

/** A schema of svc's, and the tables that it has made there. */
export type OwnSchema = { readonly schema: string; readonly tables: readonly string[] };

type Ask = (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** A superuser counts as a member of every role, and has the most to lose: for it only superusers are trusted. */
const isTrusted = (owner: string): string =>
  `(${owner} = me.oid OR (SELECT rolsuper FROM pg_roles WHERE oid = ${owner}) ` +
  `OR (NOT me.rolsuper AND pg_has_role(me.oid, ${owner}, 'MEMBER')))`;

const strangers = ({ schema }: OwnSchema) => `
SELECT pg_get_userbyid(owner) AS owner, what FROM pg_roles me, (
  SELECT nspowner AS owner, 'the schema ${schema}' AS what FROM pg_namespace WHERE nspname = '${schema}'
  UNION ALL SELECT relowner, relname FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}')
  UNION ALL SELECT proowner, proname FROM pg_proc WHERE pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}')
  UNION ALL SELECT typowner, typname FROM pg_type WHERE typnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}')
  UNION ALL SELECT oprowner, oprname FROM pg_operator WHERE oprnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}')
) AS made WHERE me.rolname = current_user AND NOT ${isTrusted('owner')} LIMIT 1`;

/** Triggers of people who are trusted are theirs to have; svc itself has none. A rule is made by the owner alone. */
const additions = ({ schema, tables }: OwnSchema) => `
SELECT tgname AS name, relname FROM pg_roles me, pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
WHERE me.rolname = current_user AND NOT tgisinternal AND NOT ${isTrusted('proowner')}
  AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}') AND relname IN (${tables.map((name) => `'${name}'`).join(', ')}) LIMIT 1`;

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
    const { owner, what } = stranger;
    throw new Failure(
      'usage',
      `In ${place} ${what} belongs to ${owner}, who could run code with the rights of your role.`,
      {
        hint: `Nothing was written. Log in as ${owner} or as a member of that role, or use another database.`,
      },
    );
  }
  const [added] = await ask(additions(own));
  if (!added) return;
  throw new Failure(
    'usage',
    `In ${place} ${own.schema}.${added.relname} has a trigger of somebody else: ${added.name}.`,
    {
      hint: `Nothing was written, for that would run their code. To go on: DROP TRIGGER "${added.name}" ON ${own.schema}.${added.relname}`,
    },
  );
}
