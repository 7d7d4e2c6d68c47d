import { fieldsIn, ownOf } from '../text/record.ts';
import { sanitize } from '../text/sanitize.ts';
import { pathsOf, valueAt } from './fields.ts';
import { asColumn, headerOf } from './headers.ts';
import type { Column, Kind, Style } from './view.ts';

/** A column with its defaults settled. */
export type Settled = Exclude<Column, string> & Required<Pick<Exclude<Column, string>, 'header' | 'as' | 'rank'>>;

/** Fields asked for win over the columns that a view proposes. */
export function settleColumns(columns: readonly Column[]): Settled[] {
  return columns.map((column, place) => {
    const given = asColumn(column);
    const { path, header = headerOf(path), as = kindOf(path), rank = place } = given;
    // A query may give a column any name.
    return { ...given, path, header: sanitize(header), as, rank };
  });
}

export const pathOf = (column: Column): string => asColumn(column).path;

/** The columns of the fields that were asked for, in the words of the listing that knows them. */
export const columnsOf = (fields: readonly string[], listed: readonly Column[]): Column[] =>
  fields.map((field) => {
    const known = listed.find((column) => pathOf(column) === field);
    if (known === undefined || typeof known === 'string') return field;
    return { path: field, header: known.header, as: known.as };
  });

const kinds: readonly (readonly [path: RegExp, kind: Kind])[] = [
  [/(?:_at|(?:^|_)time)$/u, 'time'],
  [/(?:^|\.)(?:status|lead_status)$/u, 'status'],
  [/(?:^|[._])id$/u, 'id'],
  [/(?:^|[._])email$/u, 'email'],
  [/(?:^|[._])phone$/u, 'phone'],
  [/^duration$/u, 'seconds'],
  [/^duration_minutes$/u, 'minutes'],
];

/** How people read a field of this name, where a view does not say it. */
export const kindOf = (path: string): Kind => kinds.find(([ending]) => ending.test(path))?.[1] ?? 'text';

/** What a person reads in a table or a record: one line, harmless, times of this place. */
export function cellForPeople(value: unknown, as: Kind = 'text', now?: Date): string {
  if (value === null || value === undefined) return '';
  if (as === 'time' && typeof value === 'string') return timeForPeople(value, now);
  if (as === 'seconds' && typeof value === 'number') return lasting(value);
  if (as === 'minutes' && typeof value === 'number') return lasting(value * 60);
  if (as === 'duration' && typeof value === 'string') return durationForPeople(value);
  if (typeof value === 'string') return sanitize(value);
  if (Array.isArray(value)) return value.map((item) => cellForPeople(item)).join(', ');
  if (typeof value === 'object') return sanitize(nameOf(value) ?? JSON.stringify(value));
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}

/** A person or a category inside a record is best told by its name. */
function nameOf(value: object): string | undefined {
  const { name, last_name: lastName } = fieldsIn(value);
  if (typeof name !== 'string') return undefined;
  return typeof lastName === 'string' && lastName !== '' ? `${name} ${lastName}` : name;
}

/** What a row in a pipe has of a column: the field, but of a person the names that a terminal shows. */
export function valueForPipe(record: unknown, { path, see, sees }: Pick<Settled, 'path' | 'see' | 'sees'>): unknown {
  const seen = see?.(record);
  if (sees) return seen;
  return (typeof seen === 'object' && seen !== null ? nameOf(seen) : undefined) ?? valueAt(record, path);
}

/** A cell of a row in a pipe: whole and exact, except that it must not break the row or, later, a terminal. */
const cellForPipe = (value: unknown): string =>
  sanitize(flat(value, ', ').replaceAll('\t', '\\t').replaceAll('\r', '\\r').replaceAll('\n', '\\n'));

/** The same of a row: its cells with tabs between them. */
export const rowForPipe = (...cells: readonly unknown[]): string => cells.map(cellForPipe).join('\t');

/** Exact text: lists of plain values joined, anything deeper as JSON. */
export function flat(value: unknown, separator: string): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null)) {
    return value.map((item) => flat(item, separator)).join(separator);
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** An ISO time in local form, `2026-11-20 14:05`; anything else unchanged. Sortable, and the same width in every row. */
export function localTime(iso: string): string {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d/u.test(iso) ? new Date(iso) : undefined;
  if (time === undefined || Number.isNaN(time.getTime())) return sanitize(iso);
  const two = (part: number) => String(part).padStart(2, '0');
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** "2 h ago" within the last week of `now`, else as `localTime`. */
export function timeForPeople(iso: string, now: Date | undefined): string {
  const exact = localTime(iso);
  const ago = now && exact !== sanitize(iso) ? now.getTime() - Date.parse(iso) : Number.NaN;
  // The clocks of the service and of this machine may differ a little.
  if (!(ago > -minuteMs && ago < 7 * dayMs)) return exact;
  if (ago < minuteMs) return 'just now';
  if (ago < hourMs) return `${Math.floor(ago / minuteMs)} min ago`;
  if (ago < dayMs) return `${Math.floor(ago / hourMs)} h ago`;
  return ago < 2 * dayMs ? '1 day ago' : `${Math.floor(ago / dayMs)} days ago`;
}

/** `42 s`, `3 min 25 s`, `1 h 5 min`. */
function lasting(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return String(seconds);
  const hours = Math.floor(seconds / 3600);
  const parts = [
    [hours, 'h'],
    [Math.floor((seconds % 3600) / 60), 'min'],
    // Beside hours nobody counts them.
    [hours > 0 ? 0 : seconds % 60, 's'],
  ] as const;
  const told = parts.flatMap(([count, unit]) => (count > 0 ? [`${count} ${unit}`] : []));
  return told.length > 0 ? told.join(' ') : '0 s';
}

const units = { Y: 'years', M: 'months', W: 'weeks', D: 'd', TH: 'h', TM: 'min', TS: 's' } as const;

/** `P1DT2H5M` is `1 d 2 h 5 min`. */
function durationForPeople(text: string): string {
  const [, date = '', time = ''] = /^P([-\d.YMWD]*)(?:T([-\d.HMS]+))?$/u.exec(text) ?? [];
  const counts = (part: string, prefix: string) =>
    [...part.matchAll(/(?<![\d.])(-?[\d.]+)([A-Z])/gu)].map(
      ([, count, letter]) => `${count} ${units[`${prefix}${letter}` as keyof typeof units]}`,
    );
  const told = [...counts(date, ''), ...counts(time, 'T')];
  return told.length > 0 ? told.join(' ') : sanitize(text);
}

/** The names and values of a record, objects inside it by dotted names. */
export function entriesOf(record: unknown, columns: readonly Column[] | undefined): (Settled & { value: unknown })[] {
  const settled = settleColumns(columns ?? pathsOf(record));
  return settled.map((column) => ({ ...column, value: valueAt(record, column.path) }));
}

const styles: Readonly<Record<string, Style>> = {
  open: 'green',
  pending: 'orange',
  resolved: 'magenta',
  closed: 'dim',
  published: 'green',
  draft: 'orange',
  scheduled: 'cyan',
  completed: 'green',
  failed: 'red',
};

/** Colour carries what needs work and what is done. */
export const styleOfStatus = (status = ''): Style | undefined => ownOf(styles, status);
