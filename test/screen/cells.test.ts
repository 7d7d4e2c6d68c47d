// @module-tag long
import { expect, test } from 'vitest';
import { rowOf } from '../../src/screen/row.ts';
import { type Frame, type Line, openScreen, type Screen } from '../../src/screen/screen.ts';
import { penAfter, penChange, type ScreenStyle, screenPaint } from '../../src/screen/style.ts';
import { loadWidths } from '../../src/screen/width.ts';
import { isSimple } from '../../src/text/measure.ts';
import { anyText, fc } from '../chance.ts';
import { createEmulator, type Emulator } from '../emulator.ts';
import { draws } from '../thorough.ts';
import { fakeTerminal } from './terminal.ts';

// Whatever frames are drawn, the cells of the terminal are those of the last one.

const words = ['', ' ', 'a', 'ab', 'T-1008', '        ', 'Zoë', '│', '…', '日本語', '한', '「は」', 'ＡＢ'];
const odd = ['👨‍👩‍👧', '😀', 'e\u0308', '❤️', '🇩🇪', 'ﷺ', 'क्षि', '\u0301', '👍🏽', '☎'];
const paint = screenPaint('256');

const piece = (texts: readonly string[]) =>
  fc
    .tuple(
      fc.constantFrom(...texts),
      fc.constantFrom<ScreenStyle | undefined>(undefined, 'bold', 'dim', 'selected', 'red', 'underline'),
    )
    .map(([text, style]) => (style ? paint(style, text) : text));
const line = (texts: readonly string[]) => fc.array(piece(texts), { maxLength: 8 }).map((pieces) => pieces.join(''));

type Step = Frame & { readonly size?: ReturnType<Screen['size']> };

/** Frames of which most lines stay, as on a screen, and now and then another size. */
const steps = (texts: readonly string[]): fc.Arbitrary<Step[]> => {
  const pool = fc.array(line(texts), { minLength: 2, maxLength: 8 });
  return pool.chain((lines) =>
    fc.array(
      fc.record({
        lines: fc.array(fc.constantFrom(...lines), { maxLength: 6 }),
        cursor: fc.option(fc.record({ row: fc.nat(5), column: fc.nat(20) }), { nil: undefined }),
        size: fc.option(fc.record({ columns: fc.integer({ min: 1, max: 16 }), rows: fc.integer({ min: 1, max: 5 }) }), {
          nil: undefined,
          freq: 6,
        }),
      }),
      { minLength: 1, maxLength: 8 },
    ),
  );
};

const first = { columns: 12, rows: 4 };

/** Plays the steps, and calls after each with what should be seen. */
async function play(
  given: readonly Step[],
  look: (emulator: Emulator, lines: Frame['lines'], size: ReturnType<Screen['size']>) => void,
) {
  const terminal = fakeTerminal(first);
  const emulator = createEmulator(first);
  // What a terminal holds when svc comes to it.
  await emulator.write('\x1b[31mleft\x1b[7m behind\r\n');
  const screen = openScreen(terminal.port, { key() {}, resize() {}, resumed() {}, ended() {} });
  let size: ReturnType<Screen['size']> = first;
  for (const { lines, cursor, size: next } of given) {
    if (next) {
      size = next;
      emulator.resize(size.columns, size.rows);
      terminal.resize(size);
    }
    screen.draw({ lines, cursor });
    await emulator.write(terminal.written());
    look(emulator, lines, size);
    if (cursor && cursor.row < size.rows) {
      const column = Math.min(cursor.column, size.columns - 1);
      expect(emulator.cursor()).toEqual({ row: cursor.row, column });
    }
    screen.draw({ lines, cursor });
    expect(terminal.written()).toBe('');
  }
  screen.close();
  await emulator.write(terminal.written());
  expect(emulator.modes()).toMatchObject({ isOther: false, wraparoundMode: true, bracketedPasteMode: false });
  if (given.every((step) => !step.size)) expect(emulator.lines()[0]).toBe('left behind');
}

/** The cells of a row as the emulator tells them. */
const shownRow = (emulator: Emulator, row: number, columns: number) =>
  Array.from({ length: columns }, (_, at) => {
    const { text, bold, dim, inverse, underline, foreground } = emulator.cell(row, at);
    return { text, bold, dim, inverse, underline, foreground };
  });

const wantedRow = (line: Line, columns: number) => {
  const { texts, pens } = rowOf(line, columns);
  return texts.map((text, at) => {
    const pen = pens[at] ?? 0;
    const color = (pen >> 6) & 0x1ff;
    return {
      text: text === ' ' ? '' : text,
      bold: (pen & 1) !== 0,
      dim: (pen & 2) !== 0,
      inverse: (pen & 16) !== 0,
      underline: (pen & 8) !== 0,
      foreground: color === 0 ? undefined : color - 1,
    };
  });
};

/** Long lines, of which a few words change to others, of the same width or not. */
const edits: fc.Arbitrary<Step[]> = fc.array(
  fc
    .array(fc.constantFrom('日本', '本日', 'abcd', 'aXcY', '│', '    ', '日x'), { minLength: 12, maxLength: 12 })
    .map((pieces) => ({ lines: [pieces.join('-')] })),
  { minLength: 2, maxLength: 5 },
);

const whole = (emulator: Emulator, lines: Frame['lines'], { columns, rows }: ReturnType<Screen['size']>) => {
  for (let row = 0; row < rows; row += 1) {
    expect(shownRow(emulator, row, columns)).toEqual(wantedRow(lines[row] ?? '', columns));
  }
};

test('where a few words of a line change, the rest of it stays as it is', async () => {
  await fc.assert(
    fc.asyncProperty(edits, (given) => play([{ lines: [], size: { columns: 60, rows: 2 } }, ...given], whole)),
    { numRuns: draws(50, 150) },
  );
});

test('of text that every terminal shows alike, each cell and its style is that of the last frame', async () => {
  await fc.assert(
    fc.asyncProperty(steps(words), (given) => play(given, whole)),
    { numRuns: draws(50, 150) },
  );
});

test('where the terminal counts emoji and marks otherwise, all other characters stand where they belong', async () => {
  await loadWidths();
  await fc.assert(
    fc.asyncProperty(steps([...words, ...odd]), (given) =>
      play(given, (emulator, lines, { columns, rows }) => {
        for (let row = 0; row < rows; row += 1) {
          const wanted = rowOf(lines[row] ?? '', columns).texts;
          for (const [at, text] of wanted.entries()) {
            // What the terminal took for wider hides what is behind it only where that is a blank.
            if (text.trim() === '' || !isSimple(text)) continue;
            expect([row, at, emulator.cell(row, at).text]).toEqual([row, at, text]);
          }
        }
      }),
    ),
    { numRuns: draws(50, 150) },
  );
});

test('any change of the pen gives the pen that is wanted', () => {
  const pen = fc
    .array(fc.constantFrom('1', '2', '3', '4', '7', '9', '31', '97', '38;5;200', '44', '103', '48;5;17'), {
      maxLength: 6,
    })
    .map((codes) => codes.reduce(penAfter, 0));
  const play = (start: number, bytes: string) =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with ESC
    [...bytes.matchAll(/\x1b\[([\d;]*)m/gu)].reduce((at, [, codes = '']) => penAfter(at, codes), start);
  fc.assert(fc.property(pen, pen, (from, to) => play(from, penChange(from, to)) === to));
});

test('whatever a line holds, the terminal is sent styles and places of the screen alone', async () => {
  const hostile = fc.array(
    fc.oneof(anyText(), fc.constantFrom('\x1b[2J', '\x1b]0;x\x07', '\x9b2J', '\x1bc', '\r\n', '\x1b[31m')),
  );
  await fc.assert(
    fc.property(hostile, (parts) => {
      const terminal = fakeTerminal({ columns: 30, rows: 2 });
      const screen = openScreen(terminal.port, { key() {}, resize() {}, resumed() {}, ended() {} });
      terminal.written();
      screen.draw({ lines: [parts.join(''), 'still here'] });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
      const rest = terminal.written().replaceAll(/\x1b\[(?:[\d;]*[mHCK]|2J|\?2026[hl])/gu, '');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
      expect(rest).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/u);
      expect(rest).toMatch(/still here$/u);
    }),
  );
});
