import { syncContacts } from '../api/contacts.ts';
import { comingFrom } from '../audit/origin.ts';
import { accountOf } from '../batch/account.ts';
import { changedNotes, keptNotes } from '../batch/ending.ts';
import {
  checkFiles,
  reportText,
  sparing,
  type Unwritten,
  withoutOldReport,
  withUnwritten,
  writeAll,
  writeFile,
  writtenLater,
  writtenOf,
} from '../batch/out-files.ts';
import { tellingProgress } from '../batch/pace.ts';
import { spellingsOf } from '../batch/service-name.ts';
import type { Context } from '../context.ts';
import { startingFolder } from '../disk/place/working-folder.ts';
import { interruption } from '../errors.ts';
import { connect, type Service } from '../http/call/call.ts';
import { checked } from '../http/exchange/checked.ts';
import type { View } from '../output/view.ts';
import { isAddress } from '../tabular/columns.ts';
import { judgeBy, sayColumns } from '../tabular/header-line.ts';
import { openSource } from '../tabular/source.ts';
import { openTable, type TableOptions } from '../tabular/table.ts';
import { counted } from '../text/number.ts';
import { sanitize } from '../text/sanitize.ts';
import { annotation, fileInRepository } from '../text/workflow-commands.ts';
import { refuseBegunAgain } from './begun-again.ts';
import { pipeNotes, refusalOf, stopOf, stoppedBefore, viewOf } from './ending.ts';
import type { ImportFlags, Wish } from './flags.ts';
import { type Journal, openJournal } from './journal.ts';
import { lookForHolders, lookForHoldersDry } from './look-for-holders.ts';
import { isMappable, listShape, type MapWish, readWishes, type Shape, syncShape } from './mapping.ts';
import { planNotes } from './notes.ts';
import { overwriting } from './overwriting.ts';
import { makePlan, type Plan } from './plan.ts';
import { readingOf } from './reading.ts';
import { nothingSent, previewOf, type Report, type ReportKind, rejectsOf, reportOf } from './report.ts';
import { runPlan, type Target, type Totals } from './run.ts';
import { accountTarget, listTarget } from './targets.ts';
import { earlierNote, progressText } from './view.ts';

/** What `contacts sync` and `lists import` differ in. */
type Kind = {
  readonly reports: ReportKind;
  readonly shape: Shape;
  /** Of two runs of one file with the same, the second refuses. */
  readonly operation: string;
  readonly target: (service: Service, plan: Plan) => Target;
};

const intoAccount: Kind = {
  reports: 'account',
  shape: syncShape,
  operation: 'syncContacts',
  target: accountTarget,
};

const intoList = (list: number): Kind => ({
  reports: 'list',
  shape: listShape,
  operation: `createAndSyncListContacts ${list}`,
  target: (service, { holders }) => listTarget(service, list, holders),
});

/**
 * A CSV file into the account, or into a contact list. The file is read twice: first every row is checked, and only then
 * the first one is sent. Nothing is ever held in memory but what is in flight, and the rows that failed.
 */
export const importFile = (ctx: Context, wish: Wish, list?: number): Promise<View> =>
  withoutOldReport(wish.flags, () => importRows(ctx, wish, list === undefined ? intoAccount : intoList(list)));

async function importRows(ctx: Context, wish: Wish, kind: Kind): Promise<View> {
  const { file, flags } = wish;
  const began = ctx.clock.ticks();
  await checkFiles(ctx, [file], flags);
  const source = await openSource(ctx, file, flags.encoding);
  try {
    const map = readWishes(flags.map, kind.shape);
    const table = await openTable(source, {
      delimiter: flags.delimiter,
      skipLines: flags.skip_lines,
      noHeader: flags.no_header,
      ...headerLine(map, kind.shape),
    });
    const plan = await makePlan(table, { ...kind, map }, flags, (rows) => {
      if (ctx.signal.aborted) throw interruption(ctx.signal, 'Interrupted. Nothing was sent.');
      ctx.progress(`Reading ${source.name}: ${counted(rows, 'row')}`, 'work');
    });
    ctx.progress(undefined, 'work');
    for (const note of planNotes(plan, kind.shape, flags)) ctx.notice(note);

    const refusal = refusalOf(plan, flags.dry_run);
    if (flags.dry_run && !refusal) await lookForHoldersDry(ctx, wish.settings, plan);
    const totals: Sent =
      flags.dry_run || refusal
        ? nothingSent(flags.dry_run ? plan.chunks : 0, Math.round(ctx.clock.ticks() - began))
        : await send(ctx, wish, kind, plan);
    const sums = reportOf(file, kind.reports, plan, totals);
    const report = flags.dry_run ? previewOf(sums, plan) : sums;
    // Of a run that lost its journal the files are those of the run that took it over.
    const files = flags.dry_run ? await sparing(ctx, flags, { isDry: true }) : flags;
    const unwritten = totals.isLost ? undefined : await writeFiles(ctx, plan, report, files);
    if (flags.annotate === 'github') annotate(ctx, file, report);
    const failure = refusal ?? stopOf(plan, totals, flags);
    const kept = totals.isLost ? {} : writtenOf(files, unwritten);
    const shown = { plan, report, files: kept, isDry: flags.dry_run, overwrites: () => overwriting(plan, wish) };
    const view = viewOf(shown, totals.unaccounted, failure);
    const notes = ctx.stdout.isTTY ? keptNotes(report, file, kept) : pipeNotes(shown, view, totals.unaccounted);
    const changed = flags.dry_run || failure ? [] : await changedNotes(source);
    return withUnwritten({ ...view, notes: [...notes, ...changed] }, unwritten, ctx);
  } finally {
    await source.close();
  }
}

/** How a line of a file of contacts is told to be its header. */
const headerLine = (wishes: readonly MapWish[], shape: Shape): Pick<TableOptions, 'judge' | 'wayOut'> => ({
  judge: judgeBy((cells) => isMappable(cells, wishes, shape)),
  wayOut(cells, line) {
    const free = cells.flatMap((_, index) => (index === cells.findIndex(isAddress) ? [] : [index]));
    const others = shape.required.filter((field) => field !== 'email');
    return sayColumns(cells, line, {
      field: 'email',
      others: others.map((field, at) => `#${(free[at] ?? at) + 1}=${field}`),
    });
  },
});

/** `isLost`: another run has the journal now. */
type Sent = Totals & { readonly isLost?: boolean };

async function send(ctx: Context, { flags, settings }: Wish, kind: Kind, plan: Plan): Promise<Sent> {
  const telling = tellingProgress(ctx, progressText);
  const service = await connect(comingFrom(telling.ctx, { face: 'bulk' }), settings);
  const { source } = plan.table;
  const { id, formerly, isClockSure } = await accountOf(service, syncContacts);
  const journal = await openJournal(
    ctx.files.state,
    {
      file: source.path,
      content: source.digest(),
      rows: plan.rows,
      destination: JSON.stringify([spellingsOf(service.session.baseUrl)[0], id, kind.operation]),
      formerly: formerly.map((account) => JSON.stringify([...account, kind.operation])),
      mapping: readingOf(plan, flags),
    },
    { restart: flags.restart, clock: ctx.clock, isClockSure },
  );
  try {
    const note = earlierNote(journal.earlier, source.name, doneRows(journal), plan.sendable);
    if (note) ctx.notice(note);
    await refuseBegunAgain(service, plan, journal);
    await lookForHolders(service, plan);
    const totals = await runPlan(ctx, {
      plan,
      journal,
      target: kind.target({ ...service, ctx: checked(service.ctx, journal.check) }, plan),
      concurrency: flags.concurrency ?? 4,
      onProgress: telling.onProgress,
    });
    return { ...totals, isLost: journal.lost.aborted };
  } catch (error) {
    throw stoppedBefore(error, doneRows(journal), plan, flags);
  } finally {
    ctx.progress(undefined, 'work');
    await journal.close();
  }
}

/** By the runs before this one. */
const doneRows = ({ past }: Journal): number => [...past.done.values()].reduce((sum, { rows }) => sum + rows, 0);

function writeFiles(ctx: Context, plan: Plan, report: Report, flags: ImportFlags): Promise<Unwritten | undefined> {
  const { rejects, report: reportFile, restart } = flags;
  const { rows, rejected, skipped = 0, unsent } = report;
  const sums = { rows, done: rows - rejected - skipped - unsent };
  const by = { ctx, sums, hint: writtenLater(restart ? '--restart' : undefined) };
  return writeAll([
    [rejects, (path) => writeFile(path, rejectsOf(plan, report.errors), by)],
    [reportFile, (path) => writeFile(path, [reportText(report)], by)],
  ]);
}

/** GitHub shows ten annotations of a step; a few more are in the log. */
const mostAnnotations = 50;

/** Also with --quiet: they were asked for. As they are, for a line that is broken to fit a terminal marks nothing. */
function annotate(ctx: Context, file: string, report: Report): void {
  const path = fileInRepository(file, startingFolder(), ctx.env.GITHUB_WORKSPACE);
  for (const { line, error } of report.errors.slice(0, mostAnnotations)) {
    ctx.runner?.(sanitize(annotation('error', 'Row not synced', error, { file: path, line })));
  }
}
