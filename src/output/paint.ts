import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import type { Paint } from './view.ts';

type Wish = Pick<Settings, 'color'>;

/** The flag, then NO_COLOR (no-color.org), then FORCE_COLOR, then the configuration, then what the stream is. */
export function wantsColor(ctx: Pick<Context, 'env'>, { color }: Wish, isTTY: boolean | undefined): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = ctx.env;
  if (color === 'never' || (NO_COLOR ?? '') !== '') return false;
  if (FORCE_COLOR) return !['0', 'false'].includes(FORCE_COLOR);
  if (color === 'always') return true;
  return isTTY === true && TERM !== 'dumb';
}

export const plain: Paint = (_, text) => text;

/** Loads chalk only where there is something to colour. */
export async function painter(wanted: boolean): Promise<Paint> {
  if (!wanted) return plain;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  return (style, text) => chalk[style](text);
}
