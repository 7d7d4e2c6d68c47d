import { resources } from '../../api/resources.ts';
import { rowsInWords } from '../../batch/pace.ts';
import { capital } from '../../text/capital.ts';
import { listed } from '../../text/listed.ts';
import { counted, number } from '../../text/number.ts';
import { type NumberTable, numberTable } from '../../text/number-table.ts';
import { fieldsIn } from '../../text/record.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Known } from '../history/earlier-runs.ts';
import { thenOf } from '../rows/besides.ts';
import type { Plan, Planned } from '../rows/plan.ts';
import { endedBefore } from './settled.ts';

/** So many records or lines are named. */
const mostNamed = 10;

/** Which rows the question is about: those that no earlier run has settled, at most so many. */
type Asked = { readonly isSettled: (ref: string) => boolean; readonly count: number };

/** Said above the question: which rows will not go, and what goes. */
export async function agreedTo(known: Known, plan: Plan, asked: Asked): Promise<string | undefined> {
  const parts = [unsendableInWords(known, plan), await exampleOf(plan, asked)];
  return parts.filter((part) => part !== undefined).join('\n\n') || undefined;
}

/** Rows that cannot be sent as they are, but for those that an earlier run sent; undefined where there are none. */
export function unsendableInWords(known: Pick<Known, 'matches'>, plan: Plan): string | undefined {
  const before = endedBefore(known, plan);
  const bad = plan.problems.size - before.size;
  if (bad === 0) return undefined;
  const named: string[] = [];
  for (const [index, { line, error }] of plan.problems) {
    if (named.length === mostNamed) break;
    if (!before.has(index)) named.push(`  line ${line}: ${sanitize(error)}`);
  }
  const more =
    bad > named.length
      ? [`  … and ${number(bad - named.length)} more; --dry-run with --report FILE names them all`]
      : [];
  return [`${number(bad)} of ${rowsInWords(plan.count)} cannot be sent:`, ...named, ...more].join('\n');
}

/** Of records to which more than one text goes, how many that are. */
function severalInWords(ids: NumberTable, noun: string): string {
  const several: number[] = [];
  for (const id of ids) if ((ids.get(id) ?? 0) > 1) several.push(id);
  if (several.length > mostNamed) return `${number(several.length)} of them get more than one. `;
  if (several.length === 0) return '';
  return `${capital(listed(several.sort((a, b) => a - b).map((id) => `${noun} ${id} gets ${number(ids.get(id) ?? 0)}`)))}. `;
}

/** What somebody agrees to who lets many texts go out: to how many, and the first of them as it goes out. */
async function exampleOf({ row, read }: Plan, { isSettled, count }: Asked): Promise<string | undefined> {
  const { operation, text: field } = row;
  if (field === undefined) return undefined;
  const [record = operation.resource] = Object.values(operation.ids ?? {});
  const ids = numberTable();
  let first: Planned | undefined;
  let seen = 0;
  for await (const batch of read()) {
    for (const planned of batch) {
      if (isSettled(planned.ref) || seen++ >= count) continue;
      first ??= planned;
      if (planned.id !== undefined) ids.set(planned.id, (ids.get(planned.id) ?? 0) + 1);
    }
  }
  const text = fieldsIn(first?.input.body)[field];
  if (first === undefined || typeof text !== 'string') return undefined;
  const { noun } = resources[record];
  const whose = first.id === undefined ? '' : `, for ${noun} ${first.id}`;
  const all = ids.size() === 0 ? '' : `They go to ${counted(ids.size(), noun)}. ${severalInWords(ids, noun)}`;
  return `${all}Line ${first.line}${whose}, as it would be sent${thenOf(first)}:\n\n${text}`;
}
