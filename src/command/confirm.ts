import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';

/** Goes on only with a yes: --yes, or a person's. Where nobody can be asked, exit 2 names the flag. */
export async function confirmed(ctx: Pick<Context, 'ask'>, settings: Settings, question: string): Promise<void> {
  if (settings.yes) return;
  if (!ctx.ask.canAsk || settings.noInput) {
    throw new Failure('usage', `${question} Nobody can be asked here.`, { hint: 'Give --yes to go ahead.' });
  }
  if (!(await ctx.ask.confirm(question))) throw new Failure('failed', 'Declined. Nothing was changed.');
}
