import { credentialsAtHand, notLoggedIn, refuseTwoSources } from '../../auth/at-hand.ts';
import { heldByProfile } from '../../auth/credentials.ts';
import { defineCommand } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { isSurelyOwn, openCopy, openOnlyCopy } from '../../mirror/store/open-copy.ts';
import { onlyNotes } from '../../output/only-notes.ts';
import { shellWord } from '../../text/shell-word.ts';

export const forgetTheCopy = defineCommand({
  name: 'forget',
  summary: 'Delete the local copy of this account; the account itself is not touched',
  details:
    'What svc did not make stays: copies of other accounts, and tables of other programs in the same database. What no pull ' +
    'brings back is deleted too: the snoozes of svc inbox, the recorded changes and the positions of svc watch. Without a saved login it deletes the one copy that is there, or that of --db.',
  flags: dbFlag,
  needs: 'a copy of the account: svc mirror pull',
  examples: ['svc mirror forget --yes'],
  async run(ctx, { flags, settings }) {
    const isLoggedIn = (await credentialsAtHand(ctx, settings)).length > 0;
    if (flags.db === undefined) await requireWhose(ctx, settings, isLoggedIn);
    const opened = isLoggedIn ? openCopy(ctx, settings, flags) : openOnlyCopy(ctx, settings, flags.db);
    const copy = await opened.catch(async (error) => {
      if (!(error instanceof Failure) || error.copy?.is !== 'damaged') throw error;
      const { file } = error.copy;
      if (flags.db === undefined && !(isLoggedIn && (await isSurelyOwn(ctx, settings, file))))
        throw new Failure('failed', `${error.message} Whose it is cannot be told, so it was not deleted.`, {
          hint: `To delete it all the same: svc mirror forget --db ${shellWord(file)}`,
          copy: error.copy,
        });
      await confirmed(ctx, settings, `Delete ${file}, which is damaged, with the snoozes and recorded changes in it?`);
      await (await import('../../mirror/sqlite/remove.ts')).removeCopyFile(file);
      return file;
    });
    if (typeof copy === 'string')
      return onlyNotes({ place: copy, account_id: null, left: 'nothing' }, [`Deleted ${copy}.`]);
    const { store, account } = copy;
    try {
      const whose = account.name === undefined ? `account ${account.id}` : `${account.name} (account ${account.id})`;
      const { forgetCopy, lostWith } = await import('../../mirror/store/forget.ts');
      const lost = await lostWith(store, account, ctx.clock.now());
      const copyOf = `copy of ${whose}${lost && `, with ${lost}`}`;
      await confirmed(ctx, settings, `Delete the local ${copyOf}?`);
      const notes = {
        nothing: `${store.place}, the ${copyOf}`,
        others: `the ${copyOf}; those of other accounts stay in ${store.place}`,
        strangers: `the ${copyOf}; what svc did not make stays in ${store.place}`,
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

/**
 * A copy is a file of this machine: whoever has logged out may delete it, too. But a profile that was named, or one beside
 * others, stands for an account: the copy that happens to be there may be another's.
 */
async function requireWhose(ctx: Context, settings: Settings, isLoggedIn: boolean): Promise<void> {
  if (isLoggedIn) return refuseTwoSources(ctx, settings);
  if (!settings.profileNamed && (await heldByProfile(ctx.tokens)).size === 0) return;
  const { kind, message, hint } = await notLoggedIn(ctx, settings);
  throw new Failure(kind, message, { hint: `${hint}\nWithout a login: svc mirror forget --db FILE` });
}
