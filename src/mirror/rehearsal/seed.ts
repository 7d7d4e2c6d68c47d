import { byAge } from '../../text/by-age.ts';
import { type Fields, fieldsIn } from '../../text/record.ts';
import { copyState } from '../query/as-of.ts';
import { readAll } from '../store/read.ts';
import { isKindWhole, readState } from '../store/state.ts';
import { type KindName, kindNames, kindOf, type Members } from '../tables/kinds.ts';
import { account_id, contactRow, type Held } from '../tables/seed-rows.ts';
import { idOr } from '../tables/seed-values.ts';
import type { Account, Store } from '../tables/store.ts';
import { tableOf } from '../tables/tables.ts';

/** Rows by kind, of the shape that `GET /_sandbox/state` gives. The sandbox's own schemas judge them. */
export type Seed = Readonly<Record<string, readonly Fields[]>>;

/**
 * The copy of an account as the records of a sandbox. What the API does not show (notes, history) is empty. `incomplete`:
 * kinds of which the copy does not hold everything. `asOf`: until when it holds all, in ISO 8601: the oldest of its kinds;
 * null where it does not say.
 */
export async function seedFromCopy(store: Store, account: Account) {
  const records = new Map<KindName, Fields[]>();
  for (const name of kindNames) records.set(name, await recordsOf(store, account, name));
  const ids = new Map<string, Set<unknown>>(
    [...records].map(([name, all]) => [name, new Set(all.map((record) => record[tableOf(name).id]))]),
  );
  const held: Held = (name, id) => ids.get(name)?.has(id) === true;
  const seed: Record<string, Fields[]> = {
    accounts: [
      { account_id, name: account.name || `Account ${account.id}` },
      { account_id: 2, name: 'Globex', billing_active: false },
    ],
  };
  for (const [name, all] of records) {
    const { seed: rowOf, members, aside = [] } = kindOf(name);
    seed[name] = all.map((record) => rowOf(record, held)).filter((row) => row !== undefined);
    for (const { table, rows } of aside) seed[table] = rows(all);
    if (members) seed[members.table] = await membersOf(store, account, members, held);
  }
  seed.contacts?.push(...strangersIn([...records.values()].flat(), held));
  const { as_of: asOf } = await store.read((sql) => copyState(sql, account, kindNames));
  return { seed, incomplete: await incompleteKinds(store, account), asOf };
}

async function recordsOf(store: Store, account: Account, name: KindName): Promise<Fields[]> {
  const { id } = tableOf(name);
  const all: Fields[] = [];
  for await (const record of readAll(store, account, name)) if (idOr(record[id])) all.push(record);
  // The copy keeps them as they came, newest first, and later ones behind them.
  return all.sort(byAge(id));
}

async function membersOf(store: Store, account: Account, { table, parent, operation }: Members, held: Held) {
  const members: Fields[] = [];
  const { kind, id } = tableOf(table);
  for await (const { [parent]: of, [id]: member } of readAll(store, account, table)) {
    if (held(kind, of) && held(operation.answer.of ?? kind, member)) members.push({ [parent]: of, [id]: member });
  }
  return members;
}

/** Whoever a record names and the list of contacts does not show is a contact that the service keeps apart. */
function strangersIn(records: readonly Fields[], held: Held): Fields[] {
  const strangers = new Map<unknown, Fields>();
  for (const { contact, created_at } of records) {
    const row = contactRow({ created_at, ...fieldsIn(contact) });
    if (idOr(row.contact_id) && !held('contacts', row.contact_id)) {
      strangers.set(row.contact_id, { ...row, shadow: true });
    }
  }
  return [...strangers.values()];
}

const incompleteKinds = (store: Store, account: Account): Promise<KindName[]> =>
  store.read(async (sql) => {
    const incomplete: KindName[] = [];
    for (const kind of kindNames) if (!isKindWhole(await readState(sql, account, kind))) incomplete.push(kind);
    return incomplete;
  });
