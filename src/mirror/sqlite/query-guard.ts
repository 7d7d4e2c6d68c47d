import type { Decide } from './node-sqlite.ts';

// The numbers are SQLite's (https://sqlite.org/c3ref/c_alter_table.html).
const actions = {
  createTempView: 6,
  insert: 18,
  pragma: 19,
  read: 20,
  select: 21,
  update: 23,
  function: 31,
  recursive: 33,
} as const;

/** What a look at the database may be made of; as table-valued functions, so without `=`. */
const looks = new Set([
  ...['table_info', 'table_xinfo', 'table_list', 'index_list', 'index_info', 'index_xinfo', 'foreign_key_list'],
  ...['integrity_check', 'quick_check', 'function_list', 'module_list', 'collation_list', 'compile_options'],
  // The full-text index asks for it.
  'data_version',
]);

/** Reach out of the database, where a build of SQLite has them. */
const reachingOut = /^(?:load_extension|fts3_tokenizer|readfile|writefile|edit|lsmode|fsdir|zipfile|sqlar_\w+|eval)$/iu;

const tempSchema = new Set(['sqlite_temp_master', 'sqlite_temp_schema']);

/** What a query that somebody typed may do: read. The view that holds it is all that it makes. */
export const allowQueries: Decide = (action, first, second) => {
  switch (action) {
    case actions.select:
    case actions.read:
    case actions.recursive:
      return 0;
    case actions.function:
      return reachingOut.test(second ?? '') ? 1 : 0;
    case actions.pragma:
      return looks.has((first ?? '').toLowerCase()) ? 0 : 1;
    case actions.createTempView:
      return first === 'svc_query' ? 0 : 1;
    case actions.insert:
    case actions.update:
      return tempSchema.has(first ?? '') ? 0 : 1;
    default:
      return 1;
  }
};
