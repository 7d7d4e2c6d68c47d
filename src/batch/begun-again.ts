import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { rowsInWords } from './pace.ts';

/** Rows that an earlier run has `done` or `sent`, of a file, and what the service does not have any more. */
type Gone = { readonly rows: number; readonly file: string; readonly were: 'done' | 'sent'; readonly records: string };

/** Of an earlier run nothing is there: refuses to go on, or says so with `--yes`. `from`: when those runs were. */
export function refuseReset(
  { notice }: Pick<Context, 'notice'>,
  { rows, file, were, records }: Gone,
  { yes, from = '' }: { readonly yes: boolean; readonly from?: string },
): void {
  const told = `${rowsInWords(rows)} of ${file} ${rows === 1 ? 'was' : 'were'} ${were} before${from}, but the service does not have ${records}. It may have been reset.`;
  if (!yes)
    throw new Failure('usage', told, {
      hint: `Nothing was sent now. To send all rows again, add --restart. To leave out those that were ${were} before, add --yes.`,
    });
  notice(`Warning: ${told}`);
}
