import { Failure, messageOf } from '../errors.ts';
import { isBlank, putAside, seedOf, withNewText, written } from './compose.ts';
import type { Effect, Kept, Means } from './effect.ts';
import { recordOf } from './record.ts';
import type { Row } from './row.ts';
import type { World } from './world-ports.ts';
import { keep, keptOf } from './writes.ts';

/** A row with its record of the copy. */
type Recorded = { readonly row: Row; readonly record: Awaited<ReturnType<typeof recordOf>> };

export async function recordsOf(world: World, rows: readonly Row[]): Promise<readonly Recorded[]> {
  const reading = await world.reading();
  return Promise.all(rows.map(async (row) => ({ row, record: await recordOf(reading, row) })));
}

/** Lets somebody write; what they wrote is a draft before anything else is done with it. */
export async function compose(
  world: World,
  { means, rows, ends, initial = [] }: Extract<Effect, { do: 'compose' }>,
): Promise<void> {
  const records = await recordsOf(world, rows);
  const seed = seedOf(means, rows, records[0]?.record);
  const { text, failed } = await written(world.editing, initial[0] ?? '', seed);
  if (isBlank(text)) {
    world.tell({ is: 'told', told: failed ?? 'The text is empty. Nothing was sent.', state: 'refused' });
    return;
  }
  const how = { means, ends, isAgreed: false, ...(failed !== undefined && { failed }) };
  await keepAll(
    world,
    how,
    records.map((one) => ({ ...one, text })),
  );
}

type How = {
  readonly means: Means;
  readonly ends: 'send' | 'draft';
  readonly isAgreed: boolean;
  /** The editor failed: what it had saved is kept, and no more. */
  readonly failed?: string;
};

/** Each text is a draft before anything else is done with it; one that cannot be is put into a file. */
export async function keepAll(
  world: World,
  { means, ends, isAgreed, failed }: How,
  all: readonly (Recorded & { readonly text: string | undefined })[],
): Promise<void> {
  const items: Kept[] = [];
  for (const { row, record, text } of all) {
    try {
      items.push(await keep(world.writing, { means, row, record, text }));
    } catch (error) {
      await notKept(world, text, error);
    }
  }
  if (items.length === 0) return;
  if (failed !== undefined) {
    const drafts = items.map(({ draft }) => draft).join(', ');
    world.tell({ is: 'told', told: `What the editor had saved is draft ${drafts}. ${failed}`, state: 'refused' });
    return countDrafts(world);
  }
  const texts = [...new Set(all.flatMap(({ text }) => text ?? []))];
  const shown = [...items.map(({ told }) => told.replace(/ To send it: .*$/u, '')), '', ...texts].join('\n');
  const mode = await world.mode();
  world.tell({ is: 'kept', means, ends, items, mode, holdMs: world.writing.holdMs, shown, isAgreed });
  await countDrafts(world);
}

async function notKept({ editing: { ctx }, tell }: World, text: string | undefined, error: unknown): Promise<void> {
  const why = messageOf(error);
  if (text === undefined) return tell({ is: 'told', told: why, state: 'refused' });
  const path = await putAside(ctx, text).catch(() => undefined);
  const place = path === undefined ? `Your text: ${text}` : `Your text is in ${path}`;
  tell({ is: 'told', told: `${why} Nothing was sent. ${place}`, state: 'refused' });
}

/** Another text for a draft that waits. */
export async function edit(world: World, { draft: id, row, means }: Extract<Effect, { do: 'edit' }>): Promise<void> {
  const { ctx } = world.editing;
  const store = await world.writing.drafts();
  const draft = await store.get(id);
  if (!draft) throw new Failure('not-found', `There is no draft ${id}.`);
  const [recorded] = await recordsOf(world, [row]);
  const seed = seedOf(means, [row], recorded?.record);
  const { text, failed } = await written(world.editing, String(Object(draft.steps[0]?.body).body ?? ''), seed);
  if (isBlank(text))
    return world.tell({ is: 'told', told: `The text is empty. Draft ${id} waits as it was.`, state: 'drafted' });
  const next = await withNewText(store, ctx, draft, text).catch((error: unknown) => notKept(world, text, error));
  if (!next) return;
  if (failed !== undefined) return world.tell({ is: 'told', told: `${failed} Draft ${id} waits.`, state: 'drafted' });
  const item = keptOf(next, row);
  world.tell({
    is: 'kept',
    means,
    ends: 'send',
    items: [item],
    mode: await world.mode(),
    holdMs: world.writing.holdMs,
    shown: text,
    isAgreed: false,
  });
}

/** Tells how many drafts wait. */
export async function countDrafts({ writing, tell }: Pick<World, 'writing' | 'tell'>): Promise<void> {
  const all = await (await writing.drafts()).list();
  tell({ is: 'drafts', waiting: all.filter(({ state }) => state === 'waiting').length });
}
