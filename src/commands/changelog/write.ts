import { createChangelogEntry, updateChangelogEntry } from '../../api/changelog.ts';
import { check } from '../../api/check.ts';
import { fieldsOf } from '../../api/shape.ts';
import { unwrap } from '../../command/answered.ts';
import { bodyText, textFlags } from '../../command/body-text.ts';
import { cleared, clearFlag, noChange } from '../../command/clear.ts';
import { defineCommand, type Param } from '../../command/command.ts';
import { flagsOf } from '../../command/flags.ts';
import { filledTemplate, pickGiven } from '../../command/from-operation.ts';
import { param } from '../../command/param.ts';
import type { FilledText } from '../../command/record-template.ts';
import { rowOf } from '../../command/row.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { call, connect } from '../../http/call/call.ts';
import { localTime } from '../../output/cells.ts';
import type { View } from '../../output/view.ts';
import type { Entry } from '../../release/plan.ts';
import { zoneDoubt } from '../../text/own-zone.ts';
import { textIn } from '../../text/record.ts';
import { sanitize } from '../../text/sanitize.ts';
import { parseComing, parseTime } from '../../text/time.ts';
import { stateOf, withoutScheduled } from './state.ts';

type Body = Record<string, unknown>;

/** `sentBy`: see `FilledText`. */
type Written = { readonly body: Body; readonly sentBy: FilledText['sentBy'] | undefined };

const ownFlags = flagsOf(createChangelogEntry.body, { optional: true });
const entryFlags: typeof ownFlags = {
  ...ownFlags,
  status: withoutScheduled(
    ownFlags.status as Param<unknown>,
    'An entry is scheduled by a time to come: --status published --published-at TIME',
  ),
};
const fileFlags = {
  ...textFlags,
  bodyFile: param.file('Read the content, with or without front matter, from a file; - is standard input'),
  contentFile: param.file('The same as --body-file'),
};
const contentFlag = entryFlags.content as Param<string | undefined>;
const textWays = ['bodyFile', 'contentFile', 'editor'];
// Front matter may name the title.
const titleFlag = { ...entryFlags.title, required: true, unless: textWays } as Param<string | undefined>;

const publishing = (count: number): string =>
  `Publish ${count} changelog ${count === 1 ? 'entry' : 'entries'}? Subscribers are not emailed.`;

const frontMatterHelp =
  'A file may begin with front matter, YAML between two lines of ---, with title, version, category_id, labels, status\n' +
  'and published_at; draft: true is a status too. Flags win over it.';

export const createEntry = defineCommand({
  name: 'create',
  summary: createChangelogEntry.summary,
  details: frontMatterHelp,
  flags: {
    ...entryFlags,
    title: titleFlag,
    content: { ...contentFlag, required: true, written: true, unless: [...textWays, 'template'] },
    ...fileFlags,
  },
  row: rowOf(createChangelogEntry, { text: 'content', question: publishing }),
  examples: [
    'svc changelog create --title "Faster exports" --content "Exports take seconds now." --label improvement',
    'printf "# Dark mode\\n\\nIt is here." | svc changelog create --title "Dark mode" --body-file - --status published',
  ],
  async run(ctx, { flags, settings }) {
    const { body } = await bodyFrom(ctx, settings, flags, undefined);
    if (body.title === undefined) {
      throw new Failure('usage', '--title is required.', {
        hint: 'Give --title TEXT, or a title in the front matter.',
      });
    }
    const checked = check(createChangelogEntry.body, body);
    if (!checked.ok) throw refused(checked.fields);
    if (body.content) (await import('../../release/beside.ts')).tellOfFilesBeside(ctx, String(body.content));
    const service = await connect(ctx, settings);
    const answer = await call(service, createChangelogEntry, { body: checked.value });
    const record = unwrap(createChangelogEntry, answer);
    return entryView(ctx, record, (name, state) => `${name} is ${state}`, textIn(body.published_at));
  },
});

export const updateEntry = defineCommand({
  name: 'update',
  summary: updateChangelogEntry.summary,
  details: frontMatterHelp,
  args: { id: param.requiredId('Id of the entry', 'changelog') },
  flags: {
    ...entryFlags,
    ...fileFlags,
    clear: clearFlag(updateChangelogEntry.body) as Param<readonly string[] | undefined>,
  },
  row: rowOf(updateChangelogEntry, { text: 'content', needsChange: true, question: publishing }),
  examples: ['svc changelog update 1 --title "Faster exports"', 'svc changelog update 1 --clear labels'],
  async run(ctx, { args, flags, settings }) {
    const { body: given, sentBy } = await bodyFrom(ctx, settings, flags, args.id);
    const body = cleared(given, flags.clear, fieldsOf(updateChangelogEntry.body));
    if (Object.keys(body).length === 0) throw noChange(updateChangelogEntry.body);
    const { changes } = await import('../../command/changes.ts');
    // A time that is taken from an entry that waits for it publishes it at once.
    const isTimed = 'status' in body || 'published_at' in body;
    const words: Words = (name, state) =>
      `${name} is changed: ${changes(told(body))}.${isTimed ? ` It is ${state}` : ''}`;
    return change(ctx, settings, { id: args.id, body, sentBy, wanted: textIn(body.published_at) }, words);
  },
});

const publishTime: Param<string | undefined> = {
  description: 'When to publish; a time to come, such as "tomorrow 9:00", schedules it',
  placeholder: 'TIME',
  moment: true,
  doubt: zoneDoubt,
  parse: (texts, flag, now = new Date()) => parseComing(texts.at(-1) ?? '', flag, now),
};

export const publishEntry = defineCommand({
  name: 'publish',
  summary: 'Publish a draft, now or at a time; subscribers are never emailed',
  details: frontMatterHelp,
  args: { id: param.requiredId('Id of the entry', 'changelog') },
  flags: {
    at: publishTime,
    content: contentFlag,
    ...fileFlags,
  },
  row: rowOf(updateChangelogEntry, {
    places: { at: 'published_at', content: 'content' },
    reads: 'named',
    fixed: { status: 'published' },
    text: 'content',
    question: publishing,
  }),
  examples: [
    'svc changelog publish 30',
    'svc changelog publish 30 31 --yes',
    'svc changelog publish 30 --at 2030-01-31T09:00:00Z',
    'svc changelog publish 30 --at "tomorrow 9:00"',
  ],
  async run(ctx, { args, flags, settings }) {
    const { body: given, sentBy } = await bodyFrom(ctx, settings, flags, args.id);
    const body = { ...given, status: 'published', ...(flags.at !== undefined && { published_at: flags.at }) };
    // One that is scheduled stays so, unless a time is given.
    const stays = (state: string) =>
      state.startsWith('scheduled') && flags.at === undefined
        ? ` To publish it now: svc changelog publish ${args.id} --at now`
        : '';
    return change(ctx, settings, { id: args.id, body, sentBy }, (name, state) => `${name} is ${state}${stays(state)}`);
  },
});

/** The words about an entry that was written, of its name and its state: `published.`, `scheduled for ….`, `a draft. …`. */
type Words = (name: string, state: string) => string;

/** `wanted`: when it was to be published. */
type Change = Written & { readonly id: number; readonly wanted?: string };

async function change(
  ctx: Context,
  settings: Settings,
  { id, body, sentBy, wanted }: Change,
  words: Words,
): Promise<View> {
  const checked = check(updateChangelogEntry.body, body);
  if (!checked.ok) throw refused(checked.fields);
  if (body.content) (await import('../../release/beside.ts')).tellOfFilesBeside(ctx, String(body.content));
  const service = await connect(ctx, settings);
  const sender = sentBy ? sentBy(service) : service;
  const answer = await call(sender, updateChangelogEntry, { params: { id }, body: checked.value });
  return entryView(ctx, unwrap(updateChangelogEntry, answer), words, wanted);
}

/** What the flags and the file say, flags first; the wire's names. */
async function bodyFrom(
  ctx: Context,
  settings: Settings,
  flags: Readonly<Record<string, unknown>>,
  /** Undefined for one that is new. */
  id: number | undefined,
): Promise<Written> {
  const isNew = id === undefined;
  if (flags.bodyFile !== undefined && flags.contentFile !== undefined) {
    throw new Failure('usage', 'Give only one of --body-file and --content-file.');
  }
  const file = textIn(flags.bodyFile ?? flags.contentFile);
  const operation = isNew ? createChangelogEntry : updateChangelogEntry;
  const filled = await filledTemplate(ctx, settings, { operation, field: 'content', flags: { ...flags, id } });
  const text = await bodyText(ctx, settings, {
    field: 'content',
    text: textIn(flags.content),
    bodyFile: file,
    fileFlag: flags.bodyFile === undefined ? '--content-file' : '--body-file',
    template: filled?.text,
    editor: flags.editor === true,
    opensEditor: isNew,
    required: isNew,
    blank: 'refused',
    of: `changelog entry${flags.title === undefined ? '' : ` "${flags.title}"`}`,
  });
  const fromFile = text !== undefined && flags.content === undefined;
  const where = filled === undefined ? (file ?? 'the text') : 'the template';
  const body: Body = fromFile ? await fromNotes(ctx, text, where === '-' ? 'standard input' : where) : {};
  return { body: { ...body, ...pickGiven(flags, fieldsOf(createChangelogEntry.body)) }, sentBy: filled?.sentBy };
}

async function fromNotes(ctx: Context, text: string, where: string): Promise<Body> {
  const { readNotes } = await import('../../release/front-matter.ts');
  const notes = readNotes(text);
  if ('problem' in notes) {
    const { message, line } = notes.problem;
    throw new Failure('usage', `${where}${line ? `:${line}` : ''}: ${message}`);
  }
  const { fields, content, unknown } = notes;
  if (unknown.length > 0) ctx.notice(`Ignored in the front matter: ${sanitize(unknown.join(', '))}.`);
  return {
    ...fields,
    ...(fields.category_id !== undefined && { category_id: Number(fields.category_id) }),
    ...(fields.published_at !== undefined && { published_at: parseTime(fields.published_at, 'published_at') }),
    ...(content !== '' && { content }),
  };
}

const refused = (fields: Readonly<Record<string, readonly string[]>>): Failure =>
  new Failure('usage', 'The service would refuse this entry; nothing was sent.', { fields });

/** The text may be long; that it was changed is enough. */
const told = ({ content, ...body }: Body): Body => (content === undefined ? body : { ...body, content: 'new' });

/** An entry with what its dates mean. `wanted`: when it was to be published; a draft does not keep it. */
function entryView({ stdout }: Context, record: unknown, words: Words, wanted?: string): View {
  const entry = record as Partial<Entry>;
  const { id, status, is_live = false, published_at, title } = entry;
  if (id === undefined || status === undefined) return { data: { shape: 'record', record } };
  const state = stateOf({ status, is_live });
  const isLater = state === 'scheduled' && published_at;
  // In a pipe the time as the service has it: scripts read this line too.
  const at = published_at && stdout.isTTY ? localTime(published_at) : published_at;
  const told = isLater ? `scheduled for ${at}` : state;
  const [lack, then] = wanted !== undefined && !published_at ? [', which keeps no time', ` --at ${wanted}`] : ['', ''];
  const shown = state === 'draft' ? `a draft${lack}. To publish it: svc changelog publish ${id}${then}` : `${told}.`;
  const done = words(`Entry ${id}${textIn(title) ? ` (${sanitize(String(title))})` : ''}`, shown);
  return { data: { shape: 'record', record }, done, notes: [done] };
}
