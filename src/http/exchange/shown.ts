import type { Operation } from '../../api/operation.ts';
import { type Resource, resources } from '../../api/resources.ts';
import { type Fields, fieldsIn, isId } from '../../text/record.ts';

/** The record in an answer of that operation; none where it shows none. */
export const shownIn = ({ answer: { key } }: Pick<Operation, 'answer'>, json: unknown): Fields =>
  fieldsIn(key === undefined ? json : fieldsIn(json)[key]);

/** The id of the record that a read was answered with, where it asked for another one: somebody between has mixed two up. */
export function otherIn({ ids = {}, resource, safety, answer }: Operation, params: unknown, json: unknown) {
  const [[name = '', kind] = []] = Object.entries(ids);
  const { idField }: Resource = resources[resource];
  if (safety !== 'read' || answer.shape !== 'record' || kind !== resource || idField === undefined) return undefined;
  const [asked, shown] = [fieldsIn(params)[name], shownIn({ answer }, json)[idField]];
  return isId(asked) && isId(shown) && asked !== shown ? shown : undefined;
}
