import { type ResourceName, resources } from '../../api/resources.ts';
import { idNameOf, nameKey, type RowOf } from '../../command/row.ts';
import type { Columns } from './columns.ts';

/** What svc itself calls the kinds of records in its rows: `ticket` in `tickets waiting`, `tickets` in `mirror search`. */
const kinds = new Map<string, ResourceName | undefined>([
  ...Object.entries(resources).flatMap(([name, { noun }]): [string, ResourceName][] => [
    [name, name as ResourceName],
    [noun, name as ResourceName],
  ]),
  ['feedback', 'feedback'],
  ['call', 'calls'],
  ['list', 'lists'],
  // Their ids are of nothing that a command takes.
  ...['message', 'messages', 'reply', 'replies', 'note', 'notes', 'draft', 'drafts'].map(
    (word): [string, undefined] => [word, undefined],
  ),
]);

/**
 * Says of a row whether it is one that svc has shown of another kind: the id of a conversation is that of some ticket
 * too, and `svc tickets waiting -o jsonl` has both. Undefined where rows have no id or no column `kind` of that meaning.
 */
export function otherKindIn(
  row: RowOf,
  { names, targets, ignored }: Columns,
): ((cells: readonly unknown[]) => string | undefined) | undefined {
  const idName = idNameOf(row);
  if (idName === undefined) return undefined;
  const wanted = row.operation.ids?.[idName] ?? row.operation.resource;
  const at = names.findIndex((name, n) => nameKey(name) === 'kind' && !targets[n] && !ignored.has(n));
  const isDrafts = ['digest', 'state', 'operation'].every((name) => names.some((one) => nameKey(one) === name));
  if (at < 0 && !isDrafts) return undefined;
  const { noun } = resources[wanted];
  return (cells) => {
    if (isDrafts) return `is a draft of svc, and its id is the draft's, not that of a ${noun}`;
    const kind = cells[at];
    const word = typeof kind === 'string' ? kind.trim().toLowerCase() : '';
    if (!kinds.has(word) || kinds.get(word) === wanted) return undefined;
    return `is of the kind "${word}", and its id is not that of a ${noun} (if kind means something else here: --map kind=ignore)`;
  };
}
