import { zoneDoubt } from '../text/own-zone.ts';
import { parsePast } from '../text/time.ts';
import type { Param } from './command.ts';

/** A flag for a time that is over: `2d`, `yesterday`, or the time itself. */
export const past = (description: string): Param<string | undefined> => ({
  description,
  placeholder: 'TIME',
  doubt: zoneDoubt,
  parse: (texts, flag, now = new Date()) => parsePast(texts.at(-1) ?? '', flag, now),
});
