import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';

/** Continues after --yes or a person's yes; in a script without --yes: exit 2. `question` begins with a verb. */
export async function confirmed(
  ctx: Pick<Context, 'ask'>,
  settings: Settings,
  question: string,
  /** What is agreed to, in full. */
  shown?: () => Promise<string | undefined>,
): Promise<void> {
  if (settings.yes) return;
  if (!ctx.ask.canAsk || settings.noInput) {
    throw new Failure(
      'usage',
      `Refusing to ${question[0]?.toLowerCase()}${question.slice(1).replace(/\?.*/su, '')} without confirmation.`,
      { hint: 'Pass --yes.' },
    );
  }
  const text = await shown?.();
  const isAgreed = await ctx.ask.confirm(question, text === undefined ? {} : { shown: text });
  if (!isAgreed) throw new Failure('failed', 'Declined. Nothing was changed.');
}
