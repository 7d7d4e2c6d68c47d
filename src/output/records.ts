import { Failure } from '../errors.ts';
import { onlyColours, sanitize, toJson } from '../text/sanitize.ts';
import { pathsOf, pick, refuseUnknownFields, refuseUnlisted, valueAt } from './fields.ts';
import { type Printing, put, terminalOf } from './sheet.ts';
import type { Column, Data } from './view.ts';

type Records = Iterable<unknown> | AsyncIterable<unknown>;

/** The same with fields that were asked for by the words of the table's header; a field's own name stays that. */
export async function byHeaders(printing: Printing, data: Data & { shape: 'list' | 'record' }): Promise<Printing> {
  const { settings } = printing;
  if (!settings.fields) return printing;
  const { fieldsNamed } = await import('./headers.ts');
  if (data.shape === 'record') {
    const { record } = data;
    const columns = [...(data.columns ?? []), ...(data.labels ?? []), ...pathsOf(record)];
    return withFields(
      printing,
      fieldsNamed(settings.fields, columns, (name) => valueAt(record, name) !== undefined),
    );
  }
  const { pathOf } = await import('./cells.ts');
  const listed = data.known === 'any' ? [] : (data.known ?? []);
  const known = [...(data.fields ?? []), ...listed, ...data.columns.map(pathOf)];
  const isField = (name: string) => known.some((path) => path === name || path.startsWith(`${name}.`));
  return withFields(
    printing,
    fieldsNamed(settings.fields, [...data.columns, ...(data.labels ?? []), ...(data.fields ?? [])], isField),
  );
}

const withFields = (printing: Printing, fields: readonly string[]): Printing => ({
  ...printing,
  settings: { ...printing.settings, fields },
});

export async function printRecord(printing: Printing, data: Data & { shape: 'record' }): Promise<boolean> {
  const { settings, format, view } = printing;
  const { record } = data;
  if (settings.fields && view.read) refuseUnknownFields(record, settings.fields);
  const columns = settings.fields ?? data.columns;
  switch (format) {
    case 'json':
      return put(printing, toJson(chosen(printing, record), 2));
    case 'jsonl':
      return put(printing, toJson(chosen(printing, record)));
    case 'yaml':
      return put(printing, await yamlOf(chosen(printing, record)));
    case 'jq':
      return put(printing, await jqOf(printing, chosen(printing, record)));
    case 'csv':
      return printCsv(printing, [record], settings.fields ?? pathsOf(record, { freeForm: 'whole' }));
    case 'table': {
      const { recordTable } = await import('./table.ts');
      return put(printing, recordTable(record, columns, await terminalOf(printing, Number.POSITIVE_INFINITY)));
    }
    case 'rows': {
      const { entriesOf, rowForPipe } = await import('./cells.ts');
      const lines = entriesOf(record, columns).map(({ path, value }) => `${rowForPipe(path, value)}\n`);
      return put(printing, lines.join(''));
    }
  }
}

/** Of a list that contradicts itself what came is printed, whole; then comes the Failure. */
export async function printList(printing: Printing, data: Data & { shape: 'list' }): Promise<boolean> {
  let short: Failure | undefined;
  async function* readable() {
    try {
      yield* data.records;
    } catch (error) {
      if (!(error instanceof Failure && error.isShort)) throw error;
      short = error;
    }
  }
  const isWhole = await printRecords(printing, { ...data, records: readable() });
  if (short) throw short;
  return isWhole;
}

async function printRecords(printing: Printing, data: Data & { shape: 'list' }): Promise<boolean> {
  const { settings, format, ctx } = printing;
  const { columns } = data;
  switch (format) {
    case 'json':
      return printArray(printing, await collect(printing, data.records));
    case 'jsonl':
      return eachLine(printing, data.records, (record) => `${toJson(chosen(printing, record))}\n`);
    case 'yaml':
      return put(printing, await yamlOf(await collect(printing, data.records)));
    case 'jq':
      if (settings.output === 'jsonl') {
        return eachLine(printing, data.records, (record) => jqOf(printing, chosen(printing, record)));
      }
      return put(printing, await jqOf(printing, await collect(printing, data.records)));
    case 'csv':
      return printCsv(printing, data.records, settings.fields ?? data.fields, data.columns);
    case 'table': {
      const records: unknown[] = [];
      for await (const record of checked(printing, data.records)) records.push(record);
      if (records.length === 0) {
        if (data.empty && !settings.quiet) ctx.notice(data.empty);
        return true;
      }
      const [{ laidOut }, { columnsOf, settleColumns }] = [await import('./table.ts'), await import('./cells.ts')];
      const wanted = settings.fields ? columnsOf(settings.fields, columns) : columns;
      const terminal = await terminalOf(printing, Number.POSITIVE_INFINITY);
      const { text, leftOut } = laidOut(records, settleColumns(wanted), terminal);
      const isWhole = await put(printing, text);
      if ((settings.fields || data.asked) && leftOut.length > 0 && !settings.quiet) {
        const [are, them] = leftOut.length === 1 ? ['column has', 'it'] : ['columns have', 'them'];
        ctx.notice(`${leftOut.length} ${are} no room here: ${leftOut.map((name) => sanitize(name)).join(', ')}.`);
        ctx.notice(`To see ${them}: add --output json`);
      }
      return isWhole;
    }
    case 'rows': {
      const { rowForPipe, settleColumns, valueForPipe } = await import('./cells.ts');
      const shown = settleColumns(settings.fields ?? columns);
      const row = (record: unknown) => rowForPipe(...shown.map((column) => valueForPipe(record, column)));
      return eachLine(printing, data.records, (record) => `${row(record)}\n`);
    }
  }
}

/** Records as they come, a line each, handed on at once: somebody watches. */
export async function printStream(printing: Printing, data: Data & { shape: 'stream' }): Promise<boolean> {
  const { sink, format, ctx } = printing;
  const terminal = ctx.stdout.isTTY ? await terminalOf(printing, 80) : undefined;
  const line = (record: unknown): string =>
    format === 'table' || format === 'rows'
      ? `${data.line(record, terminal)}\n`
      : `${toJson(chosen(printing, record))}\n`;
  for await (const record of data.records) {
    const text = format === 'jq' ? await jqOf(printing, chosen(printing, record)) : line(record);
    await sink.write(terminal ? onlyColours(text) : text);
    if (!data.more?.() && !(await sink.flush())) return false;
  }
  return sink.flush();
}

const chosen = ({ settings }: Printing, record: unknown): unknown =>
  settings.fields ? pick(record, settings.fields) : record;

/**
 * Looks at the first record only: the service sends every documented field always. Without any, at what one of svc's own may
 * have; the service may show fields that its document does not name.
 */
async function* checked({ settings, view }: Printing, records: Records): AsyncGenerator<unknown> {
  let isFirst = true;
  for await (const record of records) {
    if (isFirst && settings.fields && view.read) refuseUnknownFields(record, settings.fields);
    isFirst = false;
    yield record;
  }
  const { data, read } = view;
  if (!isFirst || !settings.fields || !read || data.shape !== 'list' || data.known === 'any') return;
  refuseUnlisted(settings.fields, data.known ?? data.fields);
}

/** Everything before the first byte, so that a failure midway prints no half document. */
async function collect(printing: Printing, records: Records): Promise<unknown[]> {
  const collected: unknown[] = [];
  for await (const record of checked(printing, records)) collected.push(chosen(printing, record));
  return collected;
}

/** An array as JSON.stringify would indent it, without the whole text in memory. */
async function printArray(printing: Printing, records: readonly unknown[]): Promise<boolean> {
  const { sink, ctx } = printing;
  if (records.length === 0 || ctx.stdout.isTTY) return put(printing, toJson(records, 2));
  for (const [at, record] of records.entries()) {
    const json = toJson(record, 2).replaceAll('\n', '\n  ');
    if (!(await sink.write(`${at === 0 ? '[\n' : ',\n'}  ${json}`))) return false;
  }
  return put(printing, '\n]');
}

async function printCsv(
  printing: Printing,
  records: Records,
  fields: readonly string[] | undefined,
  columns: readonly Column[] = [],
): Promise<boolean> {
  const [{ csvLine }, { pathOf }] = [await import('./csv-out.ts'), await import('./cells.ts')];
  const { settings, ctx, sink } = printing;
  const line = (values: readonly unknown[]) => {
    const text = csvLine(values, settings.safeCells);
    // For a file the cells are exact; on a terminal they must not act.
    return ctx.stdout.isTTY ? sanitize(text, { keepNewlines: true }) : text;
  };
  let paths: readonly string[] | undefined;
  const read = await eachLine(printing, records, (record) => {
    const before = paths === undefined;
    paths ??= fields ?? Object.keys(Object(record));
    const row = line(paths.map((path) => valueAt(record, path)));
    return before ? line(paths) + row : row;
  });
  if (!read || paths) return read;
  await sink.write(line(fields ?? columns.map(pathOf)));
  return sink.flush();
}

/** Lines as the records come. What came before a failure midway is good, and is printed. */
async function eachLine(
  printing: Printing,
  records: Records,
  line: (record: unknown) => string | Promise<string>,
): Promise<boolean> {
  const { sink } = printing;
  try {
    for await (const record of checked(printing, records)) {
      if (!(await sink.write(await line(record)))) return false;
    }
  } finally {
    await sink.flush();
  }
  return sink.flush();
}

const yamlOf = async (value: unknown): Promise<string> => (await import('./yaml.ts')).toYaml(value);

/** Strings are raw, as gh prints them; only on a terminal are they made harmless, and objects readable. */
async function jqOf({ ctx, settings }: Printing, value: unknown): Promise<string> {
  const { filtered, resultLine } = await import('./jq.ts');
  const results = await filtered(value, settings.jq ?? '.', ctx.signal);
  const { isTTY } = ctx.stdout;
  const lines = results.map((result) => `${resultLine(result, isTTY ? 2 : undefined)}\n`).join('');
  return isTTY ? sanitize(lines, { keepNewlines: true }) : lines;
}
