// The figures of the report, computed record by record from the rows that a sandbox was made of. Nothing here is shared with
// the report: hours and weekdays are asked of the calendar for each record, and percentiles are taken from sorted lists.
import type { FigureName } from '../../src/answers/figures.ts';

type Fields = Readonly<Record<string, unknown>>;
type Records = Readonly<Record<string, readonly Fields[]>>;
type Span = { readonly since: number; readonly until: number };
type Wanted = { readonly now: Span; readonly before: Span | undefined; readonly zone: string };
type Value = { readonly value: number | null; readonly before: number | null };

const at = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : Number.NaN);
const isIn = (time: number, { since, until }: Span): boolean => time >= since && time < until;
/** A ticket that is open again is not resolved, also where the service still has the time. */
const resolved = (one: Fields): unknown => (isDone(one) ? one.resolved_at : null);
const isDone = ({ status }: Fields): boolean => status === 'resolved' || status === 'closed';

/** What report.test.ts compares with something else: what waits, who wrote, the votes, the numbers over time. */
type Elsewhere = 'waiting' | 'opened' | 'resolved' | 'active_customers' | 'most_voted' | 'published';

type Reported = Readonly<Record<Exclude<FigureName, Elsewhere>, Record<string, Value>>>;

/** Each figure by key; `null` where there is nothing to take a mean of, and where nothing is compared. */
export function whatIsReported(all: Records, wanted: Wanted): Reported {
  const { tickets = [], conversations = [], contacts = [] } = all;
  const opened = (span: Span) => tickets.filter(({ created_at: time }) => isIn(at(time), span));
  const begun = (span: Span) => conversations.filter(({ created_at: time }) => isIn(at(time), span));
  const both = (one: (span: Span) => Record<string, number>, keys: readonly string[] = []) => {
    const [now, before] = [one(wanted.now), wanted.before && one(wanted.before)];
    const names = [...new Set([...keys, ...Object.keys(now), ...Object.keys(before ?? {})])];
    return Object.fromEntries(
      names.map((key) => [key, { value: now[key] ?? 0, before: before ? (before[key] ?? 0) : null }]),
    );
  };
  const clock = (options: Intl.DateTimeFormatOptions) => (row: Fields) =>
    new Intl.DateTimeFormat('en-GB', { timeZone: wanted.zone, hourCycle: 'h23', ...options }).format(
      at(row.created_at),
    );
  const weekday = (row: Fields) => String(weekdays.indexOf(clock({ weekday: 'short' })(row)));
  const hour = (row: Fields) => String(Number(clock({ hour: '2-digit' })(row)));
  return {
    tickets: both((span) => ({
      opened: opened(span).length,
      resolved: tickets.filter((one) => isIn(at(resolved(one)), span)).length,
      left: tickets.filter(
        (one) => at(one.created_at) < span.until && (!isDone(one) || at(one.resolved_at) >= span.until),
      ).length,
    })),
    first_response: times(({ first_response_at: time }) => time, opened, wanted),
    resolution: times(resolved, opened, wanted),
    by_source: both((span) => counted(opened(span), ({ source }) => String(source))),
    by_priority: both((span) => counted(opened(span), ({ priority }) => String(priority)), ['0', '1', '2', '3', '4']),
    by_weekday: both((span) => counted(opened(span), weekday), Object.keys(weekdays)),
    by_hour: both((span) => counted(opened(span), hour), Object.keys(Array.from({ length: 24 }))),
    conversations_by_channel: both((span) => counted(begun(span), ({ channel }) => String(channel))),
    conversations_by_handling: both((span) => counted(begun(span), ({ handling_mode: mode }) => String(mode))),
    ratings: ratings(begun, wanted),
    contacts: both((span) => ({
      created: contacts.filter(({ created_at: time }) => isIn(at(time), span)).length,
    })),
  };
}

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

function counted(rows: readonly Fields[], keyOf: (row: Fields) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) counts[keyOf(row)] = (counts[keyOf(row)] ?? 0) + 1;
  return counts;
}

type Cohort = (span: Span) => readonly Fields[];

function times(until: (row: Fields) => unknown, opened: Cohort, { now, before }: Wanted): Record<string, Value> {
  const of = (span: Span): Record<string, number | null> => {
    const rows = opened(span);
    const lasted = rows.flatMap((row) => (until(row) ? [(at(until(row)) - at(row.created_at)) / 1000] : []));
    return {
      median: percentile(lasted, 50),
      p90: percentile(lasted, 90),
      tickets: lasted.length,
      without: rows.length - lasted.length,
    };
  };
  return compared(of, { now, before });
}

function ratings(begun: Cohort, { now, before }: Wanted): Record<string, Value> {
  const of = (span: Span): Record<string, number | null> => {
    const given = begun(span).flatMap(({ csat_rating: rating }) => (typeof rating === 'number' ? [rating] : []));
    const sum = given.reduce((total, one) => total + one, 0);
    return { average: given.length === 0 ? null : sum / given.length, ratings: given.length };
  };
  return compared(of, { now, before });
}

/** A mean that neither period has is not shown. */
const compared = (
  of: (span: Span) => Record<string, number | null>,
  { now, before }: Pick<Wanted, 'now' | 'before'>,
): Record<string, Value> => {
  const [one, other] = [of(now), before && of(before)];
  return Object.fromEntries(
    Object.keys(one)
      .map((key) => [key, { value: one[key] ?? null, before: other?.[key] ?? null }] as const)
      .filter(([, { value, before: then }]) => value !== null || then !== null),
  );
};

/** Between the two nearest of a sorted list. */
function percentile(values: readonly number[], part: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const place = ((sorted.length - 1) * part) / 100;
  const [low, high] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0];
  return low + (high - low) * (place - Math.floor(place));
}

/** Who wrote most, by id: every message of theirs in the period, once, wherever it is shown. */
export function whoWrote(
  { tickets = [], conversations = [] }: Records,
  { now }: Pick<Wanted, 'now'>,
): Record<string, number> {
  const counts: Record<string, number> = {};
  const count = (row: Fields, messages: unknown, isTheirs: (message: Fields) => boolean) => {
    for (const message of (messages ?? []) as readonly Fields[]) {
      if (row.contact_id && isTheirs(message) && isIn(at(message.created_at), now))
        counts[String(row.contact_id)] = (counts[String(row.contact_id)] ?? 0) + 1;
    }
  };
  for (const ticket of tickets) count(ticket, ticket.messages, ({ direction }) => direction === 'in');
  for (const chat of conversations) count(chat, chat.messages, ({ sender_type: sender }) => sender === 'visitor');
  return counts;
}
