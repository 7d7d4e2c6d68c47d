import { Failure } from '../errors.ts';
import type { Param } from './command.ts';

/** The flag, with a hint of one's own for a text that it refuses; undefined leaves the refusal as it is. */
export const hinted = <T>(flag: Param<T>, hintFor: (text: string) => string | undefined): Param<T> => ({
  ...flag,
  parse(texts, ...rest) {
    try {
      return flag.parse(texts, ...rest);
    } catch (error) {
      const hint = hintFor(texts.at(-1) ?? '');
      if (!(error instanceof Failure) || hint === undefined) throw error;
      throw new Failure(error.kind, error.message, { hint });
    }
  },
});

/** Of a number of records beside which there is --all: `--limit all` is told so. */
export const orAll = (limit: Param<number | undefined>): Param<number | undefined> =>
  hinted(limit, () => 'For all of them: --all');
