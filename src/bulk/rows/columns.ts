import { resources } from '../../api/resources.ts';
import { placesIn } from '../../batch/places.ts';
import { columnNames, type Field, fieldsOfRow, idNameOf, nameKey, type RowOf } from '../../command/row.ts';
import { Failure } from '../../errors.ts';
import { refuseSeveral } from '../../tabular/columns.ts';
import { sanitize } from '../../text/sanitize.ts';

/** What a column fills. */
type Target =
  /** `email`: which says which contact the row is about. */
  | { readonly kind: 'id' | 'email'; readonly field?: undefined; readonly key?: undefined }
  /** `key`: of the caller's own data. */
  | { readonly kind: 'field'; readonly field: Field; readonly key?: string };

export type Columns = {
  /** By position in the file; undefined for what is not sent. */
  readonly targets: readonly (Target | undefined)[];
  readonly names: readonly string[];
  readonly unused: readonly string[];
  /** By position: those of which `--map COLUMN=ignore` says that they mean nothing. */
  readonly ignored: ReadonlySet<number>;
  /** By position: those that fill what follows a row's own request, and of which no --map says so. */
  readonly follow: readonly number[];
};

type Wishes = { readonly map: readonly string[]; readonly match: 'email' | undefined };

/** Which column fills which field. Two columns for one field are refused. */
export function resolveColumns(names: readonly string[], row: RowOf, { map, match }: Wishes): Columns {
  const known = columnNames(row);
  const fields = fieldsOfRow(row);
  const ids = idNames(row);
  const isShown = isSnapshot(names);
  const wanted = mapped(names, map, row);
  const targetOf = (name: string): Target | undefined => {
    const key = nameKey(name);
    if (match === 'email' && key === 'email') return { kind: 'email' };
    if (!match && ids.has(key)) return { kind: 'id' };
    const path = known.get(key);
    const field = path === undefined ? undefined : fields[path];
    if (field) return { kind: 'field', field };
    return row.reads === 'named' ? undefined : ownData(name, fields);
  };
  const targets = names.map((name, at) => {
    const wish = wanted.get(at);
    if (wish === undefined) return isShown && isLater(row, targetOf(name)) ? undefined : targetOf(name);
    if (nameKey(wish) === 'ignore') return undefined;
    const target = targetOf(wish);
    if (target) return target;
    throw new Failure('usage', `--map: there is no field "${wish}".`, {
      hint: `Fields: ${fieldNames(row).join(', ')}.`,
    });
  });
  const taken = new Set([...wanted.keys()].flatMap((at) => placeOf(targets[at]) ?? []));
  // A column that was mapped by name goes before one whose header happens to say the same.
  const settled = targets.map((target, at) =>
    wanted.has(at) || !taken.has(placeOf(target) ?? '') ? target : undefined,
  );
  refuseTwice(names, settled);
  const unused = names.filter(
    (name, at) => !settled[at] && !/^svc_(?:line|status|id|error|secret)$/u.test(nameKey(name)),
  );
  const ignored = new Set([...wanted].flatMap(([at, field]) => (nameKey(field) === 'ignore' ? [at] : [])));
  const follow = settled.flatMap((target, at) => (!wanted.has(at) && isLater(row, target) ? [at] : []));
  return { targets: settled, names, unused, ignored, follow };
}

/**
 * Rows as the service has shown them, such as an export of tickets: what they say of the record is how it was then, and no
 * wish. So a reply from such rows sets no status and no priority unless --map says so.
 */
const isSnapshot = (names: readonly string[]): boolean => {
  const createdAt = nameKey('created_at');
  return names.some((name) => nameKey(name) === createdAt);
};

const isLater = ({ follows = [] }: RowOf, target: Target | undefined): boolean =>
  follows.some(({ fields }) => fields.includes(target?.field?.path ?? ''));

/** The names that a column may have to hold a row's id. */
export function idNames(row: RowOf): ReadonlySet<string> {
  const name = idNameOf(row);
  if (name === undefined) return new Set();
  const resource = resources[Object.values(row.operation.ids ?? {})[0] ?? row.operation.resource];
  const all = ['id', 'svc_id', name, resource.idField ?? 'id', resource.noun, `${resource.noun} id`];
  return new Set(all.map(nameKey));
}

/** The names that `--map` knows. */
const fieldNames = (row: RowOf): string[] => [
  ...(idNameOf(row) ? ['id'] : []),
  ...[...new Set(columnNames(row).values())].map((path) =>
    fieldsOfRow(row)[path]?.shape.type === 'pairs' ? `${path}.KEY` : path,
  ),
  'ignore',
];

function ownData(name: string, fields: Readonly<Record<string, Field>>): Target | undefined {
  const at = name.indexOf('.');
  const path = nameKey(name.slice(0, Math.max(at, 0)));
  const field = at > 0 && Object.hasOwn(fields, path) ? fields[path] : undefined;
  const key = name.slice(at + 1).trim();
  return field?.shape.type === 'pairs' && key !== '' ? { kind: 'field', field, key } : undefined;
}

function mapped(names: readonly string[], map: readonly string[], row: RowOf): Map<number, string> {
  const wanted = new Map<number, string>();
  for (const text of map) {
    const equals = text.lastIndexOf('=');
    const [column, field] = [text.slice(0, equals).trim(), text.slice(equals + 1).trim()];
    if (equals < 1 || field === '') throw new Failure('usage', `--map takes COLUMN=FIELD, not "${text}".`);
    const places = placesIn(names, column);
    refuseSeveral(places, column, (name) => `--map "${name}=${field}"`);
    const at = places[0];
    if (at === undefined) {
      throw new Failure('usage', `--map: there is no column "${column}".`, {
        hint: sanitize(`Columns: ${names.join(', ')}.`),
      });
    }
    wanted.set(at, field);
  }
  if (wanted.size > 0 && fieldNames(row).length === 0) throw new Failure('usage', 'This command takes no columns.');
  return wanted;
}

const placeOf = (target: Target | undefined): string | undefined =>
  target?.field ? [target.field.path, target.key].join('\n') : target?.kind;

function refuseTwice(names: readonly string[], targets: readonly (Target | undefined)[]): void {
  const seen = new Map<string, number>();
  for (const [at, target] of targets.entries()) {
    const place = placeOf(target);
    if (place === undefined) continue;
    const before = seen.get(place);
    if (before !== undefined) {
      const field = target?.field?.path ?? 'id';
      throw new Failure('usage', `The columns "${names[before]}" and "${names[at]}" both fill ${field}.`, {
        hint: `Leave one out, for example: --map "#${before + 1}=ignore"`,
      });
    }
    seen.set(place, at);
  }
}
