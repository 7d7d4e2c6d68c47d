import type { Settings } from '../config/settings.ts';
import { type Context, withContext } from '../context.ts';
import { exitCodes, Failure } from '../errors.ts';
import { message } from '../text/layout.ts';
import { sanitize } from '../text/sanitize.ts';
import { type Printing, put, terminalOf } from './sheet.ts';
import { type Data, notesIn, type View } from './view.ts';
import { isLostOutput, type Sink, sinkTo } from './write.ts';

/**
 * Turns a View into bytes: the only code that writes to standard output. Returns the exit code, which tells of what the
 * command did: a closed pipe never changes it, and where all went well nothing is said after it.
 * Output that did not arrive for any other reason is never a success.
 */
export async function print(ctx: Context, view: View, settings: Settings): Promise<number> {
  const arrived = await arrival(
    view,
    view.file === undefined ? printTo(ctx, view, settings) : save(ctx, view, settings),
  );
  ctx.progress(undefined);
  // What was still coming when the reader left has no outcome.
  const code = arrived === 'nobody reads' && isComing(view.data) ? 0 : codeOf(view);
  if (arrived === 'nobody reads' && code === 0 && !view.failure) return 0;
  const isLost = arrived instanceof Failure;
  // What was read and did not arrive is not told of as done.
  const notes = isLost && isRead(view) ? [] : notesOf(ctx, view, settings);
  if (!settings.quiet) for (const note of notes) ctx.notice(note);
  if (isLost && (code !== 0 || view.failure)) ctx.notice(arrived.message);
  if (view.failure) throw view.failure;
  if (code === exitCodes.partial && view.exitCode === undefined) {
    const { printForMachines } = await import('./failure.ts');
    await printForMachines(ctx, new Failure('partial', view.why ?? notes[0] ?? notAll), settings);
  }
  if (isLost && code === 0) throw isRead(view) ? arrived : afterWriting(arrived);
  return code;
}

const afterWriting = ({ kind, message, cause }: Failure): Failure =>
  new Failure(kind, message, {
    hint: 'What the command did stays done; do not repeat it for its output.',
    done: [],
    cause,
  });

/** A filter that fails over what was written loses the output as a full disk does: how the writing went comes first. */
const arrival = (view: View, printing: Promise<boolean>): Promise<'whole' | 'nobody reads' | Failure> =>
  printing.then(
    (isWhole) => (isWhole ? 'whole' : 'nobody reads'),
    (error) => {
      const isFiltered = error instanceof Failure && error.kind === 'failed' && !isRead(view) && !isComing(view.data);
      if (isLostOutput(error) || isFiltered) return error;
      throw error;
    },
  );

/** Read while it is printed; all else was done before the first byte, or is done whoever reads. */
const isComing = (data: Data): boolean =>
  'records' in data && Symbol.asyncIterator in data.records && !(data.shape === 'stream' && data.isDone);

const isRead = ({ read, data }: View): boolean => read === true || data.shape === 'text';

function codeOf({ exitCode, outcome }: View): number {
  if (exitCode !== undefined) return typeof exitCode === 'function' ? exitCode() : exitCode;
  const kind = typeof outcome === 'function' ? outcome() : outcome;
  return kind ? exitCodes[kind] : 0;
}

const notAll = 'Not all of it was done (exit 8).';

function notesOf(ctx: Context, view: View, settings: Settings): readonly string[] {
  const told = notesIn(view);
  // On a terminal it was said in place of the record.
  const notes = isOneLine(ctx, view, settings) ? told.filter((note) => note !== view.done) : told;
  // Whoever only sees the exit code in a log must not look for the reason in the data.
  const isBare =
    view.exitCode === undefined &&
    notes.length === 0 &&
    codeOf(view) === exitCodes.partial &&
    !view.failure &&
    !ctx.stdout.isTTY;
  return isBare ? [notAll] : notes.map((note) => sanitize(note));
}

const isOneLine = ({ stdout }: Context, { done, file }: View, { output, fields, jq }: Settings): boolean =>
  done !== undefined &&
  file === undefined &&
  stdout.isTTY === true &&
  [output, fields, jq].every((asked) => asked === undefined);

async function printTo(ctx: Context, view: View, settings: Settings): Promise<boolean> {
  const { isTTY } = ctx.stdout;
  // What is on the screen would be written through; a file has no part in that.
  const beforeWriting = () => view.file === undefined && ctx.progress(undefined);
  const { signal, clock } = ctx;
  const named = view.file !== undefined && { name: view.file };
  const asked = view.isBare && settings.isOutputKept && !settings.fields ? undefined : settings.output;
  const format = settings.jq === undefined ? (asked ?? view.output ?? (isTTY ? 'table' : 'rows')) : 'jq';
  const sink = await harmless(ctx, view, format, sinkTo(ctx.stdout, { beforeWriting, signal, clock, ...named }));
  if (view.head) await sink.write(isTTY ? sanitize(view.head, { keepNewlines: true }) : inPipe(view.head));
  return printData({ ctx, settings, view, sink, format }, view.data);
}

/** What programs are meant to read, which a job has in a variable or a pipe far more often than in its log. */
const forPrograms: Readonly<Record<Printing['format'], boolean>> = {
  table: false,
  rows: false,
  json: true,
  jsonl: true,
  csv: true,
  yaml: true,
  jq: true,
};

/** A file is not read as it is written. */
async function harmless(ctx: Context, view: View, format: Printing['format'], sink: Sink): Promise<Sink> {
  const isExact = forPrograms[format] && view.data.shape !== 'text';
  if (!ctx.runner || ctx.stdout.isFile || view.file !== undefined || isExact) return sink;
  return (await import('./in-job.ts')).inertSink(sink);
}

/** A header is no body: what a terminal obeys is made visible in a pipe too, which often ends at one. A tab stays. */
const inPipe = (head: string): string =>
  head
    .split('\t')
    .map((part) => sanitize(part, { keepNewlines: true }))
    .join('\t');

/** Into the file that the user named, which appears once it is whole. */
async function save(ctx: Context, view: View, settings: Settings): Promise<boolean> {
  const { openDraft } = await import('../disk/draft/draft-file.ts');
  const draft = await openDraft(view.file ?? '', ctx);
  try {
    const isWhole = await printTo(withContext(ctx, { stdout: draft.stream }), view, settings);
    await draft.keep();
    return isWhole;
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
    const { doneLine } = await import('./done.ts');
    return put(printing, doneLine(view.done, await terminalOf(printing, 80)));
  }
  const forPeople = settings.fields === undefined && data.shape !== 'stream';
  if (view.said !== undefined && forPeople && (format === 'table' || format === 'rows')) {
    const { width } = await terminalOf(printing, Number.POSITIVE_INFINITY);
    return put(printing, message(view.said, width));
  }
  if (format === 'table' && forPeople && view.human)
    return put(printing, await view.human(await terminalOf(printing, 80)));
  if (format === 'rows' && forPeople && view.plain) return put(printing, view.plain());
  if (data.shape === 'nothing') return true;
  if (data.shape === 'text') return put(printing, data.text);
  const { byHeaders, printList, printRecord, printStream } = await import('./records.ts');
  if (data.shape === 'stream') return printStream(printing, data);
  const named = await byHeaders(printing, data);
  return data.shape === 'list' ? printList(named, data) : printRecord(named, data);
}
