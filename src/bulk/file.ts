import { fieldsOf } from '../api/shape.ts';
import { comingFrom } from '../audit/origin.ts';
import { type Account, accountOf } from '../batch/account.ts';
import type { EarlierSecrets } from '../batch/earlier-secrets.ts';
import { dryNote, keptNotes, partialNote } from '../batch/ending.ts';
import { checkFiles, sparing, withUnwritten } from '../batch/out-files.ts';
import { progressText, rowsInWords, type Telling, tellingProgress } from '../batch/pace.ts';
import { placeIn } from '../batch/places.ts';
import { cleared } from '../command/clear.ts';
import type { Given } from '../command/command.ts';
import { idNameOf, type RowOf, bodyOf as schemaOf } from '../command/row.ts';
import { bracedNames, readTemplate, setFlags } from '../command/template-file.ts';
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
import type { Reading } from './cells.ts';
import { type Columns, resolveColumns } from './columns.ts';
import { agreeFirst } from './consent.ts';
import type { IdsInCopy } from './copied-ids.ts';
import { cappedNotes, draftNotes, failureOf, outcomeOf } from './ending.ts';
import { writeFiles } from './files.ts';
import { columnNotes } from './fitting.ts';
import { type FileFlags, sendsAgain } from './flags.ts';
import { contentOf } from './given.ts';
import { headerLine } from './header-line.ts';
import { resolversFor } from './ids.ts';
import { givenBody, inputMaker } from './inputs.ts';
import { makePlan, type Plan } from './plan.ts';
import { previewPlan } from './preview.ts';
import { dryReport, nothingSent, reportOf } from './report.ts';
import { anonymousNotes, newRequesters, openRequesters, refuseNobody, withRequester } from './requesters.ts';
import { type Sent, sendPlan } from './send-plan.ts';
import { keepHeapSmall } from './small-heap.ts';
import { readAsNote, type Values, valuesOf } from './values.ts';
import { recordsShown, viewOf } from './view.ts';

/** A command with `--from FILE`. */
type Asked = Given & {
  /** The words behind `svc`. */
  readonly words: string;
  readonly row: RowOf;
  readonly idsInCopy: IdsInCopy;
};

/** What one run needs at every step. */
export type Run = {
  readonly ctx: Context;
  readonly settings: Settings;
  readonly words: string;
  readonly row: RowOf;
  readonly flags: FileFlags;
  readonly service: () => Promise<Service>;
  /** Asked for once. */
  readonly account: () => Promise<Account>;
  readonly idsInCopy: IdsInCopy;
  readonly onProgress: Telling['onProgress'];
  /** What the file of results holds already. */
  readonly earlier: EarlierSecrets;
};

/** Every row of a file through one command. The file is read first to check every row, and only then to send. */
export async function runFile(
  ctx: Context,
  { words, row: ofCommand, args, flags: all, settings, idsInCopy }: Asked,
): Promise<View> {
  keepHeapSmall();
  const began = ctx.clock.ticks();
  const flags = all as FileFlags & Given['flags'];
  const telling = tellingProgress(ctx, progressText);
  let connected: Promise<Service> | undefined;
  const service = () => {
    connected ??= connect(comingFrom(telling.ctx, { face: 'bulk' }), settings);
    return connected;
  };
  const row = flags.create_contacts ? withRequester(ofCommand) : ofCommand;
  let known: Promise<Account> | undefined;
  const account = () => {
    known ??= service().then((connection) => accountOf(connection, row.operation));
    return known;
  };
  const asked = { ctx, settings, words, row, flags, service, account, idsInCopy, onProgress: telling.onProgress };
  refuseIds(row, args);
  const given = await givenByCommandLine(asked, { ...args, ...all });
  const template = await templateOf(asked, given);
  const commanded = { ...given, template, set: flags.set ?? {} };
  const file = String(flags.from);
  const inputs = [file, ...(flags.id_map ?? []).map((text) => text.replace(/:[^:]*$/u, ''))];
  const earlier = await checkFiles(ctx, inputs, flags, row.operation.secret !== undefined);
  const run: Run = { ...asked, earlier };
  const source = await openSource(ctx, file, flags.encoding);
  try {
    const rows = await openRows(source, {
      delimiter: flags.delimiter,
      skipLines: flags.skip_lines,
      noHeader: flags.no_header,
      ...headerLine({ row, flags, placeholders: template?.placeholders ?? [] }),
    });
    for (const note of preambleNotes(rows.beginning)) ctx.notice(note);
    const columns = resolveColumns(rows.columns, row, { map: flags.map, match: flags.match });
    refuseUseless(run, columns, template);
    // A command that needs nothing but an id reads nothing else.
    if (row.operation.body && row.reads !== 'named')
      for (const note of columnNotes(columns, {
        ...{ row, given: given.body, template },
        createsContacts: flags.create_contacts === true,
      }))
        ctx.notice(note);
    if (flags.create_contacts) refuseNobody(row, columns, given.body);
    const requesters = flags.create_contacts ? await openRequesters(await service()) : undefined;
    const values = valuesOf(columns, row, flags.map_value);
    const resolve = await resolversFor({ ...run, rows, columns });
    const make = inputMaker({
      ...{ row, columns, given: commanded, reading: readingOf(flags, rows), resolve, values },
      requesters,
    });
    const planned = () =>
      makePlan({ row, rows, columns, make }, (count) => {
        if (ctx.signal.aborted) throw interruption(ctx.signal, 'Interrupted. Nothing was sent.');
        ctx.progress(`Reading ${source.name}: ${rowsInWords(count)}`, 'work');
      });
    const isRefused = ({ sendable, problems }: Plan) => sendable === 0 || (flags.strict && problems.size > 0);
    const first = await planned();
    const wanted = requesters && !isRefused(first) ? await newRequesters(first) : [];
    const isMade = wanted.length > 0 && !flags.dry_run;
    const content = contentOf(commanded);
    if (isMade) await agreeFirst(run, first, content);
    if (isMade) await requesters?.make(wanted);
    const checked = isMade ? await planned() : first;
    ctx.progress(undefined, 'work');
    for (const note of footerNotes(rows.beginning.footer)) ctx.notice(note);
    const told = readAsNote(values.readAs());
    if (told !== undefined) ctx.notice(told);
    if (flags.dry_run) for (const note of anonymousNotes(checked)) ctx.notice(note);
    const isDry = flags.dry_run || isRefused(checked);
    const ms = Math.round(ctx.clock.ticks() - began);
    const send = () =>
      flags.dry_run ? previewPlan(run, checked, content, ms) : sendPlan(run, checked, content, isMade);
    const { plan, totals, unwritten }: Sent = isRefused(checked)
      ? { plan: checked, totals: nothingSent(ms) }
      : await send();
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
    return withUnwritten(
      { ...viewOf(shown, { ...written, records: await recordsShown(plan, shown) }), notes, outcome, failure },
      lost,
      ctx.notice,
    );
  } finally {
    ctx.progress(undefined, 'work');
    await source.close();
  }
}

/** What the command line says for every row. */
async function givenByCommandLine(
  { ctx, row, flags }: Pick<Run, 'ctx' | 'row' | 'flags'>,
  values: Readonly<Record<string, unknown>>,
): Promise<{ readonly body: Readonly<Record<string, unknown>> }> {
  if (values.editor === true) throw new Failure('usage', '--editor and --from cannot be used together.');
  const body = givenBody(row, values);
  const file = values.bodyFile ?? values.contentFile;
  if (row.text !== undefined && typeof file === 'string') {
    if (file === '-' && flags.from === '-') throw new Failure('usage', 'Standard input cannot be both rows and text.');
    body[row.text] = (await readUserText(ctx, file, '--body-file')).replace(/\r?\n$/u, '');
  }
  const clear = values.clear as readonly string[] | undefined;
  return { body: clear ? cleared(body, clear, fieldsOf(schemaOf(row))) : body };
}

/** Beside the ids of a file an id of the command line would be passed over, or hold for every row. */
function refuseIds(row: RowOf, args: Given['args']): void {
  const named = idNameOf(row) === undefined ? [] : [args.id].flat().filter((id) => id !== undefined);
  if (named.length === 0) return;
  throw new Failure('usage', `${named.join(' ')} and --from cannot be used together: the ids come from the file.`, {
    hint: `Leave ${named.length === 1 ? 'it' : 'them'} out, or leave out --from.`,
  });
}

async function templateOf(
  { ctx, row, flags }: Pick<Run, 'ctx' | 'row' | 'flags'>,
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
function refuseUseless({ row, flags }: Run, { targets, names }: Columns, template: Template | undefined): void {
  const hint = `Columns: ${names.join(', ')}. Name one with --map "COLUMN=${flags.match ?? 'id'}"`;
  if (flags.match === 'email' && !targets.some((target) => target?.kind === 'email')) {
    throw new Failure('usage', '--match email: the file has no column email.', { hint });
  }
  if (flags.match && flags.id_map?.length) throw new Failure('usage', '--match and --id-map cannot be used together.');
  const hasId = targets.some((target) => target?.kind === 'id' || target?.kind === 'email');
  if (idNameOf(row) !== undefined && !hasId) {
    const isRow = /^\d+$/u.test(names[0] ?? '');
    throw new Failure('usage', 'The file has no column id.', { hint: isRow ? rowsOfSvc : hint });
  }
  const set = flags.set ?? {};
  const strange = (template?.placeholders ?? []).filter((name) => !(name in set) && placeIn(names, name) < 0);
  if (strange.length > 0) {
    const columns = strange.length === 1 ? 'column' : 'columns';
    throw new Failure('usage', `The template has ${bracedNames(strange)}, and the file has no such ${columns}.`, {
      hint: `Give each row its own in a ${columns.replace('columns', 'column each')} of that name. For the same in every row: ${setFlags(strange)}\nColumns: ${names.join(', ')}.`,
    });
  }
}

/** A pipe from svc itself has no header. */
const rowsOfSvc =
  'Its first line looks like a row. If svc wrote it, add -o jsonl there. Else say what the columns are: --no-header --map "#1=id"';

const readAsOf = (values: Values) => {
  const readAs = values.readAs();
  return Object.keys(readAs).length > 0 ? { read_as: readAs } : {};
};
