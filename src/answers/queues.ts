import type { Account, Sql, Row as SqlRow } from '../mirror/tables/store.ts';
import { answer, type Query } from './ask.ts';
import { dialects } from './dialect.ts';
import { entryOf, inUtc, type Waiting, waitingQuery } from './waiting.ts';

/** A ticket, a conversation or a post, as a queue shows it. */
export type Queued = Omit<Waiting, 'kind' | 'waiting_since' | 'why'> & {
  readonly kind: 'ticket' | 'conversation' | 'feedback';
  /** Null where nobody waits. */
  readonly waiting_since: string | null;
  readonly why: string | null;
};

/** Some of a queue, and how many it has in all. */
export type Part = { readonly rows: readonly Queued[]; readonly total: number };

/** Records that are named one by one. */
export type Named = { readonly kind: 'ticket' | 'conversation'; readonly id: number };

export type Asked = {
  readonly queue: 'waiting' | 'open' | 'new' | 'feedback' | 'named';
  readonly offset: number;
  readonly most: number;
  /** Put away for a while. */
  readonly hidden?: readonly Named[];
  /** Of `new`: those made from then on, in ms since 1970. */
  readonly since?: number;
  /** Of `named`: these, in any order. */
  readonly named?: readonly Named[];
};

/** A part of a queue. What is not asked for is not read into memory, so that a queue may be long. */
export async function queue(sql: Sql, account: Account, asked: Asked): Promise<Part> {
  const rows = await answer(sql, account, queueQuery(sql, asked));
  const [first] = rows;
  if (!first && asked.offset > 0)
    return { rows: [], total: (await queue(sql, account, { ...asked, offset: 0, most: 1 })).total };
  return { rows: rows.map(queuedOf), total: Number(first?.total ?? 0) };
}

function queueQuery(sql: Sql, asked: Asked): Query {
  const { parts } = waitingQuery(sql.engine);
  const { time } = dialects[sql.engine];
  const { part, where, order } = orders[asked.queue];
  const hidden = asked.hidden ?? [];
  const conditions = [
    ...(where ? [where(asked, sql)] : []),
    ...(hidden.length > 0 ? [`NOT (${isOneOf(hidden)})`] : []),
  ];
  return {
    parts: { ...(asked.queue === 'feedback' ? {} : parts), ...(part ? { entries: part(sql, asked) } : {}) },
    select: `SELECT kind, id, number, subject, contact, ${time('since')} AS waiting_since, priority, channel, status, again, votes,
  count(*) OVER () AS total
FROM (SELECT * FROM entries${conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''}) shown
ORDER BY ${order} LIMIT ${asked.most} OFFSET ${asked.offset}`,
  };
}

const isOneOf = (records: readonly Named[]): string =>
  (['ticket', 'conversation'] as const)
    .map((kind) => {
      const ids = records.filter((record) => record.kind === kind).map(({ id }) => Math.trunc(id));
      return ids.length === 0 ? '1 = 0' : `(kind = '${kind}' AND id IN (${ids.join(', ')}))`;
    })
    .join(' OR ');

type Order = {
  readonly part?: (sql: Sql, asked: Asked) => string;
  readonly where?: (asked: Asked, sql: Sql) => string;
  readonly order: string;
};

const longestFirst = 'CASE WHEN since IS NULL THEN 1 ELSE 0 END, since, made DESC, kind DESC, id';

/** Tickets and conversations with how long they wait, where they do. */
const entries =
  (tickets: string, conversations: string) =>
  ({ engine }: Sql): string => {
    const { seconds } = dialects[engine];
    return `SELECT 'ticket' AS kind, t.id, t.ticket_number AS number, t.subject, CAST(t.contact AS text) AS contact, u.since, CAST(t.priority AS text) AS priority,
  t.source AS channel, t.status, u.again, NULL AS votes, ${seconds('t.created_at')} AS made
FROM ${tickets} t LEFT JOIN unanswered u ON u.kind = 'ticket' AND u.record = t.id WHERE t.gone_at IS NULL
UNION ALL
SELECT 'conversation', c.id, NULL, c.subject, CAST(c.contact AS text), u.since, c.priority, c.channel, c.status, u.again, NULL, ${seconds('c.created_at')}
FROM ${conversations} c LEFT JOIN unanswered u ON u.kind = 'conversation' AND u.record = c.id WHERE c.gone_at IS NULL`;
  };

const orders: Readonly<Record<Asked['queue'], Order>> = {
  waiting: {
    part: () =>
      'SELECT kind, id, number, subject, CAST(contact AS text) AS contact, since, priority, channel, status, again, NULL AS votes FROM waiting',
    order: 'since, kind DESC, id',
  },
  open: { part: entries('open_tickets', 'open_conversations'), order: longestFirst },
  new: {
    part: entries('tickets', 'conversations'),
    where: ({ since = 0 }) => `made >= ${since / 1000}`,
    order: 'made DESC, kind DESC, id DESC',
  },
  named: {
    part: entries('tickets', 'conversations'),
    where: ({ named = [] }) => isOneOf(named),
    order: longestFirst,
  },
  feedback: {
    part: ({ engine }) =>
      `SELECT 'feedback' AS kind, id, NULL AS number, title AS subject, NULL AS contact, ${engine === 'sqlite' ? 'NULL' : 'CAST(NULL AS double precision)'} AS since, NULL AS priority, NULL AS channel, CAST(status AS text) AS status, NULL AS again, vote_count AS votes FROM feedback WHERE gone_at IS NULL`,
    order: 'votes DESC, id DESC',
  },
};

function queuedOf(row: SqlRow): Queued {
  const kind = (['ticket', 'conversation', 'feedback'] as const).find((one) => one === row.kind) ?? 'ticket';
  return entryOf(row, { kind, since: isSet(row.waiting_since) ? inUtc(row.waiting_since) : null, why: whyOf(row) });
}

const isSet = (value: unknown): boolean => value !== null && value !== undefined;

function whyOf({ kind, votes, again, waiting_since: since }: SqlRow): string | null {
  if (kind === 'feedback') return `${Number(votes)} ${Number(votes) === 1 ? 'vote' : 'votes'}`;
  if (!isSet(since)) return null;
  return Number(again) === 1 ? 'wrote again' : 'no answer yet';
}
