import type { Context } from '../../context.ts';
import { type KindName, kindNames } from '../tables/kinds.ts';
import type { Account, Store } from '../tables/store.ts';
import { tables } from '../tables/tables.ts';
import { copyState, gapsIn } from './as-of.ts';

/**
 * Says of which kinds the copy is not whole, or that the service refuses, since an answer that it gives may then lack records.
 * `query`: only of those whose tables it names.
 */
export async function tellIncomplete(
  { notice }: Pick<Context, 'notice'>,
  store: Store,
  account: Account,
  query?: string,
): Promise<void> {
  const asked = kindNames.filter((name) => query === undefined || names(query, name));
  for (const gap of gapsIn(await store.read((sql) => copyState(sql, account, asked)))) notice(gap);
}

const names = (query: string, kind: KindName): boolean =>
  tables.some((table) => table.kind === kind && new RegExp(`\\b${table.name}\\b`, 'iu').test(query));
