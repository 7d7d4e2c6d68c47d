import { hearersOf } from '../../api/hearers.ts';
import type { AnyCommand } from '../../command/command.ts';
import { defineCommand } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { param, withFallback } from '../../command/param.ts';
import { unaliased } from '../../config/aliases.ts';
import { readConfig } from '../../config/config-file.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { exitCodes, Failure, interruption } from '../../errors.ts';
import type { View } from '../../output/view.ts';
import { counted } from '../../text/number.ts';
import { sanitize } from '../../text/sanitize.ts';
import { shellWord } from '../../text/shell-word.ts';
import { chosenLogins, type Login } from './chosen.ts';
import { isUnsure, openRecord, type RunRecord, surelyNot } from './record.ts';
import { inParallel, type Ran, runFor } from './run.ts';

/** The command that words of a command line name; undefined where there is none. Groups do not import each other. */
export type FindCommand = (words: readonly string[]) => Promise<AnyCommand | undefined>;

export const eachOver = (find: FindCommand) =>
  defineCommand({
    name: 'each',
    summary: 'Run a command of svc for many accounts, one saved login after the other',
    details:
      'COMMAND is one of svc, with or without svc in front. Each run has its own limits. On a terminal each account is a line, then come the ' +
      'failures in full; in a pipe each line of output has the profile in front; with --json a line is {profile, account, exit_code, output}. ' +
      'A send or a delete is confirmed once for all. The commands get no standard input.\n\n' +
      'Exit 0 where all went well, the code that all have where all failed alike, 9 where one is unknown, else 8. After that the same command with ' +
      '--failed runs for those that surely failed or were not begun; where something may be done (exit 8, 9, or ended by a signal) svc names the ' +
      'account and leaves it alone.',
    args: { command: param.texts('The command and its arguments', { placeholder: 'COMMAND', required: true }) },
    flags: {
      profiles: param.texts("The profiles: a name or a pattern such as 'acme-*'; with commas, or repeatable", {
        placeholder: 'GLOB',
      }),
      all: param.toggle('Every saved login'),
      parallel: withFallback(param.integer('So many at once (default 4)', { min: 1, max: 64 }), 4),
      failed: param.toggle('Only those for which the same command surely failed the last time'),
    },
    needs: 'saved logins: svc login --profile NAME',
    examples: [
      'svc each --all -- whoami',
      "svc each --profiles 'acme-*' --parallel 10 --json -- tickets list --status open",
      "svc each --profiles 'acme-*' --failed -- contacts sync people.csv --yes",
    ],
    async run(ctx, { args, flags, settings }) {
      const words = await wordsOf(ctx, args.command, find);
      const logins = await chosenLogins(ctx, settings, { globs: flags.profiles, all: flags.all });
      const record = await openRecord(ctx, {
        words,
        profiles: logins.map(({ profile }) => profile),
        goesOn: flags.failed,
      });
      try {
        if (flags.failed && record.last.size === 0) {
          throw new Failure('usage', 'This command has not been run for each account before.', {
            hint: 'Leave out --failed.',
          });
        }
        const isMeant = ({ profile }: Login) => !flags.failed || surelyNot(record.last.get(profile));
        const meant = logins.filter(isMeant);
        const left = flags.failed ? logins.filter(({ profile }) => isUnsure(record.last.get(profile))) : [];
        const isAgreed = await agreed(ctx, settings, { words, count: meant.length, find });
        const typed = isAgreed ? ['--yes', ...words] : words;
        const isJson = settings.output === 'json' || settings.output === 'jsonl' || settings.jq !== undefined;
        return viewOf(ctx, { meant, left, record, command: { words: typed, isJson }, most: flags.parallel });
      } catch (error) {
        await record.release();
        throw error;
      }
    },
  });

/** Behind `svc`, with a name of the user's own replaced. */
async function wordsOf(ctx: Context, given: readonly string[], find: FindCommand): Promise<readonly string[]> {
  const typed = given[0] === 'svc' ? given.slice(1) : given;
  const [first = ''] = typed;
  if (first === '' || first.startsWith('-')) {
    throw new Failure('usage', `COMMAND begins with a command of svc, not with "${first}".`, {
      hint: 'For example: svc each --all -- tickets list --status open',
    });
  }
  const before = typed.includes('--') ? typed.slice(0, typed.indexOf('--')) : typed;
  const named = before.find((word) => /^(?:-p.*|--profile(?:=.*)?)$/u.test(word));
  if (named !== undefined) {
    throw new Failure('usage', `COMMAND names a profile itself (${named}); nothing was run.`, {
      hint: 'Leave it out: --profiles GLOB or --all says which are meant.',
    });
  }
  const isKnown = (await find([first])) !== undefined || (await find(typed)) !== undefined;
  const words = isKnown ? typed : unaliased(typed, await readConfig(ctx.files), (line) => (line === typed ? 0 : -1));
  const command = await find(words);
  if (!command) {
    throw new Failure('usage', `svc has no command "${typed.slice(0, 2).join(' ')}"; nothing was run.`, {
      hint: 'To see the commands: svc --help',
    });
  }
  if (command.name === 'each' || command.name === 'login') {
    throw new Failure('usage', `${command.name} is not run for each account.`);
  }
  return words;
}

type Question = { readonly words: readonly string[]; readonly count: number; readonly find: FindCommand };

/** A send or a delete is asked for once. Returns whether the command need not ask again. */
async function agreed(ctx: Context, settings: Settings, { words, count, find }: Question): Promise<boolean> {
  if (settings.yes) return true;
  if (count === 0 || words.some((word) => /^(?:--yes|-y|--dry-run|--help|-h)$/u.test(word))) return false;
  const command = await find(words);
  const operation = command?.operation ?? command?.row?.operation;
  const isHeard = command?.sends === true || (operation !== undefined && hearersOf(operation) !== undefined);
  const isLost = operation?.deletes === true || command?.row?.question !== undefined;
  if (!isHeard && !isLost) return false;
  // A person sees each of them later.
  if (isHeard && !isLost && ((await ctx.sends?.mode()) ?? 'allow') !== 'allow') return false;
  const shown = ['svc', ...words].map(shellWord).join(' ');
  await confirmed(ctx, settings, `Run ${shown} for ${counted(count, 'account')}?`);
  return true;
}

type Job = {
  readonly meant: readonly Login[];
  /** Whose last run may have done something. */
  readonly left: readonly Login[];
  readonly record: RunRecord;
  readonly command: Parameters<typeof runFor>[2];
  readonly most: number;
};

type Line = Login & { readonly exit_code: number; readonly output: unknown };

function viewOf(ctx: Context, job: Job): View {
  const { meant, left, record, command, most } = job;
  const ended: Ran[] = [];
  const run = async (login: Login): Promise<Ran> => {
    await record.begin(login.profile);
    const ran = await runFor(ctx, login, command);
    if (!ran.isEnded) await record.end(login.profile, ran.exitCode);
    return ran;
  };
  if (left.length > 0) {
    const named = left.map(({ profile }) => `${profile} (${saidOf(record.last.get(profile))})`).join(', ');
    ctx.notice(`Left alone, for something may be done there: ${named}.`);
  }
  async function* lines(): AsyncGenerator<Line> {
    try {
      for await (const ran of inParallel(meant, { most, signal: ctx.signal }, run)) {
        ended.push(ran);
        ctx.progress(`${ended.length} of ${counted(meant.length, 'account')}`);
        yield lineOf(ran);
      }
    } finally {
      await record.release();
    }
    if (ctx.signal.aborted) throw interruption(ctx.signal, whereItEnded(meant, ended), hintFor(ended));
  }
  const failures = () => ended.filter(({ exitCode }) => exitCode !== 0);
  return {
    data: {
      shape: 'stream',
      records: lines(),
      line: (line: Line, terminal) => (terminal ? onTerminal(line) : inPipe(line)),
    },
    notes: () => [...failures().map(inFull), ...sumOf(meant, ended)],
    exitCode: () =>
      codeOf([
        ...ended.map(({ exitCode }) => exitCode),
        ...left.map(({ profile }) => Number(record.last.get(profile))),
      ]),
  };
}

const saidOf = (outcome: unknown): string =>
  typeof outcome === 'number' ? `exit ${outcome}` : 'not known how it ended';

/** With --json what it printed is JSON where it can be; a failure without output has what it said of it. */
function lineOf({ login, exitCode, stdout, stderr }: Ran): Line {
  const said = stdout === '' && exitCode !== 0 ? (stderr.split('\n').findLast(isError) ?? stderr) : stdout;
  return { ...login, exit_code: exitCode, output: jsonOr(said) };
}

/** The line of a failure for programs, behind what it says to people. */
const isError = (line: string): boolean => line.startsWith('{"error":');

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const textOf = (output: unknown): string[] =>
  (typeof output === 'string' ? output : JSON.stringify(output, null, 2)).split('\n').filter((line) => line !== '');

function onTerminal({ profile, exit_code: code, output }: Line): string {
  const lines = textOf(output);
  if (code !== 0) return `✗ ${profile}  exit ${code}`;
  const [first = 'done'] = lines;
  const said = lines.length > 1 ? `${lines.length} lines (whole in a pipe, or with --json)` : sanitize(first);
  return `✓ ${profile}  ${said}`;
}

const inPipe = ({ profile, exit_code: code, output }: Line): string => {
  const lines = code === 0 ? textOf(output) : [];
  return (lines.length > 0 ? lines : [''])
    .map(
      (line) =>
        `${profile}\t${code}\t${line
          .split('\t')
          .map((cell) => sanitize(cell))
          .join('\t')}`,
    )
    .join('\n');
};

function inFull({ login, exitCode, stderr, stdout }: Ran): string {
  const lines = (stderr || stdout).trimEnd().split('\n');
  const told = lines.filter((line) => !isError(line)).map((line) => `  ${line}`);
  return [`${login.profile}: exit ${exitCode}`, ...told].join('\n');
}

function sumOf(meant: readonly Login[], ended: readonly Ran[]): string[] {
  if (meant.length === 0) return ['Nothing surely failed the last time.'];
  const codes = new Map<number, number>();
  for (const { exitCode } of ended) codes.set(exitCode, (codes.get(exitCode) ?? 0) + 1);
  const told = [...codes]
    .sort(([a], [b]) => a - b)
    .map(([code, count]) => (code === 0 ? `${count} done` : `${count} with exit ${code}`));
  const waiting = meant.length - ended.length;
  return [
    `${counted(meant.length, 'account')}: ${[...told, ...(waiting > 0 ? [`${waiting} not begun`] : [])].join(', ')}.`,
  ];
}

function whereItEnded(meant: readonly Login[], ended: readonly Ran[]): string {
  const names = (some: readonly string[]) => (some.length > 0 ? some.join(', ') : 'none');
  const done = ended.filter(({ exitCode }) => exitCode === 0).map(({ login }) => login.profile);
  const other = ended
    .filter(({ exitCode }) => exitCode !== 0)
    .map(({ login, exitCode }) => `${login.profile} (exit ${exitCode})`);
  const seen = new Set(ended.map(({ login }) => login.profile));
  const waiting = meant.filter(({ profile }) => !seen.has(profile)).map(({ profile }) => profile);
  return `Interrupted. Done: ${names(done)}. Ended: ${names(other)}. Not begun: ${names(waiting)}.`;
}

const hintFor = (ended: readonly Ran[]): string =>
  ended.some(({ exitCode }) => exitCode !== 0)
    ? 'Look at those that ended before you repeat anything. For the rest: the same command with --failed'
    : 'For the rest: the same command with --failed';

/** 0; what all have in common; 9 where one is unknown; else 8. */
function codeOf(given: readonly number[]): number {
  const codes = given.map((code) => (Number.isInteger(code) && code < 128 ? code : exitCodes.unknown));
  const [first = 0] = codes;
  if (codes.every((code) => code === first)) return first;
  return codes.includes(exitCodes.unknown) ? exitCodes.unknown : exitCodes.partial;
}
