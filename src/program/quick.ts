import { version } from '../version.ts';

/**
 * What can be said before anything is loaded: the version, the root's help and its topics. Undefined for every other command line.
 */
export async function quickAnswer(
  argv: readonly string[],
  columns: () => number | undefined = () => undefined,
): Promise<string | undefined> {
  const [first, second] = argv;
  if (first === '__complete') {
    const { answerTab } = await import('./completion.ts');
    return answerTab(argv.slice(second === '--' ? 2 : 1), process.env);
  }
  if (first === 'help' && argv.length === 2) {
    const { topics } = await import('./topics.ts');
    return topics.find(({ name }) => name === second)?.text(columns());
  }
  if (argv.length > 1) return undefined;
  if (first === '--version' || first === '-V') return `${version}\n`;
  if (first !== undefined && first !== '--help' && first !== '-h' && first !== 'help') return undefined;
  const { rootHelp } = await import('./root-help.ts');
  return rootHelp(columns());
}
