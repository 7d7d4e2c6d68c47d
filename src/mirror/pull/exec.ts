import type { Context } from '../../context.ts';
import { endWithSvc } from '../../disk/log/group.ts';
import { Failure } from '../../errors.ts';
import { splitWords } from '../../text/command-words.ts';
import { toJson } from '../../text/sanitize.ts';
import { tableOf } from '../tables/tables.ts';
import type { WatchEvent } from './watch.ts';

const triesAtMost = 3;
const pauseMs = 1_000;
const longestMs = 60_000;

/**
 * Runs a program for each change, with the change as JSON on its standard input. There is no shell, so what a customer
 * wrote is never run; it stands in no argument either.
 */
export async function runner(ctx: Context, command: string): Promise<(event: WatchEvent) => Promise<void>> {
  const { execa } = await import('execa');
  const [program = '', ...args] = splitWords(command, '--exec');
  if (program === '')
    throw new Failure('usage', '--exec is empty.', { hint: "Name a program, for example --exec './notify --quiet'" });
  return async (event) => {
    for (let time = 1; ; time++) {
      const child = execa(program, args, {
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
      if (!ran.failed) return;
      if (time < triesAtMost && !ctx.signal.aborted) {
        await ctx.clock.sleep(pauseMs * time, ctx.signal);
        continue;
      }
      const { nameOf, isPart } = tableOf(event.kind);
      const name = isPart ? '' : nameOf(event.record ?? {});
      const why = ran.exitCode === undefined ? ran.shortMessage : `exit ${ran.exitCode}`;
      ctx.notice(
        `--exec failed ${time} times for ${event.kind} ${event.record_id}${name && ` (${name})`}: ${why}. Going on.`,
      );
      return;
    }
  };
}
