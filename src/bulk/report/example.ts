import { resources } from '../../api/resources.ts';
import { counted } from '../../text/number.ts';
import { numberTable } from '../../text/number-table.ts';
import { fieldsIn } from '../../text/record.ts';
import { thenOf } from '../rows/besides.ts';
import type { Plan, Planned } from '../rows/plan.ts';

/** Which rows the question is about: those that no earlier run has settled, at most so many. */
type Asked = { readonly isSettled: (ref: string) => boolean; readonly count: number };

/** What somebody agrees to who lets many texts go out: to how many, and the first of them as it goes out. */
export async function exampleOf({ row, read }: Plan, { isSettled, count }: Asked): Promise<string | undefined> {
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
      if (planned.id !== undefined) ids.add(planned.id);
    }
  }
  const text = fieldsIn(first?.input.body)[field];
  if (first === undefined || typeof text !== 'string') return undefined;
  const { noun } = resources[record];
  const whose = first.id === undefined ? '' : `, for ${noun} ${first.id}`;
  const all = ids.size() === 0 ? '' : `They go to ${counted(ids.size(), noun)}. `;
  return `${all}Line ${first.line}${whose}, as it would be sent${thenOf(first)}:\n\n${text}`;
}
