// Records put into a copy as a pull would put them, for histories that no sandbox can make.

import { cellsOf } from '../../src/mirror/tables/cells.ts';
import { emailKey, findText } from '../../src/mirror/tables/contact-words.ts';
import { type Account, placeholders, quoted, type Sql } from '../../src/mirror/tables/store.ts';
import { tableOf } from '../../src/mirror/tables/tables.ts';
import type { Fields } from '../../src/text/record.ts';

export type Rows = Readonly<Record<string, readonly Fields[]>>;

/** Each with its table's name. What a record lacks is null, as where the service leaves a field out. */
export async function writeRows(sql: Sql, { service, id }: Account, rows: Rows): Promise<void> {
  const now = '2026-03-01T00:00:00.000Z';
  for (const [name, records] of Object.entries(rows)) {
    const { columns } = tableOf(name);
    const own = ['service', 'account_id', 'data', 'first_seen_at', 'seen_at', 'looked_at', 'first_sweep', 'last_sweep'];
    const words = name === 'contacts' ? ['find_text', 'email_key'] : [];
    const all = [...own, ...columns.map((column) => column.name), 'gone_at', ...words];
    for (const record of records) {
      const { gone_at: gone = null, ...data } = record;
      const values = [service, id, JSON.stringify(data), now, now, now, 1, 1, ...cellsOf(columns, record)];
      await sql.run(
        `INSERT INTO ${name} (${all.map(quoted).join(', ')}) VALUES (${placeholders(1, all.length)})`,
        [
          ...values,
          typeof gone === 'string' ? gone : null,
          ...(words.length > 0 ? [findText(record), emailKey(record.email)] : []),
        ],
        1,
      );
    }
  }
}
