import { hasDate, isUnreleasedLine, isYankedLine } from './heading.ts';
import { type Doubt, type Heading, headingsOf, withoutTargets } from './headings.ts';
import { standingAlone } from './links.ts';
import { type Kind, outline } from './outline.ts';
import { isRst, rstHeadings, rstTargets, rstToMarkdown } from './rst.ts';

/** What a changelog says about one version. Lines are counted from 1. */
export type Section = {
  /** Without a leading `v`: `1.2.0` for `## [v1.2.0] - 2026-01-02`. Empty for `## Unreleased`. */
  readonly version: string;
  /** The package's name where the heading carries one: `web` for `## web@1.2.0`. */
  readonly name: string | undefined;
  readonly kind: Kind;
  /** The heading as a reader sees it, and its lines: an underlined one has two. */
  readonly heading: string;
  readonly line: number;
  readonly lastLine: number;
  /** A heading inside it that may begin another version. `opened`: the line of what is never closed, and holds it. */
  readonly doubt: { readonly line: number; readonly heading: string; readonly opened?: number } | undefined;
  /** The text below the heading, with the link definitions that it needs from elsewhere in the file. */
  readonly markdown: () => string;
};

/** The sections of a changelog in the file's order, and what might be one. `path` tells how it is written. */
export function sectionsOf(file: string, path = ''): Section[] {
  const text = normalised(file);
  const { headings, swallowed, contentOf, linesBelow } = isRst(path, text) ? readRst(text) : readMarkdown(text);
  const marks = outline(headings);
  const sections: Section[] = [];
  let end = text.length;
  /** Of those before `end` the first one, and behind it the first one of each higher level. */
  let doubts: readonly Doubt[] = swallowed ? [swallowed] : [];
  for (const { heading, version, name, kind } of marks.toReversed()) {
    // Where one such heading begins a version, the next one like it does so too.
    const next = kind === 'doubtful' ? doubts.find(({ depth }) => depth <= heading.depth) : undefined;
    const until = next?.start ?? end;
    const { line, lastLine } = heading;
    const [doubt] = kind === 'doubtful' ? [] : doubts;
    sections.unshift({
      ...{ version, name, line, lastLine, heading: heading.text.replaceAll(/\s+/gu, ' ') },
      kind: kind === 'released' ? kindBelow(linesBelow(heading, until)) : kind,
      doubt: doubt && { line: doubt.line, heading: doubt.text, opened: doubt.opened },
      markdown: () => contentOf(heading, until),
    });
    if (kind === 'doubtful') doubts = [heading, ...doubts.filter(({ depth }) => depth < heading.depth)];
    else {
      doubts = [];
      end = heading.start;
    }
  }
  return sections;
}

type Reader = {
  readonly headings: readonly Heading[];
  readonly swallowed?: Doubt | undefined;
  /** What stands below a heading, as far as `until`, in Markdown. */
  readonly contentOf: (heading: Heading, until: number) => string;
  /** The lines there that may take back what the heading says. */
  readonly linesBelow: (heading: Heading, until: number) => readonly string[];
};

function readMarkdown(text: string): Reader {
  const { headings, swallowed, links } = headingsOf(text);
  const contentOf = ({ end }: Heading, until: number) => standingAlone(withoutTargets(text.slice(end, until)), links);
  return { headings, swallowed, contentOf, linesBelow: ({ end }, until) => [firstLine(text, end, until)] };
}

function readRst(text: string): Reader {
  const found = rstHeadings(text);
  const headings = found.map((each, i) => {
    const { said } = releaseFields(text.slice(each.end, found[i + 1]?.start));
    // A day below the title says as much as one in it.
    return each.claim && said.some(hasDate) ? { ...each, claim: { ...each.claim, isCertain: true } } : each;
  });
  const targets = rstTargets(text);
  const contentOf = ({ end, depth }: Heading, until: number) => {
    const inside = headings.filter(({ start }) => start >= end && start < until);
    const moved = inside.map((each) => ({ ...each, start: each.start - end, end: each.end - end }));
    return rstToMarkdown(releaseFields(text.slice(end, until)).rest, { depth, headings: moved, targets });
  };
  const linesBelow = ({ end }: Heading, until: number) => {
    const { said, rest } = releaseFields(text.slice(end, until));
    return [...said, firstLine(rest, 0, rest.length)];
  };
  return { headings, contentOf, linesBelow };
}

/** A line below a heading may take back what the heading says. */
function kindBelow(lines: readonly string[]): Kind {
  if (lines.some(isUnreleasedLine)) return 'unreleased';
  return lines.some(isYankedLine) ? 'yanked' : 'released';
}

const firstLine = (text: string, from: number, until: number): string =>
  text
    .slice(from, Math.min(until, from + 200))
    .trimStart()
    .split('\n', 1)[0] ?? '';

/** Without a byte-order mark and with one kind of line end; lines keep their numbers. */
export const normalised = (file: string): string => file.replace(/^\u{feff}/u, '').replaceAll(/\r\n?/gu, '\n');

const field = /^:([^:`\n]+):(?:[ \t]+(.*))?$/su;
const dates = /^(?:date|release|released|release[ -]?date|date[ -]of[ -]release|released[ -]on)$/iu;
const states = /^(?:status|state)$/iu;
const others =
  /^(?:release[d]?[ -]by|release[ -]manager|by|authors?|maintainers?|organization|contact|address|copyright|version|revision|tag|code[ -]?name)$/iu;

/**
 * Lines like `:release-date: 29 December, 2025` right below a version's title: they tell of the release, and are no news.
 * `text` begins right behind the title. Fields of any other name stay, and so does every field further down.
 */
export function releaseFields(text: string) {
  const lines = text.split('\n');
  const said: string[] = [];
  let isDropped: boolean | undefined;
  for (const [i, line] of lines.entries()) {
    const [, name, value = ''] = field.exec(line) ?? [];
    // An indented line belongs to the field above it; without one it is a quote.
    const isMore = isDropped !== undefined && /^[ \t]+\S/u.test(line);
    if (name === undefined && !isMore && line.trim() !== '') break;
    if (name !== undefined) {
      isDropped = [dates, states, others].some((names) => names.test(name));
      if (dates.test(name)) said.push(`release date: ${value.trim()}`);
      if (states.test(name)) said.push(value.trim());
    }
    if (isDropped) lines[i] = ' '.repeat(line.length);
  }
  return {
    /** What they say of the day, or of how far the release is, each as it stands. */
    said,
    /** The text with those lines blank: of the same length, so that places in it stay. */
    rest: lines.join('\n'),
  };
}
