import { nameKey } from '../command/row.ts';
import { isSameFile, openDraft } from '../disk/draft-file.ts';
import { Failure, messageOf } from '../errors.ts';
import type { FileFlags } from './flags.ts';
import type { Plan } from './plan.ts';
import { type Report, type Result, resultOf } from './report.ts';
import type { Totals } from './run.ts';

type Out = Pick<FileFlags, 'results' | 'rejects' | 'report'>;

/** Files that are written must be neither the one that is read nor each other. */
export async function refuseOverwriting(
  inputs: readonly (string | undefined)[],
  { results, rejects, report }: Out,
): Promise<void> {
  const taken = inputs.filter((path): path is string => path !== undefined && path !== '-');
  for (const [flag, path] of Object.entries({ results, rejects, report })) {
    if (path === undefined) continue;
    for (const other of taken) {
      if (await isSameFile(path, other)) {
        throw new Failure('usage', `--${flag} would overwrite ${other}.`, { hint: 'Name another file.' });
      }
    }
    taken.push(path);
  }
}

export async function writeFiles(
  plan: Plan,
  totals: Totals,
  report: Report,
  flags: Out,
  hasSecrets: boolean,
): Promise<void> {
  const { results, rejects } = flags;
  if (results !== undefined) await write(results, resultsOf(plan, totals, results, hasSecrets), hasSecrets);
  if (rejects !== undefined) await write(rejects, rejectsOf(plan, totals, rejects), false);
  if (flags.report !== undefined) await write(flags.report, [`${JSON.stringify(report, undefined, 2)}\n`], false);
}

async function write(path: string, pieces: Iterable<string> | AsyncIterable<string>, isSecret: boolean): Promise<void> {
  const { pipeline } = process.getBuiltinModule('node:stream/promises');
  const draft = await openDraft(path, isSecret ? 0o600 : undefined);
  try {
    await pipeline(pieces, draft.stream, { end: false });
    await draft.keep();
  } catch (error) {
    await draft.drop();
    throw new Failure('failed', `${path} could not be written: ${messageOf(error)}.`, {
      hint: 'The rows are journaled: run the same command again to have the files written.',
      cause: error,
    });
  }
}

/** Every row with what became of it. */
async function* resultsOf(plan: Plan, totals: Totals, path: string, hasSecrets: boolean): AsyncGenerator<string> {
  const added = ['svc_line', 'svc_status', 'svc_id', 'svc_error', ...(hasSecrets ? ['svc_secret'] : [])];
  const cellsOf = (line: number, { status, id, error, secret }: Result) => [
    line,
    status,
    id ?? null,
    error ?? null,
    secret ?? null,
  ];
  yield* rowsOut(plan, path, added, (index, line) =>
    cellsOf(line, resultOf(plan, totals, index)).slice(0, added.length),
  );
}

/** The rejected rows, to be fixed and sent again with the same flags. */
async function* rejectsOf(plan: Plan, totals: Totals, path: string): AsyncGenerator<string> {
  yield* rowsOut(plan, path, ['svc_line', 'svc_error'], (index, line) => {
    const { status, error } = resultOf(plan, totals, index);
    return status === 'rejected' ? [line, error ?? ''] : undefined;
  });
}

type Added = (index: number, line: number) => readonly unknown[] | undefined;

/** The rows with their own columns, and ours behind them. JSON Lines where the name says so, else CSV. */
async function* rowsOut(plan: Plan, path: string, added: readonly string[], addedTo: Added): AsyncGenerator<string> {
  const { stringify } = await import('csv-stringify/sync');
  const { rows } = plan;
  // What an earlier run has added is replaced.
  const kept = rows.columns.flatMap((name, at) =>
    /^svc_(?:line|status|id|error|secret)$/u.test(nameKey(name)) ? [] : [at],
  );
  const isJson = /\.(?:jsonl|ndjson)$/iu.test(path);
  const csvOf = (cells: readonly unknown[]): string =>
    // A lone CR ends a row for many readers too.
    stringify([cells.map(asText)], { delimiter: rows.delimiter, record_delimiter: '\r\n', quoted_match: /[\r\n]/u });
  if (!isJson) {
    const bom = rows.form === 'csv' && (rows.source.hasBom || rows.source.encoding !== 'utf-8') ? '\ufeff' : '';
    yield bom + csvOf([...kept.map((at) => rows.columns[at]), ...added]);
  }
  let index = 0;
  for await (const batch of rows.read()) {
    let text = '';
    for (const { line, cells } of batch) {
      const more = addedTo(index++, line);
      if (!more) continue;
      if (isJson) {
        const entries = kept.flatMap((at) => (cells[at] === undefined ? [] : [[rows.columns[at], cells[at]] as const]));
        text += `${JSON.stringify(Object.fromEntries([...entries, ...added.map((name, at) => [name, more[at]] as const)]))}\n`;
      } else {
        // Cells beyond the header's are what is wrong with the row: they stay in sight.
        text += csvOf([...kept.map((at) => cells[at]), ...more, ...cells.slice(rows.columns.length)]);
      }
    }
    if (text !== '') yield text;
  }
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(';');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
