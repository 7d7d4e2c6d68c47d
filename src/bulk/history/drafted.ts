import { hearersOf } from '../../api/hearers.ts';
import { type Draft, hasBegun } from '../../sends/draft.ts';
import type { RowStatus } from '../journal/lines.ts';
import { batchOf, type Found, voidedSince } from '../journal/on-disk.ts';
import { nameNow, voidKey } from '../journal/reader.ts';
import type { Plan } from '../rows/plan.ts';
import type { Match } from './match-table.ts';

/** `rejected`: a person has said that it is never sent; `open`: it may still be sent. */
type Fate = { readonly is: 'rejected' | 'open'; readonly draft: number };

/** `untold`: the drafts of rows of which the journal itself does not say that they are drafts. */
type OfJournal = { readonly rows: ReadonlyMap<string, Fate>; readonly untold: ReadonlyMap<string, number> };

/** What became of the drafts of rows: of each journal with some that were not sent, by the names of the rows there. */
export type Drafted = ReadonlyMap<Found, OfJournal>;

/** Another journal may call a row by the same name, and have sent it since. */
export const fateOf = (drafted: Drafted, { from, key }: Pick<Match, 'from' | 'key'>): Fate['is'] | undefined =>
  drafted.get(from)?.rows.get(key)?.is;

/** What is written down of a row that another journal knows: that it is a draft, of which a person may think otherwise later. */
export function asWritten(drafted: Drafted, { from, key, rowStatus }: Match): RowStatus {
  const fate = drafted.get(from)?.rows.get(key);
  if (rowStatus.status !== 'rejected' || fate?.is !== 'rejected') return rowStatus;
  const { line, is } = rowStatus;
  return { status: 'done', line, ...(is !== undefined && { is }), id: null, drafted: fate.draft };
}

/**
 * What became of the drafts of rows. A row whose draft a person rejected is no done one: from here on it is a rejected one.
 * Of one whose draft is in another place, or was sent in part, nothing is changed.
 */
export async function drafted(
  journals: readonly Found[],
  { row: { operation }, refs }: Pick<Plan, 'row' | 'refs'>,
  read: () => Promise<readonly Draft[]>,
): Promise<Drafted> {
  const fates = new Map<Found, OfJournal>();
  const isOpen = journals.some(({ past }) => past.finished === undefined);
  const hasDrafts = journals.some((one) => !draftsIn(one).next().done);
  if (hearersOf(operation) === undefined || !(hasDrafts || isOpen)) return fates;
  const all = await read().catch((error) => {
    if (hasDrafts) throw error;
    // A place that cannot be reached stops no run that has none there: only one that was killed right then could.
    return [];
  });
  const drafts = all.filter((draft) => draft.operation === operation.id);
  const byId = new Map(drafts.map((draft) => [draft.id, draft]));
  const since = voidedSince(journals);
  const runs = new Map(journals.flatMap(({ past }) => [...past.begun]));
  const former = new Map(journals.flatMap(({ past }) => [...past.former]));
  for (const from of journals) {
    const own = draftsOf(from, drafts);
    const untold = addUntold(from, own, { refs, since, runs });
    const { rowStatuses: statuses } = from.past;
    const ofRow = new Map<string, Fate>();
    let isDecided = [...own.keys()].every(({ state }) => state === 'sent');
    for (const { row, rowStatus, id } of [...draftsIn(from)]) {
      const draft = byId.get(id);
      isDecided &&= draft?.state === 'sent';
      // Another place has other drafts by the same ids.
      if (!draft || nameNow({ rowStatuses: statuses, former }, rowOf(draft)) !== row || draft.state === 'sent')
        continue;
      if (draft.state !== 'rejected') ofRow.set(row, { is: 'open', draft: id });
      if (draft.state !== 'rejected' || hasBegun(draft)) continue;
      ofRow.set(row, { is: 'rejected', draft: id });
      const { line, is } = rowStatus;
      statuses.set(row, { status: 'rejected', line, ...(is !== undefined && { is }), error: whyNot(draft) });
    }
    if (!isDecided || untold.size > 0) fates.set(from, { rows: ofRow, untold });
  }
  return fates;
}

/** The row's name in the journal of the run that made the draft. */
const rowOf = ({ key }: Draft): string => key?.slice(key.lastIndexOf('/') + 1) ?? '';

/** The drafts that runs of a journal made, each with the last run before it that sent rows once more. */
function draftsOf({ path, past }: Found, drafts: readonly Draft[]): ReadonlyMap<Draft, number> {
  const batches = new Map<string, number>();
  for (const { at, run } of [{ at: undefined, run: 0 }, ...past.voidings])
    batches.set(batchOf(path, past.header.started_at, at), run);
  const own = new Map<Draft, number>();
  for (const draft of drafts) {
    const run = batches.get(draft.key?.split('/', 1)[0] ?? '');
    if (run !== undefined) own.set(draft, run);
  }
  return own;
}

/** `since`: as `voidedSince` tells it. `runs`: when they began. */
type Told = {
  readonly refs: Plan['refs'];
  readonly since: ReadonlyMap<string, number>;
  readonly runs: ReadonlyMap<number, string>;
};

/** A run that is killed has kept a draft before its journal says so: the row goes by it, or has gone, or never goes. */
function addUntold({ past }: Found, own: ReadonlyMap<Draft, number>, { refs, since, runs }: Told): Map<string, number> {
  const untold = new Map<string, number>();
  for (const [draft, run] of own) {
    const row = rowOf(draft);
    const known = past.rowStatuses.get(row);
    if (!refs.has(row) || known?.status === 'done') continue;
    const name = voidKey(past.header.settings, row);
    if ((past.voided.get(name) ?? 0) > run) continue;
    // Another journal says that it was to be sent once more since, or has it by another name.
    const later = since.get(name);
    const at = later === undefined ? undefined : runs.get(later);
    if (at === undefined ? (later ?? 0) > past.lastRun : at >= draft.created_at) continue;
    past.rowStatuses.set(row, { status: 'done', line: known?.line ?? 0, id: null, drafted: draft.id });
    untold.set(row, draft.id);
  }
  return untold;
}

type DraftedRow = { readonly row: string; readonly rowStatus: RowStatus; readonly id: number };

function* draftsIn({ past }: Found): Generator<DraftedRow, undefined> {
  for (const [row, rowStatus] of past.rowStatuses.standing('done'))
    if (rowStatus.status === 'done' && rowStatus.drafted !== undefined) yield { row, rowStatus, id: rowStatus.drafted };
}

const whyNot = ({ id, reason }: Draft): string =>
  `draft ${id} was rejected by a person${reason === null ? '' : ` (${reason})`}`;
