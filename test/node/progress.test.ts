import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { createProgress } from '../../src/node/progress.ts';
import { terminalCells } from '../cli/terminal-cells.ts';

function terminal(columns: number | undefined) {
  const stream = Object.assign(new PassThrough(), {
    isTTY: columns !== undefined,
    columns,
    cursorTo() {
      stream.write('\r');
      return true;
    },
    clearLine() {
      stream.write('\x1b[2K');
      return true;
    },
    moveCursor: () => true,
  });
  let seen = '';
  let wake = () => {};
  stream.on('data', (chunk) => {
    seen += chunk;
    wake();
  });
  const seesSomething = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
      if (seen !== '') resolve();
    });
  return { stream, seen: () => seen, seesSomething };
}

afterEach(() => vi.useRealTimers());

test('what is done soon shows nothing', () => {
  vi.useFakeTimers();
  const { stream, seen } = terminal(80);
  const progress = createProgress(stream, {});
  progress('Reading…');
  progress(undefined);
  expect(vi.getTimerCount()).toBe(0);
  expect(seen()).toBe('');
});

test.each([{ TERM: 'dumb' }, { CI: 'true' }])('a terminal that cannot replace a line (%o) is left alone', (env) => {
  vi.useFakeTimers();
  const { stream, seen } = terminal(80);
  createProgress(stream, env)('Reading…');
  expect(vi.getTimerCount()).toBe(0);
  expect(seen()).toBe('');
});

test('a pipe stays silent', () => {
  vi.useFakeTimers();
  const { stream, seen } = terminal(undefined);
  createProgress(stream, {})('Reading…');
  expect(vi.getTimerCount()).toBe(0);
  expect(seen()).toBe('');
});

test('what takes longer is one harmless line, cut to the width, and cleared', async () => {
  const { stream, seen, seesSomething } = terminal(40);
  const progress = createProgress(stream, {});
  progress(`Sending 日本 \x1b]0;owned\x07 ${'x'.repeat(100)}`);
  await seesSomething();
  progress(undefined);
  expect(seen()).toContain('Sending 日本 ^[]0;owned^G');
  expect(seen()).not.toContain('\x07');
  for (const line of stripVTControlCharacters(seen()).split(/[\r\n]/u)) expect(terminalCells(line)).toBeLessThan(40);
  expect(seen().lastIndexOf('\x1b[2K')).toBeGreaterThan(seen().lastIndexOf('Sending'));
});
