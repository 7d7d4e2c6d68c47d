import { comingFrom } from '../audit/origin.ts';
import { type Account, accountOf } from '../batch/account.ts';
import { dryNote, keptNotes, partialNote } from '../batch/ending.ts';
import { checkFiles, sparing, withUnwritten } from '../batch/out-files.ts';
import { progressText, rowsInWords, tellingProgress } from '../batch/pace.ts';
import { keepHeapSmall } from '../batch/small-heap.ts';
import type { Given } from '../command/command.ts';
import type { RowOf } from '../command/row.ts';
import type { Context } from '../context.ts';
import { interruption } from '../errors.ts';
import { connect, type Service } from '../http/call.ts';
import type { View } from '../output/view.ts';
import { footerNotes } from '../tabular/footer.ts';
import { preambleNotes } from '../tabular/header.ts';
import { openRows, type Rows } from '../tabular/rows.ts';
import { openSource } from '../tabular/source.ts';
import type { Reading } from './cells.ts';
import { resolveColumns } from './columns.ts';
import { givenByCommandLine, type Run, refuseIds, refuseUseless, templateOf } from './command-line.ts';
import { agreeFirst } from './consent.ts';
import type { IdsInCopy } from './copied-ids.ts';
import { cappedNotes, draftNotes, failureOf, outcomeOf } from './ending.ts';
import { writeFiles } from './files.ts';
import { columnNotes } from './fitting.ts';
import { type FileFlags, sendsAgain } from './flags.ts';
import { contentOf } from './given.ts';
import { headerLine } from './header-line.ts';
import { resolversFor } from './ids.ts';
import { inputMaker } from './inputs.ts';
import { makePlan, type Plan } from './plan.ts';
import { previewPlan } from './preview.ts';
import { dryReport, nothingSent, reportOf } from './report.ts';
import { anonymousNotes, newRequesters, openRequesters, refuseNobody, withRequester } from './requesters.ts';
import { type Sent, sendPlan } from './send-plan.ts';
import { readAsNote, type Values, valuesOf } from './values.ts';
import { recordsShown, viewOf } from './view.ts';

/** A command with `--from FILE`. */
type Asked = Given & {
  /** The words behind `svc`. */
  readonly words: string;
  readonly row: RowOf;
  readonly idsInCopy: IdsInCopy;
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
    for (const doubt of values.doubts()) ctx.notice(doubt);
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

const readingOf = ({ tag_separator = ';', clear_empty }: FileFlags, { form }: Rows): Reading => ({
  separator: tag_separator === 'none' || tag_separator === '' ? undefined : tag_separator,
  clearEmpty: clear_empty === true,
  isJson: form === 'json',
});

const readAsOf = (values: Values) => {
  const readAs = values.readAs();
  return Object.keys(readAs).length > 0 ? { read_as: readAs } : {};
};
