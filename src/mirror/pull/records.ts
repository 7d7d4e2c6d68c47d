import type { Fields } from '../../text/record.ts';
import type { KindState } from '../store/state.ts';
import { indexedWords, replaceWords } from '../store/words-index.ts';
import { cellsOf, isSame } from '../tables/cells.ts';
import { type Account, ownerOf, pieces, placeholders, quoted, type Sql, type Value } from '../tables/store.ts';
import type { Table } from '../tables/tables.ts';
import type { Present } from './present.ts';

/** A record as the service sent it, and of which record it is a part. */
export type FetchedRecord = { readonly record: Fields; readonly parent?: number };

/** What holds for everything that one page brings. */
export type Reading = {
  readonly account: Account;
  /** By this machine's clock. */
  readonly now: string;
  /** By the service's clock, where it told one. */
  readonly readAt: string | null;
  readonly sweep: number;
  /** What was there before is no news: then nothing is written into `changes`. */
  readonly notesChanges: boolean;
  /** Of a copy that is not complete: what was made before that time is not called new. */
  readonly newSince?: string;
  /** Of one that is: what the first reading could not read, and was made before it began, is not called new either. */
  readonly first?: NonNullable<KindState['first']>;
};

export const keyOf = ({ key, id }: Table, { record, parent }: FetchedRecord): string =>
  key.map((column) => (column === id ? record[column] : parent)).join(':');

/** What a page brings, and the rows that were there before. */
type Arrived = { readonly entries: readonly FetchedRecord[]; readonly present: ReadonlyMap<string, Present> };

/** One of them, and its row as it was. */
type Met = { readonly entry: FetchedRecord; readonly before: Present | undefined };

/** Puts records into their table, and what became of them into `changes`. */
export async function applyRecords(
  sql: Sql,
  reading: Reading,
  table: Table,
  { entries, present }: Arrived,
): Promise<Readonly<Record<'created' | 'updated', number>>> {
  const counts = { created: 0, updated: 0 };
  const changed: Met[] = [];
  const same: number[] = [];
  const noted: Change[] = [];
  // The same record twice in one page: the later one counts.
  const latest = new Map(entries.map((entry) => [keyOf(table, entry), entry]));
  for (const [key, entry] of latest) {
    const before = present.get(key);
    const outcome = outcomeOf(table, before, entry);
    if (outcome === 'same') same.push(before?.row ?? 0);
    else changed.push({ entry, before });
    if (outcome === 'same' || outcome === 'inside') continue;
    counts[outcome]++;
    const change = changeOf(reading, table, outcome, { before, entry });
    if (change) noted.push(change);
  }
  await upsert(sql, reading, table, changed);
  await touch(sql, reading, table, same);
  if (reading.notesChanges) await noteChanges(sql, reading, noted);
  return counts;
}

type Outcome = 'created' | 'updated' | 'inside' | 'same';

function outcomeOf(table: Table, before: Present | undefined, { record }: FetchedRecord): Outcome {
  if (!before || before.isDeleted) return 'created';
  if (isSame(before.data, record)) return 'same';
  return isSame(ownPart(table, before.data), ownPart(table, record)) ? 'inside' : 'updated';
}

/** Without its parts, which have rows and changes of their own. */
function ownPart({ partsField: field }: Table, record: Fields): Fields {
  if (field === undefined || !(field in record)) return record;
  const { [field]: _, ...own } = record;
  return own;
}

type Change = readonly [kind: string, id: number, change: string, before: string | null, after: string | null];

/** Undefined where it is no news: it was there before anybody followed. */
function changeOf(
  { newSince, first }: Reading,
  table: Table,
  outcome: 'created' | 'updated',
  { before: row, entry }: Met,
): Change | undefined {
  const { record, parent } = entry;
  const before = row?.isDeleted ? undefined : row;
  const wasThere = (began: string) => Date.parse(String(record.created_at)) < Date.parse(began);
  const isOld = !row && first?.unread.includes(parent ?? Number(record[table.id])) && wasThere(first.began);
  const since = newSince ?? (isOld ? first?.began : undefined);
  const shown = (fields: Fields) => JSON.stringify(ownPart(table, withParent(table, fields, parent)));
  const change = before || since === undefined ? outcome : firstSeenAs(record, Date.parse(since));
  return change && [table.name, Number(record[table.id]), change, before ? shown(before.data) : null, shown(record)];
}

function firstSeenAs({ created_at: created, updated_at: updated }: Fields, since: number): Outcome | undefined {
  if (Date.parse(String(created)) >= since) return 'created';
  return Date.parse(String(updated)) >= since ? 'updated' : undefined;
}

const withParent = (table: Table, record: Fields, parent: number | undefined): Fields =>
  parent === undefined ? record : { [table.parent ?? '']: parent, ...record };

async function upsert(sql: Sql, reading: Reading, table: Table, changed: readonly Met[]): Promise<void> {
  if (changed.length === 0) return;
  const { account, now, readAt, sweep } = reading;
  const isSqlite = sql.engine === 'sqlite';
  // One writer at a time: so svc gives the numbers, and the words can be put beside them.
  let last = isSqlite ? Number((await sql.all(`SELECT max(svc_row) AS last FROM ${table.name}`))[0]?.last ?? 0) : 0;
  const hasWords = table.words.length > 0;
  const lookup = Object.entries(table.lookup?.columns ?? {});
  const columns = [
    ...(isSqlite ? ['svc_row'] : []),
    ...['service', 'account_id', ...table.columns.map(({ name }) => name), 'data', 'first_seen_at', 'seen_at'],
    ...['gone_at', 'looked_at', 'read_at', 'first_sweep', 'last_sweep'],
    ...lookup.map(([name]) => name),
    ...(hasWords && !isSqlite ? ['words'] : []),
  ];
  const words: (readonly [row: number, text: string])[] = [];
  const rows = changed.map(({ entry, before }) => {
    const fields = withParent(table, entry.record, entry.parent);
    const row = before?.row ?? ++last;
    const text = hasWords ? indexedWords(sql.engine, table, fields) : '';
    if (hasWords) words.push([row, text]);
    return [
      ...(isSqlite ? [row] : []),
      ...[...ownerOf(account), ...cellsOf(table.columns, fields), JSON.stringify(entry.record), now, now],
      ...[null, now, readAt, sweep, sweep],
      ...lookup.map(([, of]) => of(fields)),
      ...(hasWords && !isSqlite ? [text] : []),
    ];
  });
  const kept = ['svc_row', 'service', 'account_id', 'first_seen_at', 'first_sweep', ...table.key];
  const updates = columns
    .filter((name) => !kept.includes(name))
    .map((name) => `${quoted(name)} = excluded.${quoted(name)}`);
  const conflict = ['service', 'account_id', ...table.key].map(quoted).join(', ');
  const ending = `ON CONFLICT (${conflict}) DO UPDATE SET ${updates.join(', ')}`;
  await insertRows(sql, { table: table.name, columns, ending }, rows);
  if (hasWords && isSqlite) {
    const old = changed.flatMap(({ before }) => (before ? [before.row] : []));
    await replaceWords(sql, table, old, words);
  }
}

type Target = { readonly table: string; readonly columns: readonly string[]; readonly ending?: string };

async function insertRows(
  sql: Sql,
  { table, columns, ending = '' }: Target,
  rows: readonly (readonly Value[])[],
): Promise<void> {
  for (const some of pieces(rows)) {
    const values = some.map((_, at) => `(${placeholders(1 + at * columns.length, columns.length)})`);
    const names = columns.map(quoted).join(', ');
    await sql.run(`INSERT INTO ${table} (${names}) VALUES ${values.join(', ')} ${ending}`, some.flat(), some.length);
  }
}

/** Seen again as they were. */
export async function touch(sql: Sql, reading: Reading, { name }: Table, rows: readonly number[]): Promise<void> {
  const { now, sweep, readAt } = reading;
  const read = readAt === null ? '' : ', read_at = $4';
  const values = readAt === null ? [now, now, sweep] : [now, now, sweep, readAt];
  for (const some of pieces(rows)) {
    await sql.run(
      `UPDATE ${name} SET seen_at = $1, looked_at = $2, last_sweep = $3${read} ` +
        `WHERE svc_row IN (${placeholders(values.length + 1, some.length)})`,
      [...values, ...some],
      new Set(some).size,
    );
  }
}

/** The service does not have them any more. */
export async function markDeleted(
  sql: Sql,
  reading: Reading,
  table: Table,
  present: readonly Present[],
): Promise<number> {
  const living = present.filter(({ isDeleted }) => !isDeleted);
  for (const some of pieces(living)) {
    await sql.run(
      `UPDATE ${table.name} SET gone_at = $1, looked_at = $2 WHERE svc_row IN (${placeholders(3, some.length)})`,
      [reading.now, reading.now, ...some.map(({ row }) => row)],
      some.length,
    );
  }
  if (reading.notesChanges) {
    const changes = living.map(({ data, key }): Change => {
      const [id = 0, parent] = key.split(':').map(Number).reverse();
      const shown = JSON.stringify(ownPart(table, withParent(table, data, parent)));
      return [table.name, id, 'gone', shown, null];
    });
    await noteChanges(sql, reading, changes);
  }
  return living.length;
}

async function noteChanges(sql: Sql, { account, now }: Reading, changes: readonly Change[]): Promise<void> {
  const columns = ['service', 'account_id', 'time', 'kind', 'record_id', 'change', 'before', 'after'];
  const rows = changes.map((change) => [...ownerOf(account), now, ...change]);
  await insertRows(sql, { table: 'changes', columns }, rows);
}
