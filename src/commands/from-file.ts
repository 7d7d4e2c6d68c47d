import { flagsFor } from '../bulk/rows/flags.ts';
import type { IdsInCopy } from '../bulk/rows/ids.ts';
import type { AnyCommand, Command, Given, Group, Param, Params } from '../command/command.ts';
import { dryRunKey } from '../command/dry-run.ts';
import { flagName } from '../command/param.ts';
import type { RowOf } from '../command/row.ts';
import { Failure } from '../errors.ts';
import { once } from '../promise/once.ts';
import { textIn } from '../text/record.ts';

/** The group, with `--from FILE` for each command that says how a row becomes what it writes. */
export const takingFiles = (group: Group): Group => ({
  ...group,
  commands: group.commands.map((child) =>
    'commands' in child ? child : takingFile(child, `${group.name} ${child.name}`),
  ),
});

function takingFile(command: AnyCommand, words: string): AnyCommand {
  const { row } = command;
  if (!row) return command;
  const ofFiles = once(() => fileFlagsOf(row));
  const flags = once(() => {
    const { own, forFiles } = ofFiles();
    const ofOne = command.flags[dryRunKey];
    return { ...command.flags, ...own, ...marked(forFiles), ...(ofOne && { [dryRunKey]: ofOne }) };
  });
  return {
    ...command,
    // Of all commands of a group a run asks one for its flags.
    get flags() {
      return flags();
    },
    async run(ctx, given: Given) {
      if (given.flags.from === undefined) {
        const { forFiles } = ofFiles();
        refuseStray(forFiles, given.flags);
        const flags = Object.fromEntries(Object.entries(given.flags).filter(([key]) => !(key in forFiles)));
        const { run }: Command = command;
        return run(ctx, { ...given, flags });
      }
      const [{ runFile }, { withoutOldReport }] = [
        await import('../bulk/command/file.ts'),
        await import('../batch/out-files.ts'),
      ];
      return withoutOldReport({ report: textIn(given.flags.report) }, () =>
        runFile(ctx, { words, row, idsInCopy, ...given }),
      );
    },
  };
}

function fileFlagsOf(row: RowOf) {
  const own = flagsFor(row);
  // Of these the command itself makes something too.
  const { template, set, [dryRunKey]: _, ...forFiles } = own;
  return { own, forFiles };
}

const idsInCopy: IdsInCopy = async (...asked) =>
  (await import('../mirror/query/find.ts')).idsFromContactsCopy(...asked);

/** Without a file they are refused before anybody is looked up. */
const marked = (params: Params): Params =>
  Object.fromEntries(
    Object.entries(params).map(([key, one]) => [key, key === 'from' ? one : { ...one, needs: 'from' }]),
  );

/** What is said of the rows of a file says nothing without one. */
function refuseStray(params: Readonly<Record<string, Param<unknown>>>, flags: Given['flags']): void {
  for (const [key, one] of Object.entries(params)) {
    const value: unknown = flags[key];
    const isGiven = value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
    if (isGiven) throw new Failure('usage', `--${flagName(key, one)} needs --from FILE.`);
  }
}
