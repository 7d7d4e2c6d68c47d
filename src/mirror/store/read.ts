import type { Fields } from '../../text/record.ts';
import { dataOf } from '../tables/cells.ts';
import { type Account, owned, ownerOf, type Store } from '../tables/store.ts';
import { tableOf } from '../tables/tables.ts';

const perPiece = 500;

/**
 * Every living record of a table of the copy, oldest row first, as the service sent it; parts and members with the id of
 * their record (`ticket_id`, `conversation_id`, `contacts_list_id`).
 */
export async function* readAll(store: Store, account: Account, name: string): AsyncGenerator<Fields> {
  const { id, parent } = tableOf(name);
  for (let last = 0; ; ) {
    const rows = await store.read((sql) =>
      sql.all(
        `SELECT svc_row, data, ${parent ?? id} AS parent FROM ${name} ` +
          `WHERE ${owned} AND gone_at IS NULL AND svc_row > $3 ORDER BY svc_row LIMIT ${perPiece}`,
        [...ownerOf(account), last],
      ),
    );
    for (const row of rows) {
      const record = dataOf(row);
      yield parent === undefined ? record : { [parent]: Number(row.parent), ...record };
    }
    if (rows.length < perPiece) return;
    last = Number(rows.at(-1)?.svc_row);
  }
}
