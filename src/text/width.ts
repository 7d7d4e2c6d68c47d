import stringWidth from 'string-width';

const ascii = /^[\x20-\x7e]*$/u;

let segmenter: Intl.Segmenter | undefined;

function* graphemes(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield segment;
}

/** The cells that a text takes on a terminal; our own colours take none. */
export const cells = (text: string): number => stringWidth(text);

const shortened = (fits: string, width: number): string => (width < 1 ? '' : `${fits.trimEnd()}…`);

/** At most `width` cells of a plain text, whole graphemes, with … where something was left out. */
export function cut(text: string, width: number): string {
  // A text has at most as many graphemes as characters, but a cell may hold many: measure what could fit only.
  if (ascii.test(text)) return text.length <= width ? text : shortened(text.slice(0, width - 1), width);
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

export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - cells(text)));
}

/** Lines of at most `width` cells, broken between words; a word longer than a line is broken by graphemes. */
export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => (cells(line) <= width ? [line.trimEnd()] : wrapLine(line, width)));
}

function wrapLine(line: string, width: number): string[] {
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
