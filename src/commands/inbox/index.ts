import { credentialsAtHand } from '../../auth/at-hand.ts';
import { defineCommand } from '../../command/command.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { queueFields } from '../../output/contact-columns.ts';

export const inbox = defineCommand({
  name: 'inbox',
  summary: 'What needs a person, and single keys to deal with it',
  details:
    'Shows a view of the queue from the local copy, with the thread of what is selected, and does what is to be done with single keys: reply in your editor or by template, note, ' +
    'resolve, close, priority, snooze, drafts. The last line names the keys, ? shows all. Beside it svc keeps the copy up to date; without a copy it begins one.\n\n' +
    'Views: waiting (default), open, new, snoozed, drafts, unknown, feedback, and your own (svc views). With --linear it asks one question after the other, for screen readers and slow lines. ' +
    'In a pipe, or with --json, it prints the rows of the view.',
  args: { view: param.text('What to show (default: waiting)', { placeholder: 'VIEW', offers: 'views' }) },
  flags: {
    linear: param.toggle('Without a screen: one question after the other'),
    ...dbFlag,
  },
  needs: 'a copy of the account: svc mirror pull',
  prints: async () => queueFields,
  examples: ['svc inbox waiting --json', 'svc inbox open'],
  async run(ctx, { args, flags, settings }) {
    const view = args.view ?? 'waiting';
    const wantsData = settings.output !== undefined || settings.jq !== undefined || settings.fields !== undefined;
    if (wantsData || !ctx.stdout.isTTY || !ctx.ask.canAsk || settings.noInput)
      return (await import('./rows.ts')).rowsView(ctx, settings, view, flags.db);
    await (await import('../../inbox/views.ts')).requireView(ctx, view);
    await requireSomething(ctx, settings, flags.db);
    const isSimple = flags.linear || ctx.env.TERM === 'dumb' || !ctx.terminal;
    if (isSimple) return (await import('../../inbox/linear/run.ts')).runLinear(ctx, settings, { view, db: flags.db });
    return (await import('../../inbox/run.ts')).runScreen(ctx, settings, { view, db: flags.db });
  },
});

/** @throws Failure `auth` where there is neither a login nor a copy: then there is nothing to draw. */
async function requireSomething(ctx: Context, settings: Settings, db: string | undefined): Promise<void> {
  if ((await credentialsAtHand(ctx, settings)).length > 0) return;
  const { openCopyPulled } = await import('../../mirror/store/open-copy.ts');
  const { store } = await openCopyPulled(ctx, settings, { db });
  await store.close();
}
