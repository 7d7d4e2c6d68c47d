import { Failure, isInterruption, messageOf } from '../errors.ts';
import { type DoneSoFar, kindOfWhole, withoutAdvice, withoutClaim } from '../http/send/whole.ts';
import { insteadOf } from '../promise/instead-of.ts';
import type { Source } from '../tabular/source.ts';
import { number } from '../text/number.ts';
import { sanitize } from '../text/sanitize.ts';
import { rowsInWords } from './pace.ts';

/** The files that were asked for; a pipe has the report on standard output anyway. */
export type Files = { readonly rejects?: string; readonly report?: string; readonly results?: string };

/** What a run says of its rows. `uncounted`: sent, but in no count of the service. */
type Counts = {
  readonly rows: number;
  readonly done: number;
  readonly rejected: number;
  readonly unsent: number;
  /** By --skip and --only. */
  readonly skipped?: number;
  readonly drafted?: number;
  readonly uncounted?: number;
  readonly files: Files;
};

/** One line for a pipe, in which the report may go anywhere: how much was not done. */
export function partialNote({ rows, rejected, skipped = 0, uncounted = 0, drafted = 0, files, ...of }: Counts) {
  const unsent = of.unsent - uncounted;
  const left = [
    ...(rejected > 0 ? [`${number(rejected)} rejected`] : []),
    ...(skipped > 0 ? [`${number(skipped)} left out by --skip or --only`] : []),
    ...(unsent > 0 ? [`${number(unsent)} not sent`] : []),
    ...(uncounted > 0 ? [`${number(uncounted)} sent, but not counted by the service`] : []),
  ];
  const what = left.length > 0 ? left.join(', ') : 'some of them with an error';
  const status = drafted > 0 && drafted === of.done ? 'became drafts' : `${rows === 1 ? 'is' : 'are'} done`;
  return `${number(of.done)} of ${rowsInWords(rows)} ${status}: ${what}. ${whereNamed(files, rejected)}`;
}

function whereNamed({ rejects, report, results }: Files, rejected: number): string {
  if (rejects !== undefined && rejected > 0) return `The rejected are in ${sanitize(rejects)}.`;
  const named = results ?? report;
  if (named !== undefined) return `${sanitize(named)} names them.`;
  return rejected > 0 ? 'Standard output names them; --rejects FILE keeps them.' : 'Standard output names them.';
}

/** `unknown`: left by earlier runs. `forbidden`: by the policy. */
type DryCounts = { readonly rejected: number; readonly unknown?: number; readonly forbidden?: number };

/** The same of a dry run, which does nothing. */
export function dryNote({ rejected, unknown = 0, forbidden = 0 }: DryCounts): string {
  const told = [
    ...(rejected > 0 ? [`${rowsInWords(rejected)} would be rejected (exit 8).`] : []),
    ...(unknown > 0 ? [`${rowsInWords(unknown)} may or may not have been done by an earlier run (exit 9).`] : []),
    ...(forbidden > 0 ? [`${forbiddenInWords(forbidden)} (exit 8).`] : []),
  ];
  return told.length > 0 ? told.join(' ') : 'Earlier runs have left some rows with an error (exit 8).';
}

/** Of a dry run. */
export const forbiddenInWords = (rows: number): string => `The policy forbids ${rowsInWords(rows)} for now`;

/**
 * On a terminal: where the rejected rows are, once they are written, and how they are sent. `file`: the one that was read.
 * What the command writes of rows would take the place of what it wrote now, so it needs other names.
 */
export function keptNotes({ rejected }: Pick<Counts, 'rejected'>, file: string, { rejects, results }: Files): string[] {
  if (rejects === undefined || rejected === 0) return [];
  const [rows, them] = rejected === 1 ? ['rejected row is', 'it'] : [`${number(rejected)} rejected rows are`, 'them'];
  const names = `another name for --rejects${results === undefined ? '' : ' and for --results'}`;
  return [
    `The ${rows} in ${sanitize(rejects)}. Fix ${them} there. Then run this command with that file in place of ${file === '-' ? 'standard input' : sanitize(file)}, and with ${names}.`,
  ];
}

/** How far a run came. `done`: by this run alone. */
type Far = DoneSoFar & { readonly fact: string; readonly goOn: string };

/** Why a run ended before the last row, how far it came, and how it goes on. */
export function stoppedFailure(stopped: Failure, { fact, goOn, ...far }: Far): Failure {
  const kind = kindOfWhole(stopped, far);
  const { status, fields } = stopped;
  const isTrue = far.done + far.unknown === 0;
  const [message = '', hint] = [stopped.message, stopped.hint].map((text) =>
    text === undefined || isTrue ? text : withoutClaim(text),
  );
  const isInterrupted = isInterruption(stopped);
  return new Failure(kind, isInterrupted ? `Interrupted: ${fact}` : `${message} ${fact}`, {
    hint: isInterrupted || kind === 'unknown' ? goOn : [withoutAdvice(hint ?? ''), goOn].filter(Boolean).join('\n'),
    status,
    fields,
    ...(far.done > 0 && { done: [] }),
    isWhole: true,
    cause: stopped,
  });
}

/** What ended it; `what` was going on. */
export const asFailure = (error: unknown, what: 'svc' | 'The run' | 'The sync'): Failure =>
  error instanceof Failure
    ? error
    : new Failure('failed', `${what} failed unexpectedly: ${messageOf(error)}`, { cause: error });

/** Where every row is bad. */
export const noneSendable = (rows: number, file: string): Failure =>
  new Failure(
    'usage',
    rows === 1 ? `The only row of ${file} cannot be sent.` : `None of the ${rowsInWords(rows)} of ${file} can be sent.`,
    { hint: 'Nothing was sent. Fix the rows, or name the right columns: --map "COLUMN=FIELD"' },
  );

/** Where the file that was sent is another one by now. What can be read no more is told by nobody. */
export async function changedNotes(source: Pick<Source, 'name' | 'hasChanged'>): Promise<string[]> {
  if (!(await source.hasChanged().catch(insteadOf('any', false)))) return [];
  return [
    `${sanitize(source.name)} has changed since svc read it: what was read then is what was sent. To see what is new in it, run the same command with --dry-run.`,
  ];
}
