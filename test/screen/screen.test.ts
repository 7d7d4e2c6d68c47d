import { expect, test, vi } from 'vitest';
import { type Key, openScreen, type Screen } from '../../src/screen/screen.ts';
import { fakeTerminal } from './terminal.ts';

// The screen on a terminal of the tests: what is written, when, and what is heard.

function opened(...given: Parameters<typeof fakeTerminal>) {
  const terminal = fakeTerminal(...given);
  const keys: Key[] = [];
  const told: string[] = [];
  const screen = openScreen(terminal.port, {
    key: (key) => keys.push(key),
    resize: ({ columns, rows }: ReturnType<Screen['size']>) => told.push(`${columns}×${rows}`),
    resumed: () => told.push('resumed'),
    ended: (reason) => told.push(reason),
  });
  return { terminal, screen, keys, told };
}

test('the same frame costs no byte', () => {
  const { terminal, screen } = opened();
  screen.draw({ lines: ['one', 'two'] });
  expect(terminal.written()).toContain('one');
  screen.draw({ lines: ['one', 'two'] });
  expect(terminal.written()).toBe('');
});

test('a change of a word writes the letters that change', () => {
  const { terminal, screen } = opened();
  screen.draw({ lines: ['one', 'two words'] });
  terminal.written();
  screen.draw({ lines: ['one', 'two birds'] });
  expect(terminal.written()).toBe('\x1b[?2026h\x1b[2;5Hbi\x1b[?2026l');
});

test('Ctrl-L draws everything again, whatever somebody else has written there', () => {
  const { terminal, screen, keys, told } = opened();
  screen.draw({ lines: ['one', 'two'] });
  terminal.written();
  terminal.type('\x0c');
  expect(terminal.written()).toMatch(/one.*two/su);
  expect([keys, told]).toEqual([[], ['20×4']]);
});

test('a slow terminal misses frames, and gets the latest', () => {
  const { terminal, screen } = opened();
  terminal.slow();
  screen.draw({ lines: ['1'] });
  terminal.written();
  screen.draw({ lines: ['2'] });
  screen.draw({ lines: ['3'] });
  expect(terminal.written()).toBe('');
  terminal.drain();
  expect(terminal.written()).toBe('\x1b[?2026h\x1b[H3\x1b[?2026l');
});

test('Ctrl-C ends, after the terminal was given back', () => {
  const { terminal, told } = opened();
  terminal.written();
  terminal.type('\x03');
  expect(told).toEqual(['SIGINT']);
  expect(terminal.calls).toEqual(['takeInput', 'giveInput']);
  expect(terminal.written()).toContain('\x1b[?1049l');
});

test('Escape is the key when nothing follows it for 50 ms', () => {
  const { terminal, keys } = opened();
  terminal.type('\x1b');
  terminal.pass(49);
  expect(keys).toEqual([]);
  terminal.pass(1);
  expect(keys.map(({ name }) => name)).toEqual(['escape']);
  terminal.type('\x1b');
  terminal.pass(40);
  terminal.type('[A');
  terminal.pass(60);
  expect(keys.map(({ name }) => name)).toEqual(['escape', 'up']);
});

test('another size is told, and everything is drawn again', () => {
  const { terminal, screen, told } = opened();
  screen.draw({ lines: ['one'] });
  terminal.written();
  terminal.resize({ columns: 10, rows: 2 });
  expect(told).toEqual(['10×2']);
  expect(screen.size()).toEqual({ columns: 10, rows: 2 });
  expect(terminal.written()).toBe('\x1b[?2026h\x1b[m\x1b[H\x1b[2Jone\x1b[?2026l');
  terminal.resize({ columns: 10, rows: 2 });
  expect(told).toEqual(['10×2']);
  expect(terminal.written()).toBe('');
});

test('a terminal that tells no size has 80 × 24', () => {
  expect(opened({ columns: 0, rows: 0 }).screen.size()).toEqual({ columns: 80, rows: 24 });
});

test('while it is lent nothing is drawn and no key is heard; then the latest frame is drawn', async () => {
  const { terminal, screen, keys, told } = opened();
  screen.draw({ lines: ['one'] });
  terminal.calls.length = 0;
  const work = async () => {
    terminal.written();
    screen.draw({ lines: ['two'] });
    terminal.type('q\x03');
    terminal.resize({ columns: 30, rows: 4 });
    expect(terminal.written()).toBe('');
    return 'a text';
  };
  expect(await screen.lend(work)).toBe('a text');
  expect(terminal.calls).toEqual(['giveInput', 'lend', 'modes put back', 'takeInput']);
  expect(keys).toEqual([]);
  expect(told).toEqual(['30×4']);
  const written = terminal.written();
  expect(written).toContain('\x1b[?1049h');
  expect(written).toContain('two');
});

test('work that fails on a lent terminal fails as itself, and the screen it may have left on is left', async () => {
  const { terminal, screen } = opened();
  screen.draw({ lines: ['one'] });
  terminal.written();
  await expect(screen.lend(() => Promise.reject(new Error('no editor')))).rejects.toThrow('no editor');
  const [, , left = ''] = terminal.written().split('\x1b[?1049l');
  expect(left).toContain('\x1b[?1049h');
  expect(left).toContain('one');
});

test('SIGTERM while it is lent is told, and the terminal is not taken again', async () => {
  const { terminal, screen, told } = opened();
  const listener = terminal.tell();
  await screen.lend(async () => listener?.ended('SIGTERM'));
  expect(told).toEqual(['SIGTERM']);
  expect(terminal.calls).toEqual(['takeInput', 'giveInput', 'lend', 'modes put back']);
  terminal.written();
  screen.draw({ lines: ['late'] });
  expect(terminal.written()).toBe('');
});

test('after Ctrl-Z and fg the last frame is drawn before that is told', async () => {
  const { terminal, screen, told } = opened();
  screen.draw({ lines: ['one'] });
  terminal.calls.length = 0;
  const over = screen.suspend();
  expect(terminal.calls).toEqual(['giveInput', 'stop']);
  terminal.written();
  screen.draw({ lines: ['two'] });
  expect(terminal.written()).toBe('');
  terminal.goOn();
  await over;
  expect(told).toEqual(['resumed']);
  expect(terminal.written()).toContain('two');
});

test('it ends once, whatever comes after, and a closed one is not told', () => {
  const { terminal, screen, told } = opened();
  const listener = terminal.tell();
  listener?.ended('closed');
  listener?.ended('SIGHUP');
  listener?.exiting();
  screen.close();
  expect(told).toEqual(['closed']);
  expect(terminal.calls).toEqual(['takeInput', 'giveInput']);
  const second = opened();
  const heard = second.terminal.tell();
  second.screen.close();
  heard?.ended('SIGTERM');
  expect(second.told).toEqual([]);
});

test('a terminal that was slow before it was lent is drawn on after it', async () => {
  const { terminal, screen } = opened();
  terminal.slow();
  screen.draw({ lines: ['one'] });
  await screen.lend(async () => {
    terminal.drain();
    terminal.written();
  });
  expect(terminal.written()).toContain('one');
});

test('the clipboard is set, inside tmux by either of its ways', () => {
  const plain = opened();
  plain.terminal.written();
  plain.screen.copy('T-1008');
  expect(plain.terminal.written()).toBe('\x1b]52;c;VC0xMDA4\x07');
  const inTmux = opened({ columns: 20, rows: 4 }, { TMUX: '/tmp/tmux,1,0' });
  inTmux.terminal.written();
  inTmux.screen.copy('T-1008');
  expect(inTmux.terminal.written()).toBe('\x1b]52;c;VC0xMDA4\x07\x1bPtmux;\x1b\x1b]52;c;VC0xMDA4\x07\x1b\\');
});

test('the measure of emoji is loaded when the first one comes, and then all is laid out again', async () => {
  vi.resetModules();
  const fresh = await import('../../src/screen/screen.ts');
  const { hasWidths } = await import('../../src/screen/width.ts');
  const terminal = fakeTerminal();
  const told: string[] = [];
  const screen = fresh.openScreen(terminal.port, {
    key() {},
    resize: () => told.push('again'),
    resumed() {},
    ended() {},
  });
  screen.draw({ lines: ['Zoë │ 日本語 …'] });
  await new Promise((resolve) => setImmediate(resolve));
  expect(hasWidths()).toBe(false);
  screen.draw({ lines: ['👍🏽'] });
  await expect.poll(() => told).toEqual(['again']);
  expect(hasWidths()).toBe(true);
});
