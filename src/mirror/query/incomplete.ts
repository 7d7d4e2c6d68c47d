import type { Context } from '../../context.ts';
import { type KindName, kindNames } from '../tables/kinds.ts';
import type { Account, Store } from '../tables/store.ts';
import { tables } from '../tables/tables.ts';
import { copyState } from './as-of.ts';

/**
 * Says of which kinds the copy is not whole, since an answer that it gives may then lack records. `query`: only of those whose
 * tables it names. A kind that the service refuses has nothing more to read.
 */
export async function tellIncomplete(
  { notice }: Pick<Context, 'notice'>,
  store: Store,
  account: Account,
  query?: string,
): Promise<void> {
  const asked = kindNames.filter((name) => query === undefined || names(query, name));
  const { not_whole: partial } = await store.read((sql) => copyState(sql, account, asked));
  if (partial.length === 0) return;
  notice(`The copy is not whole, so records may be missing: ${partial.join(', ')}. To read the rest: svc mirror pull`);
}

const names = (query: string, kind: KindName): boolean =>
  tables.some((table) => table.kind === kind && new RegExp(`\\b${table.name}\\b`, 'iu').test(query));
