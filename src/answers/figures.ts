import type { Engine } from '../mirror/tables/store.ts';
import type { Query } from './ask.ts';
import { dialects } from './dialect.ts';
import {
  type Asked,
  activeQuery,
  contactsQuery,
  countedBy,
  countedByClock,
  inParts,
  publishedQuery,
  ratingsQuery,
  resolvedAt,
  ticketsQuery,
  timeUntil,
  votedQuery,
  waitingNow,
} from './figure-queries.ts';
import type { Frame } from './period.ts';

/**
 * A figure of the report: one query, whose rows are `period` (`now`, `before`), `key`, `value`, and `label` where the key is no
 * word for people. CONTRIBUTING.md has a recipe for another one.
 */
export type Figure = {
  readonly title: string;
  readonly unit: 'count' | 'seconds' | 'rating';
  /** Beside nothing: it is of the moment of the copy, a list, or in time. */
  readonly isAlone?: true;
  readonly query: (asked: Asked) => Query;
} & (
  | {
      /** Numbers beside each other, of each key of `words`, also where nothing happened. */
      readonly drawn: 'numbers';
      readonly words: Words;
    }
  | {
      /** A bar for each key, a list, or a line in time. */
      readonly drawn: 'bars' | 'list' | 'line';
      /** The keys that it has also where nothing happened. */
      readonly keys?: readonly string[];
      readonly words?: Words;
    }
);

/** What people call a key. */
type Words = Readonly<Record<string, string>>;

const bars = (title: string, query: Figure['query'], keys?: readonly string[]): Figure => ({
  ...{ title, unit: 'count', drawn: 'bars', keys, query },
});

const numbers = (title: string, words: Words, query: Figure['query']): Figure => ({
  ...{ title, unit: 'count', drawn: 'numbers', words, query },
});

/** Of tickets: how long until a time of theirs. */
const lasting = (title: string, without: string, moment: string): Figure => ({
  ...numbers(title, { median: 'Median', p90: '90 % within', tickets: 'Tickets', without }, timeUntil(moment)),
  unit: 'seconds',
});

/** In the order of the report. */
export const figures = {
  tickets: numbers('Tickets', { opened: 'Opened', resolved: 'Resolved', left: 'Left at the end' }, ticketsQuery),
  first_response: lasting('First response', 'Without a response', 't.first_response_at'),
  resolution: lasting('Resolution', 'Not resolved', resolvedAt),
  waiting: {
    ...numbers('Waiting now', { tickets: 'Tickets', conversations: 'Conversations' }, waitingNow),
    isAlone: true,
  },
  opened: { title: 'Opened', unit: 'count', drawn: 'line', isAlone: true, query: inParts('t.created_at') },
  resolved: { title: 'Resolved', unit: 'count', drawn: 'line', isAlone: true, query: inParts(resolvedAt) },
  by_source: bars('Opened by source', countedBy('tickets', "coalesce(t.source, '')")),
  by_priority: bars('Opened by priority', countedBy('tickets', "coalesce(CAST(t.priority AS text), '')"), [...'43210']),
  by_weekday: bars(
    'Opened by weekday',
    // 1970 began on a Thursday.
    countedByClock((local) => `(${local} / 86400 + 3) % 7`),
    [...'0123456'],
  ),
  by_hour: {
    ...{ title: 'Opened by hour of the day', unit: 'count', drawn: 'line' },
    keys: Array.from({ length: 24 }, (_, hour) => String(hour)),
    query: countedByClock((local) => `(${local} / 3600) % 24`),
  },
  conversations_by_channel: bars('Conversations by channel', countedBy('conversations', "coalesce(t.channel, '')")),
  conversations_by_handling: {
    ...{ title: 'Conversations by who answers', unit: 'count', drawn: 'bars', words: { ai: 'AI', human: 'Team' } },
    query: countedBy('conversations', "coalesce(t.handling_mode, '')"),
  },
  ratings: { ...numbers('Ratings', { average: 'Average', ratings: 'Ratings' }, ratingsQuery), unit: 'rating' },
  contacts: numbers('New contacts', { created: 'New' }, contactsQuery),
  active_customers: { title: 'Most active customers', unit: 'count', drawn: 'list', isAlone: true, query: activeQuery },
  most_voted: { title: 'Most voted feedback', unit: 'count', drawn: 'list', isAlone: true, query: votedQuery },
  published: { title: 'Published entries', unit: 'count', drawn: 'list', isAlone: true, query: publishedQuery },
} as const satisfies Readonly<Record<string, Figure>>;

export type FigureName = keyof typeof figures;

export const figureNames = Object.keys(figures) as FigureName[];

export const figureQuery = (name: FigureName, frame: Frame, engine: Engine): Query =>
  (figures[name] as Figure).query({ ...dialects[engine], engine, frame });
