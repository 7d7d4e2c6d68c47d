import type { Output, Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { onlyColours } from '../text/sanitize.ts';
import { painter, plain, wantsColor } from './paint.ts';
import type { Terminal, View } from './view.ts';
import type { Sink } from './write.ts';

/** A view on its way out. */
export type Printing = {
  readonly ctx: Context;
  readonly settings: Settings;
  readonly view: View;
  readonly sink: Sink;
  /** `rows`: tab-separated, in a pipe. */
  readonly format: Output | 'rows' | 'jq';
};

/** A whole text. On a terminal that is too low for it, through the pager; and only our own colours are obeyed there. */
export async function put({ ctx, settings, sink }: Printing, exact: string): Promise<boolean> {
  const { isTTY, rows = 24 } = ctx.stdout;
  const text = isTTY ? onlyColours(exact) : exact;
  const isLong = isTTY && !settings.noInput && ctx.env.TERM !== 'dumb' && text.split('\n', rows + 1).length > rows;
  if (isLong && ctx.page) {
    ctx.progress(undefined);
    if (await ctx.page(settings.pager, text)) return true;
  }
  if (text !== '') await sink.write(text.endsWith('\n') ? text : `${text}\n`);
  return sink.flush();
}

/** `width` is for where nothing tells it. */
export async function terminalOf({ ctx, settings }: Printing, width: number): Promise<Terminal> {
  const { isTTY, columns } = ctx.stdout;
  const colored = wantsColor(ctx, settings, ctx.stdout);
  return {
    width: isTTY ? columns || 80 : width,
    paint: colored ? await painter(ctx.env) : plain,
    now: isTTY ? ctx.clock.now() : undefined,
  };
}
