import { expect, test } from 'vitest';
import { colorsOf, screenPaint } from '../../src/screen/style.ts';

// What styles are on terminals with 256 colours, with 16, and for those who want none.

test.each([
  [{ TERM: 'xterm-256color' }, '256'],
  [{ TERM: 'xterm', COLORTERM: 'truecolor' }, '256'],
  [{ TERM: 'linux' }, '16'],
  [{ TERM: 'xterm-256color', NO_COLOR: '1' }, 'none'],
  [{ TERM: 'xterm-256color', FORCE_COLOR: '0' }, 'none'],
] as const)('%j has %s', (env, colors) => {
  expect(colorsOf(env, { color: 'auto' })).toBe(colors);
});

test('--color never means none', () => {
  expect(colorsOf({ TERM: 'xterm-256color' }, { color: 'never' })).toBe('none');
});

test('without colours what is selected, bold and dim still is', () => {
  const paint = screenPaint('none');
  expect(paint('red', 'late')).toBe('late');
  expect(paint('selected', 'late')).toBe('\x1b[7mlate\x1b[27m');
  expect(paint('bold', 'late')).toBe('\x1b[1mlate\x1b[22m');
});

test('with 16 colours they are of the palette of the terminal, and orange, which it has not, is bold', () => {
  const paint = screenPaint('16');
  expect(paint('red', 'late')).toBe('\x1b[31mlate\x1b[39m');
  expect(paint('orange', 'late')).toBe('\x1b[1mlate\x1b[22m');
});

test('with 256 colours they are those of all other output', () => {
  expect(screenPaint('256')('red', 'late')).toBe('\x1b[38;5;160mlate\x1b[39m');
});

test('no text has no style', () => {
  expect(screenPaint('256')('red', '')).toBe('');
});
