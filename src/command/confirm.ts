import { hearersOf } from '../api/hearers.ts';
import type { Operation } from '../api/operation.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure, nothingChanged } from '../errors.ts';
import { uncapital } from '../text/capital.ts';

type Showing = {
  /** What is agreed to, in full. */
  readonly shown?: (() => Promise<string | undefined>) | undefined;
  /** Said where somebody declines. */
  readonly unchanged?: string | undefined;
};

/** What is said of declined requests, in the words of drafts where they would have gone to customers. */
export const unchangedBy = (operation: Pick<Operation, 'grant' | 'reaches'> | undefined): string =>
  operation && hearersOf(operation) === 'customer' ? 'Nothing was sent.' : nothingChanged;

/** Continues after --yes or a person's yes; in a script without --yes: exit 2. `question` begins with a verb. */
export async function confirmed(
  ctx: Pick<Context, 'ask'>,
  settings: Settings,
  question: string,
  { shown, unchanged = nothingChanged }: Showing = {},
): Promise<void> {
  if (settings.yes) return;
  if (!ctx.ask.canAsk || settings.noInput) {
    const what = uncapital(question).replace(/\?.*/su, '');
    throw new Failure('usage', `Refusing to ${what} without confirmation.`, { hint: 'Pass --yes.' });
  }
  const text = await shown?.();
  const isAgreed = await ctx.ask.confirm(question, text === undefined ? {} : { shown: text });
  if (!isAgreed) throw new Failure('failed', `Declined. ${unchanged}`);
}
