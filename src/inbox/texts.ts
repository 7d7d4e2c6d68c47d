import { isBlank } from '../command/body-text.ts';
import { stricter } from '../config/settings.ts';
import { keepUnsent } from '../disk/draft/unsent.ts';
import { Failure, messageOf } from '../errors.ts';
import type { Draft } from '../sends/draft.ts';
import { requireMeant } from '../sends/meant.ts';
import { fieldsIn } from '../text/record.ts';
import { seedOf, type Written, withNewText, written } from './compose.ts';
import type { Effect, Kept, Means } from './effect.ts';
import type { Composing, Event } from './event.ts';
import { recordOf } from './record.ts';
import { keyOf, nameOf, type Row } from './row.ts';
import type { World } from './world-ports.ts';
import { keep, keptOf } from './writes.ts';

/** A row with its record of the copy. */
type Recorded = { readonly row: Row; readonly record: Awaited<ReturnType<typeof recordOf>> };

export async function recordsOf(world: World, rows: readonly Row[]): Promise<readonly Recorded[]> {
  const reading = await world.reading();
  return Promise.all(rows.map(async (row) => ({ row, record: await recordOf(reading, row) })));
}

/** Lets somebody write; what they wrote is a draft before anything else is done with it. */
export async function compose(world: World, effect: Composing): Promise<void> {
  const { means, rows, ends, initial = [], isAgreed } = effect;
  const records = await recordsOf(world, rows);
  const why = means === 'reply' && !isAgreed ? await doubts(world, records) : '';
  if (why !== '') return world.tell({ is: 'doubt', why, effect });
  const fate = await fateOf(world, { means, rows, ends });
  const seed = seedOf({ means, rows, fate }, records[0]?.record);
  const { text, failed, remove, leave } = await written(world.editing, initial[0] ?? '', seed);
  try {
    if (isBlank(text))
      return world.tell({ is: 'told', told: failed ?? 'The text is empty. Nothing was sent.', state: 'refused' });
    await keepAll(
      world,
      { means, ends, isAgreed: false, leave, ...(failed !== undefined && { failed }) },
      records.map((one) => ({ ...one, text })),
    );
  } finally {
    await remove();
  }
}

/** What becomes of a text that somebody is about to write, as `keptOrAsked` decides it. */
async function fateOf({ mode }: World, { means, rows, ends }: Pick<Composing, 'means' | 'rows' | 'ends'>) {
  if (ends === 'draft') return 'draft';
  const held = means === 'note' ? 'allow' : await mode();
  return rows.length > 1 ? stricter(held, 'ask') : held;
}

/** What may make a reply be written in vain. */
async function doubts(world: World, records: readonly Recorded[]): Promise<string> {
  const drafted = await draftedAmong(world, records);
  const mute = records.filter(({ record }) => hasNoAddress(record)).map(({ row }) => nameOf(row));
  return [
    drafted.length > 0 ? `A draft waits already for ${drafted.join(', ')}. The view drafts (v) has it.` : '',
    mute.length > 0
      ? `No address is known for ${mute.join(', ')}, and the reply goes by email: the service may refuse it.`
      : '',
  ]
    .filter(Boolean)
    .join('\n\n');
}

/** The service refuses a reply by email to a requester without an address (docs/service.md). */
const hasNoAddress = (record: Recorded['record']): boolean =>
  record?.reply_channel === 'email' && record.contact !== undefined && !fieldsIn(record.contact).email;

type How = {
  readonly means: Means;
  readonly ends: 'send' | 'draft';
  readonly isAgreed: boolean;
  readonly batch?: number;
  /** The editor failed: what it had saved is kept, and no more. */
  readonly failed?: string;
  /** Of a text that comes from the editor: see `Written`. */
  readonly leave?: Written['leave'];
};

/** Each text is a draft before anything else is done with it; one that cannot be is put into a file. */
export async function keepAll(
  world: World,
  { means, ends, isAgreed, failed, leave, batch }: How,
  all: readonly (Recorded & { readonly text: string | undefined })[],
): Promise<void> {
  const items: Kept[] = [];
  for (const { row, record, text } of all) {
    try {
      items.push(await keep(world.writing, { means, row, record, text }));
    } catch (error) {
      await notKept(world, { text, leave }, error);
    }
  }
  if (items.length === 0) return;
  if (failed !== undefined) {
    const drafts = items.map(({ draft }) => draft).join(', ');
    world.tell({ is: 'told', told: `What the editor had saved is draft ${drafts}. ${failed}`, state: 'refused' });
    return countDrafts(world);
  }
  const texts = [...new Set(all.flatMap(({ text }) => text ?? []))];
  const shown = [...items.map(({ told }) => `${told}.`), '', ...texts].join('\n');
  await tellKept(world, { means, ends, items, shown, isAgreed, ...(batch !== undefined && { batch }) });
  await countDrafts(world);
}

/** What was kept, with the rules that hold now. */
async function tellKept(
  { tell, mode, writing }: World,
  kept: Omit<Extract<Event, { is: 'kept' }>, 'is' | 'mode' | 'holdMs'>,
): Promise<void> {
  tell({ is: 'kept', ...kept, mode: await mode(), holdMs: await writing.holdMs() });
}

type NotKept = { readonly text: string | undefined; readonly leave?: Written['leave'] | undefined };

async function notKept({ editing: { ctx }, tell }: World, { text, leave }: NotKept, error: unknown): Promise<void> {
  const why = messageOf(error);
  if (text === undefined) return tell({ is: 'told', told: why, state: 'refused' });
  const path = await keepUnsent(ctx, text).catch(() => leave?.());
  const place = path === undefined ? `Your text: ${text}` : `Your text is in ${path}`;
  tell({ is: 'told', told: `${why} Nothing was sent. ${place}`, state: 'refused' });
}

/** Another text for a draft that waits. */
export async function edit(world: World, { draft: id, row, means }: Extract<Effect, { do: 'edit' }>): Promise<void> {
  const { ctx } = world.editing;
  const store = await world.writing.drafts();
  const draft = await store.get(id);
  if (!draft) throw new Failure('not-found', `There is no draft ${id}.`);
  requireMeant(draft);
  if (draft.record.id !== row.id) throw new Failure('failed', `Draft ${id} was changed by somebody else just now.`);
  const [recorded] = await recordsOf(world, [row]);
  const fate = await fateOf(world, { means, rows: [row], ends: 'send' });
  const seed = seedOf({ means, rows: [row], fate }, recorded?.record);
  const { text, failed, remove, leave } = await written(
    world.editing,
    String(Object(draft.steps[0]?.body).body ?? ''),
    seed,
  );
  if (isBlank(text)) {
    const why = failed ?? 'The text is empty.';
    await remove();
    return world.tell({ is: 'told', told: `${why} Draft ${id} waits as it was.`, state: 'drafted' });
  }
  const next = await withNewText(store, ctx, draft, text).catch((error: unknown) =>
    notKept(world, { text, leave }, error),
  );
  await remove();
  if (!next) return;
  if (failed !== undefined) return world.tell({ is: 'told', told: `${failed} Draft ${id} waits.`, state: 'drafted' });
  await tellKept(world, { means, ends: 'send', items: [keptOf(next, row)], shown: text, isAgreed: false });
}

type Counting = Pick<World, 'tell'> & { readonly writing: Pick<World['writing'], 'drafts'> };

/** How many drafts there are to deal with, and of those that wait the keys of what they are for. */
async function waitingIn(drafts: World['writing']['drafts']) {
  const all = await (await drafts()).list();
  const waiting = all.filter(({ state }) => state === 'waiting');
  const records = waiting.flatMap(({ record: { kind, id } }) => {
    const of = { tickets: 'ticket' as const, conversations: 'conversation' as const }[kind];
    return id === null || of === undefined ? [] : [keyOf({ kind: of, id })];
  });
  const countOf = (wanted: Draft['state']) => all.filter(({ state }) => state === wanted).length;
  const counts = { waiting: waiting.length, sending: countOf('sending'), refused: countOf('refused') };
  return { counts, records };
}

/** Those for which a draft waits. Where that cannot be read, what is written will say so. */
async function draftedAmong({ writing }: World, records: readonly Recorded[]): Promise<readonly string[]> {
  const waiting = await waitingIn(writing.drafts).catch(() => undefined);
  return records.flatMap(({ row }) => (waiting?.records.includes(keyOf(row)) ? nameOf(row) : []));
}

/** Tells how many drafts wait, and for what. */
export async function countDrafts({ writing, tell }: Counting): Promise<void> {
  const { counts, records } = await waitingIn(writing.drafts);
  tell({ is: 'drafts', counts, records });
}
