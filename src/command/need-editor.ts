import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';

type Asking = Pick<Context, 'env' | 'ask'>;

/** An editor that the user names and asks for may be a script, which needs no terminal: as with git. */
export const canOpenEditor = ({ env, ask }: Asking, { noInput }: Settings): boolean =>
  !noInput && (ask.canAsk || Boolean(env.VISUAL?.trim() || env.EDITOR?.trim()));

/** @throws Failure `usage` where there is no terminal, and no script that stands in for the editor */
export function needEditor(ctx: Asking, settings: Settings, hint: string): void {
  if (!canOpenEditor(ctx, settings)) throw new Failure('usage', 'The editor needs a terminal.', { hint });
}
