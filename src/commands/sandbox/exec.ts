import { join } from 'node:path';
import { defineCommand } from '../../command/command.ts';
import { flagName, param } from '../../command/param.ts';
import { configPath, readConfig } from '../../config/config-file.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { replaceFile } from '../../disk/file/atomic-file.ts';
import { copyFolder } from '../../disk/file/private-folder.ts';
import { itself } from '../../disk/place/installed.ts';
import { Failure } from '../../errors.ts';
import type { View } from '../../output/view.ts';
import { environmentFor, ownFolder } from '../../sandbox/environment.ts';
import { shellWord } from '../../text/shell-word.ts';
import { type NotRun, runChild } from './child.ts';
import { sandboxFlags, seedFor } from './flags.ts';
import { openTelling } from './telling.ts';

/** Whether a word is the name of a command of svc: groups do not import each other, so this one is told. */
export type IsCommand = (word: string) => boolean;

export const execFlags = {
  ...sandboxFlags,
  diff: param.toggle('Tell what the command changed, on standard error'),
  diffOut: param.output('Write what the command changed into a file, as JSON'),
};

/** Rows of a bulk run are sent once; a sync of contacts may be sent again, and goes on where an interrupted one stopped. */
const knowsNoHistory = 'It does not know which rows were sent before: --dry-run does.';
const beginsAnew = 'It begins at the first row, also where an interrupted run would go on behind others.';

export const execOver = (isCommand: IsCommand) =>
  defineCommand({
    name: 'exec',
    summary: 'Run a command against a sandbox of its own',
    details:
      'Starts a sandbox on a free port, runs the command with SVC_BASE_URL, SVC_AUTH_URL, SVC_API_KEY, SVC_CLIENT_ID, ' +
      'SVC_CLIENT_SECRET and private config and state folders set, and ends with its exit code. ' +
      'Nothing is left behind.\n\n' +
      '--seed mirror --diff rehearses: the command runs against the copy that svc mirror pull made, and what it changed is told on ' +
      'standard error, record by record, with the webhooks that would have gone out and the minutes that the real limits would need. ' +
      'It runs without limits then, unless --rate-limit asks for them. Your settings for sends hold in it, as svc rehearse --help says.',
    args: {
      command: param.texts('The command and its arguments', { placeholder: 'CMD', required: true, isLine: true }),
    },
    flags: execFlags,
    passThrough: true,
    forms: ['table'],
    examples: [
      'svc sandbox exec -- svc contacts list',
      "svc sandbox exec --seed empty -- sh -c 'svc account get'",
      'svc sandbox exec --diff -- svc tickets close 8',
    ],
    async run(ctx, { args, flags, settings }): Promise<View> {
      const { openSandbox } = await import('../../sandbox/open.ts');
      const { makePrivateFolder, writeProgram } = await import('../../disk/file/private-folder.ts');
      const compare = flags.diff || flags.diffOut !== undefined;
      if (compare && flags.seed === 'mirror') refuseQuestion(args.command);
      const seed = await seedFor(ctx, settings, flags);
      const limit = flags.rate_limit ?? (compare ? 'off' : undefined);
      const folder = await makePrivateFolder(ownFolder);
      const telling = compare ? await openTelling(ctx, flags) : undefined;
      try {
        await writeProgram(...ownProgram(folder.path));
        const limits = flags.seed === 'mirror' ? await limitsAndOwnConfig(ctx, settings, folder.path) : undefined;
        const running = await openSandbox(
          { ...flags, seed, port: 0, compare, signal: ctx.signal, ...(limit && { rate_limit: limit }) },
          ctx.notice,
        );
        const isRehearsal = compare && flags.seed === 'mirror';
        if (isRehearsal && !settings.quiet) tellRehearsal(ctx, args.command, limits?.told ?? []);
        try {
          const ended = await runChild(ctx, args.command, {
            ...environmentFor(ctx.env, running.address, folder.path),
            ...limits?.env,
          });
          // What never ran has changed nothing, and there is nothing to compare.
          if (typeof ended !== 'number')
            return notRun(ended, isCommand(args.command[0] ?? '') ? lineOf(args.command, flags) : undefined);
          const view: View = { data: { shape: 'nothing' }, exitCode: ended };
          return running.compared && telling ? await telling.tell(running.compared(), view) : view;
        } finally {
          await running.close();
        }
      } finally {
        await telling?.drop();
        await folder.remove();
      }
    },
  });

/** What asks the copy: in a sandbox there is none, and there is nothing to rehearse. */
const questions = new Set(['sql', 'search', 'changes', 'diff', 'status', 'export', 'schema']);

function refuseQuestion([program, group, word = '', ...rest]: readonly string[]): void {
  if (program !== 'svc' || group !== 'mirror' || !questions.has(word)) return;
  throw new Failure('usage', `svc mirror ${word} asks the copy and changes nothing in the account.`, {
    hint: `Run it as it is: ${['svc', group, word, ...rest].map(shellWord).join(' ')}`,
  });
}

const notRun = ({ exitCode, problem }: NotRun, meant: string | undefined): View => ({
  data: { shape: 'nothing' },
  exitCode,
  notes: [problem, ...(meant === undefined ? [] : [`Did you mean: ${meant}`])],
});

/** The command line with `svc` before a command of svc. */
function lineOf(command: readonly string[], given: Readonly<Record<string, unknown>>): string {
  const isRehearsal = given.seed === 'mirror' && given.diff === true;
  const own = Object.entries(execFlags).flatMap(([key, flag]) => {
    const value = given[key];
    const isGiven = value !== undefined && value !== false && !(isRehearsal && (key === 'seed' || key === 'diff'));
    const name = `--${flagName(key, flag)}`;
    return isGiven ? [value === true ? name : `${name} ${shellWord(String(value))}`] : [];
  });
  return [`svc ${isRehearsal ? 'rehearse' : 'sandbox exec'}`, ...own, '-- svc', ...command.map(shellWord)].join(' ');
}

/** The svc that is running now, so that the command finds this one under its name. */
function ownProgram(folder: string): [path: string, text: string] {
  return process.platform === 'win32'
    ? [
        `${folder}\\bin\\svc.cmd`,
        `@${itself()
          .map((word) => `"${word}"`)
          .join(' ')} %*\r\n`,
      ]
    : [`${folder}/bin/svc`, `#!/bin/sh\nexec ${itself().map(quoted).join(' ')} "$@"\n`];
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

async function limitsAndOwnConfig(ctx: Context, settings: Settings, folder: string) {
  await copyOwnConfig(ctx, join(folder, 'config'));
  return (await import('../../sends/rehearsed.ts')).limitsOfRehearsal(ctx, settings, folder);
}

/**
 * A copy of the user's aliases, templates and ways of printing. No profile: a rehearsal knows the sandbox alone. Nor the place
 * of the team's drafts: one of the rehearsal would stand among them. Nor a wait: nothing is sent that one could think over.
 */
async function copyOwnConfig({ files }: Pick<Context, 'files'>, config: string): Promise<void> {
  const { profiles: _, default_profile: __, drafts: ___, hold: ____, ...own } = await readConfig(files);
  await replaceFile(configPath({ ...files, config }), `${JSON.stringify(own, null, 2)}\n`);
  await copyFolder(join(files.config, 'templates'), join(config, 'templates'));
}

/** What the command prints looks as if it were done for real. */
function tellRehearsal({ notice }: Context, command: readonly string[], limits: readonly string[]): void {
  notice('A rehearsal, on the copy: the account is not touched.');
  for (const told of limits) notice(told);
  // It has no journals: rows of a file that were sent before would go out in it.
  const line = ` ${command.join(' ')} `;
  if (/\s--from[\s=]/u.test(line)) notice(knowsNoHistory);
  else if (/\bcontacts? sync\s|\blists? import\s/u.test(line)) notice(beginsAnew);
}
