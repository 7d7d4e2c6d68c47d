import { builtHelp } from '../disk/place/built-help.ts';
import { version } from '../version.ts';

/** What can be said before anything is loaded: the version, the root's help and its topics. Undefined for every other command line. */
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
    const topic = topics.find(({ name }) => name === second);
    return topic && (await import('./topic-texts.ts')).topicTexts[topic.name](columns());
  }
  if (argv.length === 2 && argv.includes('--json') && argv.some(isVersion)) return aboutItself();
  if (argv.length > 1) return undefined;
  if (isVersion(first)) return `${version}\n`;
  if (first !== undefined && first !== '--help' && first !== '-h' && first !== 'help') return undefined;
  const width = columns() ?? 80;
  return builtHelp(width) ?? (await import('./root-help.ts')).rootHelp(width);
}

/** `-v` and `version` are what other programs take. */
const isVersion = (word: string | undefined): boolean =>
  word === '--version' || word === '-V' || word === '-v' || word === 'version';

/** For bug reports and scripts that look after several machines. */
async function aboutItself(): Promise<string> {
  const { installed } = await import('../disk/place/installed.ts');
  const { how, path } = installed();
  const { arch, platform, versions } = process;
  return `${JSON.stringify({ version, node: versions.node, platform, arch, installed: how, path }, null, 2)}\n`;
}
