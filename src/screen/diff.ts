import { isSimple } from '../text/measure.ts';
import type { Row } from './row.ts';
import { type Pen, penChange } from './style.ts';

/** Where the cursor and the pen of the terminal are; undefined: not known. */
export type Hand = { row: number | undefined; column: number; pen: Pen };

/** So many cells that stay as they are, are written again rather than passed over: passing takes bytes too. */
const passing = 4;

/** The bytes of a row where the terminal shows nothing. */
export function newRow(after: Row, row: number, hand: Hand): string {
  const end = blankTail(after);
  if (!after.isCertain) return wholeRow(after, row, hand);
  return end === 0 ? '' : goTo(row, 0, hand) + written(after, [0, end], hand);
}

/** The bytes that turn the cells of a row of the terminal into others; empty where they are the same. */
export function rowChange([before, after]: readonly [Row, Row], row: number, hand: Hand): string {
  if (before === after) return '';
  const columns = after.texts.length;
  if (!before.isCertain || !after.isCertain) return same(before, after) ? '' : wholeRow(after, row, hand);
  const blankFrom = blankTail(after);
  let bytes = '';
  for (let from = firstChange(before, after, 0); from < Math.min(columns, blankFrom); ) {
    let to = from + 1;
    for (let next = to; next < columns && next - to <= passing; next += 1)
      if (differs(before, after, next)) to = next + 1;
    // Never half of a wide character, of what was there or of what comes.
    while (from > 0 && (after.texts[from] === '' || before.texts[from] === '')) from -= 1;
    while (to < columns && (after.texts[to] === '' || before.texts[to] === '')) to += 1;
    const end = Math.min(to, Math.max(blankFrom, from + 1));
    bytes += goTo(row, from, hand) + written(after, [from, end], hand);
    from = firstChange(before, after, to);
  }
  return bytes + cleared(before, after, { blankFrom, row, hand });
}

/** The blank end of a row, by the shortest: erased, or written. */
function cleared(before: Row, after: Row, at: { blankFrom: number; row: number; hand: Hand }): string {
  const columns = after.texts.length;
  const from = firstChange(before, after, at.blankFrom);
  if (from >= columns) return '';
  const start = before.texts[from] === '' ? from - 1 : from;
  const begin = Math.max(start, at.blankFrom);
  return `${goTo(at.row, begin, at.hand)}${toPen(0, at.hand)}\x1b[K`;
}

/** From here on a row holds nothing but blanks without a style. */
function blankTail({ texts, pens }: Row): number {
  let from = texts.length;
  while (from > 0 && texts[from - 1] === ' ' && pens[from - 1] === 0) from -= 1;
  return from;
}

const differs = (before: Row, after: Row, at: number): boolean =>
  before.texts[at] !== after.texts[at] || before.pens[at] !== after.pens[at];

const same = (before: Row, after: Row): boolean => firstChange(before, after, 0) >= after.texts.length;

function firstChange(before: Row, after: Row, from: number): number {
  let at = from;
  while (at < after.texts.length && !differs(before, after, at)) at += 1;
  return at;
}

/**
 * A row with characters that terminals count differently. It is erased first, and each such character has blanks below
 * it and is followed by the place where the next one belongs: the others stand where they should on any terminal.
 */
function wholeRow(after: Row, row: number, hand: Hand): string {
  const end = blankTail(after);
  let bytes = `${goTo(row, 0, hand)}${toPen(0, hand)}\x1b[K`;
  for (let from = 0; from < end; ) {
    if (isSimple(after.texts[from] ?? '')) {
      let to = from + 1;
      while (to < end && isSimple(after.texts[to] ?? '')) to += 1;
      bytes += goTo(row, from, hand) + written(after, [from, to], hand);
      from = to;
      continue;
    }
    const to = after.texts[from + 1] === '' ? from + 2 : from + 1;
    const blanks = (after.pens[from] ?? 0) === 0 ? '' : ' '.repeat(to - from);
    bytes += goTo(row, from, hand) + toPen(after.pens[from] ?? 0, hand);
    if (blanks !== '') bytes += `${blanks}\x1b[${row + 1};${from + 1}H`;
    bytes += after.texts[from];
    hand.row = undefined;
    from = to;
  }
  return bytes;
}

function written({ texts, pens }: Row, [from, to]: readonly [number, number], hand: Hand): string {
  let bytes = '';
  for (let at = from; at < to; ) {
    const pen = pens[at] ?? 0;
    let end = at + 1;
    while (end < to && pens[end] === pen) end += 1;
    bytes += toPen(pen, hand) + texts.slice(at, end).join('');
    at = end;
  }
  // Behind the last cell terminals differ on where the cursor is, but from there nothing goes forward.
  hand.column = to;
  return bytes;
}

function toPen(pen: Pen, hand: Hand): string {
  const bytes = penChange(hand.pen, pen);
  hand.pen = pen;
  return bytes;
}

/** Moves the cursor. On the row where it is: forward by the difference. */
export function goTo(row: number, column: number, hand: Hand): string {
  const distance = column - hand.column;
  const isThere = hand.row === row;
  hand.row = row;
  hand.column = column;
  if (isThere && distance === 0) return '';
  if (isThere && distance > 0) return distance === 1 ? '\x1b[C' : `\x1b[${distance}C`;
  if (column === 0) return row === 0 ? '\x1b[H' : `\x1b[${row + 1}H`;
  return `\x1b[${row + 1};${column + 1}H`;
}
