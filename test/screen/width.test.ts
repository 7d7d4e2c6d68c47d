import stringWidth from 'string-width';
import { beforeAll, expect, test } from 'vitest';
import { cells, cut, loadWidths, pad, wrap } from '../../src/screen/width.ts';
import { isSimple } from '../../src/text/measure.ts';
import * as text from '../../src/text/width.ts';

// The measure of the screen: short lists for most texts, the library for the others.

beforeAll(loadWidths);

test('each character of the lists has the width that the library gives it', { tags: ['long'] }, () => {
  const wrong: string[] = [];
  let known = 0;
  for (let code = 0; code < 0x30000; code += 1) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    if (!isSimple(character)) continue;
    known += 1;
    if (cells(character) !== stringWidth(character)) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
  expect(known).toBeGreaterThan(40_000);
});

test('no character of the lists joins the one before it', { tags: ['long'] }, () => {
  const segmenter = new Intl.Segmenter();
  const joined: string[] = [];
  for (let code = 0x20; code < 0x10000; code += 1) {
    const character = String.fromCodePoint(code);
    if (!/^[\ud800-\udfff]$/u.test(character) && isSimple(character)) {
      if ([...segmenter.segment(`a${character}`)].length !== 2) joined.push(code.toString(16));
    }
  }
  expect(joined).toEqual([]);
});

test.each([
  ['Ada', 5, 'Ada  '],
  ['Ada Lovelace', 5, 'Ada… '],
  ['日本語', 5, '日本…'],
  ['日本語', 4, '日… '],
  ['👨‍👩‍👧👨‍👩‍👧', 3, '👨‍👩‍👧…'],
  ['Zoe\u0308', 3, 'Zoe\u0308'],
  ['Zoe\u0308s', 3, 'Zo…'],
  ['Ada', 0, ''],
  ['日', 1, '…'],
])('%j in %i cells is %j', (text, width, wanted) => {
  expect(pad(cut(text, width), width)).toBe(wanted);
  expect(cells(wanted)).toBe(width);
  expect(cells(cut(text, width))).toBeLessThanOrEqual(width);
});

test('it lays out as the rest of the output does', () => {
  const words = 'Zoë wrote 日本語 and 👍🏽, again and again';
  expect(wrap(words, 12)).toEqual(text.wrap(words, 12));
  expect(pad(words, 60)).toBe(text.pad(words, 60));
  expect(cells(words)).toBe(text.cells(words));
});
