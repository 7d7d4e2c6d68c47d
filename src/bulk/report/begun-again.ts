import type { Operation } from '../../api/operation.ts';
import { resources } from '../../api/resources.ts';
import { refuseReset } from '../../batch/begun-again.ts';
import { Failure, isInterruption } from '../../errors.ts';
import { patience, type Service } from '../../http/call/call.ts';
import { madeAt } from '../../http/look/age.ts';
import { lookingFor } from '../../http/look/looking.ts';
import { someOf } from '../../text/each.ts';
import type { Match, Matches } from '../history/match-table.ts';
import { origins } from '../history/origins.ts';
import type { Found } from '../journal/on-disk.ts';
import { readBack } from '../journal/read-back.ts';
import { isRepeatable, type Plan, type Planned } from '../rows/plan.ts';
import type { Run } from './command-line.ts';

/**
 * A service that was reset under its address (a sandbox that was started again) has none of the records that the history
 * calls done. Looks at one of them, and only where that is gone at two more. Throws where all are; with `--yes` it is said.
 */
export async function refuseBegunAgain({ ctx, ...run }: Run, plan: Plan, matches: Matches): Promise<void> {
  if (isRepeatable(plan)) return;
  const done = await doneRows(plan, matches);
  if (done.length === 0) return;
  const service = await run.service();
  for (const one of done) if (!(await isGone(service, plan, one))) return;
  const runs = new Set<Found>();
  let rows = 0;
  for (const { rowStatus, from } of matches.values()) {
    if (rowStatus.status !== 'done') continue;
    rows++;
    runs.add(from);
  }
  const { noun } = resources[plan.row.operation.resource];
  const ids = done.map(recordOf).join(', ');
  const records = `the ${done.length === 1 ? noun : `${noun}s`} of then any more (${ids})`;
  const gone = { rows, file: plan.rows.source.name, were: 'sent', records } as const;
  refuseReset(ctx, gone, { yes: run.settings.yes, from: `, ${origins(runs)}` });
}

type DoneRow = { readonly planned: Planned; readonly match: Match };

/** Of a message the ticket that it stands in. */
const recordOf = ({ planned, match: { rowStatus } }: DoneRow): number | undefined =>
  planned.id ?? (rowStatus.status === 'done' && rowStatus.id !== null ? rowStatus.id : undefined);

/** So many records are asked for where the first ones are gone: a person may have removed one. */
const mostAsked = 3;

async function doneRows(plan: Plan, matches: Matches): Promise<DoneRow[]> {
  const rows: DoneRow[] = [];
  if (!someOf(matches.values(), ({ rowStatus }) => rowStatus.status === 'done')) return rows;
  for await (const batch of plan.read()) {
    for (const planned of batch) {
      const match = matches.get(planned.ref);
      if (match?.rowStatus.status !== 'done' || recordOf({ planned, match }) === undefined) continue;
      rows.push({ planned, match });
      if (rows.length === mostAsked) return rows;
    }
  }
  return rows;
}

/** What cannot be read is not called gone, such as a list, which may have been deleted besides. */
async function isGone(service: Service, { row: { operation } }: Plan, one: DoneRow): Promise<boolean> {
  try {
    const record = await readBack(service, operation, recordOf(one), patience(service));
    return record !== undefined && one.planned.id === undefined && isAnother(operation, one, record);
  } catch (failure) {
    if (!(failure instanceof Failure) || isInterruption(failure)) throw failure;
    return failure.kind === 'not-found';
  }
}

/** Clocks may be apart by so much. */
const toleranceMs = 60_000;

/** Ids begin again too: a record that agrees in nothing, and was made after the run that made ours had ended. */
function isAnother(operation: Operation, { planned, match }: DoneRow, record: Readonly<Record<string, unknown>>) {
  const { finished } = match.from.past;
  const made = madeAt(record);
  if (!finished || made === undefined || made <= Date.parse(finished.at) + toleranceMs) return false;
  return lookingFor(operation).compare(record, planned.input) === 'none';
}
