import type { History } from '../../answers/history.ts';
import { defineCommand } from '../../command/command.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import { param } from '../../command/param.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import type { View } from '../../output/view.ts';

export const contactHistory = defineCommand({
  name: 'history',
  summary: 'Everything about one person, in time, from the local copy',
  details:
    'The record, lists, tickets and conversations with their messages, calls, and what pulls saw change. --zip writes it to a file for a ' +
    'person who asks what is held about them: person.json, and person.html, which any browser shows. Only records of this person are in ' +
    'it; names of others in a thread are those of the team. Internal notes are not in the copy, for the API does not list them.',
  args: {
    person: param.requiredText('Id, email or phone of the contact', { placeholder: 'ID|EMAIL|PHONE' }),
  },
  flags: {
    zip: param.output('Write person.json and person.html into this zip file, in place of one that is there'),
    ...dbFlag,
  },
  needs: 'a copy of the account: svc mirror pull',
  examples: [
    'svc contacts history yara.kim@fieldnote.test',
    'svc contacts history 7 --json',
    'svc contacts history 7 --zip person.zip',
  ],
  async run(ctx, { args, flags, settings }) {
    const [{ askCopy }, { historyOf }, { personIn }] = await Promise.all([
      import('../../answers/copy.ts'),
      import('../../answers/history.ts'),
      import('../../answers/person.ts'),
    ]);
    const kinds = ['contacts', 'lists', 'calls', 'tickets', 'conversations'] as const;
    const { value, notes } = await askCopy(ctx, settings, { db: flags.db, kinds }, async (sql, account) =>
      historyOf(sql, account, await personIn(sql, account, args.person)),
    );
    if (!value) throw new Failure('not-found', `The copy has no contact ${args.person}.`);
    return flags.zip === undefined ? historyView(value, notes) : zipped(ctx, value, flags.zip, notes);
  },
});

const historyView = (history: History, notes: readonly string[]): View => ({
  data: { shape: 'record', record: history },
  read: true,
  human: async (terminal) => (await import('../../answers/history-page.ts')).historyPage(history, terminal),
  notes,
});

/** The file is its owner's alone: it is all about one person. */
async function zipped(
  ctx: Pick<Context, 'signal' | 'notice'>,
  history: History,
  file: string,
  notes: readonly string[],
): Promise<View> {
  const [{ historyZip }, { openDraft }] = await Promise.all([
    import('../../answers/history-zip.ts'),
    import('../../disk/draft/draft-file.ts'),
  ]);
  const bytes = historyZip(history);
  const draft = await openDraft(file, ctx, 0o600);
  draft.stream.write(bytes);
  await draft.keep().catch(async (error: unknown) => {
    await draft.drop();
    throw error;
  });
  const done = `Wrote person.json and person.html to ${file}.`;
  const { tickets, conversations, calls, changes } = history;
  const counts = Object.entries({ tickets, conversations, calls, changes }).map(([kind, all]) => [kind, all.length]);
  const record = { file, bytes: bytes.length, ...Object.fromEntries(counts) };
  return { data: { shape: 'record', record }, done, notes: [done, ...notes] };
}
