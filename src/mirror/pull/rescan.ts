import { readState } from '../store/state.ts';
import { type KindName, kindNames, kindOf } from '../tables/kinds.ts';
import { owned, ownerOf, type Sql } from '../tables/store.ts';
import { tableOf } from '../tables/tables.ts';
import { perPage } from './budget.ts';
import { forgetRecords, isAbsent } from './deleted.ts';
import { readPage } from './page.ts';
import { spent, tell } from './progress.ts';
import { type Guarded, notWhole, type Pulling } from './pulling.ts';
import { idIn, readingOf, storeRecords } from './reading.ts';
import { droppedWords } from './usable.ts';

/** Of one page; the others have their turn when the page is read next. */
const proofsAtMost = 5;

type Stale = { readonly kind: KindName; readonly page: number; readonly lookedAt: string };

/** Pages of what nothing but a look tells: those that were looked at longest ago. */
export async function rescan(pulling: Pulling, guarded: Guarded): Promise<void> {
  const { store, wishes } = pulling;
  const kinds = kindNames.filter((name) => kindOf(name).incremental === 'newest first' && wishes.only.includes(name));
  const stale: Stale[] = [];
  if (wishes.rescan === 0 || wishes.full) return;
  for (const kind of kinds) stale.push(...(await store.read((sql) => stalePages(sql, pulling, kind))));
  const chosen = stale.sort((a, b) => (a.lookedAt < b.lookedAt ? -1 : 1)).slice(0, wishes.rescan);
  pulling.left.set('rescan', chosen.length);
  for (const one of chosen) {
    await guarded(one.kind, () => rescanPage(pulling, one));
  }
}

/** Where its records stand in the list, newest first: by their own times, for ids need not grow. */
const ranked = (name: KindName): string =>
  `(SELECT svc_row, looked_at, seen_at, ${tableOf(name).id} AS id, row_number() OVER ` +
  `(ORDER BY created_at DESC NULLS LAST, ${tableOf(name).id} DESC) AS place FROM ${name} WHERE ${owned} AND gone_at IS NULL) AS ranked`;

async function stalePages(sql: Sql, pulling: Pulling, kind: KindName): Promise<Stale[]> {
  const { account, wishes, began } = pulling;
  const { complete } = await readState(sql, account, kind);
  if (!complete) return [];
  const rows = await sql.all(
    `SELECT (place - 1) / ${perPage} + 1 AS page, min(looked_at) AS looked_at FROM ${ranked(kind)} ` +
      `GROUP BY 1 HAVING min(looked_at) < $3 ORDER BY 2, 1 LIMIT $4`,
    [...ownerOf(account), began, wishes.rescan],
  );
  return rows.map(({ page, looked_at: at }) => ({ kind, page: Number(page), lookedAt: String(at) }));
}

async function rescanPage(pulling: Pulling, { kind, page }: Stale): Promise<void> {
  const { account, writer, began } = pulling;
  const { records, dropped, doubt } = await readPage(pulling, kind, { page, since: null });
  spent(pulling, 'rescan');
  tell(pulling);
  // Nothing can be said by it; its turn comes again.
  if (doubt !== undefined) return;
  const { one } = kindOf(kind);
  if (dropped > 0) notWhole(pulling, kind, droppedWords(dropped, kind, tableOf(kind).id));
  const missing = await writer.write(async (sql) => {
    const state = await readState(sql, account, kind);
    const where = `place > ${(page - 1) * perPage} AND place <= ${page * perPage}`;
    const rows = await sql.all(`SELECT svc_row, id FROM ${ranked(kind)} WHERE ${where}`, ownerOf(account));
    await storeRecords(sql, pulling, kind, { reading: readingOf(pulling, state, { number: state.begun }), records });
    const seen = new Set(records.map(idIn(tableOf(kind))));
    const absent = rows.filter(({ id }) => !seen.has(Number(id)));
    for (const { svc_row: row } of absent) {
      await sql.run(`UPDATE ${kind} SET looked_at = $1 WHERE svc_row = $2`, [pulling.now(), Number(row)], 1);
    }
    const old = await sql.all(`SELECT id FROM ${ranked(kind)} WHERE seen_at < $3 AND ${where}`, [
      ...ownerOf(account),
      began,
    ]);
    return old.map(({ id }) => Number(id));
  });
  for (const id of one && dropped === 0 ? missing.slice(0, proofsAtMost) : []) {
    if (!one || !(await isAbsent(pulling, one.operation, id))) continue;
    await writer.write(async (sql) => {
      const state = await readState(sql, account, kind);
      await forgetRecords(sql, pulling, { name: kind, state }, [id]);
    });
  }
}
