import type { Shape } from '../../api/shape.ts';
import { Failure } from '../../errors.ts';
import { nearest, nearestField } from '../../text/near.ts';
import { ownOf } from '../../text/record.ts';
import { changeColumns, rowColumns, tables } from '../tables/tables.ts';

/** How the databases name a table or a column that is not there. */
const strange =
  /no such (?:(table)|column): (?:(\w+)\.)?"?(\w+)|(?:(relation)|column) "?(?:(\w+)\.)?"?(\w+)"? does not exist/u;

type Asked = { readonly name: string; readonly columns: readonly string[]; readonly fields: Record<string, Shape> };

const askable: readonly Asked[] = [
  ...tables.map(({ name, columns, fields }) => ({
    name,
    columns: [...columns, ...rowColumns].map((column) => column.name),
    fields: { ...fields },
  })),
  { name: 'changes', columns: changeColumns.map(({ name }) => name), fields: {} },
];

/** The failure of a query, with the name that is meant where one of the query is not there. */
export function withNearName(error: unknown, query: string): unknown {
  const [found, sqliteTable, sqliteOf, sqliteName, relation, postgresOf, postgresName] =
    strange.exec(error instanceof Failure ? error.message : '') ?? [];
  if (!(error instanceof Failure) || found === undefined) return error;
  const name = sqliteName ?? postgresName ?? '';
  const owner = sqliteOf ?? postgresOf;
  const meant = sqliteTable || relation ? nearTable(name) : nearColumn(name, owner, query);
  if (meant === undefined) return error;
  return new Failure('usage', error.message, { hint: `${meant}\n${error.hint ?? ''}`.trim(), cause: error });
}

/** `messages`: those of tickets and those of conversations. */
function nearTable(name: string): string | undefined {
  const names = askable.map((table) => table.name);
  const ending = names.filter((one) => one.endsWith(`_${name.toLowerCase()}`));
  const meant = ending.length > 0 ? ending.join(' or ') : nearest(name, names);
  return meant && `Did you mean ${meant}?`;
}

/** In the table that is meant, where the query says which: else in those that it names. */
function nearColumn(name: string, owner: string | undefined, query: string): string | undefined {
  const words = new Set(query.toLowerCase().match(/[a-z_]+/gu));
  const own = owner === undefined ? undefined : tableBehind(owner, query);
  const asked = own ? [own] : askable.filter((table) => words.has(table.name));
  const before = owner === undefined ? '' : `${owner}.`;
  const field = name.toLowerCase();
  const inside = asked.flatMap(({ fields }) =>
    Object.entries(fields).flatMap(([column, { fields: inner }]) => {
      const shape = ownOf(inner ?? {}, field);
      return shape ? [`${field} is in ${column}: ${reading(`${before}${column} ->> '${field}'`, shape)}`] : [];
    }),
  );
  if (inside.length === 1) return inside[0];
  const meant = nearestField(name, [...new Set(asked.flatMap(({ columns }) => columns))]);
  return meant && `Did you mean ${before}${meant}?`;
}

/** The same text for both databases: out of JSON, PostgreSQL takes everything as text. */
const reading = (path: string, { type }: Shape): string => (type === 'integer' ? `CAST(${path} AS bigint)` : path);

/** `FROM tickets AS t`, and `t` is tickets. */
function tableBehind(owner: string, query: string): Asked | undefined {
  const word = owner.toLowerCase();
  const text = query.toLowerCase();
  return askable.find(
    ({ name }) => name === word || new RegExp(`\\b${name}"?\\s+(?:as\\s+)?"?${word}\\b`, 'u').test(text),
  );
}
