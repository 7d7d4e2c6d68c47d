import { number } from '../text/number.ts';
import { sanitize } from '../text/sanitize.ts';
import { cells, cut, pad } from '../text/width.ts';
import { cellForPeople, entriesOf, type Settled, settleColumns, styleOfStatus } from './cells.ts';
import { valueAt } from './fields.ts';
import type { Column, Kind, Style, Terminal } from './view.ts';

const gap = 2;
/** A column is cut no narrower than this; rather the least important one is left out. */
const readable = 12;
/** What the table is about: by rank, the id and this. */
const mainRank = 2;
const wellReadable = 24;

/** Half of one misleads. What is cut is a text. */
const isWhole = (kind: Kind): boolean => kind !== 'text';
/** These are typed or copied: one that leaves the others no room stands on a line of its own. */
const isKept = (kind: Kind): boolean => kind === 'id' || kind === 'email';

/** `aside`: too wide for its column. */
type Cell = { readonly text: string; readonly place: 'in line' | 'aside' | 'cut' };

/**
 * Rows under a header, aligned by cells and cut to the width. No header is cut: where room is short, the least important
 * columns are left out. No line is longer than the terminal, but for an id or an email that is so itself.
 */
export const table = (records: readonly unknown[], columns: readonly Column[], terminal: Terminal): string =>
  laidOut(records, settleColumns(columns), terminal).text;

/** The table, and the headers of the columns that have no room in it. */
export function laidOut(
  records: readonly unknown[],
  columns: readonly Settled[],
  terminal: Terminal,
): { readonly text: string; readonly leftOut: readonly string[] } {
  const { width, paint } = terminal;
  const rows = records.map((record) => columns.map((column) => cellOf(record, column, terminal)));
  const widths = fitted(
    columns.map((column, at) =>
      roomOf(
        column,
        rows.flatMap((row) => row[at] ?? []),
      ),
    ),
    width,
  );
  const shown = columns.flatMap((column, at) => (widths[at] === undefined ? [] : [{ column, at, room: widths[at] }]));
  const line = (texts: readonly string[], style: (place: number) => Style | undefined) =>
    shown
      .map(({ room }, place) => {
        const text = cut(texts[place] ?? '', room);
        const colour = style(place);
        const painted = colour && text !== '' ? paint(colour, text) : text;
        return place === shown.length - 1 ? painted : pad(painted, room + gap);
      })
      .join('')
      .trimEnd();
  const header = line(
    shown.map(({ column }) => column.header),
    () => 'dim',
  );
  const body = rows.flatMap((row) => {
    const inLine = shown.map(({ at }) => (row[at]?.place === 'aside' ? '' : (row[at]?.text ?? '')));
    const main = line(inLine, (place) => styleOf(shown[place]?.column.as, inLine[place]));
    const lines = shown.flatMap(({ at }, place) => {
      const cell = row[at];
      if (cell?.place !== 'aside') return [];
      const before = shown.slice(0, place).reduce((sum, { room }) => sum + room + gap, 0);
      return [' '.repeat(Math.max(0, Math.min(before, width - cells(cell.text)))) + cell.text];
    });
    return main === '' && lines.length > 0 ? lines : [main, ...lines];
  });
  const leftOut = columns.flatMap((column, at) => (widths[at] === undefined ? [column.header] : []));
  return { text: `${[header, ...body].join('\n')}\n`, leftOut };
}

function cellOf(record: unknown, { path, as, see }: Settled, { width, now }: Terminal): Cell {
  const value = see ? see(record) : valueAt(record, path);
  const text = isKept(as) && Array.isArray(value) ? listWithin(value, width) : cellForPeople(value, as, now);
  if (!isWhole(as)) return { text: cut(text, width), place: 'cut' };
  const widest = Math.min(width, Math.max(2 * readable, Math.floor((width * 2) / 3)));
  if (cells(text) <= widest) return { text, place: 'in line' };
  return isKept(as) ? { text, place: 'aside' } : { text: cut(text, widest), place: 'in line' };
}

/** As many of several as there is room for, each of them whole, and how many more there are. */
function listWithin(items: readonly unknown[], room: number): string {
  const texts = items.map((item) => cellForPeople(item));
  const all = texts.join(', ');
  if (cells(all) <= room) return all;
  const first = (count: number) => `${texts.slice(0, count).join(', ')} and ${number(texts.length - count)} more`;
  let shown = 1;
  while (cells(first(shown + 1)) <= room) shown++;
  return first(shown);
}

/** A column as wide as its widest cell, and as narrow as it may become. */
type Room = { readonly natural: number; readonly least: number; readonly rank: number };

function roomOf({ header, as, rank, least }: Settled, column: readonly Cell[]): Room {
  const widest = (place: Cell['place']) =>
    column.reduce((sum, cell) => (cell.place === place ? Math.max(sum, cells(cell.text)) : sum), cells(header));
  const [inLine, cutOnes] = [widest('in line'), widest('cut')];
  const natural = Math.max(inLine, cutOnes);
  const floor = least ?? (rank <= mainRank ? wellReadable : readable);
  return { natural, least: Math.max(inLine, isWhole(as) ? 0 : Math.min(cutOnes, floor)), rank };
}

/**
 * The widths by place; undefined for a column that is left out, the least important first. Then room is taken from the
 * widest, as evenly as it can.
 */
function fitted(rooms: readonly Room[], width: number): (number | undefined)[] {
  const places = rooms.map((_, at) => at);
  const sum = (kept: readonly number[], of: 'natural' | 'least') =>
    kept.reduce((total, at) => total + (rooms[at]?.[of] ?? 0), 0) + gap * (kept.length - 1);
  const rankOf = (at: number) => rooms[at]?.rank ?? 0;
  let kept = places;
  while (kept.length > 1 && sum(kept, 'least') > width) {
    const last = kept.reduce((found, at) => (rankOf(at) >= rankOf(found) ? at : found));
    kept = kept.filter((at) => at !== last);
  }
  const widths = places.map((at) => (kept.includes(at) ? (rooms[at]?.natural ?? 0) : undefined));
  for (let excess = sum(kept, 'natural') - width; excess > 0; excess--) {
    const at = widest(widths, (at) => rooms[at]?.least ?? 0);
    if (at === undefined) break;
    widths[at] = (widths[at] ?? 0) - 1;
  }
  // The only column that is left may still be too wide.
  return kept.length > 1 ? widths : widths.map((room) => room && Math.min(room, width));
}

/** The widest column that is above its floor. */
function widest(widths: readonly (number | undefined)[], floor: (at: number) => number): number | undefined {
  let found: number | undefined;
  for (const [at, width = 0] of widths.entries()) {
    if (width > floor(at) && width > (widths[found ?? -1] ?? 0)) found = at;
  }
  return found;
}

function styleOf(kind: Kind | undefined, text: string | undefined): Style | undefined {
  if (kind === 'time') return 'dim';
  return kind === 'status' ? styleOfStatus(text) : undefined;
}

/** A record as names and values below each other; a long text is cut, for --json has it whole. */
export function recordTable(record: unknown, columns: readonly Column[] | undefined, terminal: Terminal): string {
  const { width, paint, now } = terminal;
  const entries = entriesOf(record, columns);
  // A field that was asked for by its name keeps it.
  const names = entries.map(({ path, header }, at) => sanitize(typeof columns?.[at] === 'object' ? header : path));
  const room = Math.min(Math.max(0, ...names.map(cells)), Math.max(readable, Math.floor(width / 2)));
  const lines = entries.flatMap((entry, at) => {
    const name = pad(cut(names[at] ?? '', room), room + gap);
    const whole = cellForPeople(entry.see ? entry.see(record) : entry.value, entry.as, now);
    const left = Math.max(1, width - room - gap);
    if (isKept(entry.as) && cells(whole) > left) return [paint('dim', name.trimEnd()), whole];
    const text = cut(whole, left);
    const colour = styleOf(entry.as, text);
    return [`${paint('dim', name)}${colour && text !== '' ? paint(colour, text) : text}`.trimEnd()];
  });
  return lines.map((line) => `${line}\n`).join('');
}
