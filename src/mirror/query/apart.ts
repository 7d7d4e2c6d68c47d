import { createInterface } from 'node:readline';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { exitCodes, Failure, type FailureKind } from '../../errors.ts';
import { jsonIn } from '../../text/json.ts';
import { fieldsIn, textIn } from '../../text/record.ts';
import type { Copy } from '../store/open-copy.ts';
import { type Answer, queryEnded } from '../tables/store.ts';
import { ask } from './query.ts';

/** The copy that is asked, and with whose login and from which place it was opened. */
export type ApartQuery = Copy & { readonly ctx: Context; readonly settings: Settings; readonly db?: string };

/**
 * `ask` for a process that has more to do: a query that finds its next row late or never holds up nothing but itself, and
 * `signal` ends it. Where the database works in this very thread, svc itself is started to read the rows, and is ended.
 *
 * @throws Failure `usage` where the text is no query, before anything is started
 */
export async function askApart(asked: ApartQuery, text: string, signal: AbortSignal): Promise<Answer> {
  const { ctx, store, account } = asked;
  if (!store.holdsThread || !ctx.itself) return ask(store, account, text, signal);
  // It is read and judged here, and ended before its first row.
  const { columns, rows } = await ask(store, account, text, AbortSignal.abort());
  await rows[Symbol.asyncIterator]()
    .next()
    .catch(() => undefined);
  return { columns, rows: rowsApart(asked, await ctx.itself(), { text, columns, signal }) };
}

type Question = { readonly text: string; readonly columns: readonly string[]; readonly signal: AbortSignal };

async function* rowsApart(
  { ctx, settings, db }: ApartQuery,
  [program = '', ...before]: readonly string[],
  { text, columns, signal }: Question,
): AsyncGenerator<readonly unknown[]> {
  const { execa } = await import('execa');
  const { config, state } = ctx.files;
  const argv = ['mirror', 'sql', '-', '--output', 'jsonl', ...(db === undefined ? [] : ['--db', db])];
  const child = execa(program, [...before, ...argv], {
    input: text,
    reject: false,
    buffer: false,
    // Nobody reads what it would still print.
    forceKillAfterDelay: 1_000,
    // It is svc, so it gets what other programs do not.
    extendEnv: false,
    env: {
      ...ctx.env,
      ...{ SVC_PROFILE: settings.profile, SVC_CONFIG_DIR: config, SVC_STATE_DIR: state, SVC_NO_INPUT: '1' },
      ...(settings.baseUrl !== undefined && { SVC_BASE_URL: settings.baseUrl }),
      ...(settings.insecureHttp && { SVC_INSECURE_HTTP: '1' }),
    },
  });
  const kill = () => child.kill('SIGKILL');
  const end = () => child.kill();
  process.once('exit', kill);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  let said = '';
  child.stderr.on('data', (piece: Buffer) => {
    said = (said + piece.toString('utf8')).slice(-10_000);
  });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      // Its last line may be cut off.
      if (signal.aborted) break;
      const record = fieldsIn(JSON.parse(line));
      yield columns.map((name) => record[name]);
    }
    const { exitCode } = await child;
    if (signal.aborted) throw queryEnded(signal);
    if (exitCode !== 0) throw failureIn(said);
  } finally {
    process.off('exit', kill);
    signal.removeEventListener('abort', end);
    end();
  }
}

const isKind = (kind: unknown): kind is FailureKind => typeof kind === 'string' && kind in exitCodes;

/** What svc says at its end where it fails. */
function failureIn(said: string): Failure {
  const last = said.trimEnd().split('\n').at(-1) ?? '';
  const { kind, message, hint } = fieldsIn(fieldsIn(jsonIn(last)).error);
  const advice = textIn(hint);
  if (isKind(kind)) return new Failure(kind, textIn(message) ?? last, advice === undefined ? {} : { hint: advice });
  // It was ended before it could say so.
  return new Failure('failed', `The query was ended${last === '' ? '.' : `: ${last}`}`);
}
