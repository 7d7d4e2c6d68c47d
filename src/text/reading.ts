import { parse } from 'marked';
import { readPage } from './page.ts';

/**
 * What a reader sees of a text, block by block, in a form close to Markdown: `### Added`, `- **Bold** item`,
 * `[text](url)`. Two texts with the same reading look the same, whatever their tags, classes, ids and white space.
 */
export type Reading = readonly string[];

/** The reading of HTML, sanitized or not. */
export const readHtml = (html: string): Reading => readPage(html, { asTyped: false });

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
  return same(readMarkdown(readPage(html, { asTyped: true }).join('\n\n')), readMarkdown(wanted.join('\n\n')));
}

/** Whether the words are the same, whatever becomes of marks, links and blocks. */
export const showsWords = (html: string, content: string): boolean =>
  wordsOf(readHtml(html)) === wordsOf(readMarkdown(content));

const wordsOf = (reading: Reading): string =>
  (
    reading
      .join(' ')
      .replaceAll(/\]\([^)]*\)/gu, ' ')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).join(' ');

const same = (a: Reading, b: Reading): boolean => a.length === b.length && a.every((block, i) => block === b[i]);
