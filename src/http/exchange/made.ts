import type { Operation } from '../../api/operation.ts';
import { isId, isRecord } from '../../text/record.ts';

/** The ids of what a write has made, by its answer. */
export const madeIds = ({ makes }: Pick<Operation, 'makes'>, answer: unknown): number[] =>
  makes ? valuesAt(answer, makes).filter(isId) : [];

/** The ids that an answer gives to what is new, also of notes, which nobody can look for. */
export function givenIds(operation: Pick<Operation, 'makes' | 'safety' | 'answer'>, answer: unknown): number[] {
  const {
    makes,
    safety,
    answer: { key },
  } = operation;
  if (makes) return madeIds({ makes }, answer);
  return safety === 'once' && key !== undefined ? valuesAt(answer, [key, 'id']).filter(isId) : [];
}

/** The values at the end of a path of fields; where a list is on the way, those of each item. */
function valuesAt(json: unknown, fields: readonly string[], at = 0): unknown[] {
  if (Array.isArray(json)) return json.flatMap((each) => valuesAt(each, fields, at));
  const field = fields[at];
  if (field === undefined) return [json];
  return isRecord(json) && Object.hasOwn(json, field) ? valuesAt(json[field], fields, at + 1) : [];
}
