import type { Context } from '../context.ts';
import { exitCodes } from '../errors.ts';
import type { Settings } from '../settings.ts';
import type { Data, View } from './command.ts';
import { type Format, type Printing, put, terminalOf } from './printing.ts';
import { sanitize } from './sanitize.ts';
import { sinkTo } from './write.ts';

/**
 * Turns a View into bytes: the only code that writes to standard output. Returns the exit code.
 * A closed pipe is a good end (product.md, section 4), so nothing is said after it.
 */
export async function print(ctx: Context, view: View, settings: Settings): Promise<number> {
  const sink = sinkTo(ctx.stdout, () => ctx.progress(undefined));
  const printing = { ctx, settings, view, sink, format: formatOf(ctx, settings) };
  const readToTheEnd = await printData(printing, view.data);
  ctx.progress(undefined);
  if (!readToTheEnd) return 0;
  const notes = typeof view.notes === 'function' ? view.notes() : (view.notes ?? []);
  if (!settings.quiet) for (const note of notes) ctx.notice(sanitize(note, { keepNewlines: true }));
  const outcome = typeof view.outcome === 'function' ? view.outcome() : view.outcome;
  return view.exitCode ?? (outcome ? exitCodes[outcome] : 0);
}

/** A wrong --jq is said before anything is sent. */
export async function checkOutput({ jq }: Pick<Settings, 'jq'>): Promise<void> {
  if (jq === undefined) return;
  const { checkFilter } = await import('./jq.ts');
  await checkFilter(jq);
}

function formatOf(ctx: Context, { jq, output }: Settings): Format {
  if (jq !== undefined) return 'jq';
  return output ?? (ctx.stdout.isTTY ? 'table' : 'rows');
}

async function printData(printing: Printing, data: Data): Promise<boolean> {
  const { view, format, settings } = printing;
  const forPeople = settings.fields === undefined && data.shape !== 'stream';
  if (format === 'table' && forPeople && view.human) return put(printing, view.human(await terminalOf(printing, 80)));
  if (format === 'rows' && forPeople && view.plain) return put(printing, view.plain());
  if (data.shape === 'nothing') return true;
  if (data.shape === 'text') return put(printing, data.text);
  const { printList, printRecord, printStream } = await import('./print-data.ts');
  if (data.shape === 'stream') return printStream(printing, data);
  return data.shape === 'list' ? printList(printing, data) : printRecord(printing, data);
}
