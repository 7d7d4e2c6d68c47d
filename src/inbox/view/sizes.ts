import { isWide, type Model } from '../model.ts';
import { jobLines } from './job.ts';

/** The first line, and the keys. */
const around = 2;

/** What the list and the thread have, below the first line and above what is told. */
export const bodyHeight = (model: Pick<Model, 'size' | 'jobs' | 'now'>): number =>
  Math.max(1, model.size.rows - around - jobLines(model).length);

/** Between the list and the thread beside it. */
export const between = ' │ ';

/** A thread is read well in so many columns: what is beyond them is for why the rows wait. */
const readable = 80;

export const listWidth = ({ size }: Pick<Model, 'size'>): number => {
  if (!isWide({ size })) return size.columns;
  const share = Math.min(84, Math.max(42, Math.floor(size.columns * 0.42)));
  return Math.max(share, Math.min(120, size.columns - between.length - readable));
};

export const threadWidth = (model: Pick<Model, 'size'>): number =>
  isWide(model) ? model.size.columns - listWidth(model) - between.length : model.size.columns;

/** Where a list is narrow, a row takes two lines. */
export const rowHeight = (model: Pick<Model, 'size'>): number => (isWide(model) && listWidth(model) < 64 ? 2 : 1);
