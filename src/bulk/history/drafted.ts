import { hearersOf } from '../../api/hearers.ts';
import { type Draft, hasBegun } from '../../sends/draft.ts';
import type { RowStatus } from '../journal/lines.ts';
import { batchOf, type Found } from '../journal/on-disk.ts';
import type { Plan } from '../rows/plan.ts';
import type { Match } from './match-table.ts';

/** `rejected`: a person has said that it is never sent; `open`: it may still be sent. */
type Fate = 'rejected' | 'open';

/** What became of the drafts of rows: of each journal that has any, by the names of the rows there. */
export type Drafted = ReadonlyMap<Found, ReadonlyMap<string, Fate>>;

/** Another journal may call a row by the same name, and have sent it since. */
export const fateOf = (drafted: Drafted, { from, key }: Pick<Match, 'from' | 'key'>): Fate | undefined =>
  drafted.get(from)?.get(key);

/**
 * What became of the drafts of rows. A row whose draft a person rejected is no done one: from here on it is a rejected one.
 * Of one whose draft is in another place, or was sent in part, nothing is changed.
 */
export async function drafted(
  journals: readonly Found[],
  { row: { operation }, refs }: Pick<Plan, 'row' | 'refs'>,
  read: () => Promise<readonly Draft[]>,
): Promise<Drafted> {
  const fates = new Map<Found, Map<string, Fate>>();
  if (hearersOf(operation) === undefined || journals.length === 0) return fates;
  const drafts = (await read()).filter((draft) => draft.operation === operation.id);
  const byId = new Map(drafts.map((draft) => [draft.id, draft]));
  for (const from of journals) {
    addUntold(from, refs, drafts);
    const { rowStatuses: statuses } = from.past;
    const ofRow = new Map<string, Fate>();
    for (const { row, rowStatus, id } of [...draftsIn(from)]) {
      const draft = byId.get(id);
      // Another place has other drafts by the same ids.
      if (!draft?.key?.endsWith(`/${row}`) || draft.state === 'sent') continue;
      if (draft.state !== 'rejected') ofRow.set(row, 'open');
      if (draft.state !== 'rejected' || hasBegun(draft)) continue;
      ofRow.set(row, 'rejected');
      const { line, is } = rowStatus;
      statuses.set(row, { status: 'rejected', line, ...(is !== undefined && { is }), error: whyNot(draft) });
    }
    if (ofRow.size > 0) fates.set(from, ofRow);
  }
  return fates;
}

/** A run that is killed has kept a draft before its journal says so: the row goes by it, or has gone, or never goes. */
function addUntold({ path, past }: Found, refs: Plan['refs'], drafts: readonly Draft[]): void {
  const ofBatch = `${batchOf(path, past.header.started_at, past.voidedAt)}/`;
  for (const { id, key } of drafts) {
    const row = key?.startsWith(ofBatch) ? key.slice(ofBatch.length) : undefined;
    const known = row === undefined ? undefined : past.rowStatuses.get(row);
    if (row === undefined || !refs.has(row) || known?.status === 'done') continue;
    past.rowStatuses.set(row, { status: 'done', line: known?.line ?? 0, id: null, drafted: id });
  }
}

type DraftedRow = { readonly row: string; readonly rowStatus: RowStatus; readonly id: number };

function* draftsIn({ past }: Found): Generator<DraftedRow, undefined> {
  for (const [row, rowStatus] of past.rowStatuses.standing('done'))
    if (rowStatus.status === 'done' && rowStatus.drafted !== undefined) yield { row, rowStatus, id: rowStatus.drafted };
}

const whyNot = ({ id, reason }: Draft): string =>
  `draft ${id} was rejected by a person${reason === null ? '' : ` (${reason})`}. To send it all the same, put it into a file of its own and add --again`;
