import { Failure } from '../../errors.ts';
import { shellWord } from '../../text/shell-word.ts';
import { accountsIn } from '../store/account.ts';
import { type Account, type Answer, type Engine, literal, quoted, type Store, type View } from '../tables/store.ts';
import { changeColumns, rowColumns, tables } from '../tables/tables.ts';

/** What the indexes have behind the account, and what joins by columns that it does not name. */
const indexed = [
  ...tables.flatMap(({ key, lookup }) => [...key, ...(lookup?.indexes ?? []).map(({ column }) => column)]),
  'time',
  'natural',
];

/** Whether an index can be of use; a text that has such a word in it by chance is asked no worse than one that needs it. */
const mayUseIndex = (query: string): boolean => indexed.some((name) => query.toLowerCase().includes(name));

/** A query sees the records of one account, under the names of the tables; what svc keeps for itself it does not. */
function viewsFor({ service, id }: Account, engine: Engine, query: string): View[] {
  const schema = engine === 'sqlite' ? 'main' : 'svc_mirror';
  // A file has one account; but the indexes begin with it. That tells nothing apart, and SQLite is told so: it would take any
  // index that begins so for a question about all rows, and read them in its order.
  const one = `account_id = ${literal(id)}`;
  const whose = `service = ${literal(service)} AND ${engine === 'sqlite' ? `likelihood(${one}, 1.0)` : one}`;
  // Where no index is of use, to ask that of each row takes longer than to count them.
  const condition = engine === 'sqlite' && !mayUseIndex(query) ? '' : ` WHERE ${whose}`;
  const view = (name: string, columns: readonly { readonly name: string }[]): View => ({
    name,
    text: `SELECT ${columns.map((column) => quoted(column.name)).join(', ')} FROM ${schema}.${name}${condition}`,
  });
  return [
    ...tables.map(({ name, columns }) => view(name, [...columns, ...rowColumns])),
    view('changes', changeColumns),
  ];
}

/** Runs what somebody typed: one query, which changes nothing, whatever it says. */
export async function ask(store: Store, account: Account, text: string, signal: AbortSignal): Promise<Answer> {
  if (store.engine === 'sqlite' && (await accountsIn(store)).length > 1) throw severalAccounts(store.place);
  // Only those that the text can mean: each takes its time.
  const lower = text.toLowerCase();
  const views = viewsFor(account, store.engine, text).filter(({ name }) => lower.includes(name));
  try {
    return await store.query({ text, account, views }, signal);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'usage' || !isChange.test(text)) throw error;
    throw new Failure('usage', 'The local copy can be asked, not changed: give a SELECT. Nothing was done.', {
      hint: 'What there is: svc mirror schema',
      cause: error,
    });
  }
}

/** Databases call these a syntax error, which would send people looking for one. */
const isChange =
  /^\s*(?:insert|update|delete|replace|merge|create|drop|alter|truncate|attach|detach|pragma|vacuum|reindex|set|copy|grant|begin|commit|rollback|do|call)\b/iu;

/** Such a file was made by an older svc; nothing in it keeps a query to one of them. */
const severalAccounts = (place: string): Failure =>
  new Failure('usage', `${place} holds several accounts, as an older svc made it, and a query could read them all.`, {
    hint:
      'Everything else works on it. For queries, give this account a file of its own: svc mirror pull --db FILE, ' +
      `or forget the others in it: svc mirror forget --db ${shellWord(place)}, with their login`,
  });
