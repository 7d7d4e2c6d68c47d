import type { Given } from '../../command/command.ts';
import type { Context } from '../../context.ts';
import { openCopy } from '../../mirror/store/open-copy.ts';
import type { Account, Store } from '../../mirror/tables/store.ts';
import type { Data, View } from '../../output/view.ts';
import { thenClosed } from '../../promise/then-closed.ts';

type CopyFlags = Pick<Given, 'settings'> & { readonly flags: { readonly db: string | undefined } };

/** The copy that is there, and whose it is, for as long as `work` takes. */
export async function withCopy<T>(
  ctx: Context,
  { settings, flags }: CopyFlags,
  work: (store: Store, account: Account) => Promise<T>,
): Promise<T> {
  const { store, account } = await openCopy(ctx, settings, flags);
  return work(store, account).finally(() => store.close());
}

/** Records that are read from the copy while they are printed; it is open until the last one. */
export async function streamCopy(
  ctx: Context,
  { settings, flags }: CopyFlags,
  list: (
    store: Store,
    account: Account,
  ) => Promise<Omit<Extract<Data, { readonly shape: 'list' }>, 'shape'> & Pick<View, 'notes'>>,
): Promise<View> {
  const { store, account } = await openCopy(ctx, settings, flags);
  const { records, notes, ...shown } = await list(store, account).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  return { data: { shape: 'list', ...shown, records: thenClosed(records, store) }, read: true, notes };
}
