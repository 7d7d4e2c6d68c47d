import { rowsInWords } from '../../batch/pace.ts';
import { Failure } from '../../errors.ts';
import { localTime } from '../../output/cells.ts';
import { once } from '../../promise/once.ts';
import { haveCommon } from '../journal/claims.ts';
import type { Found } from '../journal/on-disk.ts';
import type { Plan } from '../rows/plan.ts';
import { type RowRequests, rowRequests } from '../rows/row-requests.ts';
import type { Matches } from './match-table.ts';

/**
 * Another login has sent rows of this file, and of one of the two nobody knows the account. Called done, they would be
 * missing in another account; sent, they might be there twice. Such a run is told so. `matches`: rows that this login knows of itself.
 */
export function ofStrangers(
  strange: readonly Found[],
  plan: Pick<Plan, 'refs' | 'rows'>,
  matches: Matches,
): Failure | undefined {
  const refs = once(() => without(plan.refs, matches));
  for (const { past } of strange) {
    if (past.header.svc_bulk === 1) continue;
    const others = rowRequests();
    for (const [key, { is = '' }] of past.rowStatuses.standing('meant', 'sent', 'done', 'unknown')) others.set(key, is);
    if (!haveCommon({ refs: refs() }, { refs: others })) continue;
    const at = localTime(past.header.started_at);
    return new Failure(
      'usage',
      `${rowsInWords(others.size)} of ${plan.rows.source.name} ${others.size === 1 ? 'was' : 'were'} sent with another login (${at}), and svc cannot tell whether to the same account.`,
      {
        hint: 'Nothing was sent now. Use the login of then, or one with the scope identity for every run. If it was another account, or to send them again, add --again.',
      },
    );
  }
  return undefined;
}

function without(all: RowRequests, matches: Matches): RowRequests {
  const left = rowRequests();
  for (const [row, request] of all) if (!matches.has(row)) left.set(row, request);
  return left;
}

/** Of a run of these rows with other flags that is not finished. */
export function notTheSame({ past: { header, rowStatuses } }: Found, plan: Plan): Failure {
  const begun = `A run of ${plan.rows.source.name} that began at ${localTime(header.started_at)} is not finished`;
  const rows = `${rowStatuses.size} of its rows were sent`;
  const why = header.svc_bulk === 1 ? 'belongs to another login, or had' : 'had';
  return new Failure('usage', `${begun}, and ${why} other flags or another template: ${rows}.`, {
    hint: 'To go on with it, run it with the same login and flags as then. To begin a new run with these, add --restart.',
  });
}
