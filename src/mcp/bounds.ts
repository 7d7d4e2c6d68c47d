import { number } from '../text/number.ts';
import { type Fields, isRecord } from '../text/record.ts';
import { sizeOf } from './inert.ts';
import { restName, sliceIn, sliceName } from './slices.ts';

/** Of text, and of `structuredContent`. */
export const mostCharacters = 40_000;

/** For what stands around the data: lines, marks, and what was left out. */
const around = 2_400;

export const room = mostCharacters - around;

/** What is kept of a value is exact; `leftOut` says in sentences what is not, and how to get it. */
export type Kept<T> = { readonly kept: T; readonly leftOut: readonly string[] };

/** How the rest can be had: fields to call with, in a sentence. */
export type Ask = (fields: string) => string;

/** As many items from the beginning as there is room for. */
export function firstItems(items: readonly unknown[], most: number): readonly unknown[] {
  let used = 2;
  const end = items.findIndex((item) => {
    used += sizeOf(item) + 1;
    return used > most;
  });
  return end < 0 ? items : items.slice(0, end);
}

/**
 * A record in `most` characters. Of lists the newest items stay (messages), then the longest texts are cut, and what is
 * still too large is left out whole. A part stands under its own name: `content_html[0:30000]`.
 */
export function smallRecord(record: Fields, most: number, ask: Ask, path = ''): Kept<Fields> {
  let kept = record;
  // By field: one that is cut again has one sentence.
  const leftOut = new Map<string, readonly string[]>();
  let size = sizeOf(kept);
  for (let rounds = 0; rounds < mostRounds && size > most; rounds++) {
    const excess = size - most;
    const [field, value] = largestOf(kept);
    if (field === undefined) break;
    const allowed = Math.max(0, sizeOf(value) - excess);
    const smaller = smallValue(
      { field, value, place: path ? `${path}.${field}` : field },
      { allowed, whole: most * 0.6 },
      ask,
    );
    const entries = Object.entries(kept).flatMap(([name, each]) =>
      name === field ? smaller.kept : [[name, each] as const],
    );
    kept = Object.fromEntries(entries);
    size = sizeOf(kept);
    leftOut.set(sliceIn(field)?.of ?? field, smaller.leftOut);
  }
  if (size <= most) return { kept, leftOut: [...leftOut.values()].flat() };
  return { kept: {}, leftOut: [`${path || 'The record'} is too large: ask for the fields that you need.`] };
}

/** A record of so many large fields is asked for field by field. */
const mostRounds = 20;

/** Lists of records first, so that the text of the record itself stays as long as it can. */
function largestOf(record: Fields): [field: string | undefined, value: unknown] {
  const sizes = Object.entries(record).map(([field, value]) => ({ field, value, size: sizeOf(value) }));
  const lists = sizes.filter(({ value }) => Array.isArray(value) && value.length > 1);
  const largest = [...sizes].sort((a, b) => b.size - a.size)[0];
  const list = lists.sort((a, b) => b.size - a.size)[0];
  const chosen = list && list.size > 1_000 ? list : largest;
  return [chosen?.field, chosen?.value];
}

/** `allowed` for all of it; the newest item of a list stays whole up to `whole`, at the cost of other fields. */
type Room = { readonly allowed: number; readonly whole: number };

/** `place` is its whole path, as it is asked for. */
type LongField = { readonly field: string; readonly value: unknown; readonly place: string };

/** Entries in the place of one that is too large. */
function smallValue(long: LongField, { allowed, whole }: Room, ask: Ask): Kept<[string, unknown][]> {
  const { field, value, place } = long;
  if (typeof value === 'string') return smallText(long, allowed, ask);
  if (Array.isArray(value) && value.length > 1) return smallList(long, { allowed, whole }, ask);
  if (Array.isArray(value) && isRecord(value[0])) {
    const item = smallRecord(value[0], Math.max(0, allowed - 2), ask, `${place}[0]`);
    return { kept: [[field, [item.kept]]], leftOut: item.leftOut };
  }
  if (isRecord(value) && allowed > 100) {
    const inner = smallRecord(value, allowed, ask, place);
    if (Object.keys(inner.kept).length > 0) return { kept: [[field, inner.kept]], leftOut: inner.leftOut };
  }
  return { kept: [], leftOut: [`${place} (${number(sizeOf(value))} characters) is left out. ${ask(place)}`] };
}

function smallText({ field, value, place }: LongField, allowed: number, ask: Ask): Kept<[string, unknown][]> {
  const text = String(value);
  // The name of the part is longer than that of the field.
  const end = cutAt(text, Math.max(0, allowed - 40));
  const sentence = `${place} has ${number(text.length)} characters, the first ${number(end)} are here. ${ask(restName(place, end))}`;
  return { kept: end === 0 ? [] : [[sliceName(field, 0, end), text.slice(0, end)]], leftOut: [sentence] };
}

/** How much of a text takes at most that many characters as JSON; no character is cut in half. */
function cutAt(text: string, most: number): number {
  let [low, high] = [0, Math.min(text.length, most)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (sizeOf(text.slice(0, middle)) <= most) low = middle;
    else high = middle - 1;
  }
  return /[\uD800-\uDBFF]$/u.test(text.slice(0, low)) ? low - 1 : low;
}

/** The newest of it, in their order; at least one, which may be made smaller. */
function smallList({ field, value, place }: LongField, { allowed, whole }: Room, ask: Ask): Kept<[string, unknown][]> {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const isNewestLast = timeOf(items.at(-1)) >= timeOf(items[0]) && timeOf(items[0]) !== '';
  const newest = isNewestLast ? firstItems([...items].reverse(), allowed) : firstItems(items, allowed);
  const count = Math.max(1, newest.length);
  const from = isNewestLast ? items.length - count : 0;
  const staying = items.slice(from, from + count);
  const rest = isNewestLast ? [0, from] : [count, items.length];
  const name = sliceName(place, rest[0] ?? 0, rest[1] ?? 0);
  const kind = isNewestLast ? 'newest' : 'first';
  const sentence = `${place}: the ${kind} ${number(count)} of ${number(items.length)} are here. ${ask(name)}`;
  const keptName = field.endsWith(']') ? sliceName(field, from, from + count) : field;
  const [only] = staying;
  if (newest.length > 0 || sizeOf(only) <= whole) return { kept: [[keptName, staying]], leftOut: [sentence] };
  if (!isRecord(only)) return { kept: [], leftOut: [`${place} is left out. ${ask(place)}`] };
  const item = smallRecord(only, Math.max(0, allowed - 2), ask, `${place}[${from}]`);
  return { kept: [[keptName, [item.kept]]], leftOut: [sentence, ...item.leftOut] };
}

const timeOf = (item: unknown): string => {
  const at = isRecord(item) ? item.created_at : undefined;
  return typeof at === 'string' ? at : '';
};
