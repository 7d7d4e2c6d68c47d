import { defineCommand } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { accountOf } from '../../mirror/account.ts';
import { openStore, placeOfCopy, removeDamaged } from '../../mirror/place.ts';
import { dbFlag } from './copy.ts';

export const forgetTheCopy = defineCommand({
  name: 'forget',
  summary: 'Delete the local copy of this account; the account itself is not touched',
  details:
    'Copies of other accounts in the same database stay. The recorded changes and the positions of svc watch are deleted too.',
  args: {},
  flags: dbFlag,
  examples: ['svc mirror forget --yes'],
  async run(ctx, { flags, settings }) {
    const place = await placeOfCopy(ctx, flags.db);
    const store = await openStore(ctx, flags.db, { make: false }).catch((error) =>
      removeDamaged(place, error, () => confirmed(ctx, settings, `Delete ${place}, which is damaged?`)),
    );
    if (store === 'removed') return { data: { shape: 'nothing' }, notes: [`Deleted ${place}.`] };
    try {
      const account = await accountOf(ctx, settings, store);
      const whose = account.name === undefined ? `account ${account.id}` : `${account.name} (account ${account.id})`;
      await confirmed(ctx, settings, `Delete the local copy of ${whose}?`);
      const { forgetCopy } = await import('../../mirror/status.ts');
      const isGone = await forgetCopy(store, account);
      const what = isGone ? store.place : `the copy of ${whose}; those of other accounts stay in ${store.place}`;
      return { data: { shape: 'nothing' }, notes: [`Deleted ${what}.`] };
    } finally {
      await store.close();
    }
  },
});
