import type { Account, Engine, Row, Sql } from '../mirror/tables/store.ts';
import { type Fields, fieldsIn } from '../text/record.ts';
import { answer, type Query } from './ask.ts';
import { dialects } from './dialect.ts';

/** A ticket or a conversation that waits for the team. */
export type Waiting = {
  readonly kind: 'ticket' | 'conversation';
  readonly id: number;
  /** The number of a ticket; a conversation has none. */
  readonly number: string | null;
  readonly subject: string | null;
  /** Who it is, as the service sent it; null where nobody is known. */
  readonly contact: Fields | null;
  /** ISO 8601 in UTC: the first message of the customer that nobody answered. */
  readonly waiting_since: string;
  /** 0 to 4 of a ticket, a label of a conversation. */
  readonly priority: number | string | null;
  /** The channel of a conversation, the source of a ticket. */
  readonly channel: string | null;
  readonly status: string | null;
  readonly why: string;
};

/**
 * What waits for the team, longest first: not resolved or closed, and the newest message is the customer's. A ticket
 * without messages has its description as the first. A ticket and the chats behind it are one line, the ticket: its
 * messages and theirs are read as one thread.
 */
export function waitingQuery(engine: Engine): Query {
  const { seconds, time } = dialects[engine];
  const unresolved = "gone_at IS NULL AND coalesce(status, '') NOT IN ('resolved', 'closed')";
  const theirs = (condition: string) => `CASE WHEN ${condition} THEN 1 ELSE 0 END AS theirs`;
  const columns = (kind: string, record: string, thread: string) =>
    `SELECT '${kind}' AS kind, ${record} AS record, ${thread} AS thread, m.id AS id, ${seconds('m.created_at')} AS at`;
  const fromVisitor = theirs("m.sender_type = 'visitor'");
  const living = 'm.gone_at IS NULL AND m.created_at IS NOT NULL';
  return {
    parts: {
      // Without the whole records: it is used many times.
      open_tickets: `SELECT id, ticket_number, subject, contact, conversation_id, priority, source, status, created_at, gone_at
FROM tickets WHERE ${unresolved}`,
      chats: `SELECT id AS ticket_id, conversation_id FROM open_tickets WHERE conversation_id IS NOT NULL
UNION
SELECT ticket_id, id FROM conversations WHERE gone_at IS NULL AND ticket_id IN (SELECT id FROM open_tickets)`,
      open_conversations: `SELECT * FROM conversations WHERE ${unresolved} AND id NOT IN (SELECT conversation_id FROM chats)`,
      said: `${columns('ticket', 'm.ticket_id', '0')}, ${theirs("m.direction = 'in'")}
FROM ticket_messages m WHERE ${living} AND m.ticket_id IN (SELECT id FROM open_tickets)
UNION ALL
${columns('ticket', 'c.ticket_id', 'c.conversation_id')}, ${fromVisitor}
FROM chats c JOIN conversation_messages m ON m.conversation_id = c.conversation_id WHERE ${living}
UNION ALL
${columns('conversation', 'm.conversation_id', 'm.conversation_id')}, ${fromVisitor}
FROM conversation_messages m WHERE ${living} AND m.conversation_id IN (SELECT id FROM open_conversations)`,
      // The service shows a chat's messages in its ticket too: there they are of the chat's thread.
      messages: `SELECT kind, record, max(thread) AS thread, id, at, theirs FROM said
GROUP BY kind, record, id, at, theirs`,
      written: `SELECT kind, record, thread, id, at, theirs FROM messages
UNION ALL
SELECT 'ticket', id, 0, 0, ${seconds('created_at')}, 1 FROM open_tickets
WHERE created_at IS NOT NULL AND id NOT IN (SELECT record FROM messages WHERE kind = 'ticket')`,
      // In one pass over each record's messages: joined with its answers instead, a planner may take its time by the square.
      placed: `SELECT kind, record, thread, id, at, theirs, max(CASE WHEN theirs = 0 THEN at END) OVER (PARTITION BY kind, record) AS last_at
FROM written`,
      judged: `SELECT kind, record, thread, id, at, theirs, last_at,
  max(CASE WHEN theirs = 0 AND at = last_at THEN id END) OVER (PARTITION BY kind, record) AS last_id,
  min(CASE WHEN theirs = 0 AND at = last_at THEN thread END) OVER (PARTITION BY kind, record) AS first_thread,
  max(CASE WHEN theirs = 0 AND at = last_at THEN thread END) OVER (PARTITION BY kind, record) AS last_thread
FROM placed`,
      // Of two messages of one moment the id says which came first; those of two threads count as answered.
      unanswered: `SELECT kind, record, min(at) AS since, max(CASE WHEN last_at IS NULL THEN 0 ELSE 1 END) AS again
FROM judged
WHERE theirs = 1 AND (last_at IS NULL OR at > last_at
  OR (at = last_at AND first_thread = thread AND last_thread = thread AND id > last_id))
GROUP BY kind, record`,
      waiting: `SELECT u.kind, t.id, t.ticket_number AS number, t.subject, t.contact, u.since, CAST(t.priority AS text) AS priority,
  t.source AS channel, t.status, u.again
FROM unanswered u JOIN open_tickets t ON t.id = u.record WHERE u.kind = 'ticket'
UNION ALL
SELECT u.kind, c.id, NULL, c.subject, c.contact, u.since, c.priority, c.channel, c.status, u.again
FROM unanswered u JOIN open_conversations c ON c.id = u.record WHERE u.kind = 'conversation'`,
    },
    select: `SELECT kind, id, number, subject, contact, ${time('since')} AS waiting_since, priority, channel, status,
  CASE WHEN again = 1 THEN 'wrote again' ELSE 'no answer yet' END AS why
FROM waiting
ORDER BY since, kind DESC, id`,
  };
}

/** The rows of `waitingQuery`. */
export const waiting = async (sql: Sql, account: Account): Promise<Waiting[]> =>
  (await answer(sql, account, waitingQuery(sql.engine))).map(waitingOf);

function waitingOf(row: Row): Waiting {
  const kind = row.kind === 'ticket' ? 'ticket' : 'conversation';
  return entryOf(row, { kind, since: inUtc(row.waiting_since), why: String(row.why) });
}

/** A row with columns of that name, in the order in which people read its fields. */
export const entryOf = <Kind extends string, Since, Why>(
  row: Row,
  { kind, since, why }: { readonly kind: Kind; readonly since: Since; readonly why: Why },
) => ({
  kind,
  id: Number(row.id),
  number: textOrNull(row.number),
  subject: textOrNull(row.subject),
  contact: personIn(row.contact),
  waiting_since: since,
  priority: kind === 'ticket' && row.priority !== null ? Number(row.priority) : textOrNull(row.priority),
  channel: textOrNull(row.channel),
  status: textOrNull(row.status),
  why,
});

export const inUtc = (value: unknown): string => new Date(String(value)).toISOString();

const textOrNull = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

/** PostgreSQL keeps the fields of a JSON value in an order of its own. */
function personIn(value: unknown): Waiting['contact'] {
  const person: unknown = JSON.parse(String(value ?? 'null'));
  if (typeof person !== 'object' || person === null) return null;
  const { contact_id, name, last_name, email, phone, ...others } = fieldsIn(person);
  const known = Object.entries({ contact_id, name, last_name, email, phone }).filter(([, it]) => it !== undefined);
  return { ...Object.fromEntries(known), ...others };
}
