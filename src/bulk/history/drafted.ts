import { hearersOf } from '../../api/hearers.ts';
import { type Draft, hasBegun } from '../../sends/draft.ts';
import { someOf } from '../../text/each.ts';
import type { RowStatus } from '../journal/lines.ts';
import type { Found } from '../journal/on-disk.ts';
import { nameNow } from '../journal/reader.ts';
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
  { row: { operation } }: Pick<Plan, 'row'>,
  read: () => Promise<readonly Draft[]>,
): Promise<Drafted> {
  const fates = new Map<Found, OfJournal>();
  if (hearersOf(operation) === undefined || !journals.some(mayHaveDrafts)) return fates;
  const drafts = (await read()).filter((draft) => draft.operation === operation.id);
  const byId = new Map(drafts.map((draft) => [draft.id, draft]));
  const byKey = new Map(drafts.map((draft) => [draft.key, draft]));
  const former = new Map(journals.flatMap(({ past }) => [...past.former]));
  for (const from of journals) {
    const untold = addUntold(from, byKey);
    const { rowStatuses: statuses } = from.past;
    const ofRow = new Map<string, Fate>();
    let isDecided = true;
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

/** A run that was killed, or failed, right then did not say whether it has kept a draft. */
function addUntold({ past: { rowStatuses } }: Found, byKey: ReadonlyMap<string | null, Draft>): Map<string, number> {
  const untold = new Map<string, number>();
  for (const [row, rowStatus] of [...rowStatuses.standing('drafting')]) {
    if (rowStatus.status !== 'drafting') continue;
    const { batch, ...about } = rowStatus;
    const draft = byKey.get(`${batch}/${row}`);
    if (!draft) rowStatuses.delete(row);
    else {
      rowStatuses.set(row, { ...about, status: 'done', id: null, drafted: draft.id });
      untold.set(row, draft.id);
    }
  }
  return untold;
}

const mayHaveDrafts = (one: Found): boolean =>
  someOf(one.past.rowStatuses.standing('drafting'), () => true) || !draftsIn(one).next().done;

type DraftedRow = { readonly row: string; readonly rowStatus: RowStatus; readonly id: number };

function* draftsIn({ past }: Found): Generator<DraftedRow, undefined> {
  for (const [row, rowStatus] of past.rowStatuses.standing('done'))
    if (rowStatus.status === 'done' && rowStatus.drafted !== undefined) yield { row, rowStatus, id: rowStatus.drafted };
}

const whyNot = ({ id, reason }: Draft): string =>
  `draft ${id} was rejected by a person${reason === null ? '' : ` (${reason})`}`;
