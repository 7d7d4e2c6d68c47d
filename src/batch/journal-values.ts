import { isText } from '../text/record.ts';

/** What a line of a journal may hold: it is judged before it is believed. */
export const isCount = (value: unknown): boolean =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
export const isTime = (value: unknown): boolean => isText(value) && !Number.isNaN(Date.parse(value));
