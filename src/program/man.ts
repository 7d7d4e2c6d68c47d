import { aliasesOf, type Command, type Group, type Param, runOf } from '../command/command.ts';
import { globalFlags } from '../command/global-flags.ts';
import { argWord, flagName, flagTerm } from '../command/param.ts';
import { entries, loadEntry } from '../commands/index.ts';
import { filled, isTable } from '../text/layout.ts';
import { version } from '../version.ts';
import { needsOf } from './needs.ts';
import { topicTexts } from './topic-texts.ts';
import { topics } from './topics.ts';

export { rootHelp } from './root-help.ts';

/** The manual pages by file name, from the tree and the topics that the help is made of. `date`: that of the release. */
export async function manPages(date: string): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  const add = (words: readonly string[], blocks: readonly string[]) => {
    const name = words.join('-');
    const head = `.TH ${name.toUpperCase()} 1 ${date} "svc ${version}" "svc manual"`;
    pages.set(`${name}.1`, `${[head, ...blocks].join('\n')}\n`);
  };
  const walk = (node: Command | Group, words: readonly string[], aliases: readonly string[]) => {
    const shown = 'commands' in node ? node.commands : [];
    add(words, pageOf(node, words, { shown, aliases }));
    for (const child of shown) walk(child, [...words, child.name], aliasesOf(child, shown));
  };
  for (const entry of entries) walk(await loadEntry(entry), ['svc', entry.name], entry.aliases ?? []);
  add(['svc'], rootPage());
  return pages;
}

type Around = { readonly shown: Group['commands']; readonly aliases: readonly string[] };

function pageOf(node: Command | Group, words: readonly string[], { shown, aliases }: Around): string[] {
  const runs = runOf(node);
  const needs = runs && needsOf(runs);
  const parent = words.slice(0, -1).join('-');
  const also = [...shown.map(({ name }) => [...words, name].join('-')), parent, ...(parent === 'svc' ? [] : ['svc'])];
  return [
    ...nameBlock(words, node.summary),
    '.SH SYNOPSIS',
    strong(
      runs ? `${usageOf(words, runs)}${shown.length > 0 ? ' [command]' : ''}` : `${words.join(' ')} <command> [flags]`,
    ),
    '.SH DESCRIPTION',
    ...paragraphs(`${node.summary}.`),
    ...(runs?.details ? ['.PP', ...paragraphs(runs.details)] : []),
    ...(aliases.length > 0 ? ['.PP', ...paragraphs(`Also: ${aliases.join(', ')}.`)] : []),
    ...commandTerms(shown),
    ...flagBlocks(runs?.flags ?? {}),
    '.PP',
    ...paragraphs('Global flags and exit codes are in svc(1).'),
    ...examples(runs?.examples ?? []),
    ...(needs === undefined ? [] : ['.PP', ...paragraphs(`The examples need ${needs}`)]),
    ...seeAlso(also),
  ];
}

function rootPage(): string[] {
  const titles: Readonly<Record<string, string>> = { environment: 'ENVIRONMENT', 'exit-codes': 'EXIT STATUS' };
  return [
    ...nameBlock(['svc'], 'operate one account of an AI support-and-growth product'),
    '.SH SYNOPSIS',
    strong('svc <command> [flags]'),
    ...commandTerms(entries),
    ...terms('GLOBAL FLAGS', globalFlags),
    ...topics
      .filter(({ isListed }) => isListed)
      .flatMap(({ name }) => [
        `.SH ${titles[name] ?? `"${name.replaceAll('-', ' ').toUpperCase()}"`}`,
        ...literal(topicTexts[name](72)),
      ]),
    ...examples(['svc sandbox demo', 'svc sandbox exec -- svc contacts list']),
    ...seeAlso(entries.map(({ name }) => `svc-${name}`)),
  ];
}

const nameBlock = (words: readonly string[], summary: string): string[] => [
  '.SH NAME',
  ...filled(`${escaped(words.join('-'))} \\- ${escaped(summary)}`, lineBytes).split('\n'),
];

/** As the help shows it. */
const usageOf = (words: readonly string[], { args }: Pick<Command, 'args'>): string =>
  [...words, '[flags]', ...Object.entries<Param<unknown>>(args).map(([key, arg]) => argWord(key, arg))].join(' ');

/** Under the titles that the help gives them, `-p, --profile <NAME>` and what it does. */
function flagBlocks(flags: Readonly<Record<string, Param<unknown>>>): string[] {
  const all = Object.entries(flags);
  const titles = new Set(all.map(([, flag]) => flag.group));
  return [...titles].flatMap((title) => {
    const rows = all
      .filter(([, flag]) => flag.group === title)
      .map(([key, flag]) => [flagTerm(flagName(key, flag), flag), flag.description] as const);
    return terms(title?.replace(/:$/u, '').toUpperCase() ?? 'FLAGS', rows);
  });
}

function terms(title: string, rows: readonly (readonly [term: string, about: string])[]): string[] {
  if (rows.length === 0) return [];
  return [
    `.SH ${title.includes(' ') ? `"${title}"` : title}`,
    ...rows.flatMap(([term, about]) => ['.TP', strong(term), ...paragraphs(about)]),
  ];
}

const commandTerms = (all: readonly { readonly name: string; readonly summary: string }[]): string[] =>
  terms(
    'COMMANDS',
    all.map(({ name, summary }) => [name, summary] as const),
  );

const examples = (lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['.SH EXAMPLES', ...literal(lines.join('\n'))];

const seeAlso = (names: readonly string[]): string[] => [
  '.SH SEE ALSO',
  ...names.map((name, i) => `.BR ${escaped(name)} (1)${i < names.length - 1 ? ',' : ''}`),
];

const strong = (text: string): string => `.B "${escaped(text).replaceAll('"', '\\(dq')}"`;

/** Lines as they are. */
const literal = (text: string): string[] => [
  '.nf',
  ...text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '.sp' : safe(escaped(line)))),
  '.fi',
];

function paragraphs(text: string): string[] {
  return text.split(/\n{2,}/u).flatMap((one, i) => {
    if (isTable(one)) return literal(one);
    // A sentence a line, as roff wants it; the reader's program fills them.
    const sentences = one
      .split(/\s*\n\s*/u)
      .join(' ')
      .split(/(?<=[.!?]) (?=[A-Z`])/u);
    return [...(i > 0 ? ['.PP'] : []), ...sentences.flatMap(broken)];
  });
}

/** Longer lines are no mistake, and mandoc's lint still complains. */
const lineBytes = 78;

const broken = (sentence: string): string[] => filled(escaped(sentence), lineBytes).split('\n').map(safe);

/** What begins with a dot or a quote would be taken for a request. */
const safe = (line: string): string => line.replace(/^(?=[.'])/u, '\\&');

/** Backslashes and dashes as they are typed, and everything beyond ASCII by its number. */
const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(
      /[^\n -~]/gu,
      (char) => `\\[u${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
