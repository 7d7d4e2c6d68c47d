// biome-ignore-all lint/suspicious/noControlCharactersInRegex: styles begin with ESC

import { graphemes, isNarrow, isSimple } from '../text/measure.ts';
import { onlyColours } from '../text/sanitize.ts';
import { type Pen, penAfter } from './style.ts';
import { cells } from './width.ts';

/**
 * One line of the screen, a cell each: what stands in it ('' for the right half of a wide character) and its pen.
 * `isCertain`: every terminal gives its characters the same cells.
 */
export type Row = { readonly texts: readonly string[]; readonly pens: readonly Pen[]; readonly isCertain: boolean };

const style = /\x1b\[([\d;]*)m/u;

/**
 * The cells of a styled line, exactly `columns` of them: cut without a sign, or filled with blanks. Whatever a line
 * holds, a terminal is sent no control character of it: what is neither text nor a style is made visible.
 */
export function rowOf(line: string, columns: number): Row {
  const texts: string[] = [];
  const pens: Pen[] = [];
  let pen: Pen = 0;
  let isCertain = true;
  const put = (text: string, width: number) => {
    // Half of a wide character has no place at the end: a blank stands for it.
    if (texts.length + width > columns) {
      while (texts.length < columns) put(' ', 1);
      return;
    }
    texts.push(text);
    pens.push(pen);
    if (width < 2) return;
    texts.push('');
    pens.push(pen);
  };
  const parts = clean(line).split(style);
  for (let at = 0; at < parts.length && texts.length < columns; at += 1) {
    const part = parts[at] ?? '';
    if (at % 2 === 1) pen = penAfter(pen, part);
    else if (isNarrow(part)) putNarrow(part.slice(0, columns - texts.length), pen, { texts, pens });
    else isCertain = putAll(part, put) && isCertain;
  }
  putNarrow(' '.repeat(columns - texts.length), 0, { texts, pens });
  return { texts, pens, isCertain };
}

/** Nearly all text. The first frame is drawn before anything of this is compiled, so that each step counts. */
function putNarrow(text: string, pen: Pen, { texts, pens }: { texts: string[]; pens: Pen[] }): void {
  for (let at = 0; at < text.length; at += 1) {
    texts.push(text[at] ?? '');
    pens.push(pen);
  }
}

function putAll(text: string, put: (text: string, width: number) => void): boolean {
  let isCertain = true;
  for (const grapheme of graphemes(text)) {
    const width = cells(grapheme);
    isCertain &&= isSimple(grapheme);
    // What takes no cell and joins nothing is not shown; nothing here takes more than two.
    if (width > 0) put(grapheme, Math.min(2, width));
  }
  return isCertain;
}

const plain = /^[\x20-\x7e\x1b]*$/u;
const otherEscape = /\x1b(?!\[[\d;]*m)/u;

const clean = (line: string): string =>
  plain.test(line) && !otherEscape.test(line) ? line : onlyColours(line.replaceAll(/[\r\n]+/gu, ' '));
