import { orElse } from '../errors.ts';
import { markdownFor } from './markdown.ts';
import { readPage } from './page.ts';

/**
 * What a reader sees of a text, block by block, in a form close to Markdown: `### Added`, `- **Bold** item`,
 * `[text](url)`. Two texts with the same reading look the same, whatever their tags, classes, ids and white space.
 */
export type Reading = readonly string[];

/** The reading of HTML, sanitized or not. */
export const readHtml = (html: string): Reading => readPage(html, { asTyped: false });

/** Markdown, plain text and HTML alike, as the service takes them (changelog content). */
export const readMarkdown = (text: string): Reading =>
  // Nested deeper than the library's recursion can hold, a reader sees what was typed.
  orElse(() => readHtml(markdownFor(text).parse(text, { async: false })), [text]);

/**
 * Whether a page that shows `html` shows what `content` says. The service's own Markdown may know less than ours and
 * leave marks as they were typed; so where the readings differ, both are read as Markdown once more. Headings count by their
 * rank, for a service may begin them lower.
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
      .replaceAll(/\]\([^)]{0,2000}\)/gu, ' ')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).join(' ');

function same(one: Reading, other: Reading): boolean {
  const [a, b] = [ranked(one), ranked(other)];
  return a.length === b.length && a.every((block, i) => block === b[i]);
}

const heading = /^((?:> |- |\d+\. | )*)(#{1,6}) /u;

/** Each heading by the rank of its level among those of the text: a portal may have a title above, and begin lower. */
function ranked(reading: Reading): Reading {
  const levels = new Set(reading.flatMap((block) => heading.exec(block)?.[2]?.length ?? []));
  const ranks = [...levels].sort((a, b) => a - b);
  return reading.map((block) =>
    block.replace(
      heading,
      (_, before: string, marks: string) => `${before}${'#'.repeat(ranks.indexOf(marks.length) + 1)} `,
    ),
  );
}
