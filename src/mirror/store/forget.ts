import { listed } from '../../text/listed.ts';
import { counted } from '../../text/number.ts';
import { type Account, countRows, owned, ownerOf, type Sql, type Store } from '../tables/store.ts';
import { laterTables, tables } from '../tables/tables.ts';
import { hasTable } from './has-table.ts';
import { dropTables } from './schema.ts';
import { snoozed } from './snoozes.ts';

/**
 * What is left of the database:
 * - `nothing`: the file, or in PostgreSQL the schema, is gone
 * - `others`: copies of other accounts
 * - `strangers`: what svc did not make
 */
export type Left = 'nothing' | 'others' | 'strangers';

/** What no pull brings back: `2 snoozes and 1 recorded change`; empty where there is none. */
export const lostWith = (store: Store, account: Account, now: Date): Promise<string> =>
  store.read(async (sql) => {
    const positions = await countIn(sql, 'svc_watchers', account);
    const parts = [
      [(await snoozed(sql, account, now)).length, 'snooze'],
      [await countIn(sql, 'changes', account), 'recorded change'],
      [positions, 'position'],
    ] as const;
    const said = listed(parts.flatMap(([n, noun]) => (n > 0 ? [counted(n, noun)] : [])));
    return positions > 0 ? `${said} of svc watch` : said;
  });

/** Deletes the copy of one account, and svc's tables where it was the last; whatever svc did not make stays. */
export async function forgetCopy(store: Store, account: Account): Promise<Left> {
  const left = await store.alone(account, () => store.write((sql) => forget(sql, account)));
  if (left === 'nothing') await store.remove();
  if (left === 'others') await store.compact();
  return left;
}

async function forget(sql: Sql, account: Account): Promise<Left> {
  if (sql.engine === 'sqlite') await sql.all('PRAGMA secure_delete = ON');
  const others = await countRows(sql, `svc_accounts WHERE NOT (${owned})`, ownerOf(account));
  await deleteRows(sql, account);
  if (others > 0) return 'others';
  return (await dropTables(sql)) ? 'strangers' : 'nothing';
}

async function deleteRows(sql: Sql, account: Account): Promise<void> {
  for (const { name, words } of tables) {
    if (sql.engine === 'sqlite' && words.length > 0) {
      await sql.run(
        `DELETE FROM ${name}_words WHERE rowid IN (SELECT svc_row FROM ${name} WHERE ${owned})`,
        ownerOf(account),
      );
      // Until its parts are joined, the index keeps the words of what was deleted.
      await sql.run(`INSERT INTO ${name}_words (${name}_words) VALUES ('optimize')`);
    }
    await deleteFrom(sql, name, account);
  }
  for (const name of laterTables)
    if (await hasTable(sql, name)) await sql.run(`DELETE FROM ${name} WHERE ${owned}`, ownerOf(account));
  for (const name of ['changes', 'svc_kinds', 'svc_watchers', 'svc_credentials', 'svc_accounts']) {
    await deleteFrom(sql, name, account);
  }
}

async function deleteFrom(sql: Sql, name: string, account: Account): Promise<void> {
  const count = await countIn(sql, name, account);
  await sql.run(`DELETE FROM ${name} WHERE ${owned}`, ownerOf(account), count);
}

const countIn = (sql: Sql, name: string, account: Account): Promise<number> =>
  countRows(sql, `${name} WHERE ${owned}`, ownerOf(account));
