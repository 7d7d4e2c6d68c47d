/**
 * Characters that every terminal shows in one cell, and that no mark joins to the one before. Those of East Asian
 * scripts take two cells everywhere. `test/screen/width.test.ts` holds both lists to string-width, which takes long to
 * load and to measure, and which most texts do without.
 */
const narrow =
  '\\x20-\\x7e\\u00a1-\\u00ac\\u00ae-\\u02ff\\u0370-\\u0377\\u0384-\\u038a\\u038e-\\u03a1\\u03a3-\\u0482\\u048a-\\u052f\\u2010-\\u2027\\u2030-\\u203b\\u20ac\\u2190-\\u2193\\u21b5\\u2212\\u2500-\\u25fc\\u2605\\u2606\\u2713\\u2717\\ufffd';
const wide =
  '\\u3001-\\u3029\\u3041-\\u3096\\u309b-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7a3\\uff01-\\uff60';

const narrowCharacters = new RegExp(`^[${narrow}]*$`, 'u');
const anyWide = new RegExp(`[${wide}]`, 'gu');
const simple = new RegExp(`^[${narrow}${wide}]*$`, 'u');
// biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours begin with ESC
const ownColours = /\x1b\[[\d;]*m/gu;

/** Each character takes one cell, on every terminal. */
export const isNarrow = (text: string): boolean => narrowCharacters.test(text);

/** The width of each character is the same on every terminal, and known without a library. */
export const isSimple = (text: string): boolean => simple.test(text);

let segmenter: Intl.Segmenter | undefined;

/** What a terminal shows in cells of its own: letters with their marks, emoji of several characters. */
export function* graphemes(text: string): Generator<string> {
  if (isSimple(text)) return yield* text;
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield segment;
}

/** The cells that a text takes on a terminal, where `others` measures what is not simple; our own colours take none. */
export function cellsBy(others: (text: string) => number, text: string): number {
  const bare = text.includes('\x1b') ? text.replaceAll(ownColours, '') : text;
  if (isNarrow(bare)) return bare.length;
  return isSimple(bare) ? bare.length + (bare.match(anyWide)?.length ?? 0) : others(bare);
}

const shortened = (fits: string, width: number): string => (width < 1 ? '' : `${fits.trimEnd()}…`);

/** What lays out texts by that measure of a text in cells. */
export function layoutBy(cells: (text: string) => number) {
  /** At most `width` cells of a plain text, whole graphemes, with … where something was left out. */
  function cut(text: string, width: number): string {
    // A text has at most as many graphemes as characters, but a cell may hold many: measure what could fit only.
    if (isNarrow(text)) return text.length <= width ? text : shortened(text.slice(0, Math.max(0, width - 1)), width);
    let taken = '';
    let used = 0;
    let fits = '';
    for (const grapheme of graphemes(text)) {
      used += cells(grapheme);
      if (used > width) return shortened(fits, width);
      taken += grapheme;
      if (used <= width - 1) fits = taken;
    }
    return text;
  }

  const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - cells(text)));

  /** Lines of at most `width` cells, broken between words; a word longer than a line is broken by graphemes. */
  const wrap = (text: string, width: number): string[] =>
    text.split('\n').flatMap((line) => (cells(line) <= width ? [line.trimEnd()] : wrapLine(cells, line, width)));

  return { cut, pad, wrap };
}

function wrapLine(cells: (text: string) => number, line: string, width: number): string[] {
  const indent = /^ */u.exec(line)?.[0].slice(0, Math.max(0, width >> 1)) ?? '';
  const lines: string[] = [];
  let current = indent;
  let used = indent.length;
  const flush = () => {
    lines.push(current.trimEnd());
    current = indent;
    used = indent.length;
  };
  for (const word of line.trimStart().split(/(?<= )(?! )/u)) {
    const bare = word.trimEnd();
    if (used > indent.length && used + cells(bare) > width) flush();
    if (indent.length + cells(bare) <= width) {
      current += word;
      used += cells(word);
      continue;
    }
    for (const grapheme of graphemes(word)) {
      if (used + cells(grapheme) > width && used > indent.length) flush();
      current += grapheme;
      used += cells(grapheme);
    }
  }
  if (current.trim() !== '' || lines.length === 0) flush();
  return lines;
}

/** How wide a text is for reading: long lines are hard to read, however wide the terminal. */
export const readingWidth = (width: number): number => Math.min(width, 100);
