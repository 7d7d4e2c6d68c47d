import { sanitize } from '../text/sanitize.ts';
import { cells, cut, pad } from '../text/width.ts';
import { cellForPeople, entriesOf, type Settled, styleOfStatus } from './cells.ts';
import { valueAt } from './fields.ts';
import type { Column, Paint, Style } from './view.ts';

const gap = 2;
/** A column is cut no narrower than this; rather the last ones are left out. */
const readable = 8;
/** And its header no shorter than this. */
const shortest = 5;

/** Rows under a header, aligned by cells and cut to the width: no line is longer, nothing wraps. */
export function table(records: readonly unknown[], columns: readonly Settled[], width: number, paint: Paint): string {
  const rows = records.map((record) =>
    columns.map(({ path, as }) => cut(cellForPeople(valueAt(record, path), as), width)),
  );
  const rooms = columns.map((column, at) =>
    roomOf(
      column,
      rows.map((row) => row[at] ?? ''),
    ),
  );
  const widths = fitted(rooms, width);
  const line = (texts: readonly string[], style: (at: number) => Style | undefined) =>
    widths
      .map((room, at) => {
        const text = cut(texts[at] ?? '', room);
        const colour = style(at);
        const shown = colour && text !== '' ? paint(colour, text) : text;
        return at === widths.length - 1 ? shown : pad(shown, room + gap);
      })
      .join('')
      .trimEnd();
  const header = line(
    columns.map(({ header }) => header),
    () => 'dim',
  );
  const body = rows.map((row) => line(row, (at) => styleOf(columns[at], row[at])));
  return `${[header, ...body].join('\n')}\n`;
}

/** A column as wide as its widest cell; with only its header cut; and as narrow as it may become. */
type Room = { readonly natural: number; readonly headerCut: number; readonly least: number };

/**
 * Half an id or half a time misleads, so those keep their cells whole and only their header is cut; half a subject does
 * not.
 */
function roomOf({ header, path, as }: Settled, texts: readonly string[]): Room {
  const content = texts.reduce((widest, text) => Math.max(widest, cells(text)), 0);
  const natural = Math.max(content, cells(header));
  const isWhole = as !== undefined || /(?:^|_)id$/u.test(path);
  return {
    natural,
    headerCut: Math.min(natural, Math.max(content, readable)),
    least: Math.min(natural, Math.max(shortest, isWhole ? content : Math.min(content, readable))),
  };
}

/** Takes room from headers, then from the widest columns, as evenly as it can; then leaves out columns from the right. */
function fitted(rooms: readonly Room[], width: number): number[] {
  for (let count = rooms.length; count > 1; count--) {
    const widths = rooms.slice(0, count).map(({ natural }) => natural);
    let excess = widths.reduce((sum, room) => sum + room, 0) + gap * (count - 1) - width;
    for (const floor of ['headerCut', 'least'] as const) {
      for (; excess > 0; excess--) {
        const at = widest(widths, (at) => rooms[at]?.[floor] ?? 0);
        if (at === undefined) break;
        widths[at] = (widths[at] ?? 0) - 1;
      }
    }
    if (excess <= 0) return widths;
  }
  return [Math.min(rooms[0]?.natural ?? 0, width)];
}

/** The widest column that is above its floor. */
function widest(widths: readonly number[], floor: (at: number) => number): number | undefined {
  let found: number | undefined;
  for (const [at, width] of widths.entries()) {
    if (width > floor(at) && width > (widths[found ?? -1] ?? 0)) found = at;
  }
  return found;
}

function styleOf(column: Settled | undefined, text: string | undefined): Style | undefined {
  if (column?.as === 'time') return 'dim';
  return column?.as === 'status' ? styleOfStatus(text) : undefined;
}

/** A record as names and values below each other; a long value is cut, for --json has it whole. */
export function recordTable(
  record: unknown,
  columns: readonly Column[] | undefined,
  width: number,
  paint: Paint,
): string {
  const entries = entriesOf(record, columns);
  const names = entries.map(({ path }) => sanitize(path));
  const room = Math.min(Math.max(0, ...names.map(cells)), Math.max(readable, Math.floor(width / 2)));
  const lines = entries.map((entry, at) => {
    const name = pad(cut(names[at] ?? '', room), room + gap);
    const text = cut(cellForPeople(entry.value, entry.as), Math.max(1, width - room - gap));
    const colour = styleOf(entry, text);
    return `${paint('dim', name)}${colour && text !== '' ? paint(colour, text) : text}`.trimEnd();
  });
  return lines.map((line) => `${line}\n`).join('');
}
