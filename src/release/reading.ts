import { Parser } from 'htmlparser2';
import { parse } from 'marked';

/**
 * What a reader sees of a text, block by block, in a form close to Markdown: `### Added`, `- **Bold** item`,
 * `[text](url)`. Two texts with the same reading look the same, whatever their tags, classes, ids and white space.
 */
export type Reading = readonly string[];

/** Markdown, plain text and HTML alike, as the service takes them (changelog content). */
export function readMarkdown(text: string): Reading {
  try {
    return readHtml(parse(text, { async: false }));
  } catch {
    // Nested deeper than the library's recursion can hold; then a reader sees what was typed.
    return [text];
  }
}

/**
 * Whether a page that shows `html` shows what `content` says. The service's own Markdown may know less than ours and
 * leave marks as they were typed; so where the readings differ, both are read as Markdown once more.
 */
export function showsContent(html: string, content: string): boolean {
  const wanted = readMarkdown(content);
  if (same(readHtml(html), wanted)) return true;
  return same(readMarkdown(readHtml(html, { asTyped: true }).join('\n\n')), readMarkdown(wanted.join('\n\n')));
}

const same = (a: Reading, b: Reading): boolean => a.length === b.length && a.every((block, i) => block === b[i]);

const unseen = new Set(['script', 'style', 'template', 'title', 'noscript', 'iframe', 'object', 'textarea', 'select']);
const blocks = new Set(
  'p div section article header footer main aside nav figure figcaption details summary dl dt dd address table tr'.split(
    ' ',
  ),
);
const marks: Readonly<Record<string, string>> = { strong: '**', b: '**', em: '*', i: '*', code: '`' };

type Options = {
  /** Line ends count, as they do for someone who typed Markdown. */
  readonly asTyped?: boolean;
};

/** The reading of HTML, sanitized or not. */
export function readHtml(html: string, { asTyped = false }: Options = {}): Reading {
  const out: string[] = [];
  const lists: { readonly ordered: boolean; items: number; indent: string }[] = [];
  const links: { readonly from: number; readonly href: string | undefined }[] = [];
  let line = '';
  let marker = '';
  let quotes = 0;
  let hidden = 0;
  let preformatted = 0;

  const flush = () => {
    const code = preformatted > 0;
    const text = code ? line.replace(/^\n|\n$/gu, '') : collapse(line, asTyped);
    line = '';
    if (text === '') return;
    const indent = lists.at(-1)?.indent ?? '';
    const first = '> '.repeat(quotes) + (marker === '' ? indent : indent.slice(0, -marker.length) + marker);
    const rest = '> '.repeat(quotes) + indent;
    const shown = code ? `\`\`\`\n${text}\n\`\`\`` : text;
    out.push(plainType(first + shown.replaceAll('\n', `\n${rest}`)));
    marker = '';
  };

  const open = (name: string, attributes: Readonly<Record<string, string>>) => {
    if (unseen.has(name)) hidden++;
    if (hidden > 0) return;
    if (blocks.has(name)) flush();
    if (marks[name] && preformatted === 0) line += marks[name];
    if (/^h[1-6]$/u.test(name)) {
      flush();
      line = `${'#'.repeat(Number(name[1]))} `;
    } else if (name === 'br') line += '\n';
    else if (name === 'hr') {
      flush();
      out.push('---');
    } else if (name === 'ul' || name === 'ol') {
      flush();
      lists.push({ ordered: name === 'ol', items: 0, indent: lists.at(-1)?.indent ?? '' });
    } else if (name === 'li') openItem();
    else if (name === 'blockquote') {
      flush();
      quotes++;
    } else if (name === 'pre') {
      flush();
      preformatted++;
    } else if (name === 'td' || name === 'th') line += '| ';
    else if (name === 'a') links.push({ from: line.length, href: safeUrl(attributes.href) });
    else if (name === 'img') {
      const source = safeUrl(attributes.src);
      line += source ? `![${attributes.alt ?? ''}](${source})` : (attributes.alt ?? '');
    }
  };

  const openItem = () => {
    flush();
    const list = lists.at(-1);
    if (!list) return;
    list.items++;
    const outer = lists.at(-2)?.indent ?? '';
    marker = list.ordered ? `${list.items}. ` : '- ';
    list.indent = outer + ' '.repeat(marker.length);
  };

  const close = (name: string) => {
    if (unseen.has(name)) hidden = Math.max(0, hidden - 1);
    if (hidden > 0) return;
    if (marks[name] && preformatted === 0) line += marks[name];
    if (blocks.has(name) || /^(?:h[1-6]|li|ul|ol|blockquote|pre)$/u.test(name)) flush();
    if (name === 'li') marker = '';
    if (name === 'ul' || name === 'ol') lists.pop();
    if (name === 'blockquote') quotes = Math.max(0, quotes - 1);
    if (name === 'pre') preformatted = Math.max(0, preformatted - 1);
    if (name === 'td' || name === 'th') line += ' ';
    if (name === 'a') closeLink();
  };

  const closeLink = () => {
    const link = links.pop();
    if (!link?.href || link.from > line.length) return;
    const text = line.slice(link.from);
    // A bare address is a link in some flavours of Markdown and text in others: it looks the same.
    if (link.href === text || link.href === `mailto:${text}`) return;
    line = `${line.slice(0, link.from)}[${text}](${link.href})`;
  };

  const parser = new Parser({
    onopentag: open,
    onclosetag: close,
    ontext: (text) => {
      if (hidden > 0) return;
      // `<br>` and the line end after it are one line end.
      line += asTyped && line.endsWith('\n') ? text.replace(/^\r?\n/u, '') : text;
    },
  });
  parser.write(html);
  parser.end();
  flush();
  return out;
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
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}
