import type { AnyCommand, Command, Given, Group } from './command.ts';
import { param } from './param.ts';

/** As a key of flags: the same as the flag of the rows of a file, which it becomes with --from. */
export const dryRunKey = 'dry_run';

const dryRun = param.toggle('Check everything, show the requests that would be sent, and send nothing');

/** The group or command, with `--dry-run` for each command that writes and has none of its own. */
export function takingDryRuns(node: Group | AnyCommand): Group | AnyCommand {
  if (!('commands' in node)) return takingDryRun(node);
  return { ...node, commands: node.commands.map((child) => takingDryRuns(child)) };
}

/** Also with a flag of its own for it. */
export const takesDryRun = ({ flags }: Pick<AnyCommand, 'flags'>): boolean => dryRunKey in flags || 'dryRun' in flags;

function takingDryRun(command: AnyCommand): AnyCommand {
  const isWrite = command.writes === true || command.row !== undefined;
  if (!isWrite || takesDryRun(command)) return command;
  return {
    ...command,
    flags: { ...command.flags, [dryRunKey]: dryRun },
    async run(ctx, { flags: { [dryRunKey]: isDry, ...flags }, ...given }: Given) {
      const { run }: Command = command;
      if (isDry !== true) return run(ctx, { ...given, flags });
      const { shownInstead } = await import('./shown-instead.ts');
      return shownInstead(ctx, { ...given, flags }, run);
    },
  };
}
