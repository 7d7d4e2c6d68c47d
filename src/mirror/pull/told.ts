import type { Fields } from '../../text/record.ts';
import { cells, cut } from '../../text/width.ts';
import type { Change } from '../store/changes.ts';

type Told = Pick<Change, 'kind' | 'change' | 'before' | 'after'>;

/**
 * One line of what happened, in words; texts of customers as they are, for whoever prints it to make harmless. `room`:
 * where it is short, the record's name is cut rather than what changed.
 */
export function whatChanged({ kind, change, before, after }: Told, room = Number.POSITIVE_INFINITY): string {
  const record = after ?? before ?? {};
  if (kind.endsWith('_messages')) return `${author(record)}: ${text(record.body)}`;
  if (change === 'gone') return `gone: ${nameOf(kind, record)}`;
  if (change === 'created') return `new: ${nameOf(kind, record)}`;
  const said = differences(before, record);
  return `${cut(nameOf(kind, record), Math.max(leastName, room - cells(said) - 2))}: ${said}`;
}

/** Enough for a ticket's number. */
const leastName = 12;

/** What people call the record. */
export function nameOf(kind: string, record: Fields): string {
  switch (kind) {
    case 'contacts':
      return [text(record.name), text(record.last_name), text(record.email) && `<${text(record.email)}>`]
        .filter(Boolean)
        .join(' ');
    case 'tickets':
      return `${text(record.ticket_number)} ${text(record.subject)}`.trim();
    case 'conversations':
      return `${text(record.subject) || 'conversation'} (${text(record.channel)})`;
    case 'calls':
      return `${text(record.from)} → ${text(record.to)}, ${text(record.status)}, ${text(record.duration)} s`;
    case 'list_members':
      return `${text(record.name)} on list ${text(record.contacts_list_id)}`;
    default:
      return text(record.title ?? record.name);
  }
}

const author = (message: Fields): string => text(message.sender_name) || text(message.sender_type);

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

const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
