import stringWidth from 'string-width';
import { cellsBy, layoutBy } from './measure.ts';

/** The cells that a text takes on a terminal; our own colours take none. */
export const cells = (text: string): number => cellsBy(stringWidth, text);

export const { cut, pad, wrap } = layoutBy(cells);
