import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';

/** @throws Failure `usage` where there is no terminal, and no script that stands in for the editor */
export function needEditor({ env, ask }: Pick<Context, 'env' | 'ask'>, { noInput }: Settings, hint: string): void {
  const isScripted = Boolean(env.VISUAL?.trim() || env.EDITOR?.trim());
  if (noInput || !(ask.canAsk || isScripted)) throw new Failure('usage', 'The editor needs a terminal.', { hint });
}
