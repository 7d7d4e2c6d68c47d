import { type Command, descend, type Group } from '../command/command.ts';
import { switchFlags, valuedFlags } from '../command/global-flags.ts';

/** A word where a command should be, and is none. `path`: the words before it; `group`: what they name, if anything. */
export type Stranger = {
  readonly word: string;
  readonly path: readonly string[];
  readonly group: Group | undefined;
};

/** The first stranger of the line; `loaded`: what the first word named, if anything. */
export function strangerIn(argv: readonly string[], loaded: Group | Command | undefined): Stranger | undefined {
  const [first, ...words] = leadingWords(argv);
  if (first === undefined) return undefined;
  if (!loaded) return { word: first, path: ['svc'], group: undefined };
  const {
    node,
    path,
    rest: [word],
  } = descend(loaded, words);
  // A group that does something itself may be given arguments.
  if (word === undefined || word === 'help' || !node || !('commands' in node) || node.itself) return undefined;
  return { word, path: ['svc', loaded.name, ...path], group: node };
}

/** Until the first flag that is none of the global ones: what follows it may be its value. */
export function leadingWords(argv: readonly string[]): string[] {
  const words: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (!word.startsWith('-')) words.push(word);
    else if (valuedFlags.has(word)) i++;
    else if (!switchFlags.has(word) && !/^--[\w-]+=/u.test(word)) break;
  }
  return words;
}
