import { Failure, messageOf } from '../../errors.ts';
import type { Fields } from '../../text/record.ts';
import type { KindState, Sweep } from '../store/state.ts';
import { isSame } from '../tables/cells.ts';
import { type KindName, kindOf, type ReadsOne } from '../tables/kinds.ts';
import type { Sql } from '../tables/store.ts';
import { type Table, tableOf } from '../tables/tables.ts';
import { type Answers, goneOf, noteDue, rememberFailing } from './failing.ts';
import { type Present, presentRows } from './present.ts';
import { spent, tell } from './progress.ts';
import { isOfOne, type Pulling, tallyOf } from './pulling.ts';
import { idIn, type Read, storeRecords } from './reading.ts';
import { applyRecords, type FetchedRecord, keyOf, markDeleted, touch } from './records.ts';
import { showsOthers } from './shows-others.ts';
import { readWhole } from './thread.ts';
import { type Usable, usableIn } from './usable.ts';

/** So many at once; the gate of the service spaces them out. */
export const together = 8;
/** `Date` has whole seconds: what was read in the second of its last change may have changed again in that second. */
const sameMomentMs = 2_000;

/** Records that could not be read before are asked for apart, not by each reading; of those that are called gone it asks for a few. */
type PageOfKind = Read & {
  readonly one: ReadsOne;
  readonly sweep: Pick<Sweep, 'number' | 'forced'>;
  readonly state: Pick<KindState, 'failing' | 'notFound'>;
};

/** `dropped`: how many parts of records have an id that svc cannot keep. */
export type Texts = Answers & { readonly dropped: number };

/**
 * Reads one by one those records of a page whose text the list does not hold and that changed. `lacking`: how many of the
 * page that were not shown, now or before, the copy has nothing of. `notFound`: those of the page that answered 404, now or
 * before.
 */
export async function storeTexts(pulling: Pulling, name: KindName, page: PageOfKind) {
  const { store, account, writer } = pulling;
  const { one, reading, sweep, records } = page;
  const table = tableOf(name);
  const ids = records.map(idIn(table));
  await writer.done();
  const present = await store.read((sql) => presentRows(sql, account, table, ids));
  const now = Date.parse(pulling.serviceTime() ?? '');
  const { failing, notFound } = page.state;
  const known = new Set([...failing, ...notFound.map(({ id }) => id)]);
  const listedIds = new Set(ids);
  const listedGone = goneOf(notFound).filter(({ id }) => listedIds.has(id));
  const gone = new Set(listedGone.slice(0, together).map(({ id }) => id));
  const due = records.filter((record) => {
    const id = idIn(table)(record);
    if (known.has(id)) return gone.has(id);
    return isDue(present.get(String(id)), record, { ...sweep, now });
  });
  const others = records.filter((record) => !due.includes(record)).map(idIn(table));
  spent(pulling, name, others.length);
  const shown: number[] = [];
  const absent: number[] = [];
  const failed: number[] = [];
  let dropped = 0;
  for (let at = 0; at < due.length; at += together) {
    const some = due.slice(at, at + together);
    const stored = await storeSome(pulling, name, one, { reading, records: some });
    shown.push(...stored.shown);
    absent.push(...stored.absent);
    failed.push(...stored.failed);
    dropped += stored.dropped;
    spent(pulling, name, some.length);
    tell(pulling);
  }
  // What is not shown is listed all the same, so that it is not looked for as missing.
  const listed = [...others, ...absent, ...failed];
  const rows = listed.flatMap((id) => {
    const row = present.get(String(id));
    return row && !row.isDeleted ? [row.row] : [];
  });
  void writer.write((sql) => touch(sql, reading, table, rows));
  const asked = new Set([...shown, ...failed]);
  const unshown = notFound.flatMap(({ id }) => (listedIds.has(id) && !asked.has(id) ? [id] : []));
  return {
    ...{ shown, absent, failed, dropped },
    lacking: listed.length - rows.length,
    notFound: [...absent, ...unshown],
  };
}

/** The list says that it changed; or that cannot be known yet; or everything is read again. */
function isDue(
  row: Present | undefined,
  listed: Fields,
  { forced, number, now }: PageOfKind['sweep'] & { readonly now: number },
): boolean {
  if (!row || row.isDeleted) return true;
  if (Object.entries(listed).some(([field, value]) => !isSame(row.data[field], value))) return true;
  const readAt = Date.parse(row.readAt ?? '');
  if (forced && row.lastSweep < number) return true;
  // The service's clock stepped back since: a later change may have the same time.
  if (readAt > now + sameMomentMs) return true;
  return readAt - Date.parse(String(listed.updated_at)) < sameMomentMs;
}

/** What came before one of them failed is stored. */
export async function storeSome(pulling: Pulling, name: KindName, one: ReadsOne, listed: Read): Promise<Texts> {
  const { writer } = pulling;
  const ids = listed.records.map(idIn(tableOf(name)));
  const answers = await readWhole(pulling, name, one, ids);
  const reading = { ...listed.reading, readAt: pulling.serviceTime() };
  const records = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value ? [answer.value] : []));
  await writer.room();
  const written = writer.write(async (sql) => {
    await storeWhole(sql, pulling, name, { reading, records });
    await wantShown(sql, pulling, name, records);
  });
  const reasons = new Map<number, unknown>();
  for (const [at, id] of ids.entries()) {
    const answer = answers[at];
    if (answer?.status === 'rejected') reasons.set(id, answer.reason);
  }
  if (reasons.size > 0) await written;
  await judgeFailed(pulling, name, one, { reasons, isAll: reasons.size === ids.length });
  const absent = ids.filter((_, at) => answers[at]?.status === 'fulfilled' && !answers[at].value);
  for (const id of absent) tallyOf(pulling, name).absent.add(id);
  const dropped = records.reduce((sum, record) => sum + partsOf(name, record).dropped, 0);
  return { shown: records.map(idIn(tableOf(name))), absent, dropped, failed: [...reasons.keys()] };
}

/** So many without one that is read: the service may be in trouble, and each costs all of its repetitions. */
const manyInARow = 5;

type Failed = { readonly reasons: ReadonlyMap<number, unknown>; readonly isAll: boolean };

/** Throws where it is not the records that are broken: for the whole pull, or for this kind alone. */
async function judgeFailed(pulling: Pulling, name: KindName, one: ReadsOne, { reasons, isAll }: Failed): Promise<void> {
  const tally = tallyOf(pulling, name);
  tally.failedInARow = isAll ? tally.failedInARow + reasons.size : 0;
  for (const [id, reason] of reasons) {
    if (!isOfOne(pulling, reason)) throw reason;
    tally.failing.set(id, reason);
  }
  if (tally.failedInARow < manyInARow) return;
  const [[id, reason] = []] = reasons;
  if ((await showsOthers(pulling, name, one)) !== true) {
    // If it is these all the same, the next pull goes on behind them.
    await rememberFailing(pulling, name, [...reasons.keys()]);
    // A scope that lacks for records alone is a refusal of the kind.
    if (reason instanceof Failure && reason.kind === 'forbidden') throw reason;
    throw new Failure('partial', `The service fails at each of these ${name}, such as ${id}: ${messageOf(reason)}`);
  }
  tally.failedInARow = 0;
}

/**
 * Another record shows what changed here, without having changed itself: it has to be read again. Who wrote that down with the
 * change itself cannot forget it, whatever ends the pull.
 */
async function wantShown(sql: Sql, pulling: Pulling, name: KindName, records: readonly Fields[]): Promise<void> {
  const { embeddedIn } = kindOf(name);
  if (!embeddedIn) return;
  const { kind, by } = embeddedIn;
  const changedAt = new Map<number, number>();
  for (const record of records) {
    if (typeof record[by] === 'number') changedAt.set(record[by], Date.parse(String(record.updated_at)));
  }
  const present = await presentRows(sql, pulling.account, tableOf(kind), [...changedAt.keys()]);
  const old = [...present.values()].filter(
    ({ key, readAt, isDeleted }) => !isDeleted && !(Date.parse(readAt ?? '') > (changedAt.get(Number(key)) ?? 0)),
  );
  const ids = old.map(({ key }) => Number(key));
  for (const id of ids) tallyOf(pulling, kind).outdated.add(id);
  await noteDue(sql, pulling, kind, ids);
}

/** What is inside of a record, where its kind keeps that. */
function partsOf(name: KindName, record: Fields): Usable {
  const { parts } = kindOf(name);
  return parts ? usableIn(record[parts.field], tableOf(parts.table).id) : { records: [], dropped: 0 };
}

/** A record of which something was dropped counts as read in times long past: then it is read again. */
const longAgo = new Date(0).toISOString();

/** Records with what is inside of them. */
async function storeWhole(sql: Sql, pulling: Pulling, name: KindName, read: Read): Promise<void> {
  const isWhole = (record: Fields) => partsOf(name, record).dropped === 0;
  const { reading, records } = read;
  await storeAlike(sql, pulling, name, { ...read, records: records.filter(isWhole) });
  const others = records.filter((record) => !isWhole(record));
  if (others.length === 0) return;
  await storeAlike(sql, pulling, name, { ...read, reading: { ...reading, readAt: longAgo }, records: others });
}

async function storeAlike(sql: Sql, pulling: Pulling, name: KindName, { reading, records }: Read): Promise<void> {
  await storeRecords(sql, pulling, name, { reading, records });
  const { parts } = kindOf(name);
  if (!parts) return;
  const idOf = idIn(tableOf(name));
  const entries = records.flatMap((record) =>
    partsOf(name, record).records.map((part) => ({ record: part, parent: idOf(record) })),
  );
  const isWhole = reading.readAt !== longAgo;
  await storeInside(sql, pulling, tableOf(parts.table), { reading, entries, parents: records.map(idOf), isWhole });
}

type Inside = Pick<Read, 'reading'> & {
  readonly entries: readonly FetchedRecord[];
  readonly parents: readonly number[];
  /** Nothing was dropped. */
  readonly isWhole: boolean;
};

/** Everything that belongs to the parents: of a whole one, what is not among it any more is gone. */
export async function storeInside(
  sql: Sql,
  pulling: Pulling,
  table: Table,
  { reading, entries, parents, isWhole }: Inside,
): Promise<void> {
  const present = await presentRows(sql, pulling.account, table, parents);
  await applyRecords(sql, reading, table, { entries, present });
  if (!isWhole) return;
  const seen = new Set(entries.map((entry) => keyOf(table, entry)));
  const missing = [...present.values()].filter(({ key }) => !seen.has(key));
  await markDeleted(sql, reading, table, missing);
}
