import { getAccount } from '../api/account.ts';
import { syncContacts } from '../api/contacts.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { isSameFile, openDraft } from '../disk/draft-file.ts';
import { Failure, interruption, messageOf } from '../errors.ts';
import { call, connect, type Service } from '../http/call.ts';
import type { View } from '../output/view.ts';
import { openSource } from '../tabular/source.ts';
import { openTable } from '../tabular/table.ts';
import { hexDigestOf } from '../text/digest.ts';
import { annotation, fileInRepository } from '../text/workflow-commands.ts';
import type { ImportFlags } from './flags.ts';
import { type Journal, openJournal } from './journal.ts';
import type { Shape } from './mapping.ts';
import { makePlan, type Plan } from './plan.ts';
import { nothingSent, type Report, type ReportKind, rejectsOf, reportOf } from './report.ts';
import { runPlan, type Target, type Totals } from './run.ts';
import { earlierNote, planNotes, planText, progressText, reportText } from './view.ts';

/** What `contacts sync` and `lists import` differ in. */
export type Kind = {
  readonly reports: ReportKind;
  readonly shape: Shape;
  readonly chunkSize: number;
  /** Of two runs of one file with the same, the second refuses. */
  readonly operation: string;
  readonly target: (service: Service) => Target;
};

/** What was typed. */
export type Wish = { readonly file: string; readonly flags: ImportFlags; readonly settings: Settings };

/**
 * A CSV file into the service. The file is read twice: first every row is checked, and only then the first one is
 * sent. Nothing is ever held in memory but what is in flight, and the rows that failed.
 */
export async function importFile(ctx: Context, wish: Wish, kind: Kind): Promise<View> {
  const { file, flags } = wish;
  const began = ctx.clock.ticks();
  await refuseOverwriting(file, flags);
  const source = await openSource(ctx, file, flags.encoding);
  try {
    const table = await openTable(source, flags.delimiter);
    const rowOptions = {
      tagSeparator: flags.tag_separator || ';',
      tags: flags.tag ?? [],
      metadata: flags.metadata,
      strictPhone: flags.strict_phone,
      map: flags.map,
      dedupe: flags.dedupe,
    };
    const plan = await makePlan(table, kind, rowOptions, (rows) => {
      if (ctx.signal.aborted) throw interruption(ctx.signal, 'Interrupted. Nothing was sent.');
      ctx.progress(`Reading ${source.name}: ${rows.toLocaleString('en')} rows`);
    });
    ctx.progress(undefined);
    for (const note of planNotes(plan, kind.shape)) ctx.notice(note);

    const isDry = flags.dry_run || plan.sendable === 0;
    const totals = isDry
      ? nothingSent(plan, Math.round(ctx.clock.ticks() - began))
      : await send(ctx, wish, kind, { plan, mapping: JSON.stringify([plan.mapping, rowOptions, kind.chunkSize]) });
    const report = reportOf(file, kind.reports, plan, totals);
    await writeFiles(plan, report, flags);
    if (flags.annotate === 'github') annotate(ctx, file, report);
    const failure = failureOf(report, plan, totals);
    return flags.dry_run ? dryView(plan, report, failure) : viewOf(plan, report, totals, failure);
  } finally {
    await source.close();
  }
}

async function send(
  ctx: Context,
  { flags, settings }: Wish,
  kind: Kind,
  { plan, mapping }: { readonly plan: Plan; readonly mapping: string },
): Promise<Totals> {
  const service = await connect(ctx, settings);
  const { source } = plan.table;
  const journal = await openJournal(
    `${ctx.files.state}/sync`,
    {
      file: source.path,
      content: plan.digest,
      rows: plan.rows,
      destination: JSON.stringify([service.session.baseUrl, await accountOf(service), kind.operation]),
      mapping,
    },
    { restart: flags.restart, clock: ctx.clock },
  );
  try {
    tellOfEarlier(ctx, journal, plan);
    return await runPlan(ctx, {
      plan,
      journal,
      target: kind.target(service),
      concurrency: flags.concurrency ?? 4,
      onProgress: (progress) => ctx.progress(progressText(progress)),
    });
  } finally {
    ctx.progress(undefined);
    await journal.close();
  }
}

/** The account, as surely as it can be told without asking more than once. */
async function accountOf(service: Service): Promise<string> {
  const { kind, token } = await service.session.bearer(syncContacts);
  // A key belongs to exactly one account (general rule 1); its digest names it, and tells nothing.
  if (kind === 'api_key') return hexDigestOf(token);
  try {
    return String((await call(service, getAccount, {})).account_id);
  } catch (failure) {
    if (failure instanceof Failure && failure.kind === 'forbidden') return `profile ${service.session.profile}`;
    throw failure;
  }
}

function tellOfEarlier(ctx: Context, journal: Journal, plan: Plan): void {
  let rows = 0;
  for (const done of journal.past.done.values()) rows += done.rows;
  const note = earlierNote(journal.earlier, plan.table.source.name, rows, plan.sendable);
  if (note) ctx.notice(note);
}

/** A file that is read must not be one that is written. */
async function refuseOverwriting(file: string, flags: ImportFlags): Promise<void> {
  for (const [flag, path] of [
    ['--report', flags.report],
    ['--rejects', flags.rejects],
  ] as const) {
    if (path !== undefined && file !== '-' && (await isSameFile(path, file))) {
      throw new Failure('usage', `${flag} would overwrite the file that is read.`);
    }
  }
}

async function writeFiles(plan: Plan, report: Report, flags: ImportFlags): Promise<void> {
  if (flags.rejects !== undefined) await write(flags.rejects, rejectsOf(plan, report.errors));
  if (flags.report !== undefined) await write(flags.report, [`${JSON.stringify(report, undefined, 2)}\n`]);
}

async function write(path: string, pieces: Iterable<string> | AsyncIterable<string>): Promise<void> {
  const { pipeline } = process.getBuiltinModule('node:stream/promises');
  const draft = await openDraft(path);
  try {
    await pipeline(pieces, draft.stream, { end: false });
    await draft.keep();
  } catch (error) {
    await draft.drop();
    throw new Failure('failed', `${path} could not be written: ${messageOf(error)}.`, { cause: error });
  }
}

/** GitHub shows ten annotations of a step; a few more are in the log. */
const mostAnnotations = 50;

function annotate(ctx: Context, file: string, report: Report): void {
  const path = fileInRepository(file, process.cwd(), ctx.env.GITHUB_WORKSPACE);
  for (const { line, error } of report.errors.slice(0, mostAnnotations)) {
    ctx.notice(annotation('error', 'Row not synced', error, { file: path, line }));
  }
}

const dryView = (plan: Plan, report: Report, failure: Failure | undefined): View => ({
  data: { shape: 'record', record: report },
  human: async (terminal) => (await import('./screens.ts')).planView(plan, report)(terminal),
  plain: () => planText(plan, report),
  outcome: report.rejected > 0 ? 'partial' : undefined,
  failure,
});

const viewOf = (plan: Plan, report: Report, totals: Totals, failure: Failure | undefined): View => ({
  data: { shape: 'record', record: report },
  human: async (terminal) => (await import('./screens.ts')).reportView(plan, report)(terminal),
  plain: () => reportText(report),
  outcome: report.rejected > 0 || totals.unaccounted > 0 ? 'partial' : undefined,
  failure,
});

function failureOf(report: Report, plan: Plan, { stopped, resumedRows }: Totals): Failure | undefined {
  if (plan.sendable === 0) {
    return new Failure('usage', `None of the ${plan.rows} rows of ${plan.table.source.name} can be sent.`, {
      hint: 'Nothing was sent. Fix the rows, or name the right columns with --map.',
    });
  }
  if (!stopped) return undefined;
  const done = plan.sendable - (report.unsent - plan.leftOut);
  const wasStopped = stopped.kind === 'interrupted' || stopped.kind === 'terminated';
  const fact = `${done} of ${plan.sendable} rows are done${resumedRows > 0 ? ', earlier runs included' : ''}.`;
  return new Failure(stopped.kind, wasStopped ? `Interrupted: ${fact}` : `${stopped.message} ${fact}`, {
    hint: wasStopped || stopped.kind === 'unknown' ? goOn : [stopped.hint, goOn].filter(Boolean).join('\n'),
    status: stopped.status,
    fields: stopped.fields,
    cause: stopped,
  });
}

const goOn = 'Run the same command again: it continues where this run stopped. A repeated row changes nothing.';
