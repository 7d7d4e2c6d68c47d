import type { Fields } from '../../text/record.ts';
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

/** Enough for a ticket's number. */
const leastName = 12;

/** Fields that only tell when, of a record in which something else changed too. */
const clocks = new Set(['updated_at', 'last_message_at']);

function differences(before: Fields | null, after: Fields): string {
  if (before === null) return text(after.status) || 'changed';
  const fields = Object.keys(after).filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  const telling = fields.filter((field) => !clocks.has(field));
  // A status speaks for itself.
  const first = telling.includes('status') ? [`${text(before.status)} → ${text(after.status)}`] : [];
  const others = telling.filter((field) => field !== 'status' && !(field === 'resolved_at' && first.length > 0));
  return (
    [...first, ...others.map((field) => `${field} ${short(before[field])} → ${short(after[field])}`)].join(', ') ||
    'updated'
  );
}

function short(value: unknown): string {
  const shown = typeof value === 'object' && value !== null ? JSON.stringify(value) : text(value) || '(empty)';
  return shown.length > 60 ? `${shown.slice(0, 60)}…` : shown;
}
