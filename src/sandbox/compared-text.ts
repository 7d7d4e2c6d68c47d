import { resources } from '../api/resources.ts';
import { capital } from '../text/capital.ts';
import { counted, number } from '../text/number.ts';
import { changedFields, type Fields } from '../text/record.ts';
import { sanitize } from '../text/sanitize.ts';
import type { Comparison, RecordChange } from './compare.ts';
import type { Kind } from './store/records.ts';

/** A line for each of the first `atMost` records, and what it would mean for the real account. Texts of customers cannot act on a terminal. */
export function* comparisonLines(comparison: Comparison, atMost: number): Generator<string> {
  const { changes, webhooks, requests, minutes } = comparison;
  const touched = changes.filter(isTouched);
  const inOrder = [...changes.filter((change) => !isTouched(change)), ...touched];
  for (const change of inOrder.slice(0, atMost)) yield lineOf(change);
  const more = changes.length - atMost;
  if (atMost > 0 && more > 0) yield `… and ${number(more)} more; --diff-out FILE has them all`;
  yield changes.length === 0 ? 'Nothing changed.' : `${capital(sumOf(changes))}.`;
  const events = new Map<string, number>();
  for (const { event } of webhooks) events.set(event, (events.get(event) ?? 0) + 1);
  const told = [...events].map(([event, count]) => `${number(count)} ${event}`).join(', ');
  yield told === '' ? 'No webhooks.' : `Webhooks, to whoever subscribes: ${told}.`;
  const wait = minutes === 0 ? 'less than a minute' : `at least ${inMinutes(minutes)}`;
  yield `${capital(counted(requests, 'request'))}; with the real limits ${wait}.`;
}

const inMinutes = (minutes: number): string =>
  minutes < 90 ? `${minutes} min` : `${number(Math.floor(minutes / 60))} h ${minutes % 60} min`;

const marks = { created: '+', updated: '~', deleted: '-' } as const;

/** `~ contacts 7 Ada Byron <ada@example.com>: company (empty) → Acme` */
function lineOf({ kind, id, change, before, after }: RecordChange): string {
  const record = after ?? before ?? {};
  const name = nameOf(record);
  const subject = `${marks[change]} ${kind} ${id}${name && ` ${name}`}`;
  const what = before && after ? differences(before, after) : '';
  return sanitize(what === '' ? subject : `${subject}: ${what}`);
}

function nameOf(record: Fields): string {
  const { name, last_name, email, ticket_number, subject, title, event_type, trigger } = record;
  const words = [ticket_number, name, last_name, subject, title, event_type, trigger].filter(
    (word) => typeof word === 'string' && word !== '',
  );
  return [...words.map((word) => cut(String(word))), ...(email ? [`<${email}>`] : [])].join(' ');
}

/** Fields that follow from another one. */
const following = new Set(['updated_at', 'last_message_at', 'history']);

/** A field that people set is as before: only its time moved, or its history. */
const isTouched = ({ before, after }: RecordChange): boolean =>
  before !== null && after !== null && differences(before, after) === touchedOnly;

const touchedOnly = 'touched';

function differences(before: Fields, after: Fields): string {
  const telling = changedFields(before, after).filter((field) => !following.has(field));
  return telling.map((field) => difference(field, before[field], after[field])).join(', ') || touchedOnly;
}

function difference(field: string, before: unknown, after: unknown): string {
  if (!Array.isArray(before) || !Array.isArray(after)) return `${field} ${shownValue(before)} → ${shownValue(after)}`;
  const had = new Set(before.map((each) => JSON.stringify(each)));
  const has = new Set(after.map((each) => JSON.stringify(each)));
  const added = after.filter((each) => !had.has(JSON.stringify(each))).map((each) => `+ ${itemOf(each)}`);
  const removed = before.filter((each) => !has.has(JSON.stringify(each))).map((each) => `- ${itemOf(each)}`);
  return `${field} ${[...added, ...removed].join(' ')}`;
}

const itemOf = (item: unknown): string =>
  typeof item === 'object' && item !== null && 'body' in item ? `"${cut(String(item.body))}"` : shownValue(item);

function shownValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return '(empty)';
  return cut(typeof value === 'string' ? value : JSON.stringify(value));
}

const longest = 60;
const cut = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

function sumOf(changes: readonly RecordChange[]): string {
  const sums = new Map<string, { readonly of: RecordChange; count: number }>();
  for (const of of changes) {
    const name = `${of.kind} ${of.change}`;
    const sum = sums.get(name) ?? { of, count: 0 };
    sum.count++;
    sums.set(name, sum);
  }
  return [...sums.values()]
    .map(({ of: { kind, change }, count }) => `${counted(count, called[kind].noun)} ${change}`)
    .join(', ');
}

/** In the words of a person. */
const called: Readonly<Record<Kind, { readonly noun: string }>> = {
  ...resources,
  list_members: { noun: 'list member' },
  changelog_categories: { noun: 'changelog category' },
  feedback_categories: { noun: 'feedback category' },
  feedback_statuses: { noun: 'feedback state' },
  sequences: { noun: 'sequence' },
  enrolments: { noun: 'enrolment' },
  conversions: { noun: 'conversion' },
  clients: { noun: 'client' },
  connections: { noun: 'connection' },
  deliveries: { noun: 'delivery' },
};
