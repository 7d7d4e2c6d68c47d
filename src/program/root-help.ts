import { entries } from '../commands/index.ts';
import { globalFlags } from './global-flags.ts';
import { topics } from './topics.ts';

const sections = { core: 'Customers', growth: 'Growth', developers: 'Developers', setup: 'Set-up' } as const;

/** What `svc` and `svc --help` print. Written without the command library, since it is the most typed command of all. */
export function rootHelp(): string {
  const blocks = [
    'Operate one account of an AI support-and-growth product from the command line.',
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
    'Try it without an account:\n  $ svc sandbox demo\n  $ svc sandbox exec -- svc contacts list',
    'Help for a command: svc <command> --help',
  ];
  return `${blocks.join('\n\n')}\n`;
}

function block(title: string, rows: readonly (readonly [term: string, about: string])[]): string {
  const width = Math.max(...rows.map(([term]) => term.length));
  return `${title}:\n${rows.map(([term, about]) => `  ${term.padEnd(width)}  ${about}`).join('\n')}`;
}
