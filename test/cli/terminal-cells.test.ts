import { expect, test } from 'vitest';
import { cells } from '../../src/text/width.ts';
import { terminalCells } from './terminal-cells.ts';

// Counted by hand on a terminal: both measures are held to it, and neither to the other.
test.each([
  ['', 0],
  ['Ada', 3],
  ['Zoë', 3],
  ['Zoe\u0308', 3],
  ['日本語', 6],
  ['カタカナ', 8],
  ['한국어', 6],
  ['「はい」。', 10],
  ['ＡＢ', 4],
  ['ｶﾅ', 2],
  ['Привет', 6],
  ['😀', 2],
  ['👨‍👩‍👧', 2],
  ['👍🏽', 2],
  ['🇩🇪', 2],
  ['❤️', 2],
  ['★ … –', 5],
  ['a\u200Bb', 2],
  ['\u001b[31mred\u001b[39m', 3],
])('%j takes %i cells', (text, width) => {
  expect(terminalCells(text)).toBe(width);
  expect(cells(text)).toBe(width);
});
