import type { TerminalPort, TerminalSize } from '../terminal-port.ts';
import { goTo, type Hand, newRow, rowChange } from './diff.ts';
import { type Row, rowOf } from './row.ts';

/**
 * What the screen is given, in this order: every mode that another program may have left behind is put back first
 * (scroll region, origin, insert, character set, mouse, focus, application keys, keys by code), then come the ones that
 * are wanted: the other screen, no wrapping, pastes in brackets, no cursor.
 */
export const takeModes = [
  '\x1b[?1049h',
  '\x1b[r\x1b[?6l\x1b[4l\x1b(B\x0f\x1b[m',
  '\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l',
  '\x1b[?1l\x1b>\x1b[>4m\x1b[=0u',
  '\x1b[?7l\x1b[?2004h\x1b[?25l',
].join('');

/** The reverse. A half-written frame that was held back is shown first, so that nothing hides what comes. */
export const giveModes = '\x1b[?2026l\x1b[m\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l';

/** What a program leaves on that was ended in the middle: the screen it was on, and everything of `takeModes`. */
export const leaveOther = '\x1b[?2026l\x1b[?1049l';

/** A terminal that knows it shows everything in between at once (DEC 2026). */
const atOnce = (bytes: string): string => `\x1b[?2026h${bytes}\x1b[?2026l`;

const clearScreen = '\x1b[m\x1b[H\x1b[2J';

/**
 * Puts a text into the clipboard of the terminal, also of one at the far end of ssh (OSC 52). tmux takes either of the
 * two, by its settings `set-clipboard` and `allow-passthrough`.
 */
export function copyToClipboard(text: string, isInTmux: boolean): string {
  const sequence = `\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`;
  return isInTmux ? `${sequence}\x1bPtmux;${sequence.replaceAll('\x1b', '\x1b\x1b')}\x1b\\` : sequence;
}

/**
 * What is to be seen: a line a row, from the top; those that are missing are blank, those too many are not shown.
 * `cursor`: where the cursor is shown, counted from 0; without it there is none.
 */
export type Frame = {
  readonly lines: readonly Line[];
  readonly cursor?: { readonly row: number; readonly column: number };
};

/**
 * Text, with styles made by `screenPaint` alone. Text of others goes through `sanitize` first (text/sanitize.ts), so
 * that it has the width that was counted; the screen sends no control character of a line in any case.
 */
export type Line = string;

/** The latest frame, and as much of it as the terminal has taken. */
export function createCanvas(terminal: TerminalPort) {
  let frame: Frame | undefined;
  let shown: Shown | undefined;
  let isBusy = false;
  let isOutdated = false;
  const send = (bytes: string) => {
    if (bytes !== '' && !terminal.write(bytes)) isBusy = true;
  };
  return {
    send,
    /** Draws the latest frame, or that one from now on; later, where the terminal has not taken the last one yet. */
    draw(size: TerminalSize, next = frame): void {
      frame = next;
      isOutdated = isBusy;
      if (isBusy || !frame) return;
      const { bytes, ...now } = drawn(frame, shown, size);
      shown = now;
      send(bytes);
    },
    /** That is the latest frame from now on, and drawn later. */
    keep(next: Frame): void {
      frame = next;
    },
    /** Everything is drawn again at the next `draw`. */
    redraw(): void {
      shown = undefined;
    },
    /** The terminal may show anything, and has taken everything. */
    forget(): void {
      shown = undefined;
      isBusy = false;
    },
    /** The terminal has taken everything. True: the latest frame is still to be drawn. */
    drained(): boolean {
      isBusy = false;
      return isOutdated;
    },
    /** A line holds characters of which it is not known for certain how wide they are. */
    isUncertain: (): boolean => shown?.rows.some(({ isCertain }) => !isCertain) ?? false,
  };
}

/** What the terminal shows. */
type Shown = {
  readonly lines: readonly Line[];
  readonly rows: readonly Row[];
  readonly hand: Hand;
  readonly cursor: string;
};

/** The bytes from what is shown to the frame, and what is shown then. Lines that stay the same are not looked into. */
function drawn(
  { lines, cursor }: Frame,
  before: Shown | undefined,
  { columns, rows: height }: TerminalSize,
): Shown & { bytes: string } {
  const hand: Hand = before ? { ...before.hand } : { row: 0, column: 0, pen: 0 };
  const seen = Array.from({ length: height }, (_, at) => lines[at] ?? '');
  const rows: Row[] = [];
  let bytes = before ? '' : clearScreen;
  for (const [at, line] of seen.entries()) {
    const old = before?.rows[at];
    const row = old && before?.lines[at] === line ? old : rowOf(line, columns);
    rows.push(row);
    bytes += old ? rowChange([old, row], at, hand) : newRow(row, at, hand);
  }
  const place = cursor && cursor.row < height ? `${cursor.row};${Math.min(cursor.column, columns - 1)}` : '';
  if (cursor && place !== '') bytes += goTo(cursor.row, Math.min(cursor.column, columns - 1), hand);
  bytes += cursorMode(before?.cursor ?? '', place);
  return { bytes: bytes === '' ? '' : atOnce(bytes), lines: seen, rows, hand, cursor: place };
}

/** The cursor is hidden first (`takeModes`). */
function cursorMode(before: string, place: string): string {
  if ((before === '') === (place === '')) return '';
  return place === '' ? '\x1b[?25l' : '\x1b[?25h';
}
