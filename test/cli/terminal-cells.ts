/**
 * The cells that a terminal gives to a text, by the script a character belongs to: written for the tests alone, so that
 * what measures the screens is not what made them.
 */
export function terminalCells(text: string): number {
  let total = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with ESC
  const shown = text.replaceAll(/\x1b\[[\d;]*m/gu, '');
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(shown)) {
    total += isPicture(segment) ? 2 : [...segment].reduce((sum, char) => sum + cellsOfChar(char), 0);
  }
  return total;
}

// Half a flag is a letter in a box, one cell wide (UAX #11).
const isPicture = (grapheme: string): boolean =>
  (/^\p{Emoji_Presentation}/u.test(grapheme) && !/^\p{Regional_Indicator}$/u.test(grapheme)) ||
  (/^\p{Extended_Pictographic}/u.test(grapheme) && /\uFE0F/u.test(grapheme));

function cellsOfChar(char: string): number {
  // The later parts of a Hangul syllable join the first one; the half-width forms are what they are called.
  if (/[\p{M}\p{Cf}\p{Cc}\p{DI}\u1160-\u11FF\uD7B0-\uD7FF]/u.test(char)) return 0;
  if (/[\uFF61-\uFFDC]/u.test(char)) return 1;
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303E\uFF01-\uFF60]/u.test(char)
    ? 2
    : 1;
}
