import { type Command, Help, type HelpConfiguration } from 'commander';
import { definition, definitions, filled, helpWidth, paragraphs, roomBeside } from '../text/layout.ts';
import { rootHelp } from './root-help.ts';

/** How commander writes help: a group begins with its commands; the global flags are a line, since they hold everywhere. */
export const helpConfiguration: HelpConfiguration = {
  styleTitle: (title) => title.replace('Options:', 'Flags:'),
  commandUsage: usageLine,
  subcommandTerm: (command) => command.name(),
  formatItem: (term, termWidth, description, helper) =>
    definition([term, description], roomBeside(termWidth, helpWidth(helper.helpWidth)), helpWidth(helper.helpWidth)),
  boxWrap: paragraphs,
  formatHelp(command, helper) {
    if (!command.parent) return rootHelp(helper.helpWidth);
    const isMereGroup = command.commands.length > 0 && command.options.length === 0;
    return isMereGroup
      ? groupHelp(command, helper as Help)
      : `${Help.prototype.formatHelp.call(this, command, helper as Help)}\n${globalLine}\n`;
  },
};

const globalLine = 'Global flags: svc help flags';

/** A group is asked for its commands. */
function groupHelp(command: Command, helper: Help): string {
  const names = usageLine(command).replace(/ \[.*$/u, '');
  const commands = helper.visibleCommands(command).filter((one) => one.name() !== 'help');
  const width = helpWidth(helper.helpWidth);
  const rows = commands.map((one) => [one.name(), helper.subcommandDescription(one)] as const);
  return [
    filled(command.description(), width),
    `Usage: ${names} <command> [flags]`,
    `Commands:\n${definitions(rows, width)}`,
    `Help for a command: ${names} <command> --help\n${globalLine}`,
    '',
  ].join('\n\n');
}

/** Without the aliases, which commander would put into the middle of the line. */
function usageLine(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at; at = at.parent) names.unshift(at.name());
  return `${names.join(' ')} ${command.usage().replace('[options]', '[flags]')}`;
}
