import type { Operation } from '../../api/operation.ts';
import { type Resource, resources } from '../../api/resources.ts';
import { fieldsOf, type Shape } from '../../api/shape.ts';
import { type Kind, type KindName, kindNames, kindOf } from './kinds.ts';

export type ColumnType = 'integer' | 'number' | 'boolean' | 'text' | 'time' | 'json';

export type Column = { readonly name: string; readonly type: ColumnType };

/** A table of records, made from the schemas of the operations that read them. */
export type Table = Pick<Kind, 'words' | 'lookup' | 'noun' | 'nameOf'> & {
  readonly name: string;
  readonly kind: KindName;
  /** The columns that name a record inside of its account. */
  readonly key: readonly string[];
  /** The one of them that is the record's own id. */
  readonly id: string;
  /** Of parts and members: the column that names their record. */
  readonly parent?: string;
  readonly columns: readonly Column[];
  /** What the columns are made from. */
  readonly fields: Readonly<Record<string, Shape>>;
  /** The column with the number that people know it by. */
  readonly numberField?: string;
  /** The field of a record that has rows of its own in the table of parts. */
  readonly partsField?: string;
  /** Its rows are parts of records. */
  readonly isPart?: true;
};

/** The fields of one record of an operation's answer. */
function recordFields({ response, answer }: Operation): Readonly<Record<string, Shape>> {
  if (answer.key === undefined) return fieldsOf(response);
  const held = fieldsOf(response)[answer.key];
  return (answer.shape === 'list' ? held?.item?.fields : held?.fields) ?? {};
}

const typeOf = ({ type, format }: Shape): ColumnType => {
  if (type === 'text') return format === 'date-time' ? 'time' : 'text';
  return type === 'integer' || type === 'number' || type === 'boolean' ? type : 'json';
};

const columnsOf = (fields: Readonly<Record<string, Shape>>): Column[] =>
  Object.entries(fields).map(([name, shape]) => ({ name, type: typeOf(shape) }));

const keyColumn = (name: string): Column => ({ name, type: 'integer' });

function tablesOf(kind: KindName): Table[] {
  const { list, one, parts, members, words, lookup, noun, nameOf } = kindOf(kind);
  const { idField: id = 'id', numberField }: Resource = resources[list.resource];
  const fields = recordFields(one?.for === 'text' ? one.operation : list);
  const own = { name: kind, kind, key: [id], id, numberField, partsField: parts?.field, words, lookup, noun, nameOf };
  const columns = columnsOf(fields).filter(({ name }) => name !== parts?.field);
  const tables: Table[] = [{ ...own, columns, fields }];
  if (parts) {
    const inner = fields[parts.field]?.item?.fields ?? {};
    const columns = [keyColumn(parts.parent), ...columnsOf(inner)];
    const key = [parts.parent, 'id'];
    tables.push({ ...parts, name: parts.table, kind, key, id: 'id', columns, fields: inner, isPart: true });
  }
  if (members) {
    const { operation, table, parent } = members;
    const memberId = resources[operation.answer.of ?? kind].idField ?? 'id';
    const inner = recordFields(operation);
    const columns = [keyColumn(parent), ...columnsOf(inner)];
    const key = [parent, memberId];
    tables.push({ ...members, name: table, kind, key, id: memberId, columns, fields: inner, words: [] });
  }
  return tables;
}

/** Every table of records: those of the kinds, and of what is inside of them. */
export const tables: readonly Table[] = kindNames.flatMap(tablesOf);

export function tableOf(name: string): Table {
  const table = tables.find((one) => one.name === name);
  if (!table) throw new Error(`No table ${name}.`);
  return table;
}

/** The index of what is not resolved. */
export const unresolvedIndex = (kind: KindName): string => `${kind}_unresolved`;

/** What every row has beside the record's fields, for whoever asks. */
export const rowColumns: readonly Column[] = [
  { name: 'data', type: 'json' },
  { name: 'first_seen_at', type: 'time' },
  { name: 'seen_at', type: 'time' },
  { name: 'gone_at', type: 'time' },
];

export const changeColumns: readonly Column[] = [
  { name: 'seq', type: 'integer' },
  { name: 'time', type: 'time' },
  { name: 'kind', type: 'text' },
  { name: 'record_id', type: 'integer' },
  { name: 'change', type: 'text' },
  { name: 'before', type: 'json' },
  { name: 'after', type: 'json' },
];

/** Tables of svc's own that are made when they are first needed. */
export const laterTables = ['svc_snoozes', 'svc_first_rows'] as const;

/** The tables in which each row is of an account, but for those. */
export const accountTables: readonly string[] = [
  ...tables.map(({ name }) => name),
  ...['changes', 'svc_accounts', 'svc_credentials', 'svc_kinds', 'svc_watchers'],
];

/** Every table that svc makes. */
export const allTables: readonly string[] = [...accountTables, ...laterTables, 'svc_schema'];
