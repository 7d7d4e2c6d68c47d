import { entries } from '../commands/index.ts';
import { definitions, filled, helpWidth } from '../text/layout.ts';
import { topics } from './topics.ts';

const tasks = { core: 'Customers', growth: 'Growth', developers: 'Developers', setup: 'Set-up' } as const;

/** What somebody types on the first day. */
const firstLines: readonly (readonly [line: string, about: string])[] = [
  ['svc inbox', 'what needs a person, and keys to deal with it'],
  ['svc contacts find yara', 'a person by name, email or company'],
  ['svc changelog release --dry-run', 'what a release would publish'],
];

/** What `svc` and `svc --help` print: one screen of 80×24. Written without the command library, since it is the most typed command of all. */
export function rootHelp(columns?: number): string {
  const width = helpWidth(columns);
  const names = (section: string) =>
    entries.flatMap((entry) => (entry.section === section ? [entry.name] : [])).join(', ');
  const groups = Object.entries(tasks).map(([section, title]) => [title, names(section)] as const);
  const blocks = [
    filled('Operate one account of an AI support-and-growth product from the command line.', width),
    `Usage: svc <command> [flags]\n${filled('Start here: svc login, or svc sandbox demo', width)}`,
    `Commands:\n${definitions(groups, width)}`,
    `For example:\n${definitions(firstLines, width)}`,
    definitions(
      [
        ['svc <command> --help', 'Help for a command'],
        ['svc help commands', 'Every group of commands in a line'],
        ['svc help flags', 'Global flags, such as --json, --fields and --profile'],
        ['svc help TOPIC', topics.flatMap(({ name, isListed }) => (isListed ? [name] : [])).join(', ')],
      ],
      width,
    ),
  ];
  return `${blocks.join('\n\n')}\n`;
}
