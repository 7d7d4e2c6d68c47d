import type { Fields } from './record.ts';

/**
 * Sorts records by when the service made them, the oldest first. Ids need not grow (service.md#records-1): they only keep
 * those of one moment, or of no known one, in one order everywhere.
 */
export const byAge =
  (idField = 'id') =>
  (one: Fields, other: Fields): number =>
    madeMs(one) - madeMs(other) || Number(one[idField]) - Number(other[idField]);

const madeMs = ({ created_at: at }: Fields): number => Date.parse(String(at)) || 0;
