import { credentialsAtHand } from '../../auth/at-hand.ts';
import { defineCommand } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import { Failure } from '../../errors.ts';
import { openCopy, openOnlyCopy } from '../../mirror/store/open-copy.ts';
import { onlyNotes } from '../../output/only-notes.ts';

export const forgetTheCopy = defineCommand({
  name: 'forget',
  summary: 'Delete the local copy of this account; the account itself is not touched',
  details:
    'What svc did not make stays: copies of other accounts, and tables of other programs in the same database. The recorded ' +
    'changes and the positions of svc watch are deleted too. Without a login the one copy that is there is meant, or that of --db.',
  flags: dbFlag,
  needs: 'a copy of the account: svc mirror pull',
  examples: ['svc mirror forget --yes'],
  async run(ctx, { flags, settings }) {
    // A copy is a file of this machine: whoever has logged out may delete it, too.
    const isLoggedIn = (await credentialsAtHand(ctx, settings)).length > 0;
    const opened = isLoggedIn ? openCopy(ctx, settings, flags) : openOnlyCopy(ctx, settings, flags.db);
    const copy = await opened.catch(async (error) => {
      if (!(error instanceof Failure) || error.copy?.is !== 'damaged') throw error;
      const { file } = error.copy;
      await confirmed(ctx, settings, `Delete ${file}, which is damaged?`);
      await removeCopyFile(file);
      return file;
    });
    if (typeof copy === 'string')
      return onlyNotes({ place: copy, account_id: null, left: 'nothing' }, [`Deleted ${copy}.`]);
    const { store, account } = copy;
    try {
      const whose = account.name === undefined ? `account ${account.id}` : `${account.name} (account ${account.id})`;
      await confirmed(ctx, settings, `Delete the local copy of ${whose}?`);
      const { forgetCopy } = await import('../../mirror/store/forget.ts');
      const notes = {
        nothing: `${store.place}, the copy of ${whose}`,
        others: `the copy of ${whose}; those of other accounts stay in ${store.place}`,
        strangers: `the copy of ${whose}; what svc did not make stays in ${store.place}`,
      };
      const left = await forgetCopy(store, account);
      // Of a login that may not ask for it the copy has a name of its own.
      const account_id = /^\d+$/u.test(account.id) ? Number(account.id) : null;
      return onlyNotes({ place: store.place, account_id, left }, [`Deleted ${notes[left]}.`]);
    } finally {
      await store.close();
    }
  },
});

const removeCopyFile = async (path: string): Promise<void> =>
  (await import('../../mirror/sqlite/remove.ts')).removeCopyFile(path);
