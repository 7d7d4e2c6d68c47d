import { type Body, fieldsOfRow, type RowOf } from '../../command/row.ts';
import { columnName } from '../../tabular/columns.ts';
import { isRecord, ownOf } from '../../text/record.ts';
import type { Columns } from './columns.ts';
import { type Commanded, leftOf, type Overridden } from './given.ts';

/** What the command line gives and no row takes: each has its own. Told of each row that can be sent. */
export type Idle = ReturnType<typeof idleOf>;

export function idleOf(row: RowOf, { body, labels, template, set }: Commanded) {
  const fields = new Set(Object.keys(fieldsOfRow(row)).flatMap((path) => placesIn(body, path)));
  const names = new Set(Object.keys(set).filter((name) => template?.placeholders.includes(name)));
  let hasRows = false;
  return {
    see({ own, set: filled }: Overridden) {
      hasRows = true;
      const left = fields.size > 0 ? leftOf(body, own) : {};
      for (const place of fields) if (at(left, place) !== undefined) fields.delete(place);
      for (const name of names) if (!filled.has(name)) names.delete(name);
    },
    notes(columns: Columns) {
      if (!hasRows) return [];
      const ofFields = [...fields].map((place) => noteOf(labels.get(place.path) ?? place.path, place, columns));
      return [...ofFields, ...[...names].map((name) => `--set ${name} is not used: every row has its own ${name}.`)];
    },
  };
}

/** A field, or of pairs such as metadata one of them. */
type Place = { readonly path: string; readonly key: string | undefined };

function placesIn(body: Body, path: string): Place[] {
  const value = at(body, { path, key: undefined });
  if (isRecord(value)) return Object.keys(value).map((key) => ({ path, key }));
  return isGiven(value) ? [{ path, key: undefined }] : [];
}

function noteOf(label: string, { path, key }: Place, { targets, names }: Columns): string {
  const place = targets.findIndex((target) => target?.field?.path === path && target.key === key);
  const note = `${label} is not used: every row has its own ${place < 0 ? path : columnName(names, place)}.`;
  return place < 0 ? note : `${note} To use ${label}: --map "${columnName(names, place)}=ignore"`;
}

/** A switch that is not there gives nothing. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== false;

const at = (body: Body, { path, key }: Place): unknown =>
  [...path.split('.'), ...(key === undefined ? [] : [key])].reduce<unknown>(
    (value, name) => (isRecord(value) ? ownOf(value, name) : undefined),
    body,
  );
