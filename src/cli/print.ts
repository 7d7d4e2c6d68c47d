import type { Context } from '../context.ts';
import { exitCodes, Failure } from '../errors.ts';
import type { Output, Settings } from '../settings.ts';
import type { Data, Terminal, View } from './command.ts';
import { pick, refuseUnknownFields } from './fields.ts';
import { painter, plain, wantsColor } from './paint.ts';
import { sanitize, toJson } from './sanitize.ts';
import { type Sink, sinkTo } from './write.ts';

/** `rows`: tab-separated, in a pipe. */
type Format = Output | 'rows' | 'jq';

/** Nothing was changed to get the data, so a field of --fields that does not exist may still end in exit 2. */
export type Printable = View & { readonly read?: boolean };

type Printing = {
  readonly ctx: Context;
  readonly settings: Settings;
  readonly view: Printable;
  readonly sink: Sink;
  readonly format: Format;
};

/**
 * Turns a View into bytes: the only code that writes to standard output. Returns the exit code.
 * A closed pipe is a good end (product.md, section 4), so nothing is said after it.
 */
export async function print(ctx: Context, view: Printable, settings: Settings): Promise<number> {
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

function formatOf(ctx: Context, { jq, output }: Settings): Format {
  if (jq !== undefined) return 'jq';
  return output ?? (ctx.stdout.isTTY ? 'table' : 'rows');
}

async function printData(printing: Printing, data: Data): Promise<boolean> {
  const { sink, view, format, settings } = printing;
  if (data.shape === 'stream') return printStream(printing, data);
  const forPeople = settings.fields === undefined;
  if (format === 'table' && forPeople && view.human) return put(printing, view.human(await terminalOf(printing)));
  if (format === 'rows' && forPeople && view.plain) return endLine(sink, view.plain());
  if (data.shape === 'nothing') return true;
  if (data.shape === 'text') return put(printing, data.text);
  return data.shape === 'list' ? printList(printing, data) : printRecord(printing, data);
}

async function printRecord(printing: Printing, data: Data & { shape: 'record' }): Promise<boolean> {
  const { settings, sink, format, view } = printing;
  const { fields } = settings;
  if (fields && view.read) refuseUnknownFields(data.record, fields);
  const columns = fields ?? data.columns;
  const record = fields ? pick(data.record, fields) : data.record;
  switch (format) {
    case 'json':
      return put(printing, toJson(record, 2));
    case 'jsonl':
      return put(printing, toJson(record));
    case 'table': {
      const { recordTable } = await import('./table.ts');
      const { width, paint } = await terminalOf(printing);
      return put(printing, recordTable(data.record, columns, width, paint));
    }
    case 'rows': {
      const { cellForPipe, entriesOf } = await import('./views.ts');
      const lines = entriesOf(data.record, columns).map(
        ({ path, value }) => `${cellForPipe(path)}\t${cellForPipe(value)}\n`,
      );
      return endLine(sink, lines.join(''));
    }
    default:
      throw new Failure('usage', `Output as ${format} is not there yet.`);
  }
}

async function printList(printing: Printing, data: Data & { shape: 'list' }): Promise<boolean> {
  const { settings, sink, format } = printing;
  const columns = settings.fields ?? data.columns;
  switch (format) {
    case 'json':
      return printArray(sink, await collect(printing, data.records));
    case 'jsonl':
      return eachLine(printing, data.records, (record) => toJson(chosen(printing, record)));
    case 'table': {
      const records = await collect(printing, data.records, false);
      if (records.length === 0) {
        if (data.empty && !settings.quiet) printing.ctx.notice(data.empty);
        return true;
      }
      const [{ table }, { settleColumns }] = [await import('./table.ts'), await import('./views.ts')];
      const { width, paint } = await terminalOf(printing);
      return put(printing, table(records, settleColumns(columns), width, paint));
    }
    case 'rows': {
      const [{ cellForPipe, settleColumns }, { valueAt }] = [await import('./views.ts'), await import('./fields.ts')];
      const paths = settleColumns(columns).map(({ path }) => path);
      return eachLine(printing, data.records, (record) =>
        paths.map((path) => cellForPipe(valueAt(record, path))).join('\t'),
      );
    }
    default:
      throw new Failure('usage', `Output as ${format} is not there yet.`);
  }
}

/** Records as they come. A line each, handed on at once: somebody watches. */
async function printStream(printing: Printing, data: Data & { shape: 'stream' }): Promise<boolean> {
  const { sink, format } = printing;
  const terminal = printing.ctx.stdout.isTTY ? await terminalOf(printing) : undefined;
  for await (const record of data.records) {
    const line =
      format === 'table' || format === 'rows' ? data.line(record as never, terminal) : toJson(chosen(printing, record));
    await sink.write(`${line}\n`);
    if (!(await sink.flush())) return false;
  }
  return true;
}

const chosen = ({ settings }: Printing, record: unknown): unknown =>
  settings.fields ? pick(record, settings.fields) : record;

/** Looks at the first record only: the service sends every documented field always. */
async function* checked(printing: Printing, records: Iterable<unknown> | AsyncIterable<unknown>) {
  const { fields } = printing.settings;
  let first = true;
  for await (const record of records) {
    if (first && fields && printing.view.read) refuseUnknownFields(record, fields);
    first = false;
    yield record;
  }
}

/** Everything before the first byte, so that a failure midway prints no half document. */
async function collect(printing: Printing, records: Iterable<unknown> | AsyncIterable<unknown>, fields = true) {
  const collected: unknown[] = [];
  for await (const record of checked(printing, records)) collected.push(fields ? chosen(printing, record) : record);
  return collected;
}

async function printArray(sink: Sink, records: readonly unknown[]): Promise<boolean> {
  if (records.length === 0) return endLine(sink, '[]');
  for (const [at, record] of records.entries()) {
    const json = toJson(record, 2).replaceAll('\n', '\n  ');
    if (!(await sink.write(`${at === 0 ? '[\n' : ',\n'}  ${json}`))) return false;
  }
  return endLine(sink, '\n]');
}

async function eachLine(
  printing: Printing,
  records: Iterable<unknown> | AsyncIterable<unknown>,
  line: (record: unknown) => string,
): Promise<boolean> {
  const { sink } = printing;
  try {
    for await (const record of checked(printing, records)) if (!(await sink.write(`${line(record)}\n`))) return false;
  } finally {
    // Also after a failure midway: what came before it is good.
    await sink.flush();
  }
  return sink.flush();
}

async function endLine(sink: Sink, text: string): Promise<boolean> {
  if (text !== '') await sink.write(text.endsWith('\n') ? text : `${text}\n`);
  return sink.flush();
}

const put = ({ sink }: Printing, text: string): Promise<boolean> => endLine(sink, text);

async function terminalOf({ ctx, settings }: Printing): Promise<Terminal> {
  const { isTTY, columns } = ctx.stdout;
  const colored = wantsColor(ctx, settings, isTTY);
  return {
    // A table that was asked for in a pipe is whole.
    width: isTTY ? (columns ?? 80) : Number.POSITIVE_INFINITY,
    paint: colored ? await painter(true) : plain,
    now: ctx.clock.now(),
  };
}
