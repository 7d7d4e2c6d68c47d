import { changedFields, type Fields } from '../../text/record.ts';
import { cells, cut } from '../../text/width.ts';
import type { Change } from '../store/changes.ts';
import { textOf as text } from '../tables/names.ts';
import { tableOf } from '../tables/tables.ts';

type Told = Pick<Change, 'kind' | 'change' | 'before' | 'after'>;

/**
 * One line of what happened, in words; texts of customers as they are, for whoever prints it to make harmless. `room`:
 * where it is short, the record's name is cut rather than what changed.
 */
export function whatChanged({ kind, change, before, after }: Told, room = Number.POSITIVE_INFINITY): string {
  const record = after ?? before ?? {};
  const { nameOf, isPart } = tableOf(kind);
  const name = nameOf(record);
  if (isPart) return name;
  const named = (what: string) => (name === '' ? what : `${what}: ${name}`);
  if (change === 'gone') return named('gone');
  if (change === 'created') return named('new');
  const said = differences(before, record);
  if (name === '') return said;
  return `${cut(name, Math.max(leastName, room - cells(said) - 2))}: ${said}`;
}

/** The same beside a column that says which change it was: what changed comes first, for a table cuts the end. */
export function changeSeen({ kind, change, before, after }: Told): string {
  const record = after ?? before ?? {};
  const { nameOf, isPart } = tableOf(kind);
  const said = change === 'updated' && !isPart ? differences(before, record, shortInTable) : '';
  return [said === 'updated' ? '' : said, nameOf(record)].filter(Boolean).join(' · ');
}

/** So much of a value that a column of a table has room for the old one and the new one. */
const shortInTable = 20;

/** Enough for a ticket's number. */
const leastName = 12;

/** Fields that only tell when, of a record in which something else changed too. */
const clocks = new Set(['updated_at', 'last_message_at']);

function differences(before: Fields | null, after: Fields, most = 60): string {
  if (before === null) return text(after.status) || 'changed';
  const telling = changedFields(before, after).filter((field) => !clocks.has(field));
  // A status speaks for itself.
  const first = telling.includes('status') ? [`${text(before.status)} → ${text(after.status)}`] : [];
  const others = telling.filter((field) => field !== 'status' && !(field === 'resolved_at' && first.length > 0));
  const changed = others.map((field) => `${field} ${short(before[field], most)} → ${short(after[field], most)}`);
  return [...first, ...changed].join(', ') || 'updated';
}

function short(value: unknown, most: number): string {
  const shown = typeof value === 'object' && value !== null ? JSON.stringify(value) : text(value) || '(empty)';
  return shown.length > most ? `${shown.slice(0, most)}…` : shown;
}
