import { type Files, forbiddenInWords } from '../../batch/ending.ts';
import { duration, rowsInWords } from '../../batch/pace.ts';
import { type Problem, problemLines, shownProblems } from '../../batch/problem-lines.ts';
import { localTime, rowForPipe } from '../../output/cells.ts';
import type { Terminal, View } from '../../output/view.ts';
import { stdinName } from '../../tabular/decode.ts';
import { listed } from '../../text/listed.ts';
import { counted, number } from '../../text/number.ts';
import { sanitize } from '../../text/sanitize.ts';
import { wrap } from '../../text/width.ts';
import type { Plan } from '../rows/plan.ts';
import { type RowRecords, withRecord } from '../rows/row-records.ts';
import type { Report } from './report.ts';

type Standing = {
  readonly isFinished: boolean;
  readonly settled: number;
  readonly left: number;
  /** That cannot be sent as they stand in the file, or were refused by the service. */
  readonly rejected: number;
  /** How much of what is done became drafts. */
  readonly drafted: 'none' | 'some' | 'all';
  /** Of those: one that may still be sent. */
  readonly isAnyWaiting: boolean;
  /** What is sent now becomes drafts. */
  readonly isDraft: boolean;
  /** Of how many rows nobody knows whether they are done. */
  readonly unknown: number;
  /** Each row was in the file then, as it is now. */
  readonly isSame: boolean;
  /** A later run was told to send rows of it once more. Else what is to be sent was rejected then. */
  readonly isFreed: boolean | undefined;
  /** Of some rows nobody knows whether what was to follow is done. */
  readonly inDoubt: boolean;
  /** With --again, which sends none of it. */
  readonly isAgain: boolean;
};

/** Of rows whose drafts a person rejected. `elsewhere`: how many of the file other files have sent. */
export function rejectedNote(rows: number, { elsewhere, isDraft }: { elsewhere: number; isDraft: boolean }): string {
  const [noun, them, own] =
    rows === 1 ? ['the draft of 1 row', 'it', 'its'] : [`the drafts of ${rowsInWords(rows)}`, 'them', 'their'];
  // Over this file it would send those of the others, too.
  const how = elsewhere > 0 ? `put ${them} into a file of ${own} own and add --again` : 'add --again';
  return `A person rejected ${noun}: to ${isDraft ? `draft ${them} again` : `send ${them} all the same`}, ${how}.`;
}

export function earlierNote(at: string, standing: Standing): string {
  const { isFinished, settled, left, isSame, isFreed } = standing;
  const when = localTime(at);
  if (!isFinished) return `Resuming the run of ${when}: ${rowsInWords(settled)} settled, ${rowsInWords(left)} to send.`;
  if (left === 0) return nothingLeft(when, standing);
  const were = left === 1 ? 'was' : 'were';
  if (!isSame) return `This file was done at ${when}; it has ${rowsInWords(left)} that ${were} not in it then.`;
  return `This file was done at ${when}, but for ${rowsInWords(left)}${isFreed ? '' : ` that ${were} rejected then`}.`;
}

function nothingLeft(when: string, standing: Standing): string {
  const { rejected, drafted, isAnyWaiting, isDraft, unknown, inDoubt, isAgain } = standing;
  const [done, became] = [`This file was done at ${when}`, `This file became drafts at ${when}`];
  // No advice to send it all again: these may be there.
  if (unknown > 0)
    return `${done}, but for ${rowsInWords(unknown)} that may or may not have been done. Nothing is sent now.`;
  if (drafted === 'some')
    return `${done}, some of its rows as drafts: nothing is sent. To see those: svc drafts list --all. To send it all again, what was sent too, add --restart.`;
  if (drafted === 'all' && isDraft)
    return `${became}: no more are made. To see them: svc drafts list --all. To make them all again, add --restart.`;
  if (drafted === 'all' && isAnyWaiting)
    return `${became}: nothing is sent beside them. To see and send those that wait: svc drafts list --all.`;
  if (drafted === 'all')
    return `${became}, and none of them waits: nothing is sent. To see them: svc drafts list --all.`;
  if (rejected === 0 && inDoubt)
    return `${done}: nothing is sent. Of some rows it is not known whether all was done; their errors say how to look.`;
  if (rejected === 0) return `${done}: nothing is sent. To send it all again, add --restart.`;
  const [them, were] = rejected === 1 ? ['it', 'was'] : ['them', 'were'];
  const doubt = inDoubt ? ' Of some others it is not known whether all was done; their errors say how to look.' : '';
  const again = isAgain
    ? ' --again is for rows that were sent from another file, or as another request. To send it all again, what is done too, add --restart.'
    : '';
  return `${done}, except for ${rowsInWords(rejected)} that ${were} rejected. Nothing is sent now. Correct ${them} and run it again; what is done is not sent twice.${doubt}${again}`;
}

/** A line for each count, one for each request of a dry run, one for each error. */
function plainText({ errors, sample, ...counts }: Report): string {
  return [
    ...Object.entries(counts).map(([name, value]) => rowForPipe(name, value)),
    ...(sample ?? []).map(({ line, method, path, body }) =>
      rowForPipe('request', line, method, path, body === undefined ? '' : JSON.stringify(body)),
    ),
    ...errors.map(({ line, error }) => rowForPipe('error', line, error)),
  ].join('\n');
}

const styles = {
  rows: 'bold',
  done: 'green',
  drafted: 'blue',
  rejected: 'red',
  unknown: 'orange',
  unsent: 'orange',
} as const;

/** People read a draft as one, and not as done: nothing of it was sent. */
const countOf = (report: Report, name: keyof typeof styles): number =>
  name === 'done' ? report.done - (report.drafted ?? 0) : (report[name] ?? 0);

const humanText =
  (report: Report, files: Shown) =>
  (terminal: Terminal): string => {
    const { paint } = terminal;
    const { besides } = files;
    const room = number(report.rows).length;
    const counts = Object.entries(styles)
      .map(([name, style]) => ({ name, style, count: countOf(report, name as keyof typeof styles) }))
      .filter(({ name, count }) => count > 0 || name === 'rows' || (name === 'done' && !report.drafted))
      .map(({ name, style, count }) => `  ${number(count).padStart(room)}  ${paint(style, name)}`);
    const details = [
      `${counted(report.requests, 'request')} for the rows`,
      ...(report.resumed_rows > 0 ? [`${rowsInWords(report.resumed_rows)} by earlier runs`] : []),
      duration(report.duration_ms / 1000),
    ];
    return [
      paint('bold', `svc ${report.command}, ${report.file === '-' ? stdinName : sanitize(report.file)}`),
      ...counts,
      ...besides.map((text) => `  then ${text}`),
      paint('dim', `  in ${details.join(', ')}`),
      ...problemLines(problemsOf(report, files), files, terminal),
    ].join('\n');
  };

const dryText =
  (report: Report, files: Shown) =>
  (terminal: Terminal): string => {
    const { width, paint } = terminal;
    const { sample = [], minutes = 0, rows, rejected, unsent, resumed_rows: earlier } = report;
    const { would_send: sent = unsent, would_draft: drafted } = report;
    const { forbidden = 0 } = files;
    const cap = sent < unsent - forbidden ? ', because of --max-sends' : '';
    const ending = sent === 0 || sent === drafted ? '.' : timeOf(minutes);
    const requests = sample.flatMap(({ line, method, path, body }) => [
      `${paint('dim', `line ${line}`)}  ${paint('bold', `${method} ${sanitize(path)}`)}`,
      ...(body === undefined ? [] : [sanitize(JSON.stringify(body, undefined, 2), { keepNewlines: true })]),
    ]);
    const unshown = sent - new Set(sample.map(({ line }) => line)).size;
    return [
      ...requests,
      ...(unshown > 0 && sample.length > 0 ? [paint('dim', `… and ${counted(unshown, 'more row')}`)] : []),
      '',
      ...wrap(`${number(sent)} of ${rowsInWords(rows)} would ${fateOf(report, sent)}${cap}${ending}`, width),
      ...(files.besides.length > 0 ? wrap(`Then svc would ${listed(files.besides)}.`, width) : []),
      ...(earlier > 0 ? [`${rowsInWords(earlier)} by earlier runs.`] : []),
      ...(rejected > 0 ? [paint('red', `${rowsInWords(rejected)} would be rejected.`)] : []),
      ...(forbidden > 0 ? [paint('orange', `${forbiddenInWords(forbidden)}.`)] : []),
      ...problemLines(problemsOf(report, files), files, terminal),
    ].join('\n');
  };

/** What would become of the rows that are sent or drafted. */
function fateOf({ would_draft: drafted = 0 }: Report, sent: number): string {
  if (drafted === 0) return 'be sent';
  if (drafted === sent) return 'become drafts that a person approves; nothing would be sent';
  return `be sent, ${number(drafted)} of them as drafts that a person approves`;
}

const timeOf = (minutes: number): string => `; at 60 requests a minute that takes up to ${number(minutes)} min.`;

const problemsOf = ({ errors }: Report, { records }: Shown): Problem[] =>
  errors.map((one, at) => (at < shownProblems ? { ...one, error: withRecord(one.error, records.get(one.line)) } : one));

type Shown = Files & {
  readonly records: RowRecords;
  /** What the rows did beside their own requests, or would do. */
  readonly besides: readonly string[];
  /** Of a dry run: rows that the policy keeps back. */
  readonly forbidden?: number;
};

export const viewOf = (report: Report, files: Shown): View => ({
  data: { shape: 'record', record: report },
  human: (report.sample ? dryText : humanText)(report, files),
  plain: () => plainText(report),
});

/** Read once more: of a million rows it would be much to hold. What cannot be read any more is shown without them. */
export async function recordsShown(plan: Plan, { errors }: Report): Promise<RowRecords> {
  const lines = new Set(errors.slice(0, shownProblems).map(({ line }) => line));
  return lines.size === 0 ? new Map() : plan.recordsAt(lines).catch(() => new Map());
}
