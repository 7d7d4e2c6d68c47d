import type { Engine } from '../mirror/tables/store.ts';
import type { Query } from './ask.ts';
import type { Dialect } from './dialect.ts';
import { type Frame, offsetsOf, type Period } from './period.ts';
import { waitingQuery } from './waiting.ts';

/** What a query is made for: the engine, in its words, and the time. */
export type Asked = Dialect & { readonly engine: Engine; readonly frame: Frame };

const seconds = (moment: number): string => String(moment / 1000);

/** The periods as a table: `begins` is in it, `ends` is not. */
function periodsOf({ now, before }: Frame): Query['parts'] {
  const row = (name: string, { begins, ends }: Period) => `('${name}', ${seconds(begins)}, ${seconds(ends)})`;
  return {
    'periods (period, begins, ends)': `VALUES ${[row('now', now), ...(before ? [row('before', before)] : [])].join(', ')}`,
  };
}

/** What happened in each period: `m` has its time as `at`. */
const within = 'm.at >= p.begins AND m.at < p.ends';

const living = 't.gone_at IS NULL';

/** Of a ticket that is open again the service may keep it; it is not resolved. */
export const resolvedAt = "CASE WHEN t.status IN ('resolved', 'closed') THEN t.resolved_at END";

/** Times are read once for each record, whatever they are then held against. */
const moments = (from: string, at: string, others: string): Query['parts'] => ({
  'moments kept': `SELECT ${at} AS at, ${others} FROM ${from} WHERE ${living}`,
});

/** How many of a table, by when they were made and by a key. */
export const countedBy =
  (table: string, key: string) =>
  ({ frame, wholeSeconds }: Asked): Query => ({
    parts: { ...periodsOf(frame), ...moments(`${table} t`, wholeSeconds('t.created_at'), `${key} AS key`) },
    select: `SELECT p.period, m.key, count(*) AS value
FROM moments m JOIN periods p ON ${within}
GROUP BY p.period, m.key
ORDER BY p.period, value DESC, m.key`,
  });

/** The same by the clock of the zone. */
export const countedByClock =
  (key: (local: string) => string) =>
  ({ frame, wholeSeconds }: Asked): Query => {
    const rows = offsetsOf(frame).map(({ from, to, seconds: ahead }) => `(${seconds(from)}, ${seconds(to)}, ${ahead})`);
    return {
      parts: {
        ...periodsOf(frame),
        ...moments('tickets t', wholeSeconds('t.created_at'), 't.id'),
        'clocks (begins, ends, ahead)': `VALUES ${rows.join(', ')}`,
      },
      select: `SELECT p.period, CAST(${key('(m.at + c.ahead)')} AS text) AS key, count(*) AS value
FROM moments m JOIN periods p ON ${within}
JOIN clocks c ON m.at >= c.begins AND m.at < c.ends
GROUP BY 1, 2
ORDER BY 1, 2`,
    };
  };

/** Of the tickets that were opened in the period: how long until a time of theirs, and how many have none. */
export const timeUntil =
  (moment: string) =>
  (asked: Asked): Query => {
    const lasted = `${asked.seconds(moment)} - ${asked.seconds('t.created_at')} AS lasted`;
    return {
      parts: {
        ...periodsOf(asked.frame),
        ...moments('tickets t', asked.wholeSeconds('t.created_at'), lasted),
        times: `SELECT p.period, m.lasted FROM moments m JOIN periods p ON ${within}`,
        ranked: `SELECT period, lasted, row_number() OVER (PARTITION BY period ORDER BY lasted) - 1 AS place,
  count(*) OVER (PARTITION BY period) - 1 AS last
FROM times WHERE lasted IS NOT NULL`,
        'wanted (key, part)': "VALUES ('median', 0.5), ('p90', 0.9)",
      },
      // Between two values by how near it is to each, as SQLite's percentile() and PostgreSQL's percentile_cont.
      select: `SELECT r.period, w.key,
  sum(CASE WHEN abs(r.place - r.last * w.part) < 1 THEN r.lasted * (1 - abs(r.place - r.last * w.part)) ELSE 0 END) AS value
FROM ranked r CROSS JOIN wanted w
GROUP BY r.period, w.key
UNION ALL
SELECT period, 'tickets', count(lasted) FROM times GROUP BY period
UNION ALL
SELECT period, 'without', count(*) - count(lasted) FROM times GROUP BY period
ORDER BY 1, 2`,
    };
  };

export const ticketsQuery = ({ frame, wholeSeconds }: Asked): Query => {
  const isOpen = "CASE WHEN coalesce(t.status, '') IN ('resolved', 'closed') THEN 0 ELSE 1 END AS open";
  const one = (key: string, condition: string) =>
    `SELECT p.period, '${key}' AS key, sum(CASE WHEN ${condition} THEN 1 ELSE 0 END) AS value
FROM periods p CROSS JOIN moments m GROUP BY p.period`;
  const counts = [
    one('opened', within),
    one('resolved', 'm.resolved >= p.begins AND m.resolved < p.ends'),
    one('left', 'm.at < p.ends AND (m.open = 1 OR m.resolved >= p.ends)'),
  ];
  return {
    parts: {
      ...periodsOf(frame),
      ...moments('tickets t', wholeSeconds('t.created_at'), `${wholeSeconds(resolvedAt)} AS resolved, ${isOpen}`),
    },
    select: `${counts.join('\nUNION ALL\n')}\nORDER BY 1, 2`,
  };
};

export const inParts =
  (moment: string) =>
  ({ frame, wholeSeconds }: Asked): Query => {
    const rows = frame.parts.map(({ begins, ends, label }) => `('${label}', ${seconds(begins)}, ${seconds(ends)})`);
    const at = wholeSeconds(moment);
    const ofPeriod = `${at} >= ${seconds(frame.now.begins)} AND ${at} < ${seconds(frame.now.ends)}`;
    return {
      parts: {
        'parts (part, begins, ends)': `VALUES ${rows.join(', ')}`,
        'moments kept': `SELECT ${at} AS at FROM tickets t WHERE ${living} AND ${ofPeriod}`,
      },
      select: `SELECT 'now' AS period, p.part AS key, count(m.at) AS value
FROM parts p LEFT JOIN moments m ON ${within}
GROUP BY p.part, p.begins
ORDER BY p.begins`,
    };
  };

export const ratingsQuery = ({ frame, wholeSeconds }: Asked): Query => ({
  parts: {
    ...periodsOf(frame),
    ...moments('conversations t', wholeSeconds('t.created_at'), 't.csat_rating AS rating'),
    rated: `SELECT p.period, m.rating FROM moments m JOIN periods p ON ${within} WHERE m.rating IS NOT NULL`,
  },
  select: `SELECT period, 'average' AS key, avg(rating * 1.0) AS value FROM rated GROUP BY period
UNION ALL
SELECT period, 'ratings', count(*) FROM rated GROUP BY period
ORDER BY 1, 2`,
});

/** Messages, each once: those of a chat also stand in the ticket that came of it. */
export const activeQuery = (asked: Asked): Query => ({
  parts: {
    ...periodsOf({ ...asked.frame, before: undefined }),
    written: 'SELECT ticket_id FROM ticket_messages WHERE gone_at IS NULL',
    shown: `SELECT conversation_id AS id FROM tickets
WHERE conversation_id IS NOT NULL AND gone_at IS NULL AND id IN (SELECT ticket_id FROM written)
UNION
SELECT c.id FROM conversations c JOIN tickets t ON t.id = c.ticket_id
WHERE t.gone_at IS NULL AND t.id IN (SELECT ticket_id FROM written)`,
    'moments kept': `SELECT ${asked.wholeSeconds('m.created_at')} AS at, t.contact FROM ticket_messages m JOIN tickets t ON t.id = m.ticket_id
WHERE m.direction = 'in' AND m.gone_at IS NULL AND ${living}
UNION ALL
SELECT ${asked.wholeSeconds('m.created_at')}, t.contact FROM conversation_messages m JOIN conversations t ON t.id = m.conversation_id
WHERE m.sender_type = 'visitor' AND m.gone_at IS NULL AND ${living} AND t.id NOT IN (SELECT id FROM shown)`,
    people: `SELECT p.period, CAST(m.contact ->> 'contact_id' AS text) AS key,
  trim(coalesce(m.contact ->> 'name', '') || ' ' || coalesce(m.contact ->> 'last_name', '')) AS label
FROM moments m JOIN periods p ON ${within}
WHERE m.contact IS NOT NULL`,
  },
  select: `SELECT period, key, count(*) AS value, max(label) AS label FROM people
WHERE key IS NOT NULL
GROUP BY period, key
ORDER BY value DESC, length(key), key
LIMIT 10`,
});

export const waitingNow = ({ engine }: Asked): Query => {
  const { parts } = waitingQuery(engine);
  return {
    parts,
    select: `SELECT 'now' AS period, 'tickets' AS key, count(*) AS value FROM waiting WHERE kind = 'ticket'
UNION ALL
SELECT 'now', 'conversations', count(*) FROM waiting WHERE kind = 'conversation'
ORDER BY 1, 2`,
  };
};

export const contactsQuery = ({ frame, wholeSeconds }: Asked): Query => ({
  parts: { ...periodsOf(frame), ...moments('contacts t', wholeSeconds('t.created_at'), 't.contact_id') },
  select: `SELECT p.period, 'created' AS key, count(*) AS value
FROM moments m JOIN periods p ON ${within}
GROUP BY p.period
ORDER BY 1`,
});

export const votedQuery = (): Query => ({
  parts: {},
  select: `SELECT 'now' AS period, CAST(t.id AS text) AS key, t.vote_count AS value, t.title AS label
FROM feedback t WHERE ${living} AND t.vote_count > 0
ORDER BY t.vote_count DESC, t.id
LIMIT 5`,
});

export const publishedQuery = ({ frame, wholeSeconds }: Asked): Query => ({
  parts: {
    ...periodsOf({ ...frame, before: undefined }),
    ...moments('changelog t', wholeSeconds('t.published_at'), 't.id, t.title, t.status'),
  },
  select: `SELECT p.period, CAST(m.id AS text) AS key, 1 AS value, m.title AS label
FROM moments m JOIN periods p ON ${within}
WHERE m.status = 'published'
ORDER BY m.at, m.id`,
});
