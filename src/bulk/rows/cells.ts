import { check } from '../../api/check.ts';
import type { Schema } from '../../api/operation.ts';
import type { Shape } from '../../api/shape.ts';
import { isNorthAmerican, phoneIn } from '../../command/phones.ts';
import { Failure } from '../../errors.ts';
import { parseExactly, quoteIt, roundedIn } from '../../text/exact-json.ts';
import { unmeantIn } from '../../text/json-keys.ts';
import { nearest } from '../../text/near.ts';
import { short } from '../../text/short.ts';
import { parseTime } from '../../text/time.ts';
import { isoDates } from './remedy.ts';

/** How the cells of a file are read. */
export type Reading = {
  /** Separates the items of a list in a cell; undefined: a cell is one item. */
  readonly separator: string | undefined;
  /** An empty cell empties the field, instead of leaving it as it is. */
  readonly clearEmpty: boolean;
  /** Cells of JSON have types; those of CSV are texts. */
  readonly isJson: boolean;
};

/** `word`: a text that --map-value could give a meaning. */
export type Value = { readonly value: unknown } | 'absent' | { readonly problem: string; readonly word?: string };

/** What a cell says: in CSV always a text, in JSON any value. */
export function readCell(cell: unknown, shape: Shape, { separator, clearEmpty, isJson }: Reading): Value {
  if (cell === undefined) return 'absent';
  if (cell === null) return { value: null };
  if (typeof cell !== 'string') return exactly(cell);
  if (cell.trim() === '') {
    // In JSON an empty text is a text.
    if (isJson && cell === '' && shape.type === 'text' && !clearEmpty) return { value: cell };
    return clearEmpty ? { value: emptied(shape) } : 'absent';
  }
  if (shape.type === 'pairs') return ownData(cell);
  if (shape.type !== 'list') return readText(cell, shape);
  const items: unknown[] = [];
  for (const part of separator === undefined ? [cell] : cell.split(separator)) {
    if (part.trim() === '') continue;
    const item = readText(part.trim(), shape.item ?? shape);
    if (item === 'absent' || 'problem' in item) return item;
    items.push(item.value);
  }
  return { value: items };
}

/** null where the service allows it; else an empty list or text, which empties as well. */
function emptied(shape: Shape): unknown {
  if (shape.type === 'list') return [];
  return shape.type === 'text' && !shape.nullable && check(shape.schema, '').ok ? '' : null;
}

function readText(text: string, shape: Shape): Value {
  if (shape.type === 'integer' || shape.type === 'number') {
    const isNumber = /^[+-]?\d+(?:\.\d+)?$/u.test(text.trim());
    const value = Number(text);
    if (isNumber && Number.isInteger(value) && !Number.isSafeInteger(value))
      return { problem: `must be a smaller number than ${short(text.trim())}` };
    return isNumber ? { value } : { problem: `must be a number, not "${short(text)}"` };
  }
  if (shape.type === 'boolean') {
    const word = text.trim().toLowerCase();
    if (word === 'true' || word === 'false') return { value: word === 'true' };
    return { problem: `must be true or false, not "${short(text)}"` };
  }
  if (shape.choices) return oneOf(shape.choices, text.trim());
  if (shape.known) return nearlyKnown(shape.known, shape.schema, text.trim());
  if (isNorthAmerican(shape)) return readPhone(text);
  return shape.format === 'date-time' ? readTime(text) : { value: text };
}

function readPhone(text: string): Value {
  const read = phoneIn(text);
  if ('value' in read) return read;
  return { problem: `${read.problem}, not "${short(text)}"${read.way ? `; ${read.way}` : ''}` };
}

/** A value of JSON; a number that would be rounded is not sent. */
export function exactly(value: unknown): Value {
  const rounded = roundedIn(value);
  return rounded === undefined ? { value } : { problem: quoteIt(rounded) };
}

const oneOf = (choices: readonly string[], text: string): Value =>
  choices.includes(text)
    ? { value: text }
    : { problem: `must be ${choices.join(' or ')}, not "${short(text)}"`, word: text };

/** Others may exist, but not one that is a known one with a slip of the finger. */
function nearlyKnown(known: readonly string[], schema: Schema, text: string): Value {
  // What is refused in its own words is no slip.
  const isTaken = known.includes(text) || !check(schema, text).ok;
  const meant = isTaken ? undefined : nearest(text, known);
  return meant === undefined ? { value: text } : { problem: `does not know "${short(text)}"; did you mean ${meant}?` };
}

function readTime(text: string): Value {
  try {
    return { value: parseTime(text, 'It') };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    const ways = isoDates(text);
    const way = ways.length === 0 ? '' : `; write ${ways.join(' or ')}`;
    return { problem: `must be a time like 2026-01-31 or 2026-01-31T09:00:00Z, not "${short(text)}"${way}` };
  }
}

function ownData(text: string): Value {
  try {
    const value = parseExactly(text);
    const problem = unmeantIn(text);
    return problem === undefined ? exactly(value) : { problem };
  } catch {
    return { problem: 'must be a JSON object; or give each key a column: metadata.KEY' };
  }
}
