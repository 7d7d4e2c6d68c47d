import { type Account, literal, quoted, type Row, type Sql, type Value } from '../mirror/tables/store.ts';
import { changeColumns, rowColumns, tables } from '../mirror/tables/tables.ts';

/**
 * A question of svc's own to the copy: its named parts, and the SELECT that uses them. A name with `kept` behind it is worked out
 * once, where a database would else do it again for each row that it is joined with.
 */
export type Query = {
  readonly parts: Readonly<Record<string, string>>;
  readonly select: string;
};

/** The query as `--explain` prints it: `svc mirror sql` takes it as it stands. */
export const textOf = ({ parts, select }: Query): string =>
  written(
    Object.entries(parts).map(([name, part]) => [headOf(name), part]),
    select,
  );

/** The tables in which several accounts may have rows. */
const shared = [
  ...tables.map(({ name, columns }) => ({ name, columns: [...columns, ...rowColumns] })),
  { name: 'changes', columns: changeColumns },
];

/**
 * Asks it of the records of one account, inside of a look that several questions may share, so that their figures are of one
 * moment. The tables that the text names are this account's, as in `svc mirror sql`; no rights but the role's own are needed.
 * `values`: what stands for $1, $2 … in the text.
 */
export function answer(sql: Sql, account: Account, query: Query, values: readonly Value[] = []): Promise<Row[]> {
  const text = textOf(query);
  const named = shared.filter(({ name }) => new RegExp(`\\b${name}\\b`, 'u').test(text));
  const own = named.map(({ name, columns }): [string, string] => [
    // Looked into where it is used: a copy of it, with every record in it, would take seconds.
    `${name} AS NOT MATERIALIZED`,
    `SELECT ${columns.map((column) => quoted(column.name)).join(', ')} ` +
      `FROM ${sql.engine === 'sqlite' ? 'main' : 'svc_mirror'}.${name} ` +
      `WHERE service = ${literal(account.service)} AND account_id = ${literal(account.id)}`,
  ]);
  const parts = Object.entries(query.parts).map(([name, part]): [string, string] => [headOf(name), part]);
  return sql.all(written([...own, ...parts], query.select), values);
}

/** A part whose name ends with ` kept` is read once, however often it is used. */
const headOf = (name: string): string =>
  name.endsWith(' kept') ? `${name.replace(/ kept$/u, '')} AS MATERIALIZED` : `${name} AS`;

function written(parts: readonly (readonly [head: string, text: string])[], select: string): string {
  if (parts.length === 0) return select;
  return `WITH ${parts.map(([head, text]) => `${head} (\n${text.replaceAll(/^/gmu, '  ')}\n)`).join(', ')}\n${select}`;
}
