import { isWide, type Model } from '../model.ts';
import { jobLines } from './job.ts';

/** The first line, and the keys. */
const around = 2;

/** What the list and the thread have, below the first line and above what is told. */
export const bodyHeight = (model: Pick<Model, 'size' | 'jobs' | 'now'>): number =>
  Math.max(1, model.size.rows - around - jobLines(model).length);

/** Between the list and the thread beside it. */
export const between = ' │ ';

export const listWidth = (model: Pick<Model, 'size'>): number =>
  isWide(model) ? Math.min(84, Math.max(42, Math.floor(model.size.columns * 0.42))) : model.size.columns;

export const threadWidth = (model: Pick<Model, 'size'>): number =>
  isWide(model) ? model.size.columns - listWidth(model) - between.length : model.size.columns;

/** Where a list is narrow, a row takes two lines. */
export const rowHeight = (model: Pick<Model, 'size'>): number => (isWide(model) && listWidth(model) < 64 ? 2 : 1);
