import { hearersOf } from '../../api/hearers.ts';
import { type Draft, hasBegun } from '../../sends/draft.ts';
import { someOf } from '../../text/each.ts';
import type { RowStatus, Said } from '../journal/lines.ts';
import type { Found } from '../journal/on-disk.ts';
import { nameNow } from '../journal/reader.ts';
import { isRepeatable, type Plan } from '../rows/plan.ts';
import type { Match } from './match-table.ts';

/** `rejected`: a person has said that it is never sent; `open`: it may still be sent, or nobody knows whether it was. */
type Fate = { readonly is: 'rejected' | 'open'; readonly draft: number };

/** `untold`: the drafts of rows of which the journal itself does not say that they are drafts. */
type OfJournal = { readonly rows: ReadonlyMap<string, Fate>; readonly untold: ReadonlyMap<string, number> };

/** What became of the drafts of rows: of each journal with some that were not sent, by the names of the rows there. */
export type Drafted = ReadonlyMap<Found, OfJournal>;

/** Another journal may call a row by the same name, and have sent it since. */
export const fateOf = (drafted: Drafted, { from, key }: Pick<Match, 'from' | 'key'>): Fate['is'] | undefined =>
  drafted.get(from)?.rows.get(key)?.is;

/** What is written down of a row that another journal knows: that it is a draft, of which more may be known later. */
export function asWritten(drafted: Drafted, { from, key, rowStatus }: Match): RowStatus {
  const fate = drafted.get(from)?.rows.get(key);
  return fate ? { status: 'done', ...aboutOf(rowStatus), id: null, drafted: fate.draft } : rowStatus;
}

const aboutOf = ({ line, is }: RowStatus) => ({ line, ...(is !== undefined && { is }) });

/**
 * What became of the drafts of rows. A row whose draft a person rejected is no done one: from here on it is a rejected one.
 * Of one whose draft is in another place, or was rejected after a part of it was sent, nothing is changed.
 */
export async function drafted(
  journals: readonly Found[],
  { row }: Pick<Plan, 'row'>,
  read: () => Promise<readonly Draft[]>,
): Promise<Drafted> {
  const { operation } = row;
  const isOnce = isRepeatable({ row });
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
    // A draft of one record alone may be that of a row, too, where twice is once.
    const isOf = ({ key }: Draft, row: string) =>
      key === null ? isOnce : nameNow({ rowStatuses: statuses, former }, rowIn(key)) === row;
    let isDecided = true;
    for (const { row, rowStatus, id } of [...draftsIn(from)]) {
      const draft = byId.get(id);
      isDecided &&= draft?.state === 'sent';
      // Another place has other drafts by the same ids.
      if (!draft || !isOf(draft, row) || draft.state === 'sent') continue;
      const isRejected = draft.state === 'rejected';
      if (isRejected && hasBegun(draft)) continue;
      ofRow.set(row, { is: isRejected ? 'rejected' : 'open', draft: id });
      const is = whatIs(draft);
      if (is) statuses.set(row, { ...is, ...aboutOf(rowStatus) });
    }
    if (!isDecided || untold.size > 0) fates.set(from, { rows: ofRow, untold });
  }
  return fates;
}

/** The row's name in the journal of the run that made the draft. */
const rowIn = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

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

/** What the row of a draft is that neither waits nor was sent. One that is not rejected stays with its draft, whatever file it stands in. */
function whatIs(draft: Draft): Said | undefined {
  const { id, state, reason, error } = draft;
  const why = (said: string | null) => (said === null ? '' : ` (${said.replace(/\.$/u, '')})`);
  if (state === 'rejected') return { status: 'rejected', error: `draft ${id} was rejected by a person${why(reason)}` };
  const whole = hasBegun(draft) ? `the rest of draft ${id}` : `draft ${id}`;
  const stays = { status: 'done', id: null, drafted: id } as const;
  const look = `svc drafts show ${id}`;
  if (state === 'refused') return { ...stays, error: `${whole} was refused by the service${why(error)}: ${look}` };
  if (state !== 'unknown') return undefined;
  return { ...stays, doubt: true, error: `${whole} may or may not have been sent: ${look}` };
}
