import { comingFrom } from '../../audit/origin.ts';
import { accountOf } from '../../batch/account.ts';
import { checkFiles } from '../../batch/out-files.ts';
import { progressText, rowsInWords, type Telling, tellingProgress } from '../../batch/pace.ts';
import { keepHeapSmall } from '../../batch/small-heap.ts';
import type { Given } from '../../command/command.ts';
import type { RowOf } from '../../command/row.ts';
import type { Context } from '../../context.ts';
import { Failure, interruption } from '../../errors.ts';
import { connect } from '../../http/call/call.ts';
import type { View } from '../../output/view.ts';
import { once } from '../../promise/once.ts';
import { footerNotes } from '../../tabular/footer.ts';
import { preambleNotes } from '../../tabular/header.ts';
import { openRows, type Rows } from '../../tabular/rows.ts';
import { openSource, type Source } from '../../tabular/source.ts';
import { givenByCommandLine, type Run, refuseUseless, templateOf } from '../report/command-line.ts';
import { agreeFirst, type SentBefore, sentBefore } from '../report/consent.ts';
import { nothingSent } from '../report/report.ts';
import type { Reading } from '../rows/cells.ts';
import { type Columns, resolveColumns } from '../rows/columns.ts';
import { columnNotes, followNotes } from '../rows/fitting.ts';
import type { FileFlags } from '../rows/flags.ts';
import { type Commanded, contentOf } from '../rows/given.ts';
import { headerLine, withHeaderBelow } from '../rows/header-line.ts';
import { idleOf } from '../rows/idle.ts';
import { type IdsInCopy, resolversFor } from '../rows/ids.ts';
import { inputMaker } from '../rows/inputs.ts';
import { watchingPhones } from '../rows/phone-watch.ts';
import { makePlan, type Plan } from '../rows/plan.ts';
import { anonymousNotes, newRequesters, openRequesters, refuseNobody, withRequester } from '../rows/requesters.ts';
import type { Requester } from '../rows/row-input.ts';
import { readAsNote, valuesOf } from '../rows/values.ts';
import { tell, tellNothing } from './ending.ts';
import { previewPlan } from './preview.ts';
import { type Sent, sendPlan, withEarlier } from './send-plan.ts';

/** A command with `--from FILE`. */
type Asked = Given & {
  /** The words behind `svc`. */
  readonly words: string;
  readonly row: RowOf;
  readonly idsInCopy: IdsInCopy;
};

/** Every row of a file through one command. The file is read first to check every row, and only then to send. */
export async function runFile(ctx: Context, given: Asked): Promise<View> {
  const began = ctx.clock.ticks();
  const begun = await begin(ctx, given);
  try {
    return await runRows(ctx, begun, began);
  } catch (error) {
    if (!(error instanceof Failure) || !error.hasNoRows) throw error;
    return tellNothing(begun.run, begun.file, error.message);
  }
}

async function runRows(ctx: Context, begun: Begun, began: number): Promise<View> {
  const source = await openSource(ctx, begun.file, begun.run.flags.encoding);
  try {
    if (!source.isSmall) begun.keepHeapSmall();
    const opened = await readRows(begun, source);
    const checked = await checkRows(begun, opened);
    ctx.progress(undefined, 'work');
    for (const note of notesOf(ctx, begun, opened, checked.plan)) ctx.notice(note);
    const ms = Math.round(ctx.clock.ticks() - began);
    const sendsNothing = begun.run.flags.dry_run || checked.refused !== undefined;
    const sent = await execute(begun, checked, ms);
    return await tell(begun.run, { ...opened, file: begun.file, wanted: checked.wanted, sent, sendsNothing });
  } finally {
    ctx.progress(undefined, 'work');
    await source.close();
  }
}

/** A run, with what the command line says for each row. */
type Begun = {
  readonly run: Run;
  readonly file: string;
  readonly commanded: Commanded;
  readonly keepHeapSmall: () => void;
};

/** What needs no row: refuses what cannot be meant before the file is opened. */
async function begin(
  ctx: Context,
  { words, row: ofCommand, args, flags: all, settings, idsInCopy }: Asked,
): Promise<Begun> {
  const flags = all as FileFlags & Given['flags'];
  const telling = tellingProgress(ctx, progressText);
  // Of a small file with its first row: what sends it would be compiled each time under other flags.
  const keepSmall = once(keepHeapSmall);
  const onProgress: Telling['onProgress'] = (progress) => {
    keepSmall();
    telling.onProgress(progress);
  };
  const service = once(() => connect(comingFrom(telling.ctx, { face: 'bulk' }), settings));
  const row = flags.create_contacts ? withRequester(ofCommand) : ofCommand;
  const account = once(async () => accountOf(await service(), row.operation));
  const asked = { ctx, settings, words, row, flags, service, account, idsInCopy, onProgress };
  const given = await givenByCommandLine(asked, args, all);
  const commanded: Commanded = { ...given, template: await templateOf(asked, given), set: flags.set ?? {} };
  const file = String(flags.from);
  const inputs = [file, ...(flags.id_map ?? []).map((text) => text.replace(/:[^:]*$/u, ''))];
  const earlier = await checkFiles(ctx, inputs, flags, row.operation.secret !== undefined);
  const run: Run = { ...asked, earlier };
  return { run, file, commanded, keepHeapSmall: keepSmall };
}

/** The file, open, and how its rows become requests. */
type Opened = Awaited<ReturnType<typeof readRows>>;

async function readRows({ run, commanded }: Begun, source: Source) {
  const { ctx, row, flags } = run;
  const { template, body: given } = commanded;
  const rows = await openRows(source, {
    delimiter: flags.delimiter,
    skipLines: flags.skip_lines,
    noHeader: flags.no_header,
    ...headerLine({ row, flags, placeholders: template?.placeholders ?? [] }),
  });
  for (const note of preambleNotes(rows.beginning)) ctx.notice(note);
  const columns = await columnsOf(rows, row, flags);
  refuseUseless(run, { ...columns, isJson: rows.form === 'json' }, template);
  // A command that needs nothing but an id reads nothing else.
  const readsMore = row.operation.body !== undefined && row.reads !== 'named';
  if (readsMore) {
    const createsContacts = flags.create_contacts === true;
    const notes = columnNotes(columns, { row, given, template, createsContacts });
    for (const note of notes) ctx.notice(note);
  }
  if (flags.create_contacts) refuseNobody(row, columns, given);
  const requesters = flags.create_contacts ? await openRequesters(await run.service()) : undefined;
  const values = valuesOf(columns, row, flags.map_value);
  const resolve = await resolversFor({ ...run, rows, columns });
  const reading = readingOf(flags, rows);
  const idle = idleOf(row, commanded);
  const maker = inputMaker({ row, columns, given: commanded, reading, resolve, values, requesters, idle });
  const { make, notes: phoneNotes } = await watchingPhones({ row, columns, make: maker });
  const planned = () =>
    makePlan({ row, rows, columns, make }, (count) => {
      if (ctx.signal.aborted) throw interruption(ctx.signal, 'Interrupted. Nothing was sent.');
      ctx.progress(`Reading ${source.name}: ${rowsInWords(count)}`, 'work');
    });
  const followed = readsMore ? followNotes(columns) : [];
  return {
    rows,
    values,
    columns,
    idle,
    /** With --create-contacts. */
    requesters,
    /** Of columns that are sent after the row itself, where a row has something in them. */
    followed,
    /** Of phones that the service may refuse, once the rows were read. */
    phoneNotes,
    /** Reads every row once, and checks it. */
    planned,
  };
}

async function columnsOf(rows: Rows, row: RowOf, { map, match }: FileFlags): Promise<Columns> {
  try {
    return resolveColumns(rows.columns, row, { map, match });
  } catch (error) {
    throw await withHeaderBelow(error, rows, map);
  }
}

type Checked = {
  readonly plan: Plan;
  /** Where nothing of it goes out: which of its rows were sent before. */
  readonly refused: SentBefore | undefined;
  /** The contacts that --create-contacts makes; they are there where `isAgreed`. */
  readonly wanted: readonly Requester[];
  /** It was agreed to, and nothing is asked any more. */
  readonly isAgreed: boolean;
};

/** Every row is checked before anybody is asked, and agreed to before a contact is made for one. */
async function checkRows({ run, commanded }: Begun, opened: Opened): Promise<Checked> {
  const { requesters, followed, idle, columns, planned } = opened;
  const plan = await planned();
  for (const note of [...(plan.hasMore ? followed : []), ...idle.notes(columns)]) run.ctx.notice(note);
  const content = contentOf(commanded);
  const refused = isRefused(plan, run.flags) ? await refusedBeside(run, plan, content) : undefined;
  const wanted = requesters && !refused ? await newRequesters(plan.read()) : [];
  if (wanted.length === 0 || run.flags.dry_run) return { plan, refused, wanted, isAgreed: false };
  await agreeFirst(run, plan, content);
  await requesters?.make(wanted);
  return { plan: await planned(), refused, wanted, isAgreed: true };
}

/** Undefined where no row is bad but such as were sent before. */
async function refusedBeside(run: Run, plan: Plan, content: string): Promise<SentBefore | undefined> {
  const before = await sentBefore(run, plan, content);
  const isHeld = plan.sendable === 0 || plan.problems.size > before.rows.size;
  return isHeld ? before : undefined;
}

/** Nothing of it goes out. */
const isRefused = ({ sendable, problems }: Plan, { strict }: FileFlags): boolean =>
  sendable === 0 || (strict && problems.size > 0);

function notesOf(
  { env }: Pick<Context, 'env'>,
  { run: { flags } }: Begun,
  { rows, values, phoneNotes }: Opened,
  plan: Plan,
): readonly string[] {
  const readAs = readAsNote(values.readAs());
  return [
    ...footerNotes(rows.beginning.footer),
    ...(readAs === undefined ? [] : [readAs]),
    ...values.doubts(env),
    ...phoneNotes(),
    ...(flags.dry_run ? anonymousNotes(plan) : []),
  ];
}

/** Sends what is agreed to, or looks what would be sent. `ms`: how long it took so far. */
async function execute({ run, commanded }: Begun, { plan, refused, isAgreed }: Checked, ms: number): Promise<Sent> {
  const content = contentOf(commanded);
  if (refused) {
    for (const note of refused.notes) run.ctx.notice(note);
    const { rows, settled } = refused;
    return withEarlier(plan, { ...nothingSent(ms), ended: settled, resumedRows: settled.size }, rows);
  }
  return run.flags.dry_run ? previewPlan(run, plan, content, ms) : sendPlan(run, plan, content, isAgreed);
}

const readingOf = ({ tag_separator = ';', clear_empty }: FileFlags, { form }: Rows): Reading => ({
  separator: tag_separator === 'none' ? undefined : tag_separator,
  clearEmpty: clear_empty === true,
  isJson: form === 'json',
});
