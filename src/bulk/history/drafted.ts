import { hearersOf } from '../../api/hearers.ts';
import { type Draft, hasBegun } from '../../sends/draft.ts';
import type { Found } from '../journal/on-disk.ts';
import type { Plan } from '../rows/plan.ts';

/** Rows that became drafts, by their names in the journals. */
export type Drafted = {
  /** A person has said that they are never sent. */
  readonly rejected: ReadonlySet<string>;
  /** They may still be sent by their drafts. */
  readonly open: ReadonlySet<string>;
};

/**
 * What became of the drafts of rows. A row whose draft a person rejected is no done one: from here on it is a rejected one.
 * Of one whose draft is in another place, or was sent in part, nothing is changed.
 */
export async function drafted(
  journals: readonly Found[],
  { row: { operation } }: Pick<Plan, 'row'>,
  read: () => Promise<readonly Draft[]>,
): Promise<Drafted> {
  const [rejected, open] = [new Set<string>(), new Set<string>()];
  const rows = hearersOf(operation) === undefined ? [] : journals.flatMap((one) => [...draftsIn(one)]);
  if (rows.length === 0) return { rejected, open };
  const drafts = new Map((await read()).map((draft) => [draft.id, draft]));
  for (const { statuses, row, id } of rows) {
    const draft = drafts.get(id);
    const rowStatus = statuses.get(row);
    // Another place has other drafts by the same ids.
    if (!draft?.key?.endsWith(`/${row}`) || !rowStatus || draft.operation !== operation.id) continue;
    if (draft.state !== 'rejected' && draft.state !== 'sent') open.add(row);
    if (draft.state !== 'rejected' || hasBegun(draft)) continue;
    rejected.add(row);
    const { line, is } = rowStatus;
    statuses.set(row, { status: 'rejected', line, ...(is !== undefined && { is }), error: whyNot(draft) });
  }
  return { rejected, open };
}

function* draftsIn({ past: { rowStatuses: statuses } }: Found) {
  for (const [row, rowStatus] of statuses.standing('done'))
    if (rowStatus.status === 'done' && rowStatus.drafted !== undefined) yield { statuses, row, id: rowStatus.drafted };
}

const whyNot = ({ id, reason }: Draft): string =>
  `draft ${id} was rejected by a person${reason === null ? '' : ` (${reason})`}. To send it all the same: --again`;
