import { rowsInWords } from '../../batch/pace.ts';
import { Failure } from '../../errors.ts';
import { someOf } from '../../text/each.ts';
import { isUnsettled } from '../journal/ended-table.ts';
import type { RowStatus } from '../journal/lines.ts';
import { noRequest, type Plan } from '../rows/plan.ts';
import { againBeside, type Grown, linesOf } from './grown.ts';
import type { Match, Matches } from './match-table.ts';
import { origins } from './origins.ts';

/** Known by its cells, of which this run makes another request than the one that was sent. A journal may not say which. */
export const isOtherRequest = ({ rowStatus }: Match, request: string | undefined): boolean =>
  request !== noRequest && isSentAsOther(rowStatus, request);

export const isSentAsOther = (rowStatus: RowStatus | undefined, request: string | undefined): boolean =>
  rowStatus?.is !== undefined && rowStatus.status !== 'rejected' && rowStatus.is !== request;

/** Another map: these rows are neither done, for what they ask for now never went, nor new, for their cells did go. */
export async function otherRequests(plan: Plan, matches: Matches): Promise<Grown[]> {
  // Of which nobody knows whether it is done is told by itself.
  const isOther = (ref: string, match: Match) =>
    !isUnsettled(match.rowStatus) && isOtherRequest(match, plan.refs.get(ref));
  const named: Grown[] = [];
  if (!someOf(matches, ([ref, match]) => isOther(ref, match))) return named;
  for await (const batch of plan.read()) {
    for (const { ref, line } of batch) {
      const match = matches.get(ref);
      if (match && isOther(ref, match)) named.push({ ...match, line });
    }
  }
  return named;
}

/** `again`: it was said, and sends none of them. `elsewhere`: rows that other files have sent. */
type Advice = { readonly again: boolean; readonly elsewhere: number };

const howToSend = ({ again, elsewhere }: Advice): string =>
  again
    ? 'This file has sent what these rows say now as well: --restart alone sends all again.'
    : `To send what these rows say now, ${againBeside(elsewhere)}`;

/** Refused whatever `--yes` says: a script passes that every time, and a customer would hear it twice. */
export function refuseOther(others: readonly Grown[], { rows }: Pick<Plan, 'rows'>, advice: Advice): void {
  if (others.length === 0) return;
  const were = others.length === 1 ? 'was' : 'were';
  throw new Failure(
    'usage',
    `${rowsInWords(others.length)} of ${rows.source.name} ${were} sent before, ${origins(others.map(({ from }) => from))}, as another request: ${linesOf(others)}.`,
    {
      hint: `Nothing was sent now. With the flags of then (--map, --id-map and the like) svc knows the rows again. To send only what was rejected, take the --rejects file of then. ${howToSend(advice)}`,
    },
  );
}
