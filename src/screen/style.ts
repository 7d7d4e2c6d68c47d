import type { Context } from '../context.ts';
import { hasShades, shades, wantsColor } from '../output/paint.ts';

/** What a text on the screen may look like. `selected`: the line that a key is for. */
export type ScreenStyle =
  | 'bold'
  | 'dim'
  | 'underline'
  | 'selected'
  | 'red'
  | 'green'
  | 'orange'
  | 'blue'
  | 'magenta'
  | 'cyan';

/** How many colours the terminal shows: `none` keeps bold, dim, underline and selected. */
export type Colors = 'none' | '16' | '256';

/** By --color, NO_COLOR, FORCE_COLOR, the configuration and the terminal, as everywhere in the output. */
export function colorsOf(env: Context['env'], wish: Parameters<typeof wantsColor>[1]): Colors {
  if (!wantsColor({ env }, wish, { isTTY: true })) return 'none';
  return hasShades(env) ? '256' : '16';
}

const attributes: Partial<Record<ScreenStyle, readonly [on: number, off: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  underline: [4, 24],
  // The terminal's own two colours, exchanged: it can be read on light and on dark.
  selected: [7, 27],
};

/** The terminal's own palette. Its yellow cannot be read on white, so that what stands out is bold instead. */
const palette: Partial<Record<ScreenStyle, number>> = { red: 31, green: 32, blue: 34, magenta: 35, cyan: 36 };

/**
 * Styles a text that holds no control characters, the only maker of it for a `Frame`: the same call gives the same text. An
 * outer style goes on behind an inner one of another kind: bold and dim are of one kind, and so are all colours.
 */
export const screenPaint =
  (colors: Colors) =>
  (style: ScreenStyle, text: string): string => {
    const [on, off] = codes(style, colors);
    return on === '' || text === '' ? text : `\x1b[${on}m${text}\x1b[${off}m`;
  };

function codes(style: ScreenStyle, colors: Colors): readonly [on: string, off: string] {
  const attribute = attributes[style];
  if (attribute) return [String(attribute[0]), String(attribute[1])];
  if (colors === 'none') return ['', ''];
  if (colors === '256' && style in shades) return [`38;5;${shades[style as keyof typeof shades]}`, '39'];
  const color = palette[style];
  return color === undefined ? ['1', '22'] : [String(color), '39'];
}

/**
 * A style as one number, so that cells are compared fast: six bits of attributes, nine of foreground and nine of
 * background (0: the terminal's own; n + 1: colour n of the 256).
 */
export type Pen = number;

/** Each bit is set by the code in that place: bold, dim, italic, underline, inverse, struck. */
const shown = [1, 2, 3, 4, 7, 9];
/** The bits that a code takes away; 22 is for bold and dim. */
const offs: Readonly<Record<number, number>> = { 22: 1 | 2, 23: 4, 24: 8, 27: 16, 29: 32 };
const foregroundAt = 6;
const backgroundAt = 15;
const mask = 0x1ff;

/** The pen after the parameters of one SGR sequence, such as `1;38;5;160`. What it does not know changes nothing. */
export function penAfter(pen: Pen, parameters: string): Pen {
  const numbers = parameters.split(';').map(Number);
  let next = pen;
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0;
    if (code === 38 || code === 48) {
      const indexed = numbers[at + 1] === 5;
      const color = numbers[at + 2] ?? 0;
      if (indexed && color <= 255) next = withColor(next, code === 38 ? foregroundAt : backgroundAt, color + 1);
      at += indexed ? 2 : 4;
    } else next = penAfterCode(next, code);
  }
  return next;
}

function penAfterCode(pen: Pen, code: number): Pen {
  if (code === 0) return 0;
  const attribute = shown.indexOf(code);
  if (attribute >= 0) return pen | (1 << attribute);
  const off = offs[code];
  if (off !== undefined) return pen & ~off;
  if (code >= 30 && code <= 37) return withColor(pen, foregroundAt, code - 29);
  if (code >= 90 && code <= 97) return withColor(pen, foregroundAt, code - 81);
  if (code >= 40 && code <= 47) return withColor(pen, backgroundAt, code - 39);
  if (code >= 100 && code <= 107) return withColor(pen, backgroundAt, code - 91);
  if (code === 39) return withColor(pen, foregroundAt, 0);
  return code === 49 ? withColor(pen, backgroundAt, 0) : pen;
}

const withColor = (pen: Pen, at: number, color: number): Pen => (pen & ~(mask << at)) | (color << at);

/** The fewest bytes that make a terminal change from one pen to another. */
export function penChange(from: Pen, to: Pen): string {
  if (from === to) return '';
  if (to === 0) return '\x1b[m';
  const whole = `\x1b[0;${codesOf(0, to).join(';')}m`;
  // Bold and dim end together, so that what is taken away is said by beginning from nothing.
  if ((from & ~to & 0x3f) !== 0) return whole;
  const added = `\x1b[${codesOf(from, to).join(';')}m`;
  return added.length <= whole.length ? added : whole;
}

function codesOf(from: Pen, to: Pen): number[] {
  const added = to & ~from & 0x3f;
  return [
    ...shown.filter((_, at) => added & (1 << at)),
    ...colorCodes([from, to], foregroundAt, 30),
    ...colorCodes([from, to], backgroundAt, 40),
  ];
}

function colorCodes([from, to]: readonly [Pen, Pen], at: number, base: number): number[] {
  const color = (to >> at) & mask;
  if (color === ((from >> at) & mask)) return [];
  if (color === 0) return [base + 9];
  if (color <= 8) return [base + color - 1];
  return color <= 16 ? [base + 51 + color] : [base + 8, 5, color - 1];
}
