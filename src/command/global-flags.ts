import { outputs } from '../config/outputs.ts';
import { listed } from '../text/listed.ts';

export const outputWords = listed(outputs, 'or');

/** The global flags: the term that commander reads, and the description in help. */
export const globalFlags: readonly (readonly [term: string, description: string])[] = [
  ['-p, --profile <NAME>', 'Which saved login'],
  ['--base-url <URL>', 'The service; may carry a path prefix'],
  ['--auth-url <URL>', 'The host of the OAuth endpoints'],
  ['-o, --output <FORMAT>', outputWords],
  ['--json', 'Short for --output json'],
  ['--fields <A,B.C>', 'Which fields, in which order'],
  ['-q, --jq <FILTER>', 'Filter the JSON answer with jq'],
  ['--no-input', 'Never ask; fail and name the missing flag'],
  ['-y, --yes', 'Answer yes to a confirmation'],
  ['--quiet', 'No progress, no notes'],
  ['--debug', 'Each HTTP exchange on standard error, secrets redacted'],
  ['--timeout <SECONDS>', 'Per attempt (default 30)'],
  ['--max-wait <SECONDS>', 'How long to wait out rate limits and retries (default 120)'],
  ['--settle <SECONDS>', 'How long to look for a write whose answer was lost (default 30)'],
  ['--live', 'Ask the service for contacts, not the local copy'],
  ['--insecure-http', 'Allow an http:// service that is not on this machine'],
  ['--no-color', 'No colour'],
  ['--safe-cells', 'With csv: disarm cells that a spreadsheet would run as formulas'],
];

/** As typed, those that take a value. */
export const valuedFlags = new Set(
  globalFlags.flatMap(([term]) => (term.includes('<') ? term.replace(/ <.*/u, '').split(', ') : [])),
);

/** As typed, those that take none. */
export const switchFlags = new Set(globalFlags.flatMap(([term]) => (term.includes('<') ? [] : term.split(', '))));

/** Where the first word of argv stands that names a command, behind any global flags; -1 where there is none. */
export function firstWordAt(argv: readonly string[]): number {
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (!word.startsWith('-')) return i;
    if (valuedFlags.has(word)) i++;
  }
  return -1;
}
