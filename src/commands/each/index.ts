import { defineCommand } from '../../command/command.ts';
import { findingBy, type LoadNamed } from '../../command/find-command.ts';
import { param, withFallback } from '../../command/param.ts';
import { readConfig } from '../../config/config-file.ts';
import type { Settings } from '../../config/settings.ts';
import { streamForms } from '../../config/stream-forms.ts';
import type { Context } from '../../context.ts';
import { exitCodes, Failure, interruption } from '../../errors.ts';
import { isForMachines } from '../../output/failure.ts';
import type { View } from '../../output/view.ts';
import { cells } from '../../text/width.ts';
import { chosenLogins, countedLogins, type Login } from './chosen.ts';
import {
  failuresOf,
  hintFor,
  inPipe,
  type Line,
  lineOf,
  onTerminal,
  saysNothingDone,
  sumOf,
  whereItEnded,
} from './lines.ts';
import { againFor, type Left, openRecord, type RunRecord } from './record.ts';
import { inParallel, type Ran, runFor, variablesFor } from './run.ts';
import { agreed, commandOf, isWrite, knownBy, refuseOneFile, refuseTwice, wordsFor } from './words.ts';

export const eachOver = (load: LoadNamed) =>
  defineCommand({
    name: 'each',
    summary: 'Run a command of svc for many accounts, several at once',
    details:
      'COMMAND is a command of svc, with or without svc in front. Each run has its own limits. On a terminal each account is a line, below it all ' +
      'that a write printed, then come the failures in full; in a pipe each line is the profile, the exit code and a line of its output, with tabs between; with --json a line is {profile, account, exit_code, output}. ' +
      'A send or a delete is confirmed once for all. The commands get no standard input.\n\n' +
      'Exit 0 where all went well; where all failed with one code, that code; 9 where one is unknown; else 8. After that the same command with ' +
      '--failed runs for those that surely failed or were not begun; where something may be done (exit 1 after a write, 8, 9, or ended by a signal) svc names the ' +
      'account and leaves it alone.',
    args: {
      command: param.texts('The command and its arguments', {
        placeholder: 'COMMAND',
        required: true,
        completes: 'commands',
        isLine: true,
      }),
    },
    flags: {
      profiles: param.texts("The profiles: a name or a pattern such as 'acme-*'; with commas, or repeatable", {
        placeholder: 'GLOB',
        offers: 'logins',
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
      await refuseForms(ctx, settings);
      const asked = await commandOf(ctx, args.command, findingBy(load));
      const { words } = asked;
      const { logins, isMeant } = await chosenLogins(ctx, settings, { globs: flags.profiles, all: flags.all });
      refuseOneFile(asked, logins);
      if (!flags.failed) refuseTwice(asked, logins);
      const known = { words, knownBy: knownBy(asked), isWrite: isWrite(asked) };
      const record = await openRecord(ctx, { ...known, logins, goesOn: flags.failed });
      try {
        const who = flags.failed ? failedOf(record, logins, isMeant) : { meant: logins, left: [] };
        if (flags.failed) refuseTwice(asked, who.meant);
        const isAgreed = await agreed(ctx, settings, asked, who.meant.length);
        const before = [...(isAgreed ? ['--yes'] : []), ...(settings.live ? ['--live'] : [])];
        const command = {
          words: (login: Login) => [...before, ...wordsFor(asked, login)],
          env: variablesFor(settings, isForMachines(settings)),
        };
        return viewOf(ctx, { ...who, record, command, most: flags.parallel, isWrite: isWrite(asked) });
      } catch (error) {
        await record.release();
        throw error;
      }
    },
  });

/** What is shown is a line for each account: what forms the records of a command stands behind `--`. */
async function refuseForms(ctx: Context, { fields, output, safeCells }: Settings): Promise<void> {
  const isTyped = output !== (ctx.env.SVC_OUTPUT || (await readConfig(ctx.files)).output);
  const formed = isTyped && output && !streamForms.some((form) => form === output) ? `--output ${output}` : undefined;
  const flag = formed ?? (fields && '--fields') ?? (safeCells ? '--safe-cells' : undefined);
  if (flag === undefined) return;
  throw new Failure('usage', `svc each shows a line for each account, so it takes no ${flag}; nothing was run.`, {
    hint: `Give it to the command, behind --: svc each --all -- COMMAND ${flag}`,
  });
}

/** For whom the command is run again; who is left out is told. */
function failedOf(record: RunRecord, logins: readonly Login[], isMeant: (profile: string) => boolean) {
  const saved = new Set(logins.map(({ profile }) => profile));
  const gone = [...record.last.keys()].filter((profile) => isMeant(profile) && !saved.has(profile));
  const again = againFor(record.last, logins, gone);
  if (again.fresh.length === logins.length && again.unsure.length + again.lost.length === 0) {
    throw new Failure('usage', 'This command has not been run for each account before.', {
      hint: 'svc knows a command by its words and flags: give it the same ones as in the run that failed. Without --failed it is run for each account, also where another form of it has done a part.',
    });
  }
  const named = (left: readonly Left[]) => left.map(({ profile, why }) => `${profile} (${why})`).join(', ');
  const notes = [
    ...(again.unsure.length > 0 ? [`Left alone, for something may be done there: ${named(again.unsure)}.`] : []),
    ...(again.lost.length > 0 ? [`Left out, for it failed there and cannot be run again: ${named(again.lost)}.`] : []),
    ...(again.fresh.length > 0 ? [`Left out, for it was not run there before: ${again.fresh.join(', ')}.`] : []),
  ];
  return { meant: again.meant, left: [...again.unsure, ...again.lost], notes };
}

type Job = {
  readonly meant: readonly Login[];
  /** For whom it is not run again. */
  readonly left: readonly Left[];
  readonly notes?: readonly string[];
  readonly record: RunRecord;
  readonly command: Parameters<typeof runFor>[2];
  readonly most: number;
  readonly isWrite: boolean;
};

function viewOf(ctx: Context, { meant, left, notes = [], record, command, most, isWrite }: Job): View {
  const ended: Ran[] = [];
  const run = async (login: Login): Promise<Ran> => {
    await record.begin(login);
    const ran = await runFor(ctx, login, command);
    // Also where nobody can be shown it any more.
    ended.push(ran);
    if (!ran.isEnded) await record.end(login, ran.exitCode, saysNothingDone(ran));
    return ran;
  };
  for (const note of notes) ctx.notice(note);
  async function* lines(): AsyncGenerator<Line> {
    const runs = inParallel(meant, { most, signal: ctx.signal }, run);
    try {
      for (let next = await runs.next(); !next.done; next = await runs.next()) {
        ctx.progress(`${ended.length} of ${countedLogins(meant)}`);
        yield lineOf(next.value);
      }
    } finally {
      // Where nobody reads any more, what changes something is done for all of them all the same; what only reads ends.
      const rest = async () => {
        while (isWrite && !(await runs.next()).done);
        await runs.return(undefined);
      };
      await rest().finally(() => record.release());
    }
    if (ctx.signal.aborted) throw interruption(ctx.signal, whereItEnded(meant, ended), hintFor(ended));
  }
  const names = Math.max(0, ...meant.map(({ profile }) => cells(profile)));
  return {
    data: {
      shape: 'stream',
      records: lines(),
      isDone: isWrite,
      line: (line: Line, terminal) => {
        const { stdout: printed = '' } = ended.find(({ login }) => login.profile === line.profile) ?? {};
        return terminal ? onTerminal(line, { isWrite, printed, width: terminal.width, names }) : inPipe(line);
      },
    },
    notes: () => [...failuresOf(ended), sumOf(meant, ended)],
    exitCode: () => codeOf([...ended.map(codeOfRun), ...left.map(({ code }) => code)]),
  };
}

/** Where what it printed is not whole here, a part is missing, whatever it did. */
const codeOfRun = ({ exitCode, isCut }: Ran): number => (isCut && exitCode === 0 ? exitCodes.partial : exitCode);

/** 0; what all have in common; 9 where one is unknown; else 8. */
function codeOf(given: readonly number[]): number {
  const codes = given.map((code) => (Number.isInteger(code) && code < 128 ? code : exitCodes.unknown));
  const [first = 0] = codes;
  if (codes.every((code) => code === first)) return first;
  return codes.includes(exitCodes.unknown) ? exitCodes.unknown : exitCodes.partial;
}
