import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { accountVariable } from '../env.ts';
import type { Failure } from '../errors.ts';
import { message } from '../text/layout.ts';
import { sanitize, toJson } from '../text/sanitize.ts';
import { painter, plain, wantsColor } from './paint.ts';
import { hearErrors, unlessStuck } from './write.ts';

type Wish = Partial<Pick<Settings, 'color' | 'output' | 'jq'>>;

/**
 * One line of fact, one of advice, on standard error; a refused field a line. With --json a last line is the same for
 * machines. Resolves when it is written, or cannot be, or nobody reads it after a signal.
 */
export async function printFailure(ctx: Context, failure: Failure, settings: Wish = {}): Promise<number> {
  ctx.progress(undefined);
  const isColored = wantsColor(ctx, { color: settings.color ?? 'auto' }, ctx.stderr);
  const paint = isColored ? await painter(ctx.env) : plain;
  const shown = (text: string, indent = '') =>
    ctx.stderr.isTTY && ctx.stderr.columns ? message(text, ctx.stderr.columns, indent) : text;
  const lines = [
    shown(`Error: ${sanitize(failure.message)}`).replace('Error:', () => paint('red', 'Error:')),
    ...Object.entries(failure.fields ?? {}).flatMap(([field, messages]) =>
      // The message may be just this.
      messages
        .filter((one) => failure.message !== `${field} ${one.replace(/\.$/u, '')}.`)
        .map((one) => `  ${shown(`${sanitize(field)}: ${sanitize(one)}`, '  ')}`),
    ),
  ];
  if (failure.hint) lines.push(shown(sanitize(failure.hint, { keepNewlines: true })));
  // `svc each` has to know what was done, in whichever form the rest is asked for.
  if (isForMachines(settings) || accountVariable in ctx.env) lines.push(toJson(failure));
  await written(ctx, lines);
  return failure.exitCode;
}

export const isForMachines = ({ output, jq }: Wish): boolean =>
  output === 'json' || output === 'jsonl' || jq !== undefined;

/**
 * The last line of a command that people were told of by its notes, and that is no success all the same. Who picks
 * something out of its report with --jq has that.
 */
export async function printForMachines(ctx: Context, failure: Failure, settings: Wish): Promise<void> {
  if (isForMachines(settings) && settings.jq === undefined) await written(ctx, [toJson(failure)]);
}

async function written(ctx: Context, lines: readonly string[]): Promise<void> {
  hearErrors(ctx.stderr);
  const writing = new Promise<true>((resolve) => ctx.stderr.write(`${lines.join('\n')}\n`, () => resolve(true)));
  await unlessStuck(writing, 'Standard error', ctx).catch(() => {});
}
