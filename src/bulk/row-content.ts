import { nameKey } from '../command/row.ts';
import type { FileRow } from '../tabular/rows.ts';
import { digestOf } from '../text/digest.ts';
import { isRecord } from '../text/record.ts';
import type { Columns } from './columns.ts';

/** What earlier runs have added to a row is no content of it. */
const added = /^svc_(?:line|status|error|secret)$/u;

/**
 * Names a row by its own cells, each under its column's name: whatever the file is called, in whatever order its columns
 * stand, and whatever `--map` and `--id-map` make of them. A cell that is empty says nothing. CSV has texts alone, so a
 * number of JSON is its text.
 */
export function contentNamer({ names, targets }: Pick<Columns, 'names' | 'targets'>): (row: FileRow) => string {
  const seen = new Map<string, number>();
  const keys = names.map((name, at) => {
    const key = nameKey(name);
    if (added.test(key) || (key === 'svc_id' && targets[at]?.kind !== 'id')) return undefined;
    const time = (seen.get(key) ?? 0) + 1;
    seen.set(key, time);
    return time === 1 ? key : `${key}\n${time}`;
  });
  const order = [...keys.keys()].sort((a, b) => ((keys[a] ?? '') < (keys[b] ?? '') ? -1 : 1));
  return ({ cells }) => {
    const parts: unknown[] = [];
    for (const at of order) {
      const cell = cells[at];
      if (keys[at] === undefined || cell === undefined || (typeof cell === 'string' && cell.trim() === '')) continue;
      parts.push(keys[at], typeof cell === 'number' || typeof cell === 'boolean' ? String(cell) : sorted(cell));
    }
    return shortDigest(parts);
  };
}

/** 132 bits of it: enough that no two rows ever share one. */
export const shortDigest = (value: unknown): string =>
  digestOf(JSON.stringify(value)).toString('base64url').slice(0, 22);

/** The order of the keys is no content. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

/** Tells rows of equal content apart: the first has the content's own name. */
export function createNumbering(): (content: string) => string {
  const times = new Map<string, number>();
  return (content) => {
    const time = (times.get(content) ?? 0) + 1;
    times.set(content, time);
    return time === 1 ? content : `${content}~${time}`;
  };
}
