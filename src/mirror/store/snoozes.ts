import { type Account, owned, ownerOf, putRow, type Sql, type Store } from '../tables/store.ts';
import { hasTable } from './has-table.ts';
import { needTable } from './later-tables.ts';

/** A ticket or a conversation that somebody put away, or a draft that somebody has looked at. */
export type Snooze = {
  readonly kind: string;
  readonly id: number;
  /** ISO 8601; null: until the customer writes. */
  readonly until: string | null;
  /** When it was put away: what the customer writes later brings it back. */
  readonly since: string;
  readonly by: string;
};

/** Made with the first snooze. */
const table = 'svc_snoozes';

const columnsOf = ({ engine }: Sql): string =>
  `kind TEXT NOT NULL, record_id ${engine === 'sqlite' ? 'INTEGER' : 'bigint'} NOT NULL, until TEXT, since TEXT NOT NULL, ` +
  'made_by TEXT NOT NULL, PRIMARY KEY (service, account_id, kind, record_id)';

/** Puts them away; each takes the place of an earlier one. */
export async function snooze(store: Store, account: Account, snoozes: readonly Snooze[]): Promise<void> {
  await needTable(store, table, columnsOf);
  await store.write(async (sql) => {
    for (const { kind, id, until, since, by } of snoozes) {
      const values = { until, since, made_by: by };
      await putRow(sql, account, table, { key: { kind, record_id: id }, values });
    }
  });
}

/** Brings them back; one that is not put away stays as it is. */
export async function wake(
  store: Store,
  account: Account,
  records: readonly Pick<Snooze, 'kind' | 'id'>[],
): Promise<void> {
  if (!(await store.read((sql) => hasTable(sql, table)))) return;
  await store.write(async (sql) => {
    for (const { kind, id } of records)
      await sql.run(`DELETE FROM ${table} WHERE ${owned} AND kind = $3 AND record_id = $4`, [
        ...ownerOf(account),
        kind,
        id,
      ]);
  });
}

/** Those that are still away at that moment. */
export async function snoozed(sql: Sql, account: Account, now: Date): Promise<Snooze[]> {
  if (!(await hasTable(sql, table))) return [];
  const rows = await sql.all(
    `SELECT kind, record_id, until, since, made_by FROM ${table} WHERE ${owned}`,
    ownerOf(account),
  );
  const away: Snooze[] = [];
  for (const row of rows) {
    const one: Snooze = {
      kind: String(row.kind),
      id: Number(row.record_id),
      until: row.until === null ? null : String(row.until),
      since: String(row.since),
      by: String(row.made_by),
    };
    const isAway = one.until === null ? !(await wroteSince(sql, account, one)) : Date.parse(one.until) > now.getTime();
    if (isAway) away.push(one);
  }
  return away;
}

/** Whether the customer wrote after it was put away: in the ticket, or in the chat behind it. */
async function wroteSince(sql: Sql, account: Account, { kind, id, since }: Snooze): Promise<boolean> {
  // A draft that was looked at has nobody who writes.
  if (kind !== 'ticket' && kind !== 'conversation') return false;
  const inChat = `SELECT created_at FROM conversation_messages WHERE ${owned} AND sender_type = 'visitor' AND gone_at IS NULL AND conversation_id`;
  const ofTicket = [
    `SELECT created_at FROM ticket_messages WHERE ${owned} AND ticket_id = $3 AND direction = 'in' AND gone_at IS NULL`,
    `${inChat} IN (SELECT conversation_id FROM tickets WHERE ${owned} AND id = $3 AND conversation_id IS NOT NULL)`,
  ];
  const texts = kind === 'ticket' ? ofTicket : [`${inChat} = $3`];
  for (const text of texts) {
    const rows = await sql.all(text, [...ownerOf(account), id]);
    if (rows.some(({ created_at: at }) => new Date(String(at)).getTime() > Date.parse(since))) return true;
  }
  return false;
}
