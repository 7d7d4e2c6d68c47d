import { type Asked, type Named, type Part, queue } from '../answers/queues.ts';
import { Failure } from '../errors.ts';
import { type ApartQuery, askApart } from '../mirror/query/apart.ts';
import { search } from '../mirror/query/search.ts';
import { type Snooze, snoozed } from '../mirror/store/snoozes.ts';
import type { KindName } from '../mirror/tables/kinds.ts';
import type { Answer } from '../mirror/tables/store.ts';
import { type Draft, textOf } from '../sends/draft.ts';
import { actAlone } from '../sends/words.ts';
import { shellWord } from '../text/shell-word.ts';
import type { Effect } from './effect.ts';
import { keyOf, type Row } from './row.ts';
import { isOwnView, type OwnView, queryOf } from './views.ts';

/** The copy, and whose. */
export type Reading = ApartQuery & {
  /** All drafts, oldest first. */
  readonly drafts: () => Promise<readonly Draft[]>;
  /** A moment as it is shown, from ISO 8601; absent: as it is. */
  readonly shown?: (iso: string) => string;
};

type Wanted = Omit<Extract<Effect, { readonly do: 'list' }>, 'do' | 'ask'>;

export type Rows = { readonly rows: readonly Row[]; readonly total: number };

/** A part of a view, from the copy and the drafts alone. */
export async function rowsOf(reading: Reading, wanted: Wanted): Promise<Rows> {
  const { view, words } = wanted;
  if (words !== undefined) return found(reading, words, wanted);
  return (isOwnView(view) ? ownRows[view] : ofQuery)(reading, wanted);
}

type RowsOf = (reading: Reading, wanted: Wanted) => Promise<Rows>;

/** A part of a queue of the copy, without what was put away. */
const queued =
  (name: Asked['queue']): RowsOf =>
  ({ store, account, ctx }, { offset, most }) =>
    store.read(async (sql) => {
      const now = ctx.clock.now();
      const hidden = namedSnoozes(await snoozed(sql, account, now));
      return queue(sql, account, { queue: name, offset, most, hidden, since: yesterday(now) });
    });

/** Where the rows of each view of svc come from. */
const ownRows: Readonly<Record<OwnView, RowsOf>> = {
  waiting: queued('waiting'),
  open: queued('open'),
  new: queued('new'),
  snoozed: snoozedOnes,
  drafts: draftsIn,
  unknown: unknownOnes,
  feedback: queued('feedback'),
};

const threads = ['tickets', 'conversations'] as const;

/** The kinds of the copy that the rows of each view of svc are of. */
const ownKinds: Readonly<Record<OwnView, readonly KindName[]>> = {
  waiting: threads,
  open: threads,
  new: threads,
  snoozed: threads,
  drafts: threads,
  unknown: threads,
  feedback: ['feedback'],
};

/** The kinds that a view is of; one that somebody wrote names tickets and conversations. */
export const kindsIn = (view: string): readonly KindName[] => (isOwnView(view) ? ownKinds[view] : threads);

/** Those of all views. */
export const shownKinds: readonly KindName[] = [...new Set(Object.values(ownKinds).flat())];

/** The first moment of yesterday, here. */
const yesterday = (now: Date): number => new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1).getTime();

const namedSnoozes = (snoozes: readonly Snooze[]): readonly Named[] =>
  snoozes.flatMap(({ kind, id }) => (kind === 'ticket' || kind === 'conversation' ? [{ kind, id }] : []));

const partOf = <T>(all: readonly T[], { offset, most }: Wanted): readonly T[] => all.slice(offset, offset + most);

/** The records of a list, in its order, with why they are in it. */
async function recordsOf({ store, account }: Reading, named: readonly NamedWhy[], wanted: Wanted): Promise<Rows> {
  const part = partOf(named, wanted);
  const { rows } = await store.read(
    (sql): Promise<Part> =>
      part.length === 0
        ? Promise.resolve({ rows: [], total: 0 })
        : queue(sql, account, { queue: 'named', offset: 0, most: part.length, named: part }),
  );
  const known = new Map(rows.map((row) => [keyOf(row), row]));
  const shown = part.flatMap((one) => {
    const row = known.get(keyOf(one));
    return row ? [{ ...row, why: one.why ?? row.why }] : [];
  });
  return { rows: shown, total: named.length - (part.length - shown.length) };
}

async function snoozedOnes(reading: Reading, wanted: Wanted): Promise<Rows> {
  const { store, account, ctx, shown = (iso) => iso } = reading;
  const awayWords = (until: string | null) => (until === null ? 'until the customer writes' : `until ${shown(until)}`);
  const all = await store.read((sql) => snoozed(sql, account, ctx.clock.now()));
  const named = all
    .sort((a, b) => (a.until ?? '9').localeCompare(b.until ?? '9'))
    .flatMap(({ kind, id, until }) =>
      kind === 'ticket' || kind === 'conversation' ? [{ kind, id, why: awayWords(until) } as const] : [],
    );
  return recordsOf(reading, named, wanted);
}

type NamedWhy = Named & { readonly why: string | null };

/** So many places of a search are looked at. */
const mostFound = 500;

async function found(reading: Reading, words: string, wanted: Wanted): Promise<Rows> {
  const { hits } = await search(reading.store, reading.account, words, mostFound);
  const named = hits.flatMap(({ kind, id, of, text }): NamedWhy[] => {
    const shown = text.replaceAll(/\s+/gu, ' ');
    if (kind === 'tickets' || kind === 'ticket_messages') return [{ kind: 'ticket', id: of ?? id, why: shown }];
    if (kind === 'conversations' || kind === 'conversation_messages')
      return [{ kind: 'conversation', id: of ?? id, why: shown }];
    return [];
  });
  return recordsOf(reading, once(named), wanted);
}

const once = <T extends Named>(named: readonly T[]): readonly T[] => [
  ...new Map(named.map((one) => [keyOf(one), one])).values(),
];

/** A query of one's own answers so many rows at most. */
const mostAnswered = 10_000;

async function ofQuery(reading: Reading, wanted: Wanted): Promise<Rows> {
  const text = await queryOf(reading.ctx, wanted.view);
  return recordsOf(reading, await rowsOfQuery(reading, { name: wanted.view, text }, mostAnswered), wanted);
}

/** Whoever has opened the view waits for it, and so does all that they would read next. */
const patienceMs = 20_000;

/** What a view of one's own names. @throws Failure `usage` where it cannot be asked, or does not select what a view needs */
export async function rowsOfQuery(
  asked: ApartQuery,
  { name: view, text }: { readonly name: string; readonly text: string },
  most: number,
): Promise<readonly NamedWhy[]> {
  const late = AbortSignal.timeout(patienceMs);
  try {
    return await namedIn(await askApart(asked, text, AbortSignal.any([asked.ctx.signal, late])), view, most);
  } catch (error) {
    if (!late.aborted || asked.ctx.signal.aborted) throw error;
    throw new Failure('usage', `The view ${view} took more than ${patienceMs / 1000} seconds.`, {
      hint: `Make its query smaller: svc views edit ${shellWord(view)}`,
    });
  }
}

async function namedIn({ columns, rows }: Answer, view: string, most: number): Promise<readonly NamedWhy[]> {
  const [kindAt, idAt, whyAt] = ['kind', 'id', 'why'].map((name) => columns.indexOf(name));
  if (kindAt === undefined || idAt === undefined || kindAt < 0 || idAt < 0)
    throw new Failure('usage', `The view ${view} has to select kind and id.`, {
      hint: "For example: SELECT 'ticket' AS kind, id FROM tickets WHERE priority = 4",
    });
  const named: NamedWhy[] = [];
  for await (const row of rows) {
    const [kind, id, why] = [row[kindAt], Number(row[idAt]), row[whyAt ?? -1]];
    if (kind !== 'ticket' && kind !== 'conversation')
      throw new Failure('usage', `The view ${view} has the kind ${String(kind)}: it must be ticket or conversation.`);
    if (!Number.isSafeInteger(id)) throw new Failure('usage', `The view ${view} has an id that is no number.`);
    named.push({ kind, id, why: why === undefined || why === null ? null : String(why) });
    if (named.length >= most) break;
  }
  return once(named);
}

/** The states of the drafts that a view has; most have none. */
export function statesIn(view: string): readonly Draft['state'][] {
  if (view === 'drafts') return ['waiting', 'sending', 'refused'];
  return view === 'unknown' ? ['unknown'] : [];
}

async function draftsIn(reading: Reading, wanted: Wanted): Promise<Rows> {
  const all = (await reading.drafts()).filter(({ state }) => statesIn(wanted.view).includes(state));
  return { rows: partOf(all, wanted).map(rowOfDraft), total: all.length };
}

async function unknownOnes(reading: Reading, wanted: Wanted): Promise<Rows> {
  const { store, account, ctx } = reading;
  const looked = await store.read((sql) => snoozed(sql, account, ctx.clock.now()));
  const seen = new Set(looked.flatMap(({ kind, id }) => (kind === 'draft' ? [id] : [])));
  const drafts = async () => (await reading.drafts()).filter(({ id }) => !seen.has(id));
  return draftsIn({ ...reading, drafts }, wanted);
}

function rowOfDraft(draft: Draft): Row {
  const { id, number, record, to, created_at: made, channel, state, error, by, operation, steps } = draft;
  return {
    kind: 'draft',
    id,
    number: number ?? (record.id === null ? null : `${record.kind} ${record.id}`),
    // What says nothing is told by what it does.
    subject: textOf(draft)?.split('\n')[0] ?? actAlone({ operation, record, number, body: steps[0]?.body }),
    contact: to === null ? null : { name: to },
    waiting_since: made,
    priority: null,
    channel,
    status: state,
    why: error ?? `by ${by}`,
  };
}
