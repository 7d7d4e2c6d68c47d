import { resolve as absolute } from 'node:path';
import { fieldsOf } from '../api/shape.ts';
import { cleared } from '../command/clear.ts';
import type { Given } from '../command/command.ts';
import { confirmed } from '../command/confirm.ts';
import { idNameOf, type RowOf, bodyOf as schemaOf } from '../command/row.ts';
import { readTemplate } from '../command/template-file.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { readUserText } from '../disk/user-file.ts';
import { Failure, interruption } from '../errors.ts';
import { connect, type Service } from '../http/call.ts';
import type { View } from '../output/view.ts';
import { footerNotes } from '../tabular/footer.ts';
import { preambleNotes } from '../tabular/header.ts';
import { openRows, type Rows } from '../tabular/rows.ts';
import { openSource } from '../tabular/source.ts';
import type { Template } from '../text/template.ts';
import { accountOf } from './account.ts';
import type { Reading } from './cells.ts';
import { type Columns, placeIn, resolveColumns } from './columns.ts';
import { cappedNotes, failureOf, outcomeOf, partialNote } from './ending.ts';
import { checkFiles, writeFiles } from './files.ts';
import type { FileFlags } from './flags.ts';
import { headerLine } from './header-line.ts';
import { resolversFor } from './ids.ts';
import { givenBody, inputMaker } from './inputs.ts';
import { openJournals } from './journal.ts';
import type { IdsInCopy } from './match.ts';
import { progressText, rowsInWords } from './pace.ts';
import { makePlan, type Plan } from './plan.ts';
import { confirmedMany, questionFor } from './question.ts';
import { minutesFor, nothingSent, reportOf, sampleOf } from './report.ts';
import { openRequesters, type Requester, withRequester } from './requesters.ts';
import { chosenJournal, refuseLost, rowsToSend } from './resume.ts';
import { runPlan, type Totals } from './run.ts';
import { type Secrets, secretsOf } from './secrets.ts';
import { createSender } from './send-row.ts';
import { readAsNote, type Values, valuesOf } from './values.ts';
import { columnNotes, earlierNote, viewOf } from './view.ts';

/** A command with `--from FILE`. */
type Asked = Given & {
  /** The words behind `svc`. */
  readonly words: string;
  readonly row: RowOf;
  readonly idsInCopy: IdsInCopy;
};

/** What one run needs at every step. */
type Run = {
  readonly ctx: Context;
  readonly settings: Settings;
  readonly words: string;
  readonly row: RowOf;
  readonly flags: FileFlags;
  readonly service: () => Promise<Service>;
  readonly idsInCopy: IdsInCopy;
};

/** Every row of a file through one command. The file is read first to check every row, and only then to send. */
export async function runFile(
  ctx: Context,
  { words, row: ofCommand, args, flags: all, settings, idsInCopy }: Asked,
): Promise<View> {
  const began = ctx.clock.ticks();
  const flags = all as FileFlags & Given['flags'];
  let connected: Promise<Service> | undefined;
  const service = () => {
    connected ??= connect(ctx, settings);
    return connected;
  };
  const row = flags.create_contacts ? withRequester(ofCommand) : ofCommand;
  const run: Run = { ctx, settings, words, row, flags, service, idsInCopy };
  const given = await givenByCommandLine(run, { ...args, ...all });
  const template = await templateOf(run, given);
  const file = String(flags.from);
  await checkFiles([file, flags.id_map?.replace(/:[^:]*$/u, '')], flags);
  const source = await openSource(ctx, file, flags.encoding);
  try {
    const rows = await openRows(source, {
      delimiter: flags.delimiter,
      skipLines: flags.skip_lines,
      noHeader: flags.no_header,
      ...headerLine({ row, flags, isIdGiven: given.id !== undefined, placeholders: template?.placeholders ?? [] }),
    });
    for (const note of preambleNotes(rows.beginning)) ctx.notice(note);
    const columns = resolveColumns(rows.columns, row, { map: flags.map, match: flags.match });
    refuseUseless(run, columns, given, template);
    const requesters = flags.create_contacts ? await openRequesters(await service()) : undefined;
    const values = valuesOf(columns, row, flags.map_value);
    // A command that needs nothing but an id reads nothing else.
    if (row.operation.body && row.reads !== 'named')
      for (const note of columnNotes(columns, template?.placeholders ?? [])) ctx.notice(note);
    const resolve = await resolversFor({ ...run, rows, columns });
    const make = inputMaker({
      ...{ row, columns, given, reading: readingOf(flags, rows), template, resolve, values },
      set: flags.set ?? {},
      requesters,
    });
    const planned = () =>
      makePlan({ row, rows, columns, make }, (count) => {
        if (ctx.signal.aborted) throw interruption(ctx.signal, 'Interrupted. Nothing was sent.');
        ctx.progress(`Reading ${source.name}: ${rowsInWords(count)}`, 'work');
      });
    const isRefused = ({ sendable, problems }: Plan) => sendable === 0 || (flags.strict && problems.size > 0);
    const first = await planned();
    const wanted = flags.dry_run || isRefused(first) ? [] : await newRequesters(first);
    if (wanted.length > 0) await requesters?.make(wanted);
    const plan = wanted.length > 0 ? await planned() : first;
    ctx.progress(undefined, 'work');
    for (const note of footerNotes(rows.beginning.footer)) ctx.notice(note);
    const told = readAsNote(values.readAs());
    if (told !== undefined) ctx.notice(told);
    const isDry = flags.dry_run || isRefused(plan);
    const set = Object.keys(flags.set ?? {}).length > 0 ? [flags.set] : [];
    const content = JSON.stringify([given, template?.text ?? null, ...set]);
    const totals = isDry ? nothingSent(Math.round(ctx.clock.ticks() - began)) : await send(run, plan, content);
    const report = { ...reportOf(words, file, plan, totals), ...readAsOf(values) };
    const shown = flags.dry_run ? { ...report, sample: sampleOf(plan, settings), minutes: minutesFor(plan) } : report;
    if (isDry) await writeFiles(flags, { plan, totals, report: shown, hasSecrets: false });
    const outcome = outcomeOf(report, flags.dry_run);
    const failure = failureOf(report, totals, { plan, isStrict: flags.strict, isDry: flags.dry_run });
    const capped = cappedNotes(report, totals, flags.max_sends);
    const isTold = ctx.stdout.isTTY === true || flags.dry_run || failure !== undefined || capped.length > 0;
    return {
      ...viewOf(shown),
      notes: [...(outcome === 'partial' && !isTold ? [partialNote(report)] : []), ...capped],
      outcome,
      failure,
    };
  } finally {
    ctx.progress(undefined, 'work');
    await source.close();
  }
}

/** What the command line says for every row. */
async function givenByCommandLine(
  { ctx, row, flags }: Run,
  values: Readonly<Record<string, unknown>>,
): Promise<{ readonly id?: number; readonly body: Readonly<Record<string, unknown>> }> {
  if (values.editor === true) throw new Failure('usage', '--editor and --from cannot be used together.');
  const body = givenBody(row, values);
  const file = values.bodyFile ?? values.contentFile;
  if (row.text !== undefined && typeof file === 'string') {
    if (file === '-' && flags.from === '-') throw new Failure('usage', 'Standard input cannot be both rows and text.');
    body[row.text] = (await readUserText(ctx, file, '--body-file')).replace(/\r?\n$/u, '');
  }
  const clear = values.clear as readonly string[] | undefined;
  const id = idNameOf(row) === undefined ? undefined : [values.id].flat()[0];
  return {
    ...(typeof id === 'number' && { id }),
    body: clear ? cleared(body, clear, fieldsOf(schemaOf(row))) : body,
  };
}

async function templateOf(
  { ctx, row, flags }: Run,
  { body }: { readonly body: object },
): Promise<Template | undefined> {
  if (Object.keys(flags.set ?? {}).length > 0 && flags.template === undefined) {
    throw new Failure('usage', '--set needs --template.');
  }
  if (flags.template === undefined || row.text === undefined) return undefined;
  if (row.text in body) throw new Failure('usage', `Give only one of --${row.text} and --template.`);
  return readTemplate(ctx, flags.template);
}

const readingOf = ({ tag_separator = ';', clear_empty }: FileFlags, { form }: Rows): Reading => ({
  separator: tag_separator === 'none' || tag_separator === '' ? undefined : tag_separator,
  clearEmpty: clear_empty === true,
  isJson: form === 'json',
});

/** What every row would lack is said once, before any is read. */
function refuseUseless(
  { row, flags }: Run,
  { targets, names }: Columns,
  given: { readonly id?: number },
  template: Template | undefined,
): void {
  const hint = `Columns: ${names.join(', ')}. Name one with --map "COLUMN=${flags.match ?? 'id'}"`;
  if (flags.match === 'email' && !targets.some((target) => target?.kind === 'email')) {
    throw new Failure('usage', '--match email: the file has no column email.', { hint });
  }
  if (flags.match && flags.id_map) throw new Failure('usage', '--match and --id-map cannot be used together.');
  const hasId = given.id !== undefined || targets.some((target) => target?.kind === 'id' || target?.kind === 'email');
  if (idNameOf(row) !== undefined && !hasId) {
    const isRow = /^\d+$/u.test(names[0] ?? '');
    throw new Failure('usage', 'The file has no column id.', { hint: isRow ? rowsOfSvc : hint });
  }
  const set = flags.set ?? {};
  const strange = (template?.placeholders ?? []).filter((name) => !(name in set) && placeIn(names, name) < 0);
  if (strange.length > 0) {
    throw new Failure('usage', `The template has {{${strange[0]}}}, and the file has no such column.`, {
      hint: `Columns: ${names.join(', ')}.`,
    });
  }
}

/** A pipe from svc itself has no header. */
const rowsOfSvc =
  'Its first line looks like a row. If svc wrote it, add -o jsonl there. Else say what the columns are: --no-header --map "#1=id"';

async function send(run: Run, plan: Plan, content: string): Promise<Totals> {
  const { ctx, settings, words, row, flags } = run;
  const service = await run.service();
  const secrets = secretsOf(ctx, row.operation, service, flags.results);
  const { source } = plan.rows;
  const identity = {
    command: words,
    file: source.path === undefined ? undefined : absolute(source.path),
    destination: JSON.stringify([service.session.baseUrl, await accountOf(service, row.operation)]),
    settings: content,
  };
  const journals = await openJournals({ state: ctx.files.state, clock: ctx.clock }, identity);
  try {
    const chosen = chosenJournal(journals, plan, { restart: flags.restart });
    const past = chosen.found?.past;
    if (past) refuseLost(past, plan, settings.yes);
    const open = rowsToSend(past, plan, flags.retry_unknown);
    const count = Math.min(open, flags.max_sends ?? Number.POSITIVE_INFINITY);
    if (past)
      ctx.notice(
        earlierNote(
          past.finishedAt ?? past.header.started_at,
          past.finishedAt !== undefined,
          plan.sendable - open,
          open,
        ),
      );
    const question = count > 0 ? questionFor(row, plan, count, words) : undefined;
    if (question) await confirmed(ctx, settings, question);
    else await confirmedMany(ctx, settings, { row, count, words });
    const journal = await journals.open(chosen);
    try {
      const totals = await runPlan({
        ctx,
        settings,
        plan,
        journal,
        secrets,
        sender: createSender(service, row, journal),
        concurrency: flags.concurrency ?? 4,
        maxSends: flags.max_sends ?? Number.POSITIVE_INFINITY,
        retryUnknown: flags.retry_unknown,
        onProgress: (progress) => ctx.progress(progressText(progress), 'work'),
      });
      ctx.progress(undefined, 'work');
      // The files of the run that took over stand there, or will.
      if (journals.held.lost.aborted) return totals;
      await keepFiles(run, plan, totals, secrets);
      if (secrets.to === 'results') await journal.forgetSecrets();
      return totals;
    } finally {
      await journal.close();
    }
  } finally {
    await journals.held.release();
  }
}

/** The contacts of the rows that can be sent and name somebody who is not there. */
async function newRequesters(plan: Plan): Promise<readonly Requester[]> {
  const wanted: Requester[] = [];
  for await (const batch of plan.read()) wanted.push(...batch.flatMap(({ input }) => input.requester ?? []));
  return wanted;
}

const readAsOf = (values: Values) => {
  const readAs = values.readAs();
  return Object.keys(readAs).length > 0 ? { read_as: readAs } : {};
};

/** While the journal is held: what stands in the files is what it says. */
const keepFiles = (run: Run, plan: Plan, totals: Totals, secrets: Secrets): Promise<void> =>
  writeFiles(run.flags, {
    plan,
    totals,
    report: reportOf(run.words, String(run.flags.from), plan, totals),
    hasSecrets: secrets.to === 'results',
  });
