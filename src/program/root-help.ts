import { entries } from '../commands/index.ts';
import { commandLine, definitions, filled, helpWidth } from '../text/layout.ts';
import { globalFlags } from './global-flags.ts';
import { topics } from './topics.ts';

const sections = { core: 'Customers', growth: 'Growth', developers: 'Developers', setup: 'Set-up' } as const;

/** What `svc` and `svc --help` print. Written without the command library, since it is the most typed command of all. */
export function rootHelp(columns?: number): string {
  const width = helpWidth(columns);
  const block = (title: string, rows: readonly (readonly [term: string, about: string])[]) =>
    `${title}:\n${definitions(rows, width)}`;
  const blocks = [
    filled('Operate one account of an AI support-and-growth product from the command line.', width),
    'Usage: svc <command> [flags]',
    ...Object.entries(sections).map(([section, title]) =>
      block(
        title,
        entries.filter((entry) => entry.section === section).map((entry) => [entry.name, entry.summary]),
      ),
    ),
    block('Global flags', globalFlags),
    block(
      'Help topics',
      topics.map(({ name, summary }) => [`svc help ${name}`, summary]),
    ),
    `Try it without an account:\n${['svc sandbox demo', 'svc sandbox exec -- svc contacts list'].map((line) => commandLine(line, width)).join('\n')}`,
    'Help for a command: svc <command> --help',
  ];
  return `${blocks.join('\n\n')}\n`;
}
