import { isWide, type Model } from '../model.ts';

/** The first line, the line that tells what happens, and the keys. */
const around = 3;

export const bodyHeight = ({ size }: Pick<Model, 'size'>): number => Math.max(1, size.rows - around);

/** Between the list and the thread beside it. */
export const between = ' │ ';

export const listWidth = (model: Pick<Model, 'size'>): number =>
  isWide(model) ? Math.min(84, Math.max(42, Math.floor(model.size.columns * 0.42))) : model.size.columns;

export const threadWidth = (model: Pick<Model, 'size'>): number =>
  isWide(model) ? model.size.columns - listWidth(model) - between.length : model.size.columns;

/** Where a list is narrow, a row takes two lines. */
export const rowHeight = (model: Pick<Model, 'size'>): number => (isWide(model) && listWidth(model) < 64 ? 2 : 1);
