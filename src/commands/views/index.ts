import { defineCommand, type TopGroup } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { fileText } from '../../command/editor.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { replaceFile } from '../../disk/file/atomic-file.ts';
import { removeFile } from '../../disk/file/folder.ts';
import { readUserText } from '../../disk/place/user-file.ts';
import { allViews, isOwnView, ownViews, placeForView, queryOf } from '../../inbox/views.ts';
import { onlyNotes } from '../../output/only-notes.ts';
import { shellWord } from '../../text/shell-word.ts';

const args = { name: param.requiredText('Name of the view', { placeholder: 'NAME', offers: 'views' }) };

const list = defineCommand({
  name: 'list',
  summary: 'Name the views of svc inbox: those of svc, and your own',
  examples: ['svc views list'],
  async run(ctx) {
    const records = await allViews(ctx);
    return { data: { shape: 'list', records, columns: ['name', 'about', 'path'] }, read: true };
  },
});

const show = defineCommand({
  name: 'show',
  summary: 'Show what a view holds: the query of your own',
  args,
  examples: [
    `svc views edit urgent --text "SELECT 'ticket' AS kind, id FROM tickets WHERE priority = 4" && svc views show urgent`,
  ],
  async run(ctx, { args: { name } }) {
    const text = isOwnView(name) ? ownViews[name] : await queryOf(ctx, name);
    return { data: { shape: 'text', text }, read: true };
  },
});

/** What an editor opens with where there is nothing yet. */
const example = `SELECT 'ticket' AS kind, id, 'priority ' || priority AS why
FROM tickets
WHERE status = 'open' AND priority = 4 AND gone_at IS NULL
ORDER BY created_at
`;

const edit = defineCommand({
  name: 'edit',
  summary: 'Write a view of your own, a new one too',
  details:
    "A view is one SELECT over the local copy, as svc mirror sql takes it. Its columns are kind ('ticket' or 'conversation'), id, and why, which is shown beside the row. " +
    'It is kept as views/NAME.sql in the configuration folder, and svc inbox NAME shows it.',
  args,
  flags: { text: param.text('The query, instead of the editor', { placeholder: 'QUERY' }) },
  examples: [`svc views edit urgent --text "SELECT 'ticket' AS kind, id FROM tickets WHERE priority = 4"`],
  async run(ctx, { args: { name }, flags, settings }) {
    const { path, isNew } = await placeForView(ctx, name);
    const text = await fileText(ctx, settings, {
      ...{ given: flags.text, extension: '.sql', noun: 'query' },
      opened: () => (isNew ? example : readUserText(ctx, path, 'NAME')),
    });
    await tried(ctx, settings, { name, text });
    await replaceFile(path, text);
    const done = `View ${name} is written to ${path}. To see it: svc inbox ${shellWord(name)}`;
    return { data: { shape: 'record', record: { name, path } }, done, notes: [done] };
  },
});

/** Where there is a copy the query is asked once: whoever opens the view later may be somebody else. */
async function tried(ctx: Context, settings: Settings, view: { readonly name: string; readonly text: string }) {
  const [{ openCopyPulled }, { rowsOfQuery }] = [
    await import('../../mirror/store/open-copy.ts'),
    await import('../../inbox/source.ts'),
  ];
  // No copy, or no login: svc inbox says so when the view is opened.
  const open = await openCopyPulled(ctx, settings).catch(() => undefined);
  if (!open) return;
  await rowsOfQuery({ ctx, settings, ...open }, view, 1).finally(() => open.store.close());
}

const remove = defineCommand({
  name: 'delete',
  summary: 'Delete a view of your own for good',
  args,
  needs: 'the view: svc views edit urgent',
  examples: ['svc views delete urgent --yes'],
  async run(ctx, { args: { name }, settings }) {
    const { path, isNew } = await placeForView(ctx, name);
    // It names the views there are.
    if (isNew) await queryOf(ctx, name);
    await confirmed(ctx, settings, `Delete view ${name}?`);
    await removeFile(path);
    return onlyNotes({ name, path }, [`View ${name} is deleted: ${path}`]);
  },
});

export const views: TopGroup = { commands: [list, show, edit, remove] };
