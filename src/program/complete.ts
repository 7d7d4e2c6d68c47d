import type { Branch, Flag, Value } from './completion-tree.ts';

/** A word that may stand here, and what it means. */
type Candidate = readonly [word: string, about: string];

/** What only the user's configuration knows. */
export type Own = Readonly<Record<NonNullable<Value['from']>, () => Promise<readonly string[]>>>;

type CompletionPlace = {
  readonly branch: Branch;
  /** Of the whole line so far: the global ones and those of the branch. */
  readonly flags: Readonly<Record<string, Flag>>;
  readonly given: ReadonlySet<string>;
  /** The flag whose value is being typed. */
  readonly awaiting?: Flag;
  /** The arguments that are complete. */
  readonly args: readonly string[];
  /** Another command line behind it, or behind `--`. */
  readonly foreign?: readonly string[];
};

/** The words that a name of the user's own stands for: a flag among them is given again to take its place. */
type Alias = { readonly from: number; readonly to: number };

/**
 * Answers `svc __complete -- words…`, the last word being the one under the cursor: a line for each candidate, its
 * meaning behind a tab; `:files` where the shell completes file names itself.
 */
export async function complete(tree: Branch, words: readonly string[], own: Own, alias?: Alias): Promise<string> {
  // Windows PowerShell cannot pass an empty word, so its script sends a quoted one.
  const current = words.at(-1) === '""' ? '' : (words.at(-1) ?? '');
  const place = walk(tree, words.slice(0, -1), alias);
  if (place.foreign) {
    const [program, ...rest] = place.foreign;
    if (program === 'svc') return complete(tree, [...rest, current], own);
    if (place.branch.runs === 'command') return complete(tree, [...place.foreign, current], own);
    return program === undefined ? lines([['svc', tree.about]], current, ':files') : ':files\n';
  }
  if (place.awaiting) return values(place.awaiting, current, '', own);
  const [, name, typed] = /^--([\w-]+)=(.*)$/su.exec(current) ?? [];
  const flag = name === undefined ? undefined : place.flags[name];
  if (flag) return values(flag, typed ?? '', `--${name}=`, own);
  if (current.startsWith('-')) return lines(flagCandidates(place), current);
  const { children, args = [] } = place.branch;
  if (children)
    return lines(
      Object.entries(children).map(([child, { about }]) => [child, about]),
      current,
    );
  const last = args.at(-1);
  const arg = args[place.args.length] ?? (last?.many ? last : undefined);
  const before = place.args.at(-1) ?? '';
  const value = arg?.by && Object.hasOwn(arg.by, before) ? arg.by[before] : arg;
  return value ? values(value, current, '', own) : '';
}

function walk(tree: Branch, words: readonly string[], alias?: Alias): CompletionPlace {
  let branch = tree;
  const args: string[] = [];
  const given = new Set<string>();
  const flags = () => ({ ...tree.flags, ...branch.flags });
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--' || (branch.runs && !word.startsWith('-'))) {
      const foreign = words.slice(word === '--' ? at + 1 : at);
      return { branch, flags: flags(), given, args, ...(branch.runs && { foreign }) };
    }
    const found = word.startsWith('-') ? flagOf(flags(), word) : undefined;
    if (found) {
      if (!alias || at < alias.from || at >= alias.to) given.add(found[0]);
      const isOpen = found[1].takesValue && !word.includes('=') && (word.startsWith('--') || word.length === 2);
      if (isOpen && at === words.length - 1) return { branch, flags: flags(), given, args, awaiting: found[1] };
      if (isOpen) at++;
    } else if (!word.startsWith('-')) {
      const child = branch.children && childOf(branch.children, word);
      if (child) branch = child;
      else args.push(word);
    }
  }
  return { branch, flags: flags(), given, args };
}

export function childOf(children: Readonly<Record<string, Branch>>, word: string): Branch | undefined {
  if (Object.hasOwn(children, word)) return children[word];
  return Object.values(children).find(({ aliases }) => aliases?.includes(word));
}

function flagOf(flags: Readonly<Record<string, Flag>>, word: string): [name: string, flag: Flag] | undefined {
  const [, long] = /^--([\w-]+)/u.exec(word) ?? [];
  return Object.entries(flags).find(([name, { short }]) => (long ? name === long : short === word.charAt(1)));
}

function flagCandidates({ branch, flags, given }: CompletionPlace): Candidate[] {
  const own = new Set(Object.keys(branch.flags ?? {}));
  return Object.entries(flags)
    .filter(([name, { many, hidden }]) => !hidden && (many || !given.has(name)))
    .sort(([a], [b]) => Number(own.has(b)) - Number(own.has(a)))
    .map(([name, { about }]): Candidate => [`--${name}`, about])
    .concat([['--help', 'Help for this command']]);
}

async function values({ choices, from, files }: Value, typed: string, prefix: string, own: Own): Promise<string> {
  const found = choices ?? (from ? await own[from]() : []);
  // Of a list with commas, its last item is being typed.
  const before = prefix + typed.slice(0, typed.lastIndexOf(',') + 1);
  return lines(
    found.map((word) => [`${before}${word}`, '']),
    `${prefix}${typed}`,
    files && ':files',
  );
}

function lines(candidates: readonly Candidate[], current: string, end = ''): string {
  const matching = candidates.filter(([word]) => word.startsWith(current));
  return [...matching.map(([word, about]) => (about ? `${word}\t${about}` : word)), end]
    .filter((line) => line !== '')
    .map((line) => `${line}\n`)
    .join('');
}
