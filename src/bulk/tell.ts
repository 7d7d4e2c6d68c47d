import { dryNote, keptNotes, partialNote } from '../batch/ending.ts';
import { sparing, withUnwritten } from '../batch/out-files.ts';
import type { View } from '../output/view.ts';
import type { Run } from './command-line.ts';
import { cappedNotes, draftNotes, failureOf, outcomeOf } from './ending.ts';
import { writeFiles } from './files.ts';
import { sendsAgain } from './flags.ts';
import { dryReport, reportOf } from './report.ts';
import type { Requesters } from './requesters.ts';
import type { Requester } from './row-input.ts';
import type { Sent } from './send-plan.ts';
import type { Values } from './values.ts';
import { recordsShown, viewOf } from './view.ts';

type Ended = {
  readonly file: string;
  readonly values: Values;
  readonly requesters: Requesters | undefined;
  /** The contacts that --create-contacts makes. */
  readonly wanted: readonly Requester[];
  readonly sent: Sent;
  /** Nothing was to go out. */
  readonly isDry: boolean;
};

/** What became of the rows: in the files that were asked for, and as the command's output. */
export async function tell(
  { ctx, settings, words, flags, earlier }: Run,
  { file, values, requesters, wanted, sent, isDry }: Ended,
): Promise<View> {
  const { plan, totals, unwritten } = sent;
  const report = { ...reportOf(words, file, plan, totals), ...readAsOf(values) };
  const beside = requesters?.cost(wanted) ?? 0;
  const bounds = async () => ({ cap: flags.max_sends, beside, isDrafted: (await ctx.sends?.mode()) === 'draft' });
  const shown = flags.dry_run ? dryReport(report, plan, settings, await bounds()) : report;
  const written = isDry ? await sparing(ctx, flags, { isDry: flags.dry_run }) : flags;
  const dry = isDry
    ? await writeFiles(written, { plan, totals, report: shown, hasSecrets: false, earlier })
    : undefined;
  const outcome = outcomeOf(report, flags.dry_run);
  const failure = failureOf(report, totals, {
    plan,
    isStrict: flags.strict,
    isDry: flags.dry_run,
    sendsAgain: sendsAgain(flags),
    contacts: requesters?.made() ?? 0,
  });
  const capped = cappedNotes(report, totals, flags.max_sends);
  const isTold = ctx.stdout.isTTY === true || flags.dry_run || failure !== undefined || capped.length > 0;
  const lost = dry ?? unwritten;
  const notes = [
    ...(outcome === 'partial' && !isTold ? [partialNote({ ...report, files: written })] : []),
    ...(outcome === 'partial' && flags.dry_run && !ctx.stdout.isTTY && !failure ? [dryNote(report)] : []),
    ...draftNotes(report, totals),
    ...(ctx.stdout.isTTY && !lost ? keptNotes(report, written.rejects) : []),
    ...capped,
  ];
  const view = viewOf(shown, { ...written, records: await recordsShown(plan, shown) });
  return withUnwritten({ ...view, notes, outcome, failure }, lost, ctx.notice);
}

const readAsOf = (values: Values) => {
  const readAs = values.readAs();
  return Object.keys(readAs).length > 0 ? { read_as: readAs } : {};
};
