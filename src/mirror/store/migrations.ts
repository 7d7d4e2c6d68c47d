import { hexDigestOf } from '../../text/digest.ts';
import { makePercentiles } from '../postgres/percentiles.ts';
import { guardRows } from '../postgres/row-security.ts';
import { cellsOf } from '../tables/cells.ts';
import { type Engine, quoted, type Sql, type Store } from '../tables/store.ts';
import { type Column, type Table, tables } from '../tables/tables.ts';
import { hasTable } from './has-table.ts';
import { column, createAll, createTable } from './schema.ts';
import { marks, presentSchema, refuseNewer, version } from './schema-mark.ts';

/**
 * The first brings a copy of version 0 to version 1, and so on: a step that was released is never changed, and the next
 * one comes after it. Tables and columns that follow from the table of kinds need none: those that are missing are made.
 */
export const steps: readonly ((sql: Sql) => Promise<void>)[] = [keepColumns];

/** Makes the tables where there are none, or brings those of an older svc up to date. */
export const makeCurrent = (store: Store): Promise<void> =>
  store.write(async (sql) => {
    // Once more: another process may have made them, or a newer one have come before.
    const found = await presentSchema(sql);
    if (found) {
      refuseNewer(store, found);
      await bringUp(sql, found.version);
      return;
    }
    if (sql.engine === 'postgres') await sql.run('CREATE SCHEMA IF NOT EXISTS svc_mirror');
    for (const statement of createAll(sql.engine)) await sql.run(statement);
    await sql.run('INSERT INTO svc_schema (version, columns) VALUES ($1, $2)', [version, marks[sql.engine]], 1);
    if (sql.engine === 'postgres') await makeFunctions(sql);
  }, 'tables');

/**
 * What `marks` has to hold (schema-mark.ts): it tells whether the database has the columns of this svc, and, said
 * otherwise, has what keeps its accounts apart and what a query may call made again.
 */
export const markOf = (engine: Engine): string =>
  hexDigestOf(JSON.stringify([tables.map(({ name, columns }) => [name, columns]), functions[engine]])).slice(0, 16);

const functions: Record<Engine, string> = {
  sqlite: '',
  postgres: 'row-level security, with the operators of the server; median and percentile',
};

/** The first copies did not say which columns they have, and had the index of e-mail addresses under another name. */
async function keepColumns(sql: Sql): Promise<void> {
  await sql.run("ALTER TABLE svc_schema ADD COLUMN columns TEXT NOT NULL DEFAULT ''");
  await sql.run('DROP INDEX IF EXISTS contacts_email');
  await sql.run('CREATE INDEX contacts_email_key ON contacts (service, account_id, email_key)');
  await sql.run('CREATE INDEX contacts_email ON contacts (service, account_id, email)');
}

/** All in one transaction: one that is killed leaves the copy as it was, and the next one begins from there. */
async function bringUp(sql: Sql, from: number): Promise<void> {
  for (const table of tables) {
    if (await hasTable(sql, table.name)) continue;
    for (const statement of createTable(sql.engine, table)) await sql.run(statement);
  }
  // Before rows are read, which runs the policy that is there.
  if (sql.engine === 'postgres') await makeFunctions(sql);
  for (const step of steps.slice(from)) await step(sql);
  for (const missing of await missingColumns(sql)) await addColumn(sql, missing);
  await sql.run('UPDATE svc_schema SET version = $1, columns = $2', [version, marks[sql.engine]], 1);
}

async function makeFunctions(sql: Sql): Promise<void> {
  await guardRows(sql);
  await makePercentiles(sql);
}

type Missing = { readonly table: Table; readonly column: Column };

/** Fields that the service has got since the tables were made. */
async function missingColumns(sql: Sql): Promise<Missing[]> {
  const rows =
    sql.engine === 'sqlite'
      ? await sql.all(
          "SELECT t.name AS t, c.name AS c FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'",
        )
      : await sql.all(
          "SELECT table_name AS t, column_name AS c FROM information_schema.columns WHERE table_schema = 'svc_mirror'",
        );
  const present = new Set(rows.map(({ t, c }) => `${t}.${c}`));
  return tables.flatMap((table) =>
    table.columns.filter(({ name }) => !present.has(`${table.name}.${name}`)).map((column) => ({ table, column })),
  );
}

/** What the rows hold of it already stands in `data`. */
async function addColumn(sql: Sql, { table, column: added }: Missing): Promise<void> {
  await sql.run(`ALTER TABLE ${table.name} ADD COLUMN ${column(sql.engine)(added)}`);
  let last = 0;
  for (;;) {
    const rows = await sql.all(
      `SELECT svc_row, data FROM ${table.name} WHERE svc_row > $1 ORDER BY svc_row LIMIT 500`,
      [last],
    );
    if (rows.length === 0) return;
    for (const { svc_row, data } of rows) {
      const [value = null] = cellsOf([added], JSON.parse(String(data)));
      if (value === null) continue;
      await sql.run(
        `UPDATE ${table.name} SET ${quoted(added.name)} = $1 WHERE svc_row = $2`,
        [value, Number(svc_row)],
        1,
      );
    }
    last = Number(rows.at(-1)?.svc_row);
  }
}
