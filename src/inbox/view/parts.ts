import type { Paint, Style } from '../../output/view.ts';
import { cells, cut } from '../../screen/width.ts';

/** How a line is drawn: colours, and what is selected. Both honour NO_COLOR, which leaves what is selected its mark. */
export type Look = { readonly paint: Paint; readonly selected: (text: string) => string };

/** A piece of a line, harmless and without colours of its own. */
export type Part = { readonly text: string; readonly style?: Style };

export type Line = readonly Part[];

export const line = (text: string, style?: Style): Line => [{ text, ...(style && { style }) }];

export const blank: Line = [];

/** A key and what it is for. */
export const hint = (key: string, name: string): Part[] => [
  { text: ` ${key}`, style: 'bold' },
  { text: ` ${name} `, style: 'dim' },
];

/** At most `width` cells of the line. */
export function cutLine(parts: Line, width: number): Line {
  const taken: Part[] = [];
  let room = width;
  for (const part of parts) {
    if (room <= 0) break;
    const text = cut(part.text, room);
    taken.push({ ...part, text });
    room -= cells(text);
    if (text !== part.text) break;
  }
  return taken;
}

export const widthOf = (parts: Line): number => parts.reduce((sum, { text }) => sum + cells(text), 0);

/** Exactly `width` cells. */
export function padLine(parts: Line, width: number): Line {
  const short = cutLine(parts, width);
  const rest = width - widthOf(short);
  return rest > 0 ? [...short, { text: ' '.repeat(rest) }] : short;
}

export const painted = (parts: Line, { paint }: Look): string =>
  parts.map(({ text, style }) => (style && text.trim() !== '' ? paint(style, text) : text)).join('');
