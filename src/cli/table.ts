import type { Column, Paint, Style } from './command.ts';
import { valueAt } from './fields.ts';
import { cellForPeople, entriesOf, type Settled, styleOfStatus } from './views.ts';
import { cells, cut, pad } from './width.ts';

const gap = 2;
/** A column is cut no narrower than this; rather the last ones are left out. */
const readable = 8;

/** Rows under a header, aligned by cells and cut to the width: no line is longer, nothing wraps. */
export function table(records: readonly unknown[], columns: readonly Settled[], width: number, paint: Paint): string {
  const rows = records.map((record) =>
    columns.map(({ path, as }) => cut(cellForPeople(valueAt(record, path), as), width)),
  );
  const natural = columns.map(({ header }, at) =>
    rows.reduce((widest, row) => Math.max(widest, cells(row[at] ?? '')), cells(header)),
  );
  const fitted = roomFor(natural, columns.map(isCuttable), width);
  const line = (texts: readonly string[], style: (at: number) => Style | undefined) =>
    fitted
      .map((room, at) => {
        const text = cut(texts[at] ?? '', room);
        const colour = style(at);
        const shown = colour && text !== '' ? paint(colour, text) : text;
        return at === fitted.length - 1 ? shown : pad(shown, room + gap);
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

/** Half an id or half a time misleads; half a subject does not. */
const isCuttable = ({ path, as }: Settled): boolean => as === undefined && !/(?:^|_)id$/u.test(path);

/** Takes room from the widest columns first, as evenly as it can; then leaves out columns from the right. */
function roomFor(natural: readonly number[], cuttable: readonly boolean[], width: number): number[] {
  for (let count = natural.length; count > 1; count--) {
    const fitted = natural.slice(0, count);
    let excess = fitted.reduce((sum, room) => sum + room, 0) + gap * (count - 1) - width;
    while (excess > 0) {
      const widest = Math.max(...fitted.filter((room, at) => cuttable[at] && room > readable), 0);
      if (widest === 0) break;
      const at = fitted.findIndex((room, at) => room === widest && cuttable[at]);
      fitted[at] = widest - 1;
      excess--;
    }
    if (excess <= 0) return fitted;
  }
  return [Math.min(natural[0] ?? 0, width)];
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
  const room = Math.min(Math.max(0, ...entries.map(({ path }) => cells(path))), Math.max(readable, width >> 1));
  const lines = entries.map((entry) => {
    const name = pad(cut(entry.path, room), room + gap);
    const text = cut(cellForPeople(entry.value, entry.as), Math.max(1, width - room - gap));
    const colour = styleOf(entry, text);
    return `${paint('dim', name)}${colour && text !== '' ? paint(colour, text) : text}`.trimEnd();
  });
  return lines.map((line) => `${line}\n`).join('');
}
