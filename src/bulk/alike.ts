import { rowsInWords } from '../batch/pace.ts';
import type { RowOf } from '../command/row.ts';
import { Failure } from '../errors.ts';
import { likenessOf } from '../http/looking.ts';
import { someOf } from '../text/each.ts';
import { isRecord } from '../text/record.ts';
import { isUnsure } from './ended-table.ts';
import { type Grown, linesOf } from './grown.ts';
import type { Found } from './journals-on-disk.ts';
import type { Match, Matches } from './match-table.ts';
import { origins } from './origins.ts';
import { isOtherRequest } from './other-request.ts';
import type { Plan, Planned } from './plan.ts';
import { shortDigest } from './row-content.ts';

/** The same for all rows of which one could be taken for the other, whatever status or priority goes with them. */
export const likeOf = ({ operation }: RowOf, { id, input }: Pick<Planned, 'id' | 'input'>): string =>
  shortDigest(operation.safety === 'verify' ? likenessOf(operation, input) : [id ?? null, ...textsIn(input.body)]);

/** What a person would tell a write by: its texts, and those of the contact that it is about. */
const textsIn = (body: unknown): unknown[] =>
  Object.entries(isRecord(body) ? body : {})
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([key, value]) => {
      if (typeof value === 'string') return [[key, value]];
      return key === 'contact' ? [textsIn(value)] : [];
    });

/**
 * Rows that may be done already: a row like them was sent by an earlier run, which cannot tell whether it is done, and this
 * file or its flags say something else beside it. Reads the file once more where there is such an earlier row.
 */
export async function alikeRows(plan: Plan, journals: readonly Found[], matches: Matches): Promise<Grown[]> {
  const open = openRows(journals, matches);
  const isOther = (ref: string, match: Match) => isUnsure(match.rowStatus) && isOtherRequest(match, plan.refs.get(ref));
  const alike: Grown[] = [];
  if (open.size === 0 && !someOf(matches, ([ref, match]) => isOther(ref, match))) return alike;
  for await (const batch of plan.read()) {
    for (const planned of batch) {
      const match = matches.get(planned.ref);
      const found = match ? isOther(planned.ref, match) && match : open.get(likeOf(plan.row, planned));
      if (found) alike.push({ ...found, line: planned.line });
    }
  }
  return alike;
}

/** By what they are like: rows in doubt that are none of this file, and that no later run has done. */
function openRows(journals: readonly Found[], matches: Matches): ReadonlyMap<string, Match> {
  const open = new Map<string, Match>();
  const isDone = (key: string) => journals.some(({ past }) => past.rowStatuses.get(key)?.status === 'done');
  for (const from of journals) {
    for (const [key, rowStatus] of from.past.rowStatuses.likened()) {
      if (!isUnsure(rowStatus) || !('like' in rowStatus) || rowStatus.like === undefined) continue;
      if (rowStatus.status === 'done' || !isDone(key)) open.set(rowStatus.like, { key, rowStatus, from });
    }
  }
  if (open.size === 0) return open;
  const taken = new Set<string>();
  for (const { key, rowStatus } of matches.values()) if (isUnsure(rowStatus)) taken.add(key);
  for (const [like, { key }] of open) if (taken.has(key)) open.delete(like);
  return open;
}

/** Refused whatever `--yes` and `--again` say: `--retry-unknown` alone sends what may be done. */
export function refuseAlike(alike: readonly Grown[], { rows }: Pick<Plan, 'rows'>): void {
  if (alike.length === 0) return;
  throw new Failure(
    'usage',
    `${rowsInWords(alike.length)} of ${rows.source.name} may have been sent before, ${origins(alike.map(({ from }) => from))}, and svc cannot tell whether that was done: ${linesOf(alike)}.`,
    {
      hint: 'Nothing was sent now. Run the command of then over the file of then, and svc looks once more. To send these rows as they are now, add --retry-unknown: they may be done twice.',
    },
  );
}
