import { extname } from 'node:path';
import { capital } from '../text/capital.ts';
import { claimOf } from './heading.ts';
import { type Found, type Heading, withText } from './headings.ts';

/** One character of punctuation, several times: it underlines a title, or stands above one too. */
const adornment = /^([!-/:-@[-`{-~])\1{2,}[ \t]*$/u;

/** A line that docutils takes for an item, a field, markup, a line of a poem or a session, whatever stands below it. A number may begin a title. */
const noTitle = /^(?:[-+*\u2022\u2023\u2043]|\.\.|__|\||>>>|:[^:\s][^:]*:)(?:\s|$)/u;

const target = /^\.\. _([^:\n]+|`[^`\n]+`):[ \t]*(?:(\S+)[ \t]*)?$/u;

/**
 * Whether a changelog is written in reStructuredText: by its file's name, and where that says nothing (`.txt`, standard
 * input), by what Markdown does not have: a target, a directive, a title underlined with `~` or `^`.
 */
export function isRst(path: string, text: string): boolean {
  const extension = extname(path).toLowerCase();
  if (extension !== '' && extension !== '.txt') return extension === '.rst' || extension === '.rest';
  if (/^#{1,6} \S/mu.test(text)) return false;
  if (/^\.\. (?:_[^:\r\n]+:|[\w-]+::)/mu.test(text)) return true;
  return [...text.matchAll(/^(\S.*)\n([~^])\2{2,}[ \t]*$/gmu)].some(
    ([line, title = '']) => !noTitle.test(title) && Math.abs(line.trimEnd().length - 1 - 2 * title.length) <= 1,
  );
}

/**
 * The titles of a reStructuredText, in its order. How they are adorned says how deep they are: the first way that is
 * used is the highest. Indented lines are quotes and literal blocks, so nothing in them is a title.
 */
export function rstHeadings(text: string): Heading[] {
  const lines = text.split('\n');
  const ways: string[] = [];
  const found: Found[] = [];
  let offset = 0;
  for (let i = 0; i < lines.length; i++) {
    // Below a title the next one may stand at once; below anything else it would be a line of a text.
    const canBegin = found.at(-1)?.lastLine === i || isApart(lines[i - 1]);
    const title = canBegin ? titleAt(lines, i) : undefined;
    const count = title?.lines ?? 1;
    const length = lines.slice(i, i + count).join('\n').length + 1;
    if (title) {
      if (!ways.includes(title.way)) ways.push(title.way);
      found.push({
        ...{ text: title.text, claim: claimOf(title.text), depth: ways.indexOf(title.way) + 1 },
        ...{ line: i + 1, lastLine: i + count, start: offset, end: Math.min(offset + length, text.length) },
      });
    }
    offset += length;
    i += count - 1;
  }
  return withText(found, text);
}

type Title = { readonly text: string; readonly way: string; readonly lines: number };

const isApart = (above = ''): boolean => above.trim() === '' || target.test(above);

function titleAt(lines: readonly string[], i: number): Title | undefined {
  const [first = '', second = '', third = ''] = lines.slice(i, i + 3);
  if (adornment.test(first)) {
    const isFramed = second.trim() !== '' && !adornment.test(second) && third.trim() === first.trim();
    return isFramed ? { text: plainTitle(second), way: `${first[0]}${first[0]}`, lines: 3 } : undefined;
  }
  const isUnderlined =
    /^\S/u.test(first) && adornment.test(second) && second.trim().length >= Math.min(4, first.length);
  return isUnderlined && !noTitle.test(first)
    ? { text: plainTitle(first), way: second.charAt(0), lines: 2 }
    : undefined;
}

/** As a reader sees it: no marks of literals, links and roles. */
const plainTitle = (title: string): string =>
  title
    .trim()
    .replaceAll(/``([^`]+)``/gu, '$1')
    .replaceAll(/`([^`<]*[^`<\s])\s*<[^>`]*>`__?/gu, '$1')
    .replaceAll(/(?::[\w:+-]{1,60}:)?`([^`]+)`_{0,2}/gu, '$1');

/** Addresses by the names under which the text refers to them: `.. _#123: https://…`. */
export function rstTargets(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name = '', href = ''] = target.exec(line) ?? [];
    if (href !== '') found.set(keyOf(name), href);
  }
  return found;
}

const keyOf = (name: string): string => name.replaceAll('`', '').replaceAll(/\s+/gu, ' ').trim().toLowerCase();

/** A part of a text as Markdown, which the service takes. What has no equal in Markdown keeps its words. */
export function rstToMarkdown(
  part: string,
  {
    depth,
    headings,
    targets,
  }: {
    /** Of the version's title; titles in the part are deeper. */
    readonly depth: number;
    readonly headings: readonly Pick<Heading, 'text' | 'depth' | 'start' | 'end'>[];
    readonly targets: ReadonlyMap<string, string>;
  },
): string {
  const out: string[] = [];
  let at = 0;
  for (const heading of headings) {
    out.push(bodyToMarkdown(part.slice(at, heading.start), targets));
    out.push(`${'#'.repeat(Math.min(6, Math.max(3, 2 + heading.depth - depth)))} ${heading.text}`);
    at = heading.end;
  }
  out.push(bodyToMarkdown(part.slice(at), targets));
  return out.filter((each) => each !== '').join('\n\n');
}

const codeDirectives = new Set('code code-block sourcecode parsed-literal highlight prompt'.split(' '));
const silentDirectives = new Set('contents include toctree image figure raw highlight meta index only'.split(' '));

function bodyToMarkdown(body: string, targets: ReadonlyMap<string, string>): string {
  const lines = body.split('\n');
  const out: string[] = [];
  for (let i = 0; i < lines.length; ) {
    const line = lines[i] ?? '';
    const [, indent = '', name, argument = ''] = /^(\s*)\.\. ([\w-]+)::[ \t]*(.*)$/su.exec(line) ?? [];
    const isExplicit = /^\s*\.\.(?:\s|$)/u.test(line);
    const isLiteral = !isExplicit && /(?:\S|^\s*)::$/u.test(line.trimEnd());
    const block = isExplicit || isLiteral ? blockBelow(lines, i) : { text: [], next: i + 1 };
    i = block.next;
    if (name !== undefined) out.push(...directive(name, { argument, text: block.text, indent, targets }));
    else if (isLiteral && block.text.length > 0) {
      out.push(inline(withColon(line), targets), '');
      out.push(...fenced(block.text, '', /^\s*/u.exec(line)?.[0] ?? ''));
    } else if (!isExplicit) out.push(inline(line, targets));
  }
  return out
    .join('\n')
    .replaceAll(/\n(?:[ \t]*\n){2,}/gu, '\n\n')
    .replace(/^(?:[ \t]*\n)+/u, '')
    .trimEnd();
}

/** A line that ends in two colons, as a reader sees it. */
function withColon(line: string): string {
  const words = line.trimEnd().slice(0, -2).trimEnd();
  return words === '' ? '' : `${words}:`;
}

/** The lines below one that are indented deeper, without that indent. */
function blockBelow(lines: readonly string[], at: number): { readonly text: readonly string[]; readonly next: number } {
  const depth = indentOf(lines[at] ?? '');
  let next = at + 1;
  while (next < lines.length && (lines[next]?.trim() === '' || indentOf(lines[next] ?? '') > depth)) next++;
  const text = lines.slice(at + 1, next);
  while (text.at(-1)?.trim() === '') text.pop();
  while (text[0]?.trim() === '') text.shift();
  const least = Math.min(...text.filter((each) => each.trim() !== '').map(indentOf));
  return {
    text: text.map((each) => each.slice(least)),
    next: next - (lines[next - 1]?.trim() === '' && next > at + 1 ? 1 : 0),
  };
}

const indentOf = (line: string): number => /^[ \t]*/u.exec(line)?.[0].length ?? 0;

type Block = {
  readonly argument: string;
  readonly text: readonly string[];
  readonly indent: string;
  readonly targets: ReadonlyMap<string, string>;
};

function directive(name: string, { argument, text, indent, targets }: Block): string[] {
  const content = text.slice(text.findIndex((line) => !/^:[\w-]+:/u.test(line)));
  if (codeDirectives.has(name) && content.length > 0)
    return fenced(content.join('\n').trim().split('\n'), argument, indent);
  if (silentDirectives.has(name)) return [];
  const label = `**${capital(name).replaceAll('-', ' ')}:**`;
  const inside = bodyToMarkdown([argument, ...text].join('\n'), targets).split('\n');
  return ['', ...[`${label} ${inside[0] ?? ''}`.trimEnd(), ...inside.slice(1)].map((line) => `${indent}${line}`), ''];
}

function fenced(text: readonly string[], language: string, indent: string): string[] {
  const longest = Math.max(2, ...[...text.join('\n').matchAll(/`{3,}/gu)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return ['', ...[`${fence}${language}`, ...text, fence].map((line) => `${indent}${line}`.trimEnd()), ''];
}

/** Literals, links, roles and fields of one line. */
function inline(line: string, targets: ReadonlyMap<string, string>): string {
  const parts = line.split(/(``.+?``)/u);
  return parts.map((part, i) => (i % 2 === 1 ? part.slice(1, -1) : marks(part, targets))).join('');
}

const marks = (text: string, targets: ReadonlyMap<string, string>): string =>
  text
    .replace(/^(\s*):([\w-]+):(?= )/u, '$1- $2:')
    .replace(/^(\s*)#\. /u, '$11. ')
    .replaceAll(/`([^`<]*[^`<\s])\s*<([^>`\s]+)>`__?/gu, '[$1]($2)')
    .replaceAll(
      /(?<![\w`]):[\w:+-]{1,60}:`([^`]+)`/gu,
      (_, words: string) => `\`${words.replace(/(?<!\s)\s*<[^<>]*>$/u, '')}\``,
    )
    .replaceAll(/`([^`]+)`__?/gu, (_, words: string) => linked(words, targets) ?? words)
    .replaceAll(/(?<![\w`/.#-])([\w#][\w.#-]*)_(?!\w)/gu, (whole, words: string) => linked(words, targets) ?? whole);

function linked(words: string, targets: ReadonlyMap<string, string>): string | undefined {
  const href = targets.get(keyOf(words));
  return href === undefined ? undefined : `[${words}](${href})`;
}
