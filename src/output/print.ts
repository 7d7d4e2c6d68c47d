import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { exitCodes } from '../errors.ts';
import { sanitize } from '../text/sanitize.ts';
import { type Printing, put, terminalOf } from './sheet.ts';
import type { Data, View } from './view.ts';
import { sinkTo } from './write.ts';

/**
 * Turns a View into bytes: the only code that writes to standard output. Returns the exit code.
 * A closed pipe is a good end (product.md, section 4), so nothing is said after it.
 */
export async function print(ctx: Context, view: View, settings: Settings): Promise<number> {
  const readToTheEnd = view.file === undefined ? await printTo(ctx, view, settings) : await save(ctx, view, settings);
  ctx.progress(undefined);
  if (!readToTheEnd && !view.failure) return 0;
  const told = typeof view.notes === 'function' ? view.notes() : (view.notes ?? []);
  // On a terminal it was said in place of the record.
  const notes = isOneLine(ctx, view, settings) ? told.filter((note) => note !== view.done) : told;
  if (!settings.quiet) for (const note of notes) ctx.notice(sanitize(note, { keepNewlines: true }));
  if (view.failure) throw view.failure;
  const outcome = typeof view.outcome === 'function' ? view.outcome() : view.outcome;
  // Whoever only sees the exit code in a log must not look for the reason in the data.
  if (outcome === 'partial' && notes.length === 0 && !ctx.stdout.isTTY) ctx.notice('Not all of it was done (exit 8).');
  return view.exitCode ?? (outcome ? exitCodes[outcome] : 0);
}

const isOneLine = ({ stdout }: Context, { done, file }: View, { output, fields, jq }: Settings): boolean =>
  done !== undefined &&
  file === undefined &&
  stdout.isTTY === true &&
  [output, fields, jq].every((asked) => asked === undefined);

async function printTo(ctx: Context, view: View, settings: Settings): Promise<boolean> {
  const { isTTY } = ctx.stdout;
  // What is on the screen would be written through; a file has no part in that.
  const sink = sinkTo(ctx.stdout, () => view.file === undefined && ctx.progress(undefined));
  const format = settings.jq === undefined ? (settings.output ?? view.output ?? (isTTY ? 'table' : 'rows')) : 'jq';
  if (view.head) await sink.write(isTTY ? sanitize(view.head, { keepNewlines: true }) : view.head);
  return printData({ ctx, settings, view, sink, format }, view.data);
}

/** Into the file that the user named, which appears once it is whole. */
async function save(ctx: Context, view: View & { file?: string }, settings: Settings): Promise<boolean> {
  const { openDraft } = await import('../disk/draft-file.ts');
  const draft = await openDraft(view.file ?? '');
  try {
    await printTo(Object.create(ctx, { stdout: { value: draft.stream } }) as Context, view, settings);
    await draft.keep();
    return true;
  } catch (error) {
    await draft.drop();
    throw error;
  }
}

/** A wrong --jq is said before anything is sent. */
export async function checkOutput({ jq }: Pick<Settings, 'jq'>, signal: AbortSignal): Promise<void> {
  if (jq === undefined) return;
  const { checkFilter } = await import('./jq.ts');
  await checkFilter(jq, signal);
}

async function printData(printing: Printing, data: Data): Promise<boolean> {
  const { view, format, settings, ctx } = printing;
  if (view.done !== undefined && isOneLine(ctx, view, settings)) {
    const { width, paint } = await terminalOf(printing, 80);
    const { wrap } = await import('../text/width.ts');
    return put(printing, `${paint('green', '✓')} ${wrap(sanitize(view.done), Math.max(1, width - 2)).join('\n  ')}`);
  }
  const forPeople = settings.fields === undefined && data.shape !== 'stream';
  if (format === 'table' && forPeople && view.human)
    return put(printing, await view.human(await terminalOf(printing, 80)));
  if (format === 'rows' && forPeople && view.plain) return put(printing, view.plain());
  if (data.shape === 'nothing') return true;
  if (data.shape === 'text') return put(printing, data.text);
  const { printList, printRecord, printStream } = await import('./records.ts');
  if (data.shape === 'stream') return printStream(printing, data);
  return data.shape === 'list' ? printList(printing, data) : printRecord(printing, data);
}
