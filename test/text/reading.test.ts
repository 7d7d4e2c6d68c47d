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

  test.each([
    ['a permalink behind it', '<h3 id="a">Added <a class="anchor" href="#a" aria-label="Permalink">¶</a></h3>'],
    ['a permalink before it', '<h3><a href="#a"><span aria-hidden="true">#</span></a>Added</h3>'],
    ['a permalink of a picture', '<h3 id="a"><a href="#a"><svg viewBox="0 0 1 1"><path d="M0"/></svg></a>Added</h3>'],
    ['another level', '<h4>Added</h4>'],
  ])('with %s in a heading', (_, html) => {
    expect(showsContent(`${html}<p>Text</p>`, '### Added\n\nText')).toBe(true);
  });

  test('with all headings one level lower, also in a quote and an item', () => {
    const html = '<h2>A</h2><h3>B</h3><blockquote><h4>C</h4></blockquote><ul><li><h3>D</h3></li></ul>';
    expect(showsContent(html, '# A\n\n## B\n\n> ### C\n\n- ## D')).toBe(true);
  });

  test.each([
    ['one heading below another', '<h3>A</h3><h3>B</h3>', '## A\n\n### B'],
    ['the order of levels', '<h3>A</h3><h2>B</h2>', '## A\n\n### B'],
    ['a heading that is text', '<p>A</p><p>B</p>', '## A\n\nB'],
    ['a link with words in a heading', '<h2><a href="#a">A</a></h2>', '## A'],
    ['a link to another page in a heading', '<h2>A <a href="https://example.com/#a">¶</a></h2>', '## A'],
    ['a link to a fragment in text', '<h2>A</h2><p>B <a href="#a">¶</a></p>', '## A\n\nB'],
    ['a comment in code', '<pre><code># a</code></pre>', '```\n## a\n```'],
  ])('but not with another %s', (_, html, content) => {
    expect(showsContent(html, content)).toBe(false);
  });

  test('whatever the typographic form of its quotes', () => {
    expect(showsContent('<p>It’s “done” …</p>', 'It\'s "done" ...')).toBe(true);
  });
});

describe('a page does not show a text', () => {
  const base =
    '### Added\n\n- One with `code`\n- Two, see [here](https://example.com/1)\n\n1. first\n2. second\n\n> said\n\n#### Notes\n\nText';
  test.each([
    ['a word', base.replace('Two', 'Three')],
    ['a letter’s case', base.replace('Two', 'two')],
    ['the order of items', base.replace('1. first\n2. second', '1. second\n2. first')],
    ['a heading’s rank', base.replace('####', '###')],
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
