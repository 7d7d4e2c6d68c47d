import { join, sep } from 'node:path';
import type { Given } from './command/command.ts';
import type { Settings } from './config/settings.ts';
import { type Context, type Writes, withContext } from './context.ts';
import { isThere } from './disk/file/atomic-file.ts';
import { Failure, interruption, nothingChanged, orElse, withHint } from './errors.ts';
import { nodeSqlite } from './mirror/sqlite/node-sqlite.ts';
import { copyName } from './mirror/store/copy-name.ts';
import type { View } from './output/view.ts';
import type { Invocation } from './program/invocation.ts';
import { quickAnswer } from './program/quick.ts';
import { acknowledgeInterrupt, showingWaits } from './program/waits.ts';
import { sendsFor } from './sends/lazy.ts';
import { sanitize } from './text/sanitize.ts';

/** With what bin/svc.js starts it: in one file, since each takes a fifth of a millisecond to open. */
export { nodeContext, runToItsEnd } from './node/context.ts';

/** Runs one command line and returns its exit code. Everything is loaded when it is first needed. */
export async function main(argv: readonly string[], outer: Context): Promise<number> {
  let ctx = await asRead(argv, outer);
  const said = await quickAnswer(argv, () => ctx.stdout.columns);
  let line = argv;
  try {
    if (said !== undefined) return await tell(ctx, said);
    // Half of what a question takes is the start of the database, which needs nothing of the rest.
    if (await asksCopy(argv, ctx)) void warmDatabase().catch(() => {});
    const { withoutAlias } = await import('./program/argv.ts');
    line = await withoutAlias(argv, ctx.files);
    ctx = await asRead(line, outer);
    return await run(line, ctx);
  } catch (error) {
    const { printFailure } = await import('./output/failure.ts');
    const { wishesOf } = await import('./program/argv.ts');
    return printFailure(ctx, await asFailure(error, ctx), wishesOf(line, ctx.env));
  }
}

/** A runner reads the log of its job for commands. */
async function asRead(line: readonly string[], ctx: Context): Promise<Context> {
  const isRead = ctx.env.GITHUB_ACTIONS === 'true' || line.some((word) => word.startsWith('--annotate'));
  return isRead ? (await import('./output/in-job.ts')).inJob(ctx) : ctx;
}

async function tell(ctx: Context, text: string): Promise<number> {
  const { sinkTo } = await import('./output/write.ts');
  const sink = sinkTo(ctx.stdout, ctx);
  await sink.write(text);
  await sink.flush();
  return 0;
}

/** A guess, which costs nothing but time where it is wrong: nothing is opened yet. */
async function asksCopy([first, second, ...more]: readonly string[], { env, files }: Context): Promise<boolean> {
  const asks =
    first === 'inbox' ||
    (first === 'mirror' ? second === 'sql' : first === 'contacts' && second === 'find' && !more.includes('--live'));
  return asks && !env.SVC_MIRROR_DB && (await isThere(join(files.state, copyName)));
}

const warmDatabase = async (): Promise<void> => {
  if (!nodeSqlite()) (await import('./mirror/sqlite/thread.ts')).warmThread();
};

async function run(typed: readonly string[], outer: Context): Promise<number> {
  const { parse } = await import('./program/program.ts');
  const invocation = await parse(typed, outer.stdout.columns);
  if ('help' in invocation) return tell(outer, invocation.help);
  const [{ readConfig }, { settle }] = [await import('./config/config-file.ts'), await import('./config/settings.ts')];
  const config = await readConfig(outer.files).catch((error: unknown) => {
    if (invocation.command.judgesConfig) return {};
    throw error;
  });
  const settled = settle(invocation.globals, outer.env, config);
  const settings = { ...settled, carried: { ...settled.carried, db: invocation.flagTexts.db?.at(-1) } };
  const { advised, typeableNote } = await import('./config/advice.ts');
  let notices = 0;
  const say = (text: string) => {
    notices++;
    outer.notice(typeableNote(sanitize(text), settings.carried));
  };
  // Whoever asks for every exchange wants to see it.
  const isQuiet = settings.quiet && !settings.debug;
  const notice = isQuiet ? () => {} : say;
  const progress: Context['progress'] = isQuiet ? () => {} : outer.progress;
  const writes: Writes = { done: [], unknown: [] };
  const told = withContext(outer, {
    notice,
    progress,
    writes,
    origin: { face: 'cli', command: invocation.path },
    // The one gate before customers and the public, for every command.
    get sends() {
      return sends;
    },
  });
  const sends = sendsFor(told, settings);
  const ctx = showingWaits(told);
  // Another program is told of Ctrl-C by the terminal itself.
  const isOver = invocation.command.passThrough ? () => {} : acknowledgeInterrupt(ctx, () => notices);
  try {
    const exitCode = await carryOut(ctx, invocation, settings);
    await writes.file?.remove().catch(() => {});
    return exitCode;
  } catch (error) {
    const failure = await asFailure(error, outer);
    // What was done before, and advice that can be typed, for every command at once.
    const whole = await ofWholeCommand(failure, writes, invocation.command);
    throw advised(await withTextKept(outer, whole, writes), settings.carried);
  } finally {
    isOver();
  }
}

async function ofWholeCommand(failure: Failure, writes: Writes, command: Invocation['command']): Promise<Failure> {
  const isWritten = writes.done.length + writes.unknown.length > 0;
  if (!isWritten && ![failure.message, failure.hint].some((text) => text?.includes(nothingChanged))) return failure;
  const { ofReader, wholeFailure } = await import('./http/send/whole.ts');
  if (isWritten) return wholeFailure(failure, writes);
  return (await import('./command/command.ts')).isReader(command) ? ofReader(failure) : failure;
}

/** Nobody writes a reply twice because the service refused it, or the network was away. */
async function withTextKept(ctx: Context, failure: Failure, { text, file }: Writes): Promise<Failure> {
  const isText = text !== undefined && !(await import('./command/body-text.ts')).isBlank(text);
  const own = isText ? await (await import('./disk/draft/unsent.ts')).keepUnsent(ctx, text).catch(() => undefined) : '';
  // Where no disk takes it, the file of the editor is the last place, or else the terminal.
  if (own !== undefined) await file?.remove().catch(() => {});
  if (!isText) return failure;
  const path = own ?? file?.path;
  const kept = path === undefined ? `What you wrote:\n${text}` : `What you wrote is kept in ${path}`;
  return withHint(failure, failure.hint === undefined ? kept : `${failure.hint}\n${kept}`);
}

async function carryOut(ctx: Context, invocation: Invocation, asked: Settings): Promise<number> {
  const settings = invocation.command.forms
    ? (await import('./program/forms.ts')).inItsForms(invocation, asked)
    : asked;
  const { given } = await import('./program/given.ts');
  const { checkOutput, print } = await import('./output/print.ts');
  // How it is to be shown is judged before anything is asked or sent.
  await checkOutput(settings, ctx.signal);
  if (settings.pageForm && !invocation.command.hasPages) throw await noPage(invocation, settings.pageForm);
  if (settings.fields)
    await (await import('./program/printed.ts')).refuseStrangeFields(ctx, invocation, settings.fields);
  const values = await given(ctx, invocation, settings);
  const view = await invocation.command
    .run(withNumber(ctx, invocation, values.names), { ...values, settings })
    .catch(draftedView);
  if (view.done === undefined) return print(ctx, view, settings);
  const { typeableNote } = await import('./config/advice.ts');
  const typed = (note: string) => typeableNote(note, settings.carried);
  // The line and the note that repeats it stay equal.
  const notes = typeof view.notes === 'function' ? view.notes : view.notes?.map(typed);
  return print(ctx, { ...view, done: typed(view.done), notes }, settings);
}

async function noPage({ path, command: { forms } }: Invocation, form: string): Promise<Failure> {
  const [{ outputs }, { listed }] = [await import('./config/outputs.ts'), await import('./text/listed.ts')];
  const hint = `It has ${listed(forms ?? outputs)}; svc report has md and html too.`;
  return new Failure('usage', `svc ${path} has no --output ${form}.`, { hint });
}

/** What was to be sent became a draft: that is what the command has done. */
async function draftedView(error: unknown): Promise<View> {
  if (!(error instanceof Failure && error.drafted)) throw error;
  const { told: done, record } = error.drafted;
  return { data: { shape: 'record', record }, done, notes: [done] };
}

/** The record of writes tells the number by which a ticket was named. */
function withNumber(ctx: Context, { command }: Invocation, names: Given['names'] = {}): Context {
  const [, named] = Object.entries(names).find(([key]) => command.args[key]?.record === 'tickets') ?? [];
  return named === undefined ? ctx : withContext(ctx, { origin: { ...ctx.origin, named } });
}

/** The last catch. What is neither a Failure nor the disk's is a bug in svc. */
async function asFailure(error: unknown, ctx: Context): Promise<Failure> {
  if (error instanceof Failure) return error;
  if (ctx.signal.aborted) return interruption(ctx.signal);
  const { refusedPath } = await import('./disk/file/disk-failure.ts');
  const { orElsewhere } = await import('./disk/place/elsewhere.ts');
  // Without a home there is no such folder.
  const isIn = (folder: keyof Context['files'], path: string) => {
    const own = orElse(() => ctx.files[folder], undefined);
    return own !== undefined && (path === own || path.startsWith(`${own}${sep}`));
  };
  const refused = refusedPath(error, (path) => {
    if (isIn('state', path)) return orElsewhere();
    return isIn('config', path) ? orElsewhere('SVC_CONFIG_DIR') : undefined;
  });
  if (refused) return refused;
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  const told = ctx.env.SVC_DEBUG === '1' ? stack : message;
  return new Failure('failed', `svc failed unexpectedly: ${told}`, {
    hint: 'Run it again with SVC_DEBUG=1 and report what it prints.',
    cause: error,
  });
}
