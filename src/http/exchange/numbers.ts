import type { Operation } from '../../api/operation.ts';
import { type Resource, type ResourceName, resources } from '../../api/resources.ts';
import { isId, textIn } from '../../text/record.ts';
import type { Service } from './asking.ts';
import { shownIn } from './shown.ts';

/** So many are kept: a write follows the reading of its own record at once. */
const most = 64;

/** Of a record that was read: the number by which people know it. A write names its record by the id alone. */
export function learnNumber({ learnt: { numbers } }: Service, { resource, answer }: Operation, json: unknown): void {
  const { numberField }: Resource = resources[resource];
  if (numberField === undefined) return;
  const fields = shownIn({ answer }, json);
  const number = textIn(fields[numberField]);
  if (number === undefined || !isId(fields.id)) return;
  numbers.set(`${resource} ${fields.id}`, number);
  const [oldest] = numbers.keys();
  if (numbers.size > most && oldest !== undefined) numbers.delete(oldest);
}

export const numberOf = ({ learnt }: Service, kind: ResourceName, id: string | undefined): string | undefined =>
  learnt.numbers.get(`${kind} ${id}`);
