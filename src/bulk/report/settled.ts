import { countOf } from '../../text/each.ts';
import type { Known } from '../history/earlier-runs.ts';
import { type Ended, type EndedRows, endedEarlier, endedRows, isUnsettled } from '../journal/ended-table.ts';
import type { RowStatus } from '../journal/lines.ts';
import { isRepeatable, noRequest, type Plan } from '../rows/plan.ts';

/** How many rows this run would send. */
export function rowsToSend(known: Pick<Known, 'matches'>, plan: Plan, retryUnknown: boolean): number {
  const isSettled = settledIn(known, plan, retryUnknown);
  return plan.sendable - countOf(known.matches.keys(), isSettled);
}

/** Whether a row, by its `ref`, is one that this run leaves alone, since an earlier one has settled it. */
export function settledIn(
  { matches }: Pick<Known, 'matches'>,
  { row, refs }: Plan,
  retryUnknown: boolean,
): (ref: string) => boolean {
  const again = retryUnknown || isRepeatable({ row });
  return (ref) => {
    const rowStatus = matches.get(ref)?.rowStatus;
    const isLeft =
      rowStatus !== undefined && (rowStatus.status === 'done' || rowStatus.status === 'rejected' || !again);
    return isLeft && refs.get(ref) !== noRequest;
  };
}

/** Rows that cannot be sent as they are now, and were sent before: by position in the file. */
export function endedBefore({ matches }: Pick<Known, 'matches'>, { problems }: Plan): EndedRows {
  const ended = endedRows();
  if (matches.size === 0) return ended;
  for (const [index, { ref, line, error }] of problems) {
    const rowStatus = matches.get(ref)?.rowStatus;
    if (rowStatus?.status === 'done') ended.set(index, { ...rowStatus, line });
    if (isUnsettled(rowStatus)) ended.set(index, { status: 'unknown', line, error: `${openBefore}; now: ${error}` });
  }
  return ended;
}

/** Good rows that earlier runs have settled, or of which nobody knows: by position in the file. */
export async function settledBefore({ matches }: Pick<Known, 'matches'>, plan: Plan): Promise<EndedRows> {
  const ended = endedRows();
  if (matches.size === 0) return ended;
  for await (const batch of plan.read()) {
    for (const { index, ref, line } of batch) {
      const past = pastOf(matches.get(ref)?.rowStatus, line, false);
      if (past) ended.set(index, past);
    }
  }
  return ended;
}

/** What a run that sends nothing says of a row that an earlier one had; `goesAgain`: one of which nobody knows. */
export function pastOf(rowStatus: RowStatus | undefined, line: number, goesAgain: boolean): Ended | undefined {
  if (isUnsettled(rowStatus)) {
    const error = rowStatus.status === 'unknown' ? rowStatus.error : onItsWay;
    return goesAgain ? undefined : { status: 'unknown', line, error };
  }
  const past = endedEarlier(rowStatus, line);
  // Secrets stay in the journal: a dry run hands out none.
  return past?.status === 'done' ? { ...past, secret: undefined } : past;
}

const onItsWay = 'It was sent when svc was stopped, and svc cannot tell yet whether it was done';

const openBefore = 'It was sent before, and svc cannot tell whether it was done';
