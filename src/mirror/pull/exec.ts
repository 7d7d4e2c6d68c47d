import type { Context } from '../../context.ts';
import { endWithSvc } from '../../disk/log/group.ts';
import { isMissing, located } from '../../disk/place/program.ts';
import { startingFolder } from '../../disk/place/working-folder.ts';
import { Failure } from '../../errors.ts';
import { splitWords } from '../../text/command-words.ts';
import { toJson } from '../../text/sanitize.ts';
import { tableOf } from '../tables/tables.ts';
import type { WatchEvent, Watching } from './watch.ts';

const triesAtMost = 3;
const pauseMs = 1_000;
const longestMs = 60_000;

/**
 * Runs a program for each change, with the change as JSON on its standard input. There is no shell, so what a customer
 * wrote is never run; it stands in no argument either.
 */
export async function runner(
  ctx: Context,
  command: string,
  { once, name }: Pick<Watching, 'once' | 'name'>,
): Promise<NonNullable<Watching['each']>> {
  const { execa } = await import('execa');
  const [program = '', ...args] = splitWords(command, '--exec');
  if (program === '')
    throw new Failure('usage', '--exec is empty.', { hint: "Name a program, for example --exec './notify --quiet'" });
  // A typo would fail for every change, and none of them comes again.
  if (await isMissing(program, { folder: startingFolder(), searched: ctx.env.PATH }))
    throw new Failure('usage', `The program of --exec is not there, or cannot be run: ${program}`, {
      hint: 'Give its path, for example --exec ./notify',
    });
  const path = await located(program);
  return async (event) => {
    for (let time = 1; ; time++) {
      const child = execa(path, args, {
        shell: false,
        reject: false,
        input: `${toJson(event)}\n`,
        stdout: 'ignore',
        stderr: 'inherit',
        timeout: longestMs,
        // Ctrl-C lets it finish, so that the change counts.
        detached: process.platform !== 'win32',
      });
      const isOver = endWithSvc(child.pid);
      const ran = await child.finally(isOver);
      if (!ran.failed) return true;
      if (time < triesAtMost) {
        await ctx.clock.sleep(pauseMs * time, ctx.signal);
        if (ctx.signal.aborted) return false;
        continue;
      }
      const why = ran.exitCode === undefined ? ran.shortMessage : `exit ${ran.exitCode}`;
      const what = `--exec failed ${time} times for ${whichOf(event)}: ${why}.`;
      if (once || isGone(ran.code)) throw new Failure('partial', what, { hint: nextOf(name) });
      ctx.notice(`${what} Going on.`);
      return true;
    }
  };
}

/** Whether no program was run at all: then none will be for the changes after it. */
const isGone = (code: string | undefined): boolean => code === 'ENOENT' || code === 'EACCES';

function whichOf({ kind, record, record_id: id }: WatchEvent): string {
  const { nameOf, isPart } = tableOf(kind);
  const name = isPart ? '' : nameOf(record ?? {});
  return `${kind} ${id}${name && ` (${name})`}`;
}

const nextOf = (name: string | undefined): string =>
  name === undefined
    ? 'Without --name svc does not remember how far it got. To begin with this change again: --since TIME'
    : 'The next run with this --name begins with this change.';
