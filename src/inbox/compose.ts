import { type Fate, seededThread, withoutSeed } from '../command/seed.ts';
import { bracedNames, namedTemplates, readTemplate } from '../command/template-file.ts';
import type { Context, KeptFile } from '../context.ts';
import { Failure } from '../errors.ts';
import { retold } from '../sends/deliver.ts';
import { type Draft, requestsOf, textField, textOf } from '../sends/draft.ts';
import type { DraftStore } from '../sends/store.ts';
import { whoIs } from '../sends/who.ts';
import type { Fields } from '../text/record.ts';
import { fillTemplate, valueAt } from '../text/template.ts';
import type { Means } from './effect.ts';
import type { Choice } from './model.ts';
import { listed } from './over.ts';
import { threadOf } from './record.ts';
import { nameOf, type Row, whoOf } from './row.ts';

export type Editing = {
  readonly ctx: Context;
  /** Gives the terminal to the editor for as long as `work` takes. */
  readonly lend: <T>(work: () => Promise<T>) => Promise<T>;
};

/** So many messages of the thread stand below the scissors. */
const shownMessages = 20;

type Seeding = { readonly means: Means; readonly rows: readonly Row[]; readonly fate: Fate };

/** What stands below the scissors: who gets it, about what, and the thread, the newest message first. */
export function seedOf({ means, rows, fate }: Seeding, record: Fields | undefined): string {
  const [row] = rows;
  const to = means === 'note' ? 'the team; the customer never sees it' : toWhom(rows, record);
  if (rows.length !== 1 || !row) return seededThread({ to, about: listed(rows).replaceAll('\n', '; '), fate }, []);
  const messages = record ? threadOf(row, record).messages : [];
  const newest = messages.slice(-shownMessages).reverse();
  const said = newest.map(({ who, side, at, body }) => ({ sender_name: who || side, body, created_at: at }));
  return seededThread({ to, about: `${nameOf(row)} ${row.subject ?? ''}`.trim(), fate }, said);
}

function toWhom(rows: readonly Row[], record: Fields | undefined): string {
  const [row] = rows;
  if (rows.length !== 1 || !row) return `${rows.length} customers`;
  const channel = record?.reply_channel ?? row.channel;
  return [whoOf(row) || 'an anonymous visitor', channel ? `by ${channel}` : ''].filter(Boolean).join(', ');
}

export type Written = {
  readonly text: string;
  /** The editor failed; what it had saved is here all the same. */
  readonly failed?: string;
  /** To be called once the text is kept elsewhere: until then the file of the editor holds it. */
  readonly remove: () => Promise<void>;
  /** Where nothing else takes the text its file stays: its place. */
  readonly leave: () => string | undefined;
};

/** What somebody wrote in the editor; an empty text where they wrote nothing. */
export async function written({ ctx, lend }: Editing, initial: string, seed: string): Promise<Written> {
  let left: string | undefined;
  let file: KeptFile | undefined;
  let isLeft = false;
  const kept = (one: KeptFile) => {
    file = one;
  };
  const ends = {
    // What the disk does not let go of is named by the next svc.
    remove: async () => (isLeft ? undefined : file?.remove().catch(() => {})),
    leave: () => {
      isLeft = true;
      return file?.path;
    },
  };
  const failed = (text: string) => {
    left = text;
  };
  const textIn = (saved: string) => withoutSeed(saved, seed).trimEnd();
  try {
    const saved = await lend(() => ctx.ask.edit(`${initial}${seed}`, { extension: '.md', failed, kept }));
    return { text: textIn(saved), ...ends };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { text: left === undefined ? '' : textIn(left), failed: error.message, ...ends };
  }
}

/** The templates there are, as choices. */
export async function templateChoices(ctx: Context): Promise<readonly Choice[]> {
  const all = await namedTemplates(ctx);
  return all.map(({ name, placeholders }) => ({
    value: name,
    name,
    ...(placeholders.length > 0 && { about: bracedNames(placeholders) }),
  }));
}

/** The template's text for each record. @throws Failure `usage` naming the first record that has no value for it */
export async function filledTexts(
  ctx: Context,
  name: string,
  records: readonly { readonly row: Row; readonly record: Fields | undefined }[],
): Promise<readonly string[]> {
  const template = await readTemplate(ctx, name);
  return records.map(({ row, record }) => {
    const filled = fillTemplate(template, (path) => valueAt(record, path));
    if ('text' in filled) return filled.text;
    throw new Failure('usage', `${nameOf(row)} has nothing for ${bracedNames(filled.missing)}. Nothing was sent.`);
  });
}

/** Another text for a draft; who changed it is kept. @throws Failure where it was decided or changed meanwhile */
export async function withNewText(store: DraftStore, ctx: Context, draft: Draft, text: string): Promise<Draft> {
  const [by, at, before] = [whoIs(), ctx.clock.now().toISOString(), textOf(draft)];
  const next = await store.change(draft.id, (one) => {
    const [first, ...others] = one.steps;
    if (one.state !== draft.state || requestsOf(one) !== requestsOf(draft)) return undefined;
    if (!first || textField(first) === undefined) return undefined;
    const edits = [...one.edits, { at, by, before }];
    return { ...one, steps: [retold(first, text), ...others], state: 'waiting', error: null, edited_by: by, edits };
  });
  if (next) return next;
  throw new Failure('failed', `Draft ${draft.id} was changed by somebody else just now.`);
}
