import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import type { Paint, Style } from './view.ts';

type Wish = Pick<Settings, 'color'>;

/** The flag, then NO_COLOR (no-color.org), then FORCE_COLOR, then the configuration, then what the stream is. */
export function wantsColor(ctx: Pick<Context, 'env'>, { color }: Wish, stream: { readonly isTTY?: boolean }): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = ctx.env;
  if (color === 'never' || (NO_COLOR ?? '') !== '') return false;
  if (FORCE_COLOR) return !['0', 'false'].includes(FORCE_COLOR);
  if (color === 'always') return true;
  return stream.isTTY === true && TERM !== 'dumb';
}

export const plain: Paint = (_, text) => text;

/**
 * Colours of the 256 that every such terminal shows alike, chosen to be read on white and on black. Those of the sixteen
 * are each theme's own: yellow cannot be read on white, nor green and cyan where they are bright.
 */
export const shades: Readonly<Record<Exclude<Style, 'bold' | 'dim'>, number>> = {
  red: 160,
  green: 28,
  orange: 130,
  blue: 26,
  magenta: 133,
  cyan: 30,
};

/** Loads chalk: only for where there is something to colour. */
export async function painter(env: Context['env']): Promise<Paint> {
  const { Chalk } = await import('chalk');
  if (!hasShades(env)) {
    const chalk = new Chalk({ level: 1 });
    // Of the sixteen none is orange: what stands out must do.
    return (style, text) => chalk[style === 'orange' ? 'bold' : style](text);
  }
  const chalk = new Chalk({ level: 2 });
  return (style, text) =>
    style === 'bold' || style === 'dim' ? chalk[style](text) : chalk.ansi256(shades[style])(text);
}

/** Whether the terminal shows 256 colours, as nearly all do. */
export function hasShades({
  FORCE_COLOR = '',
  COLORTERM,
  TERM = '',
  TERM_PROGRAM,
  WT_SESSION,
}: Context['env']): boolean {
  if (/^[0-3]$/u.test(FORCE_COLOR)) return Number(FORCE_COLOR) > 1;
  return (
    Boolean(COLORTERM || WT_SESSION || TERM_PROGRAM) || /256|direct|kitty|alacritty|ghostty|foot|wezterm/u.test(TERM)
  );
}
