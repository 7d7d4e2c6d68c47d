import { Failure } from '../../errors.ts';
import { dropPercentiles } from '../postgres/percentiles.ts';
import { type Engine, quoted, type Sql } from '../tables/store.ts';
import {
  allTables,
  type Column,
  type ColumnType,
  changeColumns,
  rowColumns,
  type Table,
  tables,
} from '../tables/tables.ts';

const types: Record<Engine, Record<ColumnType, string>> = {
  sqlite: { integer: 'INTEGER', number: 'REAL', boolean: 'INTEGER', text: 'TEXT', time: 'TEXT', json: 'TEXT' },
  postgres: {
    integer: 'bigint',
    number: 'double precision',
    boolean: 'boolean',
    text: 'text',
    time: 'timestamptz',
    json: 'jsonb',
  },
};

/** What svc itself needs of a row, beside what people ask for. */
const ownColumns = (engine: Engine): string[] => [
  // json, not jsonb: it keeps the text as it came, and takes U+0000.
  `data ${engine === 'sqlite' ? 'TEXT' : 'json'} NOT NULL`,
  `first_seen_at ${types[engine].time} NOT NULL`,
  `seen_at ${types[engine].time} NOT NULL`,
  `gone_at ${types[engine].time}`,
  // When it was last looked for, and when its text was read by the service's clock.
  `looked_at ${types[engine].time} NOT NULL`,
  `read_at ${types[engine].time}`,
  // The reading in which it was first and last seen.
  `first_sweep ${types[engine].integer} NOT NULL`,
  `last_sweep ${types[engine].integer} NOT NULL`,
];

const owner = (engine: Engine): string[] => [
  engine === 'sqlite' ? 'svc_row INTEGER PRIMARY KEY' : 'svc_row bigserial PRIMARY KEY',
  'service TEXT NOT NULL',
  'account_id TEXT NOT NULL',
];

export const column =
  (engine: Engine) =>
  ({ name, type }: Column): string =>
    `${quoted(name)} ${types[engine][type]}`;

export function createTable(engine: Engine, table: Table): string[] {
  const { name, key, columns, words, lookup = { columns: {}, indexes: [] } } = table;
  const special = Object.keys(lookup.columns).map((each) => `${each} TEXT`);
  if (engine === 'postgres' && words.length > 0) special.push('words tsvector');
  const unique = `UNIQUE (${['service', 'account_id', ...key].map(quoted).join(', ')})`;
  const all = [...owner(engine), ...columns.map(column(engine)), ...ownColumns(engine), ...special, unique];
  const statements = [`CREATE TABLE ${name} (\n  ${all.join(',\n  ')}\n)`];
  for (const { name: index, column, only = engine } of lookup.indexes) {
    if (only === engine) statements.push(`CREATE INDEX ${index} ON ${name} (service, account_id, ${column})`);
  }
  if (words.length > 0 && engine === 'postgres')
    statements.push(`CREATE INDEX ${name}_words ON ${name} USING gin (words)`);
  if (words.length > 0 && engine === 'sqlite') {
    // The words come ready (words.ts): letters, digits and marks are all that there is in them.
    const tokenize = `tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"`;
    statements.push(
      `CREATE VIRTUAL TABLE ${name}_words USING fts5(words, content = '', contentless_delete = 1, ${tokenize})`,
    );
  }
  return statements;
}

export function createAll(engine: Engine): string[] {
  const { time, integer } = types[engine];
  const json = engine === 'sqlite' ? 'TEXT' : 'json';
  const account = 'service TEXT NOT NULL, account_id TEXT NOT NULL';
  const change = changeColumns
    .filter(({ name }) => name !== 'seq')
    .map(({ name, type }) => `${quoted(name)} ${type === 'json' ? json : types[engine][type]}`);
  const seq = engine === 'sqlite' ? 'seq INTEGER PRIMARY KEY AUTOINCREMENT' : 'seq bigserial PRIMARY KEY';
  return [
    ...tables.flatMap((table) => createTable(engine, table)),
    `CREATE TABLE changes (\n  ${[seq, 'service TEXT NOT NULL', 'account_id TEXT NOT NULL', ...change].join(',\n  ')}\n)`,
    'CREATE INDEX changes_time ON changes (service, account_id, "time")',
    `CREATE TABLE svc_accounts (${account}, name TEXT, pulled_at ${time}, PRIMARY KEY (service, account_id))`,
    `CREATE TABLE svc_credentials (digest TEXT PRIMARY KEY, ${account})`,
    `CREATE TABLE svc_kinds (${account}, kind TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (service, account_id, kind))`,
    `CREATE TABLE svc_watchers (${account}, name TEXT NOT NULL, seq ${integer} NOT NULL, PRIMARY KEY (service, account_id, name))`,
    'CREATE TABLE svc_schema (version INTEGER NOT NULL, columns TEXT NOT NULL)',
  ];
}

/** What `svc mirror schema` prints: for people, without what svc keeps for itself. */
export const shownSchema = (engine: Engine): string => {
  const show = (name: string, columns: readonly Column[]) =>
    `CREATE TABLE ${name} (\n${columns.map((each) => `  ${column(engine)(each)}`).join(',\n')}\n);\n`;
  return [
    ...tables.map(({ name, columns }) => show(name, [...columns, ...rowColumns])),
    show('changes', changeColumns),
  ].join('\n');
};

/** Removes svc's tables. Returns whether anything of others is left among them. */
export async function dropTables(sql: Sql): Promise<boolean> {
  if (sql.engine === 'postgres') return dropFromSchema(sql, allTables);
  const words = tables.filter((table) => table.words.length > 0).map(({ name }) => `${name}_words`);
  for (const name of [...words, ...allTables]) await sql.run(`DROP TABLE IF EXISTS ${name}`);
  const left = await sql.all("SELECT 1 AS one FROM sqlite_schema WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^' LIMIT 1");
  return left.length > 0;
}

/** A view of somebody else, which needs a table, keeps that and all of the rest. */
async function dropFromSchema(sql: Sql, names: readonly string[]): Promise<boolean> {
  await sql.run('SAVEPOINT before');
  try {
    await sql.run(`DROP TABLE IF EXISTS ${names.map((name) => `svc_mirror.${name}`).join(', ')}`);
    await sql.run('DROP FUNCTION IF EXISTS svc_mirror.svc_bound()');
    for (const statement of dropPercentiles) await sql.run(statement);
    await sql.run('DROP SCHEMA svc_mirror');
    return false;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    await sql.run('ROLLBACK TO SAVEPOINT before');
    return true;
  }
}
