import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';

/**
 * What is saved in the editor. Nobody writes it twice: where the command fails, or the editor does, it is kept in a file.
 * `textIn`: what of it is the text, where lines for the reader stand beside it.
 */
export async function edited(
  ctx: Pick<Context, 'ask' | 'writes'>,
  opened: string,
  { extension, textIn = (saved) => saved }: { readonly extension: string; readonly textIn?: (saved: string) => string },
): Promise<string> {
  const keep = (saved: string) => {
    if (ctx.writes && saved !== opened) ctx.writes.text = textIn(saved);
  };
  const saved = await ctx.ask.edit(opened, { extension, failed: keep });
  keep(saved);
  return textIn(saved);
}

type Asking = Pick<Context, 'env' | 'ask'>;

/** An editor that the user names and asks for may be a script, which needs no terminal: as with git. */
export const canOpenEditor = ({ env, ask }: Asking, { noInput }: Settings): boolean =>
  !noInput && (ask.canAsk || Boolean(env.VISUAL?.trim() || env.EDITOR?.trim()));

/** @throws Failure `usage` where there is no terminal, and no script that stands in for the editor */
export function needEditor(ctx: Asking, settings: Settings, hint: string): void {
  if (!canOpenEditor(ctx, settings)) throw new Failure('usage', 'The editor needs a terminal.', { hint });
}
