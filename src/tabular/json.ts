import { Failure } from '../errors.ts';
import { parseExactly } from '../text/exact-json.ts';
import { isDeeperThan, isTooDeep } from '../text/json-depth.ts';
import { unmeantIn } from '../text/json-keys.ts';
import type { Parser } from './csv.ts';

/** A value of a file of JSON. `line` is where it begins, from 1. `broken`: what is there is no JSON. */
export type JsonRecord =
  | { readonly line: number; readonly value: unknown }
  | { readonly line: number; readonly broken: string };

/** Deeper than any record that the service takes. */
const deepest = 100;

/** Longer than any record: beyond it a brace was never closed. */
const longestRecord = 1 << 20;

/** One value a line. A line that is no JSON says so and does not stop the others. */
export function createLinesParser(): Parser<JsonRecord> {
  let rest = '';
  let line = 1;
  const read = (text: string): JsonRecord[] => {
    const at = line++;
    if (text.length > longestRecord) throw tooLong(at);
    return text.trim() === '' ? [] : [parsed(text, at)];
  };
  return {
    push(text) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > longestRecord) throw tooLong(line);
      return lines.flatMap(read);
    },
    end: () => read(rest),
  };
}

/**
 * Values one after the other, each over as many lines as it likes, as jq writes them; or the items of an array. It looks
 * for no more than where a value ends, so memory holds one at a time.
 */
export function createValuesParser(form: 'array' | 'values'): Parser<JsonRecord> {
  let rest = '';
  let line = 1;
  let isOpen = form === 'values';
  let isClosed = false;

  /** Passes over what stands between values; false where there is nothing more to read. */
  function toNext(): boolean {
    for (;;) {
      const gap = /^[\s,]*/u.exec(rest)?.[0] ?? '';
      line += lineEnds(gap);
      rest = rest.slice(gap.length);
      if (rest === '') return false;
      if (isClosed) throw new Failure('usage', `Line ${line}: something stands behind the end of the JSON array.`);
      if (!isOpen) isOpen = true;
      else if (form === 'array' && rest.startsWith(']')) isClosed = true;
      else return true;
      rest = rest.slice(1);
    }
  }

  function scan({ isLast }: { readonly isLast: boolean }): JsonRecord[] {
    const records: JsonRecord[] = [];
    while (toNext()) {
      const end = endOfValue(rest, isLast);
      if (end === undefined) {
        if (rest.length > longestRecord) throw tooLong(line);
        if (isLast) throw new Failure('usage', `Line ${line}: the JSON that begins here has no end.`);
        break;
      }
      const text = rest.slice(0, end);
      records.push(parsed(text, line));
      line += lineEnds(text);
      rest = rest.slice(end);
    }
    return records;
  }

  return {
    push(text) {
      rest += text;
      return scan({ isLast: false });
    },
    end() {
      const records = scan({ isLast: true });
      if (form === 'array' && !isClosed) throw new Failure('usage', 'The JSON array has no end.');
      return records;
    },
  };
}

/** Where the value that the text begins with ends; undefined where more text is needed to tell. */
function endOfValue(text: string, isLast: boolean): number | undefined {
  if (!/^[[{"]/u.test(text)) {
    const end = text.search(/[\s,\]}]/u);
    // A sign that begins no value counts as one, so that it is told as broken JSON.
    if (end >= 0) return Math.max(1, end);
    return isLast ? Math.max(1, text.length) : undefined;
  }
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text[at];
    if (isQuoted) {
      if (code === '\\') at++;
      else if (code === '"') isQuoted = false;
    } else if (code === '"') isQuoted = true;
    else if (code === '{' || code === '[') depth++;
    else if (code === '}' || code === ']') depth--;
    if (depth === 0 && !isQuoted) return at + 1;
  }
  return undefined;
}

function parsed(text: string, line: number): JsonRecord {
  try {
    if (isTooDeep(text)) return { line, broken: `is nested more than ${deepest} levels deep` };
    const value = parseExactly(text);
    if (isDeeperThan(deepest, value)) return { line, broken: `is nested more than ${deepest} levels deep` };
    const broken = unmeantIn(text);
    return broken === undefined ? { line, value } : { line, broken };
  } catch {
    return { line, broken: 'is not valid JSON' };
  }
}

const lineEnds = (text: string): number => text.split('\n').length - 1;

const tooLong = (line: number): Failure =>
  new Failure('usage', `Line ${line}: the JSON that begins here is longer than 1 MiB. Is a brace never closed?`);
