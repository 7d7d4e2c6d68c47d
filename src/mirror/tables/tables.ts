import type { Operation } from '../../api/operation.ts';
import { resources } from '../../api/resources.ts';
import { fieldsOf, type Shape } from '../../api/shape.ts';
import { type KindName, kindNames, kindOf } from './kinds.ts';

export type ColumnType = 'integer' | 'number' | 'boolean' | 'text' | 'time' | 'json';

export type Column = { readonly name: string; readonly type: ColumnType };

/** A table of records, made from the schemas of the operations that read them. */
export type Table = {
  readonly name: string;
  readonly kind: KindName;
  /** The columns that name a record inside of its account. */
  readonly key: readonly string[];
  /** The one of them that is the record's own id. */
  readonly id: string;
  /** Of parts and members: the column that names their record. */
  readonly parent?: string;
  readonly columns: readonly Column[];
  /** The fields that are searched; none: it is not. */
  readonly words: readonly string[];
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
  const { list, one, parts, members, words } = kindOf(kind);
  const id = resources[list.resource].idField ?? 'id';
  const fields = recordFields(one?.for === 'text' ? one.operation : list);
  const own = columnsOf(fields).filter(({ name }) => name !== parts?.field);
  const tables: Table[] = [{ name: kind, kind, key: [id], id, columns: own, words }];
  if (parts) {
    const columns = [keyColumn(parts.parent), ...columnsOf(fields[parts.field]?.item?.fields ?? {})];
    tables.push({ ...parts, name: parts.table, kind, key: [parts.parent, 'id'], id: 'id', columns });
  }
  if (members) {
    const { operation, table, parent } = members;
    const memberId = resources[operation.answer.of ?? kind].idField ?? 'id';
    const columns = [keyColumn(parent), ...columnsOf(recordFields(operation))];
    tables.push({ name: table, kind, key: [parent, memberId], id: memberId, parent, columns, words: [] });
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
