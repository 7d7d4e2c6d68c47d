import { cellsBy, graphemes, isSimple, layoutBy } from '../text/measure.ts';

/** The exact measure, once it is there. It takes long to load, and most texts do without. */
let exact: ((text: string) => number) | undefined;

/** The cells that a text takes. Of one that is not simple (text/measure.ts) an estimate, until `loadWidths` has ended. */
export const cells = (text: string): number => cellsBy(exact ?? estimated, text);

function estimated(text: string): number {
  let total = 0;
  for (const grapheme of graphemes(text)) total += isSimple(grapheme) ? cells(grapheme) : cellsOfOne(grapheme);
  return total;
}

function cellsOfOne(grapheme: string): number {
  if (/^[\p{M}\p{Cf}\p{Cc}]/u.test(grapheme)) return 0;
  return /\p{Emoji_Presentation}|\uFE0F|\p{Script=Han}/u.test(grapheme) ? 2 : 1;
}

/** As those of text/width.ts. */
export const { cut, pad, wrap } = layoutBy(cells);

/** Whether `cells` is exact for every text. */
export const hasWidths = (): boolean => exact !== undefined;

/** Loads the exact measure. True, once: whoever laid out texts that are not simple before, does so again. */
export async function loadWidths(): Promise<boolean> {
  const { default: stringWidth } = await import('string-width');
  const isFirst = exact === undefined;
  exact = stringWidth;
  return isFirst;
}
