import { sanitize } from '../text/sanitize.ts';
import { pathsOf, valueAt } from './fields.ts';
import type { Column, Style } from './view.ts';

/** A column with its defaults settled. */
export type Settled = { readonly path: string; readonly header: string; readonly as?: 'time' | 'status' };

/** Fields asked for win over the columns that a view proposes. */
export function settleColumns(columns: readonly Column[]): Settled[] {
  return columns.map((column) => {
    const { path, header, as } =
      typeof column === 'string' ? { path: column, header: undefined, as: undefined } : column;
    return { path, header: header ?? headerOf(path), as: as ?? kindOf(path) };
  });
}

export const pathOf = (column: Column): string => (typeof column === 'string' ? column : column.path);

/** `ticket_number` is read as TICKET NUMBER, `contact.name` as CONTACT, `updated_at` as UPDATED. */
const headerOf = (path: string): string =>
  sanitize(path)
    .replace(/\.name$|_at$/u, '')
    .replaceAll(/[._]/gu, ' ')
    .toUpperCase();

function kindOf(path: string): 'time' | 'status' | undefined {
  if (/(?:_at|_time)$/u.test(path)) return 'time';
  return /(?:^|\.)(?:status|lead_status)$/u.test(path) ? 'status' : undefined;
}

/** What a person reads in a table or a record: one line, harmless, times of this place. */
export function cellForPeople(value: unknown, as?: 'time' | 'status'): string {
  if (value === null || value === undefined) return '';
  if (as === 'time' && typeof value === 'string') return localTime(value);
  if (typeof value === 'string') return sanitize(value);
  if (Array.isArray(value)) return value.map((item) => cellForPeople(item)).join(', ');
  if (typeof value === 'object') return sanitize(nameOf(value) ?? JSON.stringify(value));
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}

/** A person or a category inside a record is best told by its name. */
function nameOf(value: object): string | undefined {
  const { name, last_name: lastName } = value as { name?: unknown; last_name?: unknown };
  if (typeof name !== 'string') return undefined;
  return typeof lastName === 'string' && lastName !== '' ? `${name} ${lastName}` : name;
}

/** A cell of a row in a pipe: whole and exact, except that it must not break the row or, later, a terminal. */
export function cellForPipe(value: unknown): string {
  return sanitize(flat(value, ', ').replaceAll('\t', '\\t').replaceAll('\r', '\\r').replaceAll('\n', '\\n'));
}

/** Exact text: lists of plain values joined, anything deeper as JSON. */
export function flat(value: unknown, separator: string): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null)) {
    return value.map((item) => flat(item, separator)).join(separator);
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * An ISO time in local form, `2026-11-20 14:05`; anything else unchanged. Sortable, and the same width in every row.
 */
export function localTime(iso: string): string {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d/u.test(iso) ? new Date(iso) : undefined;
  if (time === undefined || Number.isNaN(time.getTime())) return sanitize(iso);
  const two = (part: number) => String(part).padStart(2, '0');
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** The names and values of a record, objects inside it by dotted names. */
export function entriesOf(record: unknown, columns: readonly Column[] | undefined): (Settled & { value: unknown })[] {
  const settled = settleColumns(columns ?? pathsOf(record));
  return settled.map((column) => ({ ...column, value: valueAt(record, column.path) }));
}

const styles: Readonly<Record<string, Style>> = {
  open: 'green',
  pending: 'yellow',
  resolved: 'magenta',
  closed: 'dim',
  published: 'green',
  draft: 'yellow',
  scheduled: 'cyan',
  completed: 'green',
  failed: 'red',
};

/** Colour carries what needs work and what is done. */
export const styleOfStatus = (status: string | undefined): Style | undefined => styles[status ?? ''];
