import { Parser } from 'htmlparser2';
import { orElse } from '../errors.ts';
import { ownOf } from './record.ts';

type Options = {
  /** Line ends count, as they do for someone who typed Markdown. */
  readonly asTyped: boolean;
};

/** What has been read of a page so far, and where in it the reader is. */
type State = Options & {
  readonly out: string[];
  readonly lists: { readonly ordered: boolean; items: number; indent: string }[];
  readonly links: { readonly from: number; readonly href: string | undefined }[];
  line: string;
  /** What stands before the first line of the item that was opened: `- `, `1. `. */
  marker: string;
  quotes: number;
  hidden: number;
  preformatted: number;
  isHeading: boolean;
};

type Attributes = Readonly<Record<string, string>>;

const unseen = new Set(['script', 'style', 'template', 'title', 'noscript', 'iframe', 'object', 'textarea', 'select']);
const blocks = new Set(
  'p div section article header footer main aside nav figure figcaption details summary dl dt dd address table tr'.split(
    ' ',
  ),
);
/** Both ends of these end the line before them. */
const headings = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6']);
const breaking = new Set([...blocks, ...headings, 'ul', 'ol', 'li', 'blockquote', 'pre', 'hr']);
const marks = new Map(Object.entries({ strong: '**', b: '**', em: '*', i: '*', code: '`' }));

/** What a reader sees of HTML, block by block. */
export function readPage(html: string, { asTyped }: Options): string[] {
  const state: State = {
    ...{ asTyped, out: [], lists: [], links: [] },
    ...{ line: '', marker: '', quotes: 0, hidden: 0, preformatted: 0, isHeading: false },
  };
  const parser = new Parser({
    onopentag: (name, attributes) => open(state, name, attributes),
    onclosetag: (name) => close(state, name),
    ontext: (text) => {
      if (state.hidden > 0) return;
      // `<br>` and the line end after it are one line end.
      state.line += asTyped && state.line.endsWith('\n') ? text.replace(/^\r?\n/u, '') : text;
    },
  });
  parser.write(html);
  parser.end();
  flush(state);
  return state.out;
}

function flush(state: State): void {
  const { line, marker, quotes, asTyped } = state;
  const code = state.preformatted > 0;
  const text = code ? line.replace(/^\n|\n$/gu, '') : collapse(line, asTyped);
  state.line = '';
  if (text === '') return;
  const indent = state.lists.at(-1)?.indent ?? '';
  const first = '> '.repeat(quotes) + (marker === '' ? indent : indent.slice(0, -marker.length) + marker);
  const rest = '> '.repeat(quotes) + indent;
  const shown = code ? `\`\`\`\n${text}\n\`\`\`` : text;
  state.out.push(plainType(first + shown.replaceAll('\n', `\n${rest}`)));
  state.marker = '';
}

function open(state: State, name: string, attributes: Attributes): void {
  if (unseen.has(name)) state.hidden++;
  if (state.hidden > 0) return;
  if (breaking.has(name)) flush(state);
  if (state.preformatted === 0) state.line += marks.get(name) ?? '';
  if (headings.has(name)) {
    state.isHeading = true;
    state.line = `${'#'.repeat(Number(name[1]))} `;
  }
  ownOf(openings, name)?.(state, attributes);
}

const openings: Readonly<Record<string, (state: State, attributes: Attributes) => void>> = {
  br: (state) => {
    state.line += '\n';
  },
  hr: (state) => {
    state.out.push('---');
  },
  ul: (state) => openList(state, { ordered: false }),
  ol: (state) => openList(state, { ordered: true }),
  li: openItem,
  blockquote: (state) => {
    state.quotes++;
  },
  pre: (state) => {
    state.preformatted++;
  },
  td: openCell,
  th: openCell,
  a: (state, { href }) => {
    state.links.push({ from: state.line.length, href: safeUrl(href) });
  },
  img: (state, { src, alt = '' }) => {
    const source = safeUrl(src);
    state.line += source ? `![${alt}](${source})` : alt;
  },
};

function openList({ lists }: State, { ordered }: { readonly ordered: boolean }): void {
  lists.push({ ordered, items: 0, indent: lists.at(-1)?.indent ?? '' });
}

function openItem(state: State): void {
  const list = state.lists.at(-1);
  if (!list) return;
  list.items++;
  const outer = state.lists.at(-2)?.indent ?? '';
  state.marker = list.ordered ? `${list.items}. ` : '- ';
  list.indent = outer + ' '.repeat(state.marker.length);
}

function openCell(state: State): void {
  state.line += '| ';
}

function close(state: State, name: string): void {
  if (unseen.has(name)) state.hidden = Math.max(0, state.hidden - 1);
  if (state.hidden > 0) return;
  if (state.preformatted === 0) state.line += marks.get(name) ?? '';
  if (breaking.has(name)) flush(state);
  if (headings.has(name)) state.isHeading = false;
  if (name === 'li') state.marker = '';
  if (name === 'ul' || name === 'ol') state.lists.pop();
  if (name === 'blockquote') state.quotes = Math.max(0, state.quotes - 1);
  if (name === 'pre') state.preformatted = Math.max(0, state.preformatted - 1);
  if (name === 'td' || name === 'th') state.line += ' ';
  if (name === 'a') closeLink(state);
}

function closeLink(state: State): void {
  const { line } = state;
  const link = state.links.pop();
  if (!link?.href || link.from > line.length) return;
  const text = line.slice(link.from);
  // A permalink, which the service puts to a heading.
  if (state.isHeading && link.href.startsWith('#') && !/[\p{L}\p{N}]/u.test(text)) {
    state.line = line.slice(0, link.from);
    return;
  }
  // A bare address is a link in some flavours of Markdown and text in others: it looks the same.
  if (link.href === text || link.href === `mailto:${text}`) return;
  state.line = `${line.slice(0, link.from)}[${text}](${link.href})`;
}

/** As a browser lays out text. A task's box is dropped, since sanitizers drop it. */
function collapse(text: string, asTyped: boolean): string {
  if (!asTyped)
    return text
      .replaceAll(/\s+/gu, ' ')
      .trim()
      .replace(/^\[[ x]\] /iu, '');
  const lines = text.split('\n').map((line) => line.trimEnd());
  return lines.join('\n').replace(/^\n+/u, '').trimEnd();
}

/** Without what typographic helpers change: quotes, dashes of dots, and spaces of no or fixed width. */
const plainType = (text: string): string =>
  text
    .normalize('NFC')
    .replaceAll(/[\u201c\u201d]/gu, '"')
    .replaceAll(/[\u2018\u2019]/gu, "'")
    .replaceAll('\u2026', '...')
    .replaceAll('\u00a0', ' ')
    .replaceAll(/[\u200b\ufeff]/gu, '');

/** Sanitizers drop addresses that run something; what is left is compared without its escapes. */
function safeUrl(url: string | undefined): string | undefined {
  const text = url?.trim();
  if (!text || /^(?:javascript|vbscript|data):/iu.test(text)) return undefined;
  return orElse(() => decodeURI(text), text);
}
