import { stricter } from '../config/settings.ts';
import { Failure, messageOf } from '../errors.ts';
import { snooze } from '../mirror/store/snoozes.ts';
import { plainTerminal } from '../sends/ask.ts';
import type { Draft } from '../sends/draft.ts';
import { requireMeant } from '../sends/meant.ts';
import { draftBlocks } from '../sends/page.ts';
import { threadOf as threadNow } from '../sends/thread.ts';
import { whoIs } from '../sends/who.ts';
import { filledTexts, templateChoices } from './compose.ts';
import type { Effect } from './effect.ts';
import { recordOf, threadOf, threadOfDraft } from './record.ts';
import { nameOf, type Row } from './row.ts';
import { putAway } from './snoozing.ts';
import type { Reading } from './source.ts';
import { compose, countDrafts, edit, keepAll, recordsOf } from './texts.ts';
import type { World } from './world-ports.ts';
import { change, keptOf, send } from './writes.ts';

export type Effects = { readonly [E in Effect as E['do']]: E };

/** What is done without a person's waiting for the first rows; the rest is in world.ts. */
export type Doings = {
  readonly [D in Exclude<keyof Effects, 'list' | 'copy' | 'pull' | 'suspend' | 'end'>]: (
    world: World,
    effect: Effects[D],
  ) => Promise<void>;
};

export const doings: Doings = {
  async open(world, { row }) {
    try {
      world.tell({ is: 'opened', row, thread: await threadFor(await world.reading(), row) });
    } catch (error) {
      world.tell({ is: 'opened', row, thread: undefined, told: messageOf(error) });
    }
  },
  async templates({ editing: { ctx }, tell }, { rows }) {
    tell({ is: 'templates', rows, templates: await templateChoices(ctx) });
  },
  async fill(world, { template, rows }) {
    const records = await recordsOf(world, rows);
    const texts = await filledTexts(world.editing.ctx, template, records);
    const [record] = records;
    const to = record && rows.length === 1 ? `To: ${whoseWords(record.row, record.record?.reply_channel)}\n\n` : '';
    world.tell({ is: 'filled', rows, texts, shown: `${to}${texts.join('\n\n---\n\n')}` });
  },
  compose,
  async keep(world, { means, rows, texts, ends, batch }) {
    const records = await recordsOf(world, rows);
    await keepAll(
      world,
      { means, ends, isAgreed: true, ...(batch !== undefined && { batch }) },
      records.map((one, at) => ({ ...one, text: texts[at] })),
    );
  },
  edit,
  async send(world, effect) {
    const mode = await world.mode();
    const { job, draft, agreed = mode } = effect;
    const isKept = effect.means !== 'note' && stricter(agreed, mode) !== agreed;
    const told = `Draft ${draft} was not sent: sends is ${mode} now. It waits in the view drafts (v).`;
    world.tell(isKept ? { is: 'ended-job', job, state: 'drafted', told } : await send(world.writing, effect));
    // What became of it was told: a count that fails says nothing else of it.
    await countDrafts(world).catch(() => {});
  },
  async reject({ writing, editing: { ctx } }, { draft }) {
    const at = ctx.clock.now().toISOString();
    const decided = { decided_at: at, decided_by: whoIs(), reason: 'Taken back' };
    await (await writing.drafts()).change(draft, (one) =>
      one.state === 'waiting' ? { ...one, ...decided, state: 'rejected' } : undefined,
    );
  },
  async change(world, effect) {
    world.tell(await change(world.writing, effect));
  },
  snooze: putAway,
  async 'read-drafts'(world, { rows }) {
    const store = await world.writing.drafts();
    const drafts = await Promise.all(rows.map(async (row) => ({ row, draft: await store.get(row.id) })));
    const here = drafts.flatMap(({ row, draft }) => (draft ? [{ row, draft }] : []));
    const shown = await Promise.all(here.map(({ draft }) => draftShown(world, draft)));
    const items = here.map(({ row, draft }) => keptOf(draft, row));
    world.tell({ is: 'to-approve', items, shown: shown.join('\n\n---\n\n'), holdMs: await world.writing.holdMs() });
  },
  async looked(world, { row }) {
    const { store, account } = await world.reading();
    const since = world.editing.ctx.clock.now().toISOString();
    await snooze(store, account, [{ kind: row.kind, id: row.id, until: null, since, by: whoIs() }]);
    world.tell({
      is: 'told',
      told: `Draft ${row.id} was looked at, and leaves unknown. It stays in svc drafts show ${row.id}.`,
    });
  },
};

/** As a person approves it; of a publishing what would become public, as it is now. */
async function draftShown({ writing, editing }: World, draft: Draft): Promise<string> {
  requireMeant(draft);
  const entry = draft.channel === 'changelog' ? (await threadNow(await writing.service(), draft)).record : undefined;
  return draftBlocks(draft, plainTerminal(editing.ctx), entry).join('\n\n');
}

async function threadFor(reading: Reading, row: Row) {
  if (row.kind !== 'draft') {
    const record = await recordOf(reading, row);
    if (!record) throw new Failure('not-found', `${nameOf(row)} is no longer in the copy.`);
    return threadOf(row, record);
  }
  const draft = (await reading.drafts()).find(({ id }) => id === row.id);
  if (!draft) throw new Failure('not-found', `There is no draft ${row.id}.`);
  const { kind, id } = draft.record;
  const of = { tickets: 'ticket', conversations: 'conversation' }[kind];
  if (id === null || (of !== 'ticket' && of !== 'conversation')) return threadOfDraft(draft, undefined);
  const about: Row = { ...row, kind: of, id };
  const record = await recordOf(reading, about);
  return threadOfDraft(draft, record && threadOf(about, record));
}

const whoseWords = (row: Row, channel: unknown): string =>
  [
    String(row.contact?.name ?? 'an anonymous visitor'),
    row.contact?.email ? `<${row.contact.email}>` : '',
    channel ? `by ${channel}` : '',
  ]
    .filter(Boolean)
    .join(' ');
