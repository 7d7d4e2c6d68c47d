/** East Asian Wide and Fullwidth (Unicode 16, UAX 11); emoji come by their own property. */
const wide =
  /^[\u1100-\u115F\u2329\u232A\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1AFF0}-\u{1B2FF}\u{1D300}-\u{1D376}\u{1F200}-\u{1F265}\u{20000}-\u{3FFFD}\p{Emoji_Presentation}]/u;
const zero = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u1160-\u11FF\uD7B0-\uD7FF]/u;
const picture = /^(?:\p{Extended_Pictographic}|\p{Regional_Indicator}|[\d#*]\uFE0F?\u20E3)/u;
const madeOfSeveral = /\uFE0F|\u200D|\u20E3|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u{E007F}/u;
const ascii = /^[\x20-\x7e]*$/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours begin with ESC
const sgr = /\x1b\[[\d;]*m/gu;

let segmenter: Intl.Segmenter | undefined;

function* graphemes(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield segment;
}

/** The cells that a text takes on a terminal; our own colours take none. */
export function cells(text: string): number {
  if (ascii.test(text)) return text.length;
  const bare = text.replace(sgr, '');
  if (ascii.test(bare)) return bare.length;
  let total = 0;
  for (const grapheme of graphemes(bare)) total += cellsOf(grapheme);
  return total;
}

function cellsOf(grapheme: string): number {
  if (picture.test(grapheme) && madeOfSeveral.test(grapheme)) return 2;
  // Terminals give each spacing character of a cluster its room, so a syllable may take several cells.
  let total = 0;
  for (const char of grapheme) if (!zero.test(char)) total += wide.test(char) ? 2 : 1;
  return total;
}

/** At most `width` cells of a plain text, whole graphemes, with … where something was left out. */
export function cut(text: string, width: number): string {
  // A text has at most as many graphemes as characters, but a cell may hold many: measure what could fit only.
  if (ascii.test(text)) return text.length <= width ? text : width < 1 ? '' : `${text.slice(0, width - 1).trimEnd()}…`;
  let taken = '';
  let used = 0;
  let fits = '';
  for (const grapheme of graphemes(text)) {
    used += cellsOf(grapheme);
    if (used > width) return width < 1 ? '' : `${fits.trimEnd()}…`;
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
      if (used + cellsOf(grapheme) > width && used > indent.length) flush();
      current += grapheme;
      used += cellsOf(grapheme);
    }
  }
  if (current.trim() !== '' || lines.length === 0) flush();
  return lines;
}
