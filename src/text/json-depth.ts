import { isRecord } from './record.ts';

/** In a shorter text no depth costs much, or runs out of stack. */
const shortText = 4 * 1024;

/** Far deeper than any JSON that svc reads or writes. */
export const deepest = 1_000;

/**
 * Whether the text of a JSON document nests far too deep to be parsed: a level of one character takes a hundred bytes and
 * more, so a few KB of gzip would fill the memory before the value could be looked at. Told from the text alone.
 */
export const isTooDeep = (text: string): boolean =>
  // An answer has few brackets, so most are never walked through.
  text.length > shortText && mayNest(deepest, text) && depthExceeds(text);

/** Whether there are brackets enough for so many levels: then the value has to be looked at, which takes longer. */
export const mayNest = (most: number, text: string): boolean => opens(text, '[') + opens(text, '{') > most;

/** How often the bracket stands there, also in strings; of many only so many as matter. */
function opens(text: string, bracket: string): number {
  let count = 0;
  for (let at = text.indexOf(bracket); at >= 0 && count <= deepest; at = text.indexOf(bracket, at + 1)) count++;
  return count;
}

function depthExceeds(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at) - 1;
    else if (code === 0x5b || code === 0x7b) {
      depth++;
      if (depth > deepest) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

/** Behind the quote that ends the string which begins there. */
export function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
  return text.length;
}

/**
 * Whether a parsed JSON value nests deeper than `most` levels. Looks no deeper than that, so it never runs out of stack
 * itself. Of the value, not of its text: an answer has far fewer values than characters.
 */
export function isDeeperThan(most: number, value: unknown): boolean {
  if (Array.isArray(value)) return most === 0 || value.some((one) => isDeeperThan(most - 1, one));
  if (!isRecord(value)) return false;
  if (most === 0) return true;
  // Not a list of the values: every answer goes through here, and it would be thrown away at once.
  for (const key in value) if (isDeeperThan(most - 1, value[key])) return true;
  return false;
}
