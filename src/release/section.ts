import { lexer, type Token, type TokensList, walkTokens } from 'marked';
import { Failure } from '../errors.ts';

/** What a changelog says about one version. Lines are counted from 1. */
export type Section = {
  /** Without a leading `v`: `1.2.0` for `## [v1.2.0] - 2026-01-02`. Empty for `## Unreleased`. */
  readonly version: string;
  /** The package's name where the heading carries one: `web` for `## web@1.2.0`. */
  readonly name: string | undefined;
  /** Not released yet: `## Unreleased`, `## 1.3.0 (unreleased)`. */
  readonly unreleased: boolean;
  /** Line of the heading. */
  readonly line: number;
  /** The text below the heading, with the link definitions that it needs from elsewhere in the file. */
  readonly markdown: () => string;
};

/**
 * The sections of a changelog in the file's order. A Markdown library finds the headings, so that a `## 9.9.9` in a
 * code fence or a comment is none, and an underlined one is.
 */
export function sectionsOf(file: string): Section[] {
  const text = normalised(file);
  const tokens = parsed(text);
  const sections: Section[] = [];
  let open: { release: Release; depth: number; line: number; from: number } | undefined;
  let offset = 0;
  let line = 1;
  const close = (end: number) => {
    if (!open) return;
    const { release, line, from } = open;
    sections.push({ ...release, line, markdown: () => standingAlone(text.slice(from, end), tokens.links) });
    open = undefined;
  };
  for (const token of tokens) {
    const start = Math.max(text.indexOf(token.raw, offset), offset);
    line += newlines(text, offset, start);
    offset = start + token.raw.length;
    const at = line;
    line += newlines(text, start, offset);
    if (token.type !== 'heading') continue;
    const depth: number = token.depth;
    const release = releaseIn(textOf(token.tokens ?? []), open !== undefined && depth > open.depth);
    // Tools that follow commits write patches as `### 1.1.1` with `### Bug Fixes` below: such a peer is a part.
    const ends = open !== undefined && (depth < open.depth || (depth === open.depth && depth < 3));
    if (release || ends) close(start);
    if (release) open = { release, depth, line: at, from: offset };
  }
  close(text.length);
  return sections;
}

/** A thousand nested quotes are no changelog, and more than the library's recursion can hold. */
function parsed(text: string): TokensList {
  try {
    return lexer(text);
  } catch (error) {
    throw new Failure('usage', 'The changelog cannot be read as Markdown: it is nested too deeply.', { cause: error });
  }
}

/** Without a byte-order mark and with one kind of line end; lines keep their numbers. */
export const normalised = (file: string): string => file.replace(/^\u{feff}/u, '').replaceAll(/\r\n?/gu, '\n');

/** `v1.2.0`, `refs/tags/v1.2.0` and `1.2.0` name the same version. */
export const bareVersion = (name: string): string =>
  name
    .trim()
    .replace(/^refs\/tags\//u, '')
    .replace(/^v(?=\d)/iu, '');

/** Whether a name, for example of a git tag, is that of a version: `v1.2.0`, `web@1.2.0`. */
export const isVersion = (name: string): boolean => {
  const match = releaseHeading.exec(bareVersion(name));
  return match !== null && match.groups?.rest === '';
};

type Release = Pick<Section, 'version' | 'name' | 'unreleased'>;

const releaseHeading =
  /^(?:(?:version|release)\s+)?\[?(?:(?<name>@?[a-z][\w./-]*)@)?v?(?<version>\d{4}-\d{2}-\d{2}|\d+(?:\.\d+){1,3}(?:[-+.]?[a-z0-9][\w.+-]*)?|(?<=v)\d+)\]?(?=$|[\s:,()/–—-])(?<rest>.*)$/iu;

const unreleasedWords = /\b(?:unreleased|not (?:yet )?released|tbd|tba)\b/iu;

/** A release's heading begins with its version; a date, a link or a remark may follow. */
function releaseIn(heading: string, isDeeper: boolean): Release | undefined {
  if (/^\[?unreleased\b/iu.test(heading)) return { version: '', name: undefined, unreleased: true };
  const { name, version, rest } = releaseHeading.exec(heading)?.groups ?? {};
  if (version === undefined || rest === undefined) return undefined;
  // Below `## 1.2.0`, `### 1.1 compatibility` and `### 2026-01-02` are parts of it; `### 1.1.9 (2026-01-02)` is not.
  if (isDeeper && (/^\s+\p{L}/u.test(rest) || /^\d{4}-/u.test(version))) return undefined;
  return { version, name, unreleased: unreleasedWords.test(rest) };
}

/** What a reader sees of a heading: without anchors and marks. */
const textOf = (tokens: readonly Token[]): string => tokens.map(visible).join('').trim();

function visible(token: Token): string {
  if (token.type === 'html') return '';
  if ('tokens' in token && token.tokens) return token.tokens.map(visible).join('');
  return 'text' in token ? token.text : token.raw;
}

const newlines = (text: string, from: number, to: number): number => text.slice(from, to).split('\n').length - 1;

type Definitions = Readonly<Record<string, { readonly href: string | null; readonly title?: string | null }>>;

/** The section's text without its link definitions, followed by those of the whole file that it uses. */
function standingAlone(section: string, definitions: Definitions): string {
  const body = lexer(section)
    .map((token) => (token.type === 'def' ? '' : token.raw))
    .join('')
    .replace(/^(?:[ \t]*\n)+/u, '')
    .trimEnd();
  const used = [...labelsIn(body, definitions)].map((label) => definition(label, definitions));
  return used.length > 0 ? `${body}\n\n${used.join('\n')}` : body;
}

/** Of `[text][label]`, `[label][]` and `[label]`, those that are links by the definitions. */
function labelsIn(body: string, definitions: Definitions): Set<string> {
  const all = Object.keys(definitions).map((label) => definition(label, definitions));
  const labels = new Set<string>();
  walkTokens(lexer([body, '', ...all].join('\n')), (token) => {
    if ((token.type !== 'link' && token.type !== 'image') || !token.raw.endsWith(']')) return;
    const last = /\[([^[\]]*)\]$/u.exec(token.raw)?.[1];
    const label = (last || token.raw.replace(/^!?\[/u, '').replace(/\](?:\[\])?$/u, ''))
      .toLowerCase()
      .replaceAll(/\s+/gu, ' ');
    if (label in definitions) labels.add(label);
  });
  return labels;
}

function definition(label: string, definitions: Definitions): string {
  const { href, title } = definitions[label] ?? {};
  const target = /^[^\s<>]+$/u.test(href ?? '') ? href : `<${href ?? ''}>`;
  return `[${label}]: ${target}${title ? ` "${title.replaceAll('"', '\\"')}"` : ''}`;
}
