import type { Context } from '../context.ts';
import { holdsText, isRead, isSameFile, openDraft, proveWritable, removeOld } from '../disk/draft/draft-file.ts';
import { diskFailure } from '../disk/file/disk-failure.ts';
import { Failure, isInterruption, messageOf } from '../errors.ts';
import type { View } from '../output/view.ts';
import { number } from '../text/number.ts';
import { type EarlierSecrets, secretsIn, wouldLose } from './earlier-secrets.ts';
import type { Files } from './ending.ts';
import { rowsInWords } from './pace.ts';

/**
 * Files that are written must be neither one that is read nor each other, must have a place, and hold no secrets that
 * would be lost. Those of earlier results are returned, where these results keep them.
 */
export async function checkFiles(
  ctx: Context,
  inputs: readonly string[],
  { results, rejects, report }: Files,
  keepsSecrets = false,
): Promise<EarlierSecrets> {
  let earlier: EarlierSecrets = new Map();
  const taken = inputs.map((path) => ({ path, isRead: true }));
  for (const [flag, path] of Object.entries({ results, rejects, report })) {
    if (path === undefined) continue;
    for (const other of taken) {
      if (!(await (other.isRead ? isRead(ctx, path, other.path) : isSameFile(path, other.path)))) continue;
      const what = other.isRead ? 'the file that is read' : other.path;
      throw new Failure('usage', `--${flag} would overwrite ${what}.`, { hint: 'Name another file.' });
    }
    const secrets = await secretsIn(ctx, path);
    if (keepsSecrets && path === results) earlier = secrets;
    else if (secrets.size > 0) throw wouldLose(path);
    await proveWritable(path, ctx);
    taken.push({ path, isRead: false });
  }
  return earlier;
}

/**
 * The files that a run which sends nothing may write: none in the place of one that tells of rows that were sent, by which
 * other runs go on (`--id-map`); where all rows were refused, those are the newest rejects. Says which it leaves as they are.
 */
export async function sparing<F extends Files>(
  { notice }: Pick<Context, 'notice'>,
  flags: F,
  { isDry }: { readonly isDry: boolean },
): Promise<F> {
  const left = { ...flags };
  for (const kind of isDry ? (['results', 'rejects'] as const) : (['results'] as const)) {
    const path = flags[kind];
    if (path === undefined || !(await holdsText(path))) continue;
    delete left[kind];
    notice(
      `Nothing is sent, so ${path} stays as it is. To have --${kind} of this run, name a file that is not there yet.`,
    );
  }
  return left;
}

/** Said before a file was named for good, or because another run has it, whose report it is. */
const isOurs = ({ kind, status }: Failure): boolean => kind === 'usage' || (kind === 'failed' && status === undefined);

/**
 * What ends before its first row, because of the service or a signal, has nothing to report: a report of an earlier run
 * must not be taken for its own. The other files stay: what they say of rows is true.
 */
export async function withoutOldReport<T>({ report }: Files, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (report !== undefined && error instanceof Failure && !isOurs(error)) await removeOld(report);
    throw error;
  }
}

type Wanted = readonly [path: string | undefined, write: (path: string) => Promise<void>];

/** The first failure to write one of the files, and the paths of all that could not be written. */
export type Unwritten = { readonly failure: Failure; readonly paths: readonly string[] };

/** Writes each file that was asked for, whatever became of the others. */
export async function writeAll(files: readonly Wanted[]): Promise<Unwritten | undefined> {
  let first: Failure | undefined;
  const paths: string[] = [];
  for (const [path, write] of files) {
    if (path === undefined) continue;
    try {
      await write(path);
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      first ??= failure;
      paths.push(path);
    }
  }
  return first && { failure: first, paths };
}

/** What could not be written holds no row. */
export function writtenOf<F extends Files>(files: F, unwritten: Unwritten | undefined): F {
  const left = { ...files };
  for (const kind of ['results', 'rejects', 'report'] as const)
    if (unwritten?.paths.includes(files[kind] ?? '')) delete left[kind];
  return left;
}

/**
 * A run with a file that could not be written: exit 1, but for an end that says more. That comes first, and the file is
 * told beside it. `isDone`: rows were done before it.
 */
export function withUnwritten(
  view: View,
  unwritten: Unwritten | undefined,
  { notice, isDone = false }: Pick<Context, 'notice'> & { readonly isDone?: boolean },
): View {
  if (!unwritten) return view;
  const { failure } = unwritten;
  const { kind, message, hint } = failure;
  if (!view.failure && view.outcome === undefined)
    return { ...view, failure: isDone ? new Failure(kind, message, { ...failure, done: [] }) : failure };
  notice([message, hint].filter(Boolean).join(' '));
  return view;
}

/** `sendsAgain`: a flag with which the command would not only write them. */
export const writtenLater = (sendsAgain?: string): string =>
  `To write the files, run the same command again${sendsAgain ? ` without ${sendsAgain}` : ''}.`;

export const reportText = (report: object): string => `${JSON.stringify(report, undefined, 2)}\n`;

type Writing = {
  readonly ctx: Pick<Context, 'signal' | 'notice'>;
  /** Said beside a wait for whoever reads a pipe. */
  readonly sums: { readonly done: number; readonly rows: number };
  readonly mode?: number;
  readonly hint?: string;
};

/** A file that is there whole or not at all. */
export async function writeFile(
  path: string,
  pieces: Iterable<string> | AsyncIterable<string>,
  { ctx, sums, mode, hint }: Writing,
): Promise<void> {
  const { pipeline } = process.getBuiltinModule('node:stream/promises');
  const sumsInWords = `${number(sums.done)} of ${rowsInWords(sums.rows)} ${sums.rows === 1 ? 'is' : 'are'} done.`;
  const waiting = { signal: ctx.signal, notice: (text: string) => ctx.notice(`${sumsInWords} ${text}`) };
  const draft = await openDraft(path, waiting, mode).catch((error) => {
    // The rows were sent, so this is no usage error any more.
    throw new Failure(endOf(error) ?? 'failed', messageOf(error), { hint, cause: error });
  });
  try {
    await pipeline(pieces, draft.stream, { end: false });
    await draft.keep();
  } catch (error) {
    await draft.drop();
    const end = endOf(error);
    if (end) throw new Failure(end, messageOf(error), { hint, cause: error });
    const what = `${path} could not be written`;
    const message = messageOf(diskFailure(error, what)).replace(/\.$/u, '');
    throw new Failure('failed', `${message.startsWith(what) ? message : `${what}: ${message}`}.`, {
      hint,
      cause: error,
    });
  }
}

/** Of a signal that ended the wait for the reader of a pipe. */
const endOf = (error: unknown): Failure['kind'] | undefined =>
  error instanceof Failure && isInterruption(error) ? error.kind : undefined;
