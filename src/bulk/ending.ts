import type { RowOf } from '../command/row.ts';
import { Failure, isInterruption } from '../errors.ts';
import { type DoneSoFar, kindOfWhole, withoutAdvice, withoutClaim } from '../http/whole.ts';
import type { View } from '../output/view.ts';
import { someOf } from '../text/each.ts';
import { counted, number } from '../text/number.ts';
import { sanitize } from '../text/sanitize.ts';
import { rowsInWords } from './pace.ts';
import type { Plan } from './plan.ts';
import type { Report } from './report.ts';
import type { Totals } from './run.ts';

/** Exit 8 where a row was not done, or only in part. */
export function outcomeOf({ rejected, unsent, errors }: Report, isDry: boolean): View['outcome'] {
  return errors.length > 0 || rejected > 0 || (!isDry && unsent > 0) ? 'partial' : undefined;
}

/** One line for a pipe, in which the report may go anywhere: how much was not done. */
export function partialNote({
  rows,
  rejected,
  uncounted = 0,
  drafted = 0,
  files,
  ...of
}: Pick<Report, 'rows' | 'rejected' | 'unsent' | 'drafted'> & { done: number; uncounted?: number; files: Files }) {
  const unsent = of.unsent - uncounted;
  const left = [
    ...(rejected > 0 ? [`${number(rejected)} rejected`] : []),
    ...(unsent > 0 ? [`${number(unsent)} not sent`] : []),
    ...(uncounted > 0 ? [`${number(uncounted)} sent, but not counted by the service`] : []),
  ];
  const what = left.length > 0 ? left.join(', ') : 'some of them in part';
  const status = drafted > 0 && drafted === of.done ? 'became drafts' : 'are done';
  return `${number(of.done)} of ${rowsInWords(rows)} ${status}: ${what}. ${whereNamed(files, rejected)}`;
}

/** The files that were asked for; a pipe has the report on standard output anyway. */
type Files = { readonly rejects?: string; readonly report?: string; readonly results?: string };

function whereNamed({ rejects, report, results }: Files, rejected: number): string {
  if (rejects !== undefined && rejected > 0) return `The rejected are in ${sanitize(rejects)}.`;
  const named = results ?? report;
  if (named !== undefined) return `${sanitize(named)} names them.`;
  return rejected > 0 ? 'Standard output names them; --rejects FILE keeps them.' : 'Standard output names them.';
}

/** The same of a dry run, which does nothing. */
export const dryNote = ({ rejected }: Pick<Report, 'rejected'>): string =>
  `${rowsInWords(rejected)} would be rejected (exit 8).`;

/** On a terminal: where the rejected rows are, once they are written. */
export function keptNotes({ rejected }: Pick<Report, 'rejected'>, rejects: string | undefined): string[] {
  if (rejects === undefined || rejected === 0) return [];
  const [rows, them] = rejected === 1 ? ['rejected row is', 'it'] : [`${number(rejected)} rejected rows are`, 'them'];
  return [`The ${rows} in ${sanitize(rejects)}. Fix ${them} there, and run this command again with that file.`];
}

/** What this run has left for a person, and how it is sent. */
export function draftNotes({ batch }: Pick<Report, 'batch'>, { draftedNow, doneNow, ended }: Totals): string[] {
  if (draftedNow === 0 || batch === undefined) return [];
  const [noun, wait] = draftedNow === 1 ? ['draft', 'waits'] : ['drafts', 'wait'];
  const sent = doneNow - draftedNow;
  const isUnsure = someOf(ended.values(), ({ status }) => status === 'unknown');
  const sentence = sent > 0 ? `${rowsInWords(sent)} ${sent === 1 ? 'was' : 'were'} sent` : 'nothing was sent';
  return [
    `${draftedNow} ${noun} ${wait} for a person${isUnsure && sent === 0 ? '' : `; ${sentence}`}. To read and send: svc drafts approve --batch ${batch}`,
  ];
}

/** Below the first problems: where the others are. */
export const moreProblems = (
  more: number,
  { rejects, report }: { readonly rejects?: string; readonly report?: string },
) =>
  `  … and ${number(more)} more${
    rejects === undefined && report === undefined
      ? '; --rejects FILE or --report FILE has them all'
      : `, all in ${sanitize(rejects ?? report ?? '')}`
  }`;

/** Rows that only --max-sends kept back. */
export function cappedNotes({ done, unsent }: Report, { stopped, ended }: Totals, cap: number | undefined): string[] {
  if (cap === undefined || stopped || unsent === 0 || done === 0 || ended.size === 0) return [];
  const left = `${rowsInWords(unsent)} ${unsent === 1 ? 'is' : 'are'} left`;
  return [`${left}, because of --max-sends ${cap}. Run the same command again to send more.`];
}

type About = {
  readonly plan: Plan;
  readonly isStrict: boolean;
  readonly isDry: boolean;
  /** The flag that sends rows again, and would do so once more if the command were repeated with it. */
  readonly sendsAgain: '--restart' | '--retry-unknown' | undefined;
  /** Made for the rows before the first of them was sent. */
  readonly contacts: number;
};

/** Why a run did not end well; the report is printed before it. */
export function failureOf(
  report: Report,
  totals: Totals,
  { plan, isStrict, isDry, sendsAgain, contacts }: About,
): Failure | undefined {
  const { rows, done, rejected, unknown } = report;
  const { source } = plan.rows;
  if (plan.sendable === 0) {
    const fact =
      rows === 1
        ? `The only row of ${source.name} cannot be sent.`
        : `None of the ${rowsInWords(rows)} of ${source.name} can be sent.`;
    return new Failure('usage', fact, {
      hint: 'Nothing was sent. Fix the rows, or name the right columns with --map.',
    });
  }
  if (isStrict && rejected > 0 && totals.ended.size === 0) {
    return new Failure('usage', `${rowsInWords(rejected)} of ${source.name} ${rejected === 1 ? 'is' : 'are'} bad.`, {
      hint: 'Nothing was sent, because of --strict.',
    });
  }
  if (isDry) return undefined;
  const { stopped } = totals;
  const goOn = totals.isForgotten ? forgotten(plan.row.operation) : goOnWithout(sendsAgain);
  const fact = `${number(done)} of ${rowsInWords(rows)} are done${totals.resumedRows > 0 ? ', earlier runs included' : ''}.`;
  const doubt = unknown > 0 ? `${rowsInWords(unknown)} may or may not have been done.` : '';
  if (stopped && isInterruption(stopped))
    return new Failure(stopped.kind, ['Interrupted:', fact, doubt].filter(Boolean).join(' '), {
      hint: goOn,
      isWhole: true,
    });
  if (unknown > 0) {
    return new Failure('unknown', [stopped?.message, fact, doubt].filter(Boolean).join(' '), {
      hint: stopped ? goOn : lookFirst(plan.row.operation),
      looked: totals.looked,
      isWhole: true,
      cause: stopped,
    });
  }
  const made = contacts > 0 ? ` ${counted(contacts, 'contact')} ${contacts === 1 ? 'was' : 'were'} created.` : '';
  return stopped && stoppedFailure(stopped, { fact: fact + made, goOn, done: totals.doneNow + contacts, unknown });
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
    isWhole: true,
    cause: stopped,
  });
}

/** Said in the place of a promise that nothing is left to keep. */
const forgotten = ({ safety }: RowOf['operation']): string =>
  safety === 'repeatable'
    ? 'Run the same command again: a row that it repeats changes nothing more.'
    : 'svc could not write its journal again, so the same command would send these rows once more. Look in the service first; --results FILE names the rows that are done. Where the folder was only moved, put it back.';

const goOnWithout = (sendsAgain: About['sendsAgain']): string => {
  const command = sendsAgain ? `Run the command again without ${sendsAgain}` : 'Run the same command again';
  return `${command}: it goes on where this run stopped, and sends no row twice.`;
};
/** Only what the service shows can be looked for; the records of a change take it once more. */
function lookFirst({ safety, effect }: RowOf['operation']): string {
  const named = '--results FILE names them (svc_status unknown).';
  const blindly = `Do not send them again blindly. ${named}`;
  if (safety === 'verify')
    return `${blindly} Run the same command again to look for them once more; --retry-unknown sends them again.`;
  if (safety === 'repeatable')
    return `Run the same command again: it sends them once more, and repeating them changes nothing more. ${named}`;
  return `${blindly} ${effect?.lookHint ?? ''} svc cannot look for them, so the same command leaves them out. With --retry-unknown it sends every one of them again.`;
}
