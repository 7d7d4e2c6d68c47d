import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { capital } from '../text/capital.ts';

/** No secret and no redirected address is longer. */
const maxLine = 64 * 1024;

export type Lines = ReturnType<typeof stdinLines>;

/** Standard input, line by line as the lines come. */
export function stdinLines(stdin: Context['stdin']) {
  const iterator = readLines(stdin);
  return {
    /** The next line without its end; undefined at the end. */
    next: async () => {
      const { value, done } = await iterator.next();
      return done ? undefined : value;
    },
    /** Gives up on what may still come, so that an open pipe does not keep svc waiting. */
    stop: () => {
      if (!stdin.isTTY) stdin.destroy?.();
    },
  };
}

async function* readLines(stdin: Context['stdin']): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of stdin) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split(/\r?\n/u);
    rest = lines.pop() ?? '';
    if (rest.length > maxLine) throw new Failure('usage', 'The line on standard input is too long for a secret.');
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
  return undefined;
}

/** A secret from the first line of standard input, or asked for on a terminal. `what`: "API key". */
export async function readSecret(
  ctx: Pick<Context, 'stdin' | 'ask'>,
  what: string,
  lines: Lines,
  noInput: boolean,
): Promise<string> {
  const { isTTY } = ctx.stdin;
  if (isTTY && ctx.ask.canAsk && !noInput) return await ctx.ask.secret(`${capital(what)}:`);
  const line = isTTY ? undefined : await lines.next();
  if (line !== undefined) return line;
  const fact = isTTY
    ? `svc needs the ${what}, but --no-input forbids asking.`
    : `Standard input is empty; the ${what} was expected there.`;
  throw new Failure('usage', fact, { hint: 'Give it on one line of standard input; no flag takes a secret.' });
}
