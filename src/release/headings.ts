import { Lexer, type Token, type TokensList } from 'marked';
import { Failure } from '../errors.ts';
import { markdownFor } from '../text/markdown.ts';
import { type Claim, claimOf } from './heading.ts';
import type { Definitions } from './links.ts';

/** A heading of a Markdown text, and what it claims. Lines are counted from 1. */
export type Heading = {
  readonly text: string;
  /** 1 to 6; a bold line is 7, deeper than any. */
  readonly depth: number;
  readonly line: number;
  readonly lastLine: number;
  /** Where it begins and ends in the text. */
  readonly start: number;
  readonly end: number;
  /** Something stands between it and the next heading. */
  readonly hasText: boolean;
  readonly claim: Claim | undefined;
};

/** What is found of a heading before the next one is known. */
export type Found = Omit<Heading, 'hasText'>;

/** A heading that may begin a version: inside of a code block or comment that line `opened` begins, and nothing closes. */
export type Doubt = Pick<Heading, 'text' | 'depth' | 'line' | 'start'> & { readonly opened?: number };

type Headings = {
  readonly headings: Heading[];
  readonly links: Definitions;
  readonly swallowed: Doubt | undefined;
};

/**
 * The headings in the text's order. A Markdown library finds them, so that a `## 9.9.9` in a code fence or a comment is
 * none, and an underlined one is.
 */
export function headingsOf(text: string): Headings {
  const tokens = parsed(text);
  const headings: Found[] = [];
  let offset = 0;
  let line = 1;
  for (const token of tokens) {
    const start = Math.max(text.indexOf(token.raw, offset), offset);
    line += newlines(text, offset, start);
    const read = readHeading(token);
    if (read) {
      const end = start + read.length;
      const lastLine = line + newlines(text, start, start + text.slice(start, end).trimEnd().length);
      headings.push({ ...read.heading, line, lastLine, start, end });
    }
    offset = start + token.raw.length;
    line += newlines(text, start, offset);
  }
  const last = tokens.at(-1);
  const swallowed = last && isUnclosed(last) ? firstVersion(text, offset - last.raw.length) : undefined;
  return { headings: withText(headings, text), links: tokens.links, swallowed };
}

/** A fence, or HTML that only its own end closes: Markdown gives it all that is left of the file. */
function isUnclosed({ type, raw }: Token): boolean {
  const [, fence, tag] = /^ {0,3}(?:(`{3,}|~{3,})|<(!--|pre\b|script\b|style\b|textarea\b))/iu.exec(raw) ?? [];
  if (type === 'code' && fence !== undefined) {
    const closing = /\n {0,3}([`~]{3,})\s*$/u.exec(raw)?.[1];
    return !closing?.startsWith(fence);
  }
  return (
    type === 'html' &&
    tag !== undefined &&
    !raw.toLowerCase().includes(tag === '!--' ? '-->' : `</${tag}>`.toLowerCase())
  );
}

/** `start`: where the token begins that holds the rest of the text. Each line is read alone, for there it heads nothing. */
function firstVersion(text: string, start: number): Headings['swallowed'] {
  const opened = newlines(text, 0, start) + 1;
  let from = start;
  const lines = text.slice(start).split('\n');
  for (const [i, line] of lines.entries()) {
    const below = lines[i + 1] ?? '';
    const underline = /^ {0,3}(?:=+|-+)\s*$/u.test(below) ? `\n${below}` : '';
    // A block of code may hold a line of any length, and that is no heading.
    const mayHead =
      i > 0 && line.length < 1000 && /\d/u.test(line) && /^ {0,3}(?:#|\*\*|__)|\n/u.test(line + underline);
    const [token] = mayHead ? parsed(line + underline) : [];
    const heading = token && readHeading(token)?.heading;
    if (heading?.claim && !heading.claim.isWordy) return { ...heading, line: opened + i, start: from, opened };
    from += line.length + 1;
  }
  return undefined;
}

/** Tells of each heading whether something stands below it. */
export const withText = (headings: readonly Found[], text: string): Heading[] =>
  headings.map((heading, i) => ({
    ...heading,
    hasText: withoutTargets(text.slice(heading.end, headings[i + 1]?.start)).trim() !== '',
  }));

/** A line of nothing but anchors: of HTML, MyST and reStructuredText. */
const targets = /^\s*(?:(?:<a (?:name|id)=[^<>]*>(?:<\/a>)?|\([^()\s]+\)=|\.\. _[^:]+:)\s*)*$/u;

/** Anchors at the end of a text belong to the heading that follows. */
export function withoutTargets(text: string): string {
  const lines = text.split('\n');
  return lines.slice(0, lines.findLastIndex((line) => !targets.test(line)) + 1).join('\n');
}

type Read = { readonly heading: Pick<Heading, 'text' | 'depth' | 'claim'>; readonly length: number };

function readHeading(token: Token): Read | undefined {
  if (token.type === 'heading') {
    const tokens = token.tokens ?? [];
    const depth: number = token.depth;
    const heading = {
      text: textOf(tokens),
      depth,
      claim: claimOf(textOf(tokens.filter((each) => !isElsewhere(each)))),
    };
    return { heading, length: token.raw.length };
  }
  return token.type === 'paragraph' ? boldLine(token.raw) : undefined;
}

/** `**1.2.0** (2026-01-02)` in a line of its own heads a version, where a project has no other headings for them. */
function boldLine(raw: string): Read | undefined {
  const [first = ''] = raw.split('\n');
  const [, , strong, beside = ''] = /^ {0,3}(\*\*|__)(?=\S)(.{1,200}?)\1(.*)$/su.exec(first) ?? [];
  if (strong === undefined) return undefined;
  const text = textOf(Lexer.lexInline(strong));
  const claim = claimOf(`${text}${beside}`);
  // Words beside the bold ones are a sentence that begins with a version.
  if (!claim || claim.isWordy || (/[\p{L}\p{N}]/u.test(beside) && !claim.isCertain)) return undefined;
  const alone = claimOf(text);
  if (!alone || alone.version !== claim.version) return undefined;
  return { heading: { text: `${text}${beside}`, depth: 7, claim }, length: first.length + 1 };
}

/** A thousand nested quotes are no changelog, and more than the library's recursion can hold; nor are thousands of marks in one word. */
function parsed(text: string): TokensList {
  try {
    return markdownFor(text).lexer(text);
  } catch (error) {
    throw new Failure(
      'usage',
      'The changelog cannot be read as Markdown: it is nested too deeply, or has too many marks in one word.',
      { cause: error },
    );
  }
}

/** `[Full changelog](…)` behind the version leads to a page about it, and says nothing of the version itself. */
const isElsewhere = (token: Token): boolean =>
  token.type === 'link' &&
  /^(?:see\s+)?(?:the\s+)?(?:full\s+)?(?:change ?log|diff|compare|commits|(?:release )?notes|details|milestone|announcement|blog post)$/iu.test(
    visible(token).trim(),
  );

/** What a reader sees of a heading: without anchors, marks and the target of MyST that stands above it. */
const textOf = (tokens: readonly Token[]): string =>
  tokens
    .map(visible)
    .join('')
    .replace(/^\s*\([^()\s]+\)=\s+/u, '')
    .trim();

function visible(token: Token): string {
  if (token.type === 'html') return '';
  if ('tokens' in token && token.tokens) return token.tokens.map(visible).join('');
  return 'text' in token ? token.text : token.raw;
}

const newlines = (text: string, from: number, to: number): number => text.slice(from, to).split('\n').length - 1;
