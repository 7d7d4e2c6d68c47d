import { nameKey } from '../../command/row.ts';
import type { FileRow } from '../../tabular/rows.ts';
import { shortDigestOf } from '../../text/digest.ts';
import { isLong } from '../../text/exact-json.ts';
import { isRecord } from '../../text/record.ts';
import type { Columns } from './columns.ts';

/** What earlier runs have added to a row is no content of it. */
const added = /^svc_(?:line|status|error|secret)$/u;

/** The columns in which a row holds something, sorted. */
export type RowShape = readonly string[];

/** The same for the same columns. */
export const shapeKey = (shape: RowShape): string => shape.join('\n\n');

/**
 * Names a row by its own cells, each under its column's name: whatever the file is called, in whatever order its columns
 * stand, and whatever `--map` and `--id-map` make of them. A cell that is empty says nothing. CSV has texts alone, so a
 * number of JSON is its text.
 */
export function contentReader({ names, targets, ignored }: Omit<Columns, 'unused' | 'follow'>) {
  const seen = new Map<string, number>();
  const keys = names.map((name, at) => {
    const key = nameKey(name);
    if (added.test(key) || (key === 'svc_id' && targets[at]?.kind !== 'id')) return undefined;
    const time = (seen.get(key) ?? 0) + 1;
    seen.set(key, time);
    return time === 1 ? key : `${key}\n${time}`;
  });
  const order = [...keys.keys()].sort((a, b) => ((keys[a] ?? '') < (keys[b] ?? '') ? -1 : 1));
  const filled = ({ cells }: FileRow): readonly Filled[] => {
    const all: Filled[] = [];
    let hasParts = false;
    for (const at of order) {
      const key = keys[at];
      if (key === undefined) continue;
      for (const [name, cell] of within(key, cells[at])) {
        hasParts ||= name !== key;
        all.push([name, cell, at]);
      }
    }
    // What an object holds stands among the columns as it would by itself, in whatever order its keys are written.
    return hasParts ? all.sort(([one], [other]) => (one < other ? -1 : 1)) : all;
  };
  const named = (row: FileRow, counts: (key: string) => boolean): string => {
    const parts: unknown[] = [];
    for (const [key, cell] of filled(row)) {
      if (!counts(key)) continue;
      parts.push(key, isPlainValue(cell) ? String(cell) : sorted(cell));
    }
    return shortDigest(parts);
  };
  return {
    nameOf: (row: FileRow) => named(row, () => true),
    shapeOf: (row: FileRow): RowShape => filled(row).map(([key]) => key),
    /** Without the columns that `--map` says to ignore. */
    countedOf: (row: FileRow): RowShape => filled(row).flatMap(([key, , at]) => (ignored.has(at) ? [] : [key])),
    /** The name that the row would have with these columns alone. */
    nameBy: (row: FileRow, shape: RowShape) => named(row, (key) => shape.includes(key)),
  };
}

/** `at`: the column's place. */
type Filled = readonly [key: string, cell: unknown, at: number];

/** An object of own data is named by what it holds, as it was when each of its keys was a column. */
function* within(key: string, cell: unknown): Generator<readonly [key: string, cell: unknown]> {
  if (cell === undefined || (typeof cell === 'string' && cell.trim() === '')) return;
  if (!isRecord(cell) || isLong(cell)) yield [key, cell];
  else for (const [name, held] of Object.entries(cell)) yield* within(nameKey(`${key}.${name}`), held);
}

const isPlainValue = (cell: unknown): boolean => ['number', 'boolean'].includes(typeof cell) || isLong(cell);

/** What another program may do to a text when it writes the file again says nothing new. */
export const plainText = (text: string): string => text.normalize('NFC').replaceAll('\r\n', '\n').trim();

/** 132 bits of it: enough that no two rows ever share one. */
export const shortDigest = (value: unknown): string => shortDigestOf(JSON.stringify(value));

/** The order of the keys is no content. `textAs`: what a text counts as. */
export function sorted(value: unknown, textAs: (text: string) => string = (text) => text): unknown {
  if (typeof value === 'string') return textAs(value);
  if (isLong(value)) return String(value);
  if (Array.isArray(value)) return value.map((one) => sorted(one, textAs));
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key], textAs)]));
}
