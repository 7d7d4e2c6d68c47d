import { Failure } from '../errors.ts';
import type { Param } from './command.ts';

/** Of a number of records beside which there is --all: `--limit all` is told so. */
export const orAll = (limit: Param<number | undefined>): Param<number | undefined> => ({
  ...limit,
  parse(texts, flag) {
    try {
      return limit.parse(texts, flag);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new Failure(error.kind, error.message, { hint: 'For all of them: --all' });
    }
  },
});
