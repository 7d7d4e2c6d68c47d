import { kindNames } from '../tables/kinds.ts';
import { allTables, tables, unresolvedIndex } from '../tables/tables.ts';

const parts = new Set(tables.flatMap(({ name }) => [name, `${name}_words`]));
const indexes = new Set([
  'changes_time',
  ...tables.flatMap(({ lookup }) => lookup?.indexes ?? []).map(({ name }) => name),
  ...kindNames.map(unresolvedIndex),
]);
const ofWords = /_(?:config|content|data|docsize|idx)$/u;

/** Whether svc gave a table or an index that name. */
export const isOurs = (name: string): boolean =>
  parts.has(name) || parts.has(name.replace(ofWords, '')) || allTables.includes(name) || indexes.has(name);
