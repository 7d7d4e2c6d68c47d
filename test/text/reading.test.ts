import { describe, expect, test } from 'vitest';
import { toSafeHtml } from '../../src/sandbox/handlers/changelog.ts';
import { readHtml, readMarkdown, showsContent } from '../../src/text/reading.ts';
import { fc } from '../chance.ts';
import { draws } from '../thorough.ts';

const rich = [
  '### Added',
  '',
  '- **Bold** thing with `code` and [link](https://example.com/a%20b "t")',
  '- Second',
  '  continued',
  '  - nested',
  '    1. one',
  '    2. two',
  '',
  '       of two',
  '- [x] task',
  '',
  '> quote',
  '> more',
  '',
  '```js',
  'const a = 1;',
  '',
  '  b("<i>")',
  '```',
  '',
  '| a | b |',
  '|---|---|',
  '| 1 | 2 |',
  '',
  'Hello <b>you</b> "x" https://example.com/auto',
  'line 2<br>line 3 &amp; `<tag>`',
  '',
  '<details><summary>More</summary>',
  '',
  'inside',
  '',
  '</details>',
  '',
  '![shot](https://example.com/shot.png)',
].join('\n');

const escaped = rich.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

describe('a page shows a text', () => {
  test('as the sandbox renders and sanitizes it', async () => {
    expect(showsContent(await toSafeHtml(rich), rich)).toBe(true);
  });

  test.each([
    ['typed, in one paragraph', `<p>${escaped}</p>`],
    ['typed, with a break for each line', `<p>${escaped.replaceAll('\n', '<br />\n')}</p>`],
    ['typed, without any tag', escaped],
    ['typed, in a paragraph for each blank line', `<p>${escaped.replaceAll('\n\n', '</p>\n<p>')}</p>`],
  ])('that is left as it was %s', (_, html) => {
    expect(showsContent(html, rich)).toBe(true);
  });

  test('whose Markdown is known in part', () => {
    const html = '<h3>Added</h3><p>- **One** and <code>two</code>\n- three</p>';
    expect(showsContent(html, '### Added\n\n- **One** and `two`\n- three')).toBe(true);
  });

  test.each([
    ['classes, ids and attributes', '<h3 id="added" class="x">Added</h3><p data-x="1">Text</p>'],
    ['white space', '<h3>\n  Added\n</h3>\n\n<p>\tText\n</p>\n'],
    ['wrapping elements', '<article><div><h3><span>Added</span></h3><div><p>Text</p></div></div></article>'],
    ['scripts, styles and comments', '<!-- x --><style>p{}</style><h3>Added</h3><script>alert(1)</script><p>Text</p>'],
    ['links that lead nowhere', '<h3><a id="x"></a>Added</h3><p><a href="javascript:alert(1)">Text</a></p>'],
  ])('whatever its %s', (_, html) => {
    expect(showsContent(html, '### Added\n\nText')).toBe(true);
  });

  test('whatever the typographic form of its quotes', () => {
    expect(showsContent('<p>It’s “done” …</p>', 'It\'s "done" ...')).toBe(true);
  });
});

describe('a page does not show a text', () => {
  const base =
    '### Added\n\n- One with `code`\n- Two, see [here](https://example.com/1)\n\n1. first\n2. second\n\n> said';
  test.each([
    ['a word', base.replace('Two', 'Three')],
    ['a letter’s case', base.replace('Two', 'two')],
    ['the order of items', base.replace('1. first\n2. second', '1. second\n2. first')],
    ['a heading’s rank', base.replace('###', '##')],
    ['the target of a link', base.replace('/1)', '/2)')],
    ['a link', base.replace('[here](https://example.com/1)', 'here')],
    ['an item', base.replace('- One with `code`\n', '')],
    ['code', base.replace('`code`', 'code')],
    ['a quote', base.replace('> said', 'said')],
    ['bold', base.replace('Two', '**Two**')],
    ['the kind of a list', base.replace('1. first\n2. second', '- first\n- second')],
    ['an image', `${base}\n\n![new](https://example.com/x.png)`],
  ])('that differs in %s', async (_, changed) => {
    expect(changed).not.toBe(base);
    expect(showsContent(await toSafeHtml(base), changed)).toBe(false);
    expect(showsContent(await toSafeHtml(changed), base)).toBe(false);
    expect(showsContent(await toSafeHtml(changed), changed)).toBe(true);
  });

  test('when it is empty', () => {
    expect(showsContent('', 'Text')).toBe(false);
    expect(showsContent('<p></p>', 'Text')).toBe(false);
  });
});

/** What broken tags mean, every parser says for itself. */
const unbroken = (text: string): string => text.replaceAll('<', '&lt;');

test('any text reads the same before and after the service rendered and sanitized it', async () => {
  const line = fc.oneof(
    fc.constantFrom(
      '',
      '- a',
      '  - b',
      '1. c',
      '> q',
      '# h',
      '```',
      '    code',
      '| a | b |',
      '|---|---|',
      '***',
      '<b>',
      '&amp;',
      '---',
    ),
    fc.string({ maxLength: 30 }).map(unbroken),
    fc.string({ unit: 'grapheme', maxLength: 20 }).map(unbroken),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (lines) => {
      const text = lines.join('\n');
      expect(readHtml(await toSafeHtml(text))).toEqual(readMarkdown(text));
    }),
    { numRuns: draws(100, 300) },
  );
});

test('hostile nesting ends in an answer, not in a crash', { tags: ['long'] }, () => {
  for (const text of ['>'.repeat(60_000), '- '.repeat(30_000), '[a]('.repeat(15_000), '<div>'.repeat(12_000)]) {
    expect(showsContent('<p>x</p>', text)).toBe(false);
  }
});

test('a tag is read by its name alone, also one that every object has', () => {
  expect(readHtml('<p>a <constructor>b</constructor></p>')).toEqual(['a b']);
});
