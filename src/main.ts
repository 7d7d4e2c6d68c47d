import type { Context } from './context.ts';
import { Failure, interruption } from './errors.ts';
import { quickAnswer } from './program/quick.ts';

/** Runs one command line and returns its exit code. Everything is loaded when it is first needed. */
export async function main(argv: readonly string[], ctx: Context): Promise<number> {
  const said = await quickAnswer(argv);
  if (said !== undefined) {
    ctx.stdout.write(said);
    return 0;
  }
  try {
    return await run(argv, ctx);
  } catch (error) {
    const { printFailure } = await import('./output/failure.ts');
    const { wishesOf } = await import('./program/argv.ts');
    return printFailure(ctx, asFailure(error, ctx), wishesOf(argv, ctx.env));
  }
}

async function run(typed: readonly string[], outer: Context): Promise<number> {
  const { parse, given } = await import('./program/program.ts');
  const invocation = await parse(typed);
  if ('help' in invocation) {
    const { sinkTo } = await import('./output/write.ts');
    const sink = sinkTo(outer.stdout, () => {});
    await sink.write(invocation.help);
    await sink.flush();
    return 0;
  }
  const [{ readConfig }, { settle }] = [await import('./config/config-file.ts'), await import('./config/settings.ts')];
  const config = await readConfig(outer.files).catch((error: unknown) => {
    if (invocation.command.judgesConfig) return {};
    throw error;
  });
  const settings = settle(invocation.globals, outer.env, config);
  const ctx = showingWaits(settings.quiet ? quieted(outer) : outer);
  // Another program is told of Ctrl-C by the terminal itself.
  if (!invocation.command.passThrough) acknowledgeInterrupt(ctx);
  const values = await given(invocation, async (label, param) => {
    if (!ctx.ask.canAsk || settings.noInput) return undefined;
    const question = `${param.description} (${label})`;
    return param.choices
      ? ctx.ask.choose(
          question,
          param.choices.map((value) => ({ value })),
        )
      : ctx.ask.text(question);
  });
  const { checkOutput, print } = await import('./output/print.ts');
  await checkOutput(settings, ctx.signal);
  const view = await invocation.command.run(ctx, { ...values, settings });
  return print(ctx, view, settings);
}

const quieted = (ctx: Context): Context =>
  Object.create(ctx, { notice: { value: () => {} }, progress: { value: () => {} } }) as Context;

/** Each request, and each look into the store of logins, is a wait that is shown where it takes long. */
function showingWaits(ctx: Context): Context {
  let open = 0;
  const shown = async <T>(text: string, act: () => Promise<T>): Promise<T> => {
    if (open++ === 0) ctx.progress(text, 'request');
    try {
      return await act();
    } finally {
      if (--open === 0) ctx.progress(undefined, 'request');
    }
  };
  const inStore = <T>(act: () => Promise<T>) => shown('Waiting for the stored logins', act);
  const exchange: Context['exchange'] = (request) =>
    shown(`Waiting for ${hostOf(request.url)}`, () => ctx.exchange(request));
  const tokens: Context['tokens'] = {
    read: (...of) => inStore(() => ctx.tokens.read(...of)),
    update: (...of) => inStore(() => ctx.tokens.update(...of)),
    names: (...of) => inStore(() => ctx.tokens.names(...of)),
    where: (...of) => inStore(() => ctx.tokens.where(...of)),
  };
  return Object.create(ctx, { exchange: { value: exchange }, tokens: { value: tokens } }) as Context;
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'the service');

/** What does not end at once says that it was understood. */
function acknowledgeInterrupt({ signal, notice }: Context): void {
  const say = () => notice('Interrupted: finishing what is in flight. Ctrl-C again ends at once.');
  const begin = () => {
    if (signal.reason === 'SIGINT') setTimeout(say, 300).unref();
  };
  signal.addEventListener('abort', begin, { once: true });
}

/** The last catch. What is not a Failure is a bug in svc. */
function asFailure(error: unknown, ctx: Context): Failure {
  if (error instanceof Failure) return error;
  if (ctx.signal.aborted) {
    return interruption(ctx.signal);
  }
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  const told = ctx.env.SVC_DEBUG === '1' ? stack : message;
  return new Failure('failed', `svc failed unexpectedly: ${told}`, {
    hint: 'Run it again with SVC_DEBUG=1 and report what it prints.',
    cause: error,
  });
}
