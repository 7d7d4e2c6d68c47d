import { type CopyState, copyState } from '../mirror/query/as-of.ts';
import { dataOf, isSame } from '../mirror/tables/cells.ts';
import type { Account, Row, Sql } from '../mirror/tables/store.ts';
import { type Fields, fieldsIn, isRecord, ownOf } from '../text/record.ts';
import { answer, type Query } from './ask.ts';

/** What changed in one of the person's records, as a pull saw it. */
export type Change = {
  /** ISO 8601: when the pull saw it. */
  readonly time: string;
  readonly kind: string;
  readonly record_id: number;
  readonly change: string;
  /** Of an update: the fields that changed. */
  readonly fields: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>;
};

/**
 * Everything that the copy holds about one person, each list in time. Records are as the service sent them; what is gone from
 * the account has `gone_at`.
 */
export type History = {
  readonly contact: Fields;
  readonly lists: readonly Fields[];
  readonly tickets: readonly Fields[];
  readonly conversations: readonly Fields[];
  readonly calls: readonly Fields[];
  readonly changes: readonly Change[];
  readonly copy: CopyState;
};

const kinds = ['contacts', 'lists', 'tickets', 'conversations', 'calls'] as const;

// Of a contact's id inside of JSON, SQLite makes a number and PostgreSQL a text.
const isTheirs = (contact = 'contact') => `CAST(${contact} ->> 'contact_id' AS text) = CAST($1 AS text)`;

/** $1: the contact's id. A chat of nobody known is theirs where the ticket that came of it is. */
const own = {
  own_tickets: `SELECT * FROM tickets WHERE ${isTheirs()}`,
  own_conversations: `SELECT * FROM conversations WHERE ${isTheirs()} OR (contact IS NULL
  AND (ticket_id IN (SELECT id FROM own_tickets) OR id IN (SELECT conversation_id FROM own_tickets)))`,
  own_calls: 'SELECT * FROM calls WHERE CAST(contact_id AS text) = CAST($1 AS text)',
  // The service shows a chat's messages in its ticket too, whoever the chat is with.
  foreign_messages: `SELECT m.created_at, m.body FROM conversation_messages m JOIN conversations c ON c.id = m.conversation_id
WHERE c.contact IS NOT NULL AND NOT ${isTheirs('c.contact')}
  AND (c.ticket_id IN (SELECT id FROM own_tickets) OR c.id IN (SELECT conversation_id FROM own_tickets))`,
};

/**
 * A message that is gone was of whoever the ticket or chat was of when the message was last seen there: the first change after that
 * says who.
 */
const notOfAnother = (kind: string, parent: string) => `NOT (m.gone_at IS NOT NULL AND EXISTS (
  SELECT 1 FROM changes h
  WHERE h.seq = (SELECT min(n.seq) FROM changes n WHERE n.kind = '${kind}' AND n.record_id = m.${parent} AND n."time" > m.seen_at)
    AND h."before" -> 'contact' ->> 'contact_id' IS NOT NULL AND NOT ${isTheirs(`h."before" -> 'contact'`)}))`;

const recordsQuery: Query = {
  parts: own,
  select: [
    ['contacts', '0', 'contacts WHERE CAST(contact_id AS text) = CAST($1 AS text)'],
    ['tickets', '0', 'own_tickets'],
    [
      'ticket_messages',
      'ticket_id',
      `ticket_messages m WHERE ticket_id IN (SELECT id FROM own_tickets)
AND NOT EXISTS (SELECT 1 FROM foreign_messages f WHERE f.created_at = m.created_at AND f.body = m.body)
AND ${notOfAnother('tickets', 'ticket_id')}`,
    ],
    ['conversations', '0', 'own_conversations'],
    [
      'conversation_messages',
      'conversation_id',
      `conversation_messages m WHERE conversation_id IN (SELECT id FROM own_conversations)
AND ${notOfAnother('conversations', 'conversation_id')}`,
    ],
    ['calls', '0', 'own_calls'],
  ]
    .map(
      ([kind, parent, from]) =>
        `SELECT '${kind}' AS kind, ${parent} AS parent, CAST(data AS text) AS data, gone_at FROM ${from}`,
    )
    .join('\nUNION ALL\n'),
};

const listsQuery: Query = {
  parts: {},
  select: `SELECT m.contacts_list_id, l.name, m.gone_at FROM list_members m
JOIN lists l ON l.contacts_list_id = m.contacts_list_id
WHERE CAST(m.contact_id AS text) = CAST($1 AS text) ORDER BY m.contacts_list_id`,
};

const changesQuery: Query = {
  parts: own,
  select: `SELECT "time", kind, record_id, change, CAST("before" AS text) AS "before", CAST("after" AS text) AS "after" FROM changes
WHERE (kind = 'contacts' AND CAST(record_id AS text) = CAST($1 AS text))
  OR (kind = 'tickets' AND record_id IN (SELECT id FROM own_tickets))
  OR (kind = 'conversations' AND record_id IN (SELECT id FROM own_conversations))
  OR (kind = 'calls' AND record_id IN (SELECT phone_call_id FROM own_calls))
ORDER BY seq`,
};

/** Undefined where the copy knows nobody with that id. */
export async function historyOf(sql: Sql, account: Account, id: number): Promise<History | undefined> {
  // As a text: one engine takes a number of JavaScript for 7.0.
  const values = [String(id)];
  const rows = await answer(sql, account, recordsQuery, values);
  const of = (kind: string) => rows.filter((row) => row.kind === kind);
  const withMessages = (kind: string, parts: string) =>
    of(kind)
      .map((row) => {
        const record = recordOf(row);
        const messages = of(parts).filter(({ parent }) => Number(parent) === record.id);
        return { ...record, messages: inTime(messages.map(recordOf)) };
      })
      .sort(byTime);
  const tickets = withMessages('tickets', 'ticket_messages');
  const conversations = withMessages('conversations', 'conversation_messages');
  const [contact] = of('contacts').map(recordOf);
  const known = contact ?? [...tickets, ...conversations].map((record: Fields) => record.contact).find(isRecord);
  if (!known) return undefined;
  const lists = await answer(sql, account, listsQuery, values);
  const changes = await answer(sql, account, changesQuery, values);
  return {
    contact: known,
    lists: lists.map(({ contacts_list_id: list, name, gone_at: gone }) => ({
      contacts_list_id: Number(list),
      name,
      ...(gone !== null && { gone_at: gone }),
    })),
    tickets,
    conversations,
    calls: inTime(of('calls').map(recordOf)),
    changes: changes.map((row) => changeOf(row, id)),
    copy: await copyState(sql, account, kinds),
  };
}

const recordOf = (row: Row): Fields => ({ ...dataOf(row), ...(row.gone_at !== null && { gone_at: row.gone_at }) });

export const timeOf = ({ start_time: start, created_at: created }: Fields): number =>
  Date.parse(String(start ?? created)) || 0;

const idOf = ({ id, phone_call_id: call }: Fields): number => Number(id ?? call);

const byTime = (one: Fields, other: Fields): number => timeOf(one) - timeOf(other) || idOf(one) - idOf(other);

const inTime = (records: readonly Fields[]): Fields[] => [...records].sort(byTime);

function changeOf({ time, kind, record_id: record, change, before, after }: Row, id: number): Change {
  const [old, now] = [before, after].map((text) => fieldsIn(JSON.parse(String(text ?? 'null'))));
  return {
    time: String(time),
    kind: String(kind),
    record_id: Number(record),
    change: String(change),
    fields:
      change === 'updated' && old && now && !isOfAnother(old, id) && !isOfAnother(now, id) ? changed(old, now) : {},
  };
}

/** A ticket may have been somebody else's before: what it was then is not this person's. */
const isOfAnother = ({ contact }: Fields, id: number): boolean => isRecord(contact) && contact.contact_id !== id;

function changed(before: Fields, after: Fields): Change['fields'] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return Object.fromEntries(
    names
      .filter((name) => name !== 'updated_at' && !isSame(ownOf(before, name), ownOf(after, name)))
      .map((name) => [name, { before: ownOf(before, name) ?? null, after: ownOf(after, name) ?? null }]),
  );
}
