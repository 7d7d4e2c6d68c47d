import { changedNotes, dryNote, keptNotes, noneSendable, partialNote, stoppedFailure } from '../../batch/ending.ts';
import { sparing, withUnwritten, writtenOf } from '../../batch/out-files.ts';
import { rowsInWords } from '../../batch/pace.ts';
import type { RowOf } from '../../command/row.ts';
import { Failure, isInterruption } from '../../errors.ts';
import type { View } from '../../output/view.ts';
import { countOf, someOf } from '../../text/each.ts';
import { counted, number } from '../../text/number.ts';
import { isInDoubt } from '../journal/ended-table.ts';
import type { Run } from '../report/command-line.ts';
import { writeFiles } from '../report/files.ts';
import { dryReport, type Report, reportOf, reportOfNothing } from '../report/report.ts';
import { isDrafting } from '../report/resume.ts';
import { recordsShown, viewOf } from '../report/view.ts';
import { type FileFlags, sendsAgain } from '../rows/flags.ts';
import type { Requesters } from '../rows/requesters.ts';
import type { Requester } from '../rows/row-input.ts';
import type { Values } from '../rows/values.ts';
import type { Totals } from '../run/run.ts';
import type { Sent } from './send-plan.ts';

type Ended = {
  readonly file: string;
  readonly values: Values;
  readonly requesters: Requesters | undefined;
  /** The contacts that --create-contacts makes. */
  readonly wanted: readonly Requester[];
  readonly sent: Sent;
  /** Nothing was to go out: of a dry run, or because a row is bad. */
  readonly sendsNothing: boolean;
};

/** What became of the rows: in the files that were asked for, and as the command's output. */
export async function tell(run: Run, { file, values, requesters, wanted, sent, sendsNothing }: Ended): Promise<View> {
  const { ctx, settings, words, flags, earlier } = run;
  const { plan, totals, unwritten } = sent;
  const report = { ...reportOf(words, file, plan, totals), ...readAsOf(values) };
  const beside = requesters?.cost(wanted) ?? 0;
  const forbidden = totals.forbidden?.rows ?? 0;
  const bounds = async () => ({ cap: flags.max_sends, beside, isDrafted: await isDrafting(run), forbidden });
  const shown = flags.dry_run ? dryReport(report, plan, settings, await bounds()) : report;
  const written = sendsNothing ? await sparing(ctx, flags, { isDry: flags.dry_run }) : flags;
  const ofNothing = sendsNothing
    ? await writeFiles(ctx, written, { of: { plan, totals, hasSecrets: false }, report: shown, earlier })
    : undefined;
  const outcome = outcomeOf(report, flags.dry_run);
  const failure = failureOf(report, sent, flags, { sendsNothing, contacts: requesters?.made() ?? 0 });
  const capped = cappedNotes(report, totals, flags);
  const isTold = ctx.stdout.isTTY === true || flags.dry_run || failure !== undefined || capped.length > 0;
  const lost = ofNothing ?? unwritten;
  const files = writtenOf(written, lost);
  const notes = [
    ...(outcome === 'partial' && !isTold ? [partialNote({ ...report, files })] : []),
    ...(outcome === 'partial' && flags.dry_run && !ctx.stdout.isTTY && !failure
      ? [dryNote({ ...report, forbidden })]
      : []),
    // The first is what programs are told.
    ...capped,
    ...(failure || flags.dry_run || capped.length > 0 ? [] : leftNotes(report, totals, flags)),
    ...draftNotes(report, totals),
    ...(sendsNothing || totals.stopped ? [] : await changedNotes(plan.rows.source)),
    ...(ctx.stdout.isTTY ? keptNotes(report, file, files) : []),
  ];
  const view = viewOf(shown, {
    ...files,
    records: await recordsShown(plan, shown),
    besides: shown.would_draft ? [] : totals.besides,
    forbidden,
  });
  return withUnwritten({ ...view, notes, outcome, failure }, lost, { notice: ctx.notice, isDone: totals.doneNow > 0 });
}

/** A list with nothing in it that was piped on, as on a quiet day. `why`: a sentence. */
export async function tellNothing({ ctx, words, flags, earlier }: Run, file: string, why: string): Promise<View> {
  const report = reportOfNothing(words, file);
  const written = flags.dry_run ? await sparing(ctx, flags, { isDry: true }) : flags;
  const unwritten = await writeFiles(ctx, written, { of: undefined, report, earlier });
  const view = viewOf(report, { records: new Map(), besides: [] });
  const note = `${why} Nothing was sent. If there should be rows, look whether the program before the pipe failed.`;
  return withUnwritten({ ...view, notes: [note] }, unwritten, { notice: ctx.notice, isDone: false });
}

const readAsOf = (values: Values) => {
  const readAs = values.readAs();
  return Object.keys(readAs).length > 0 ? { read_as: readAs } : {};
};

/** Exit 8 where a row was not done, or only in part. */
function outcomeOf({ rejected, unsent, errors }: Report, isDry: boolean): View['outcome'] {
  return errors.length > 0 || rejected > 0 || (!isDry && unsent > 0) ? 'partial' : undefined;
}

/** What this run has left for a person, and how it is sent. */
function draftNotes({ batch }: Pick<Report, 'batch'>, { draftedNow, doneNow, ended }: Totals): string[] {
  if (draftedNow === 0 || batch === undefined) return [];
  const [noun, wait] = draftedNow === 1 ? ['draft', 'waits'] : ['drafts', 'wait'];
  const sent = doneNow - draftedNow;
  const isUnsure = someOf(ended.values(), ({ status }) => status === 'unknown');
  const sentence = sent > 0 ? `${rowsInWords(sent)} ${sent === 1 ? 'was' : 'were'} sent` : 'nothing was sent';
  return [
    `${draftedNow} ${noun} ${wait} for a person${isUnsure && sent === 0 ? '' : `; ${sentence}`}. To read and send: svc drafts approve --batch ${batch}`,
  ];
}

/** Rows that only --max-sends kept back. */
function cappedNotes(
  { done }: Report,
  { stopped, capped = 0, cappedUnsure = 0, isOfStrangers }: Totals,
  flags: FileFlags,
): string[] {
  if (stopped || capped === 0 || done === 0) return [];
  const left = `${rowsInWords(capped)} ${capped === 1 ? 'is' : 'are'} left, because of --max-sends ${flags.max_sends}.`;
  if (cappedUnsure === 0) return [`${left} ${runAgain(flags, isOfStrangers)} to send more.`];
  const them = cappedUnsure === capped ? (capped === 1 ? 'It' : 'They') : `${number(cappedUnsure)} of them`;
  return [
    `${left} ${them} may be done already: look first, for --retry-unknown alone sends ${capped === 1 ? 'it' : 'them'}.`,
  ];
}

/** Rows that were left for another reason, by a run that would send all again. */
function leftNotes({ unsent }: Report, { forbidden, isOfStrangers }: Totals, flags: FileFlags): string[] {
  if (unsent === 0 || !sendsAgain(flags)) return [];
  return [`${runAgain(flags, isOfStrangers)} ${forbidden?.rows === unsent ? onceAllowed : 'to send what is left.'}`];
}

/** Why a run did not end well; the report is printed before it. `contacts`: made for the rows before the first was sent. */
function failureOf(
  report: Report,
  { plan, totals }: Sent,
  flags: FileFlags,
  { sendsNothing, contacts }: { readonly sendsNothing: boolean; readonly contacts: number },
): Failure | undefined {
  const { rows, done, rejected, unknown } = report;
  const { source } = plan.rows;
  if (plan.sendable === 0) return noneSendable(rows, source.name);
  const bad = plan.problems.size;
  if (flags.strict && sendsNothing && bad > 0) {
    return new Failure('usage', `${rowsInWords(bad)} of ${source.name} ${bad === 1 ? 'is' : 'are'} bad.`, {
      hint: 'Nothing was sent, because of --strict.',
    });
  }
  // Of a dry run nothing is in doubt: what is, an earlier run has left.
  if (flags.dry_run && (!totals.forbidden || unknown > 0)) return undefined;
  const { stopped } = totals;
  const again = runAgain(flags, totals.isOfStrangers);
  const goOn = totals.isForgotten ? forgotten(plan.row.operation) : goOnBy(again);
  const fact = `${number(done)} of ${rowsInWords(rows)} ${statusOf(report)}${totals.resumedRows > 0 ? ', earlier runs included' : ''}.`;
  const doubt = unknown > 0 ? `${rowsInWords(unknown)} may or may not have been done.` : '';
  if (stopped && isInterruption(stopped))
    return new Failure(stopped.kind, ['Interrupted:', fact, doubt].filter(Boolean).join(' '), {
      hint: goOn,
      isWhole: true,
    });
  if (unknown > 0) {
    return new Failure('unknown', [stopped?.message, fact, doubt].filter(Boolean).join(' '), {
      hint: stopped
        ? goOn
        : lookFirst(plan.row.operation, {
            whole: unknown - countOf(totals.ended.values(), isInDoubt),
            unreadable: totals.unreadable ?? 0,
            again,
          }),
      looked: totals.looked,
      isWhole: true,
      cause: stopped,
    });
  }
  const made = contacts > 0 ? ` ${counted(contacts, 'contact')} ${contacts === 1 ? 'was' : 'were'} created.` : '';
  const all = { fact: fact + made, goOn, done: totals.doneNow + contacts, unknown };
  if (stopped) return stoppedFailure(stopped, all);
  // Nothing but the policy kept the file from it: the code is that of one send.
  const { forbidden } = totals;
  const isForbidden = forbidden?.rows === report.unsent && done + contacts + rejected === 0;
  if (!forbidden || !isForbidden) return undefined;
  // The same command alone would end the same.
  const allowed = `${again} ${onceAllowed}`;
  return stoppedFailure(forbidden.failure, { ...all, goOn: allowed });
}

/** A draft that waits is none that is done. */
function statusOf({ rows, done, drafted = 0 }: Report): string {
  if (drafted > 0 && drafted === done) return 'became drafts';
  return `${rows === 1 ? 'is' : 'are'} done${drafted > 0 ? ' or became drafts' : ''}`;
}

/** Said in the place of a promise that nothing is left to keep. */
const forgotten = ({ safety }: RowOf['operation']): string =>
  safety === 'repeatable'
    ? 'Run the same command again: a row that it repeats changes nothing more.'
    : 'svc could not write its journal again, so the same command would send these rows once more. Look in the service first; --results FILE names the rows that are done. Where the folder was only moved, put it back.';

/**
 * Without the flag that would send rows once more if the command were repeated with it. `isOfStrangers`: as of `Totals`.
 */
function runAgain(flags: FileFlags, isOfStrangers = false): string {
  const flag = sendsAgain(flags);
  if (isOfStrangers && flags.restart && !flags.again)
    return 'Run the command again with --again in the place of --restart';
  return flag ? `Run the command again without ${flag}` : 'Run the same command again';
}

const goOnBy = (again: string): string => `${again}: it goes on where this run stopped, and sends no row twice.`;

const onceAllowed = 'once the policy allows these rows.';

/**
 * `whole`: rows of which the record itself may not be there. `unreadable`: those of them that are no requests as they stand
 * in the file. `again`: how the command is run again.
 */
type Look = { readonly whole: number; readonly unreadable: number; readonly again: string };

/** Only what the service shows can be looked for; the records of a change take it once more. */
function lookFirst({ safety, effect }: RowOf['operation'], { whole, unreadable, again }: Look): string {
  const named = '--results FILE names them (svc_status unknown).';
  if (whole === 0)
    return `The error of each of them says what may be missing, and how to look. svc sends none of it again. ${named}`;
  const blindly = `Do not send them again blindly. ${named}`;
  if (whole === unreadable)
    return `${blindly} svc cannot look for them as they read now: give the flags of then (--map, --map-value and the like), and run the command again.`;
  if (safety === 'verify') return `${blindly} ${again} to look for them once more; --retry-unknown sends them again.`;
  if (safety === 'repeatable')
    return `${again}: it sends them once more, and repeating them changes nothing more. ${named}`;
  return `${blindly} ${effect?.lookHint ?? ''}\nsvc cannot look for them, so a later run leaves them out. With --retry-unknown it sends every one of them again.`;
}
