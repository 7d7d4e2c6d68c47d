// Changelogs in reStructuredText: sections by their underlines, and their text as Markdown.

import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pickSection } from '../../src/release/pick.ts';
import { sectionsOf } from '../../src/release/section.ts';
import { readMarkdown } from '../../src/text/reading.ts';

const picked = (
  file: string,
  { version, path = 'Changelog.rst' }: { version?: string; path?: string } = {},
): string => {
  const result = pickSection(sectionsOf(file, path), version);
  return result.ok ? `${result.version}\n${result.section.markdown()}` : result.problem.message;
};

const changelog = `.. _changelog:

================
 Change history
================

.. _version-5.6.2:

5.6.2
=====
:release-date: 29 December, 2025
:release-by: A. Person

What's Changed
~~~~~~~~~~~~~~

- Improve \`\`max_prefetch\`\` (#2430)
- See \`PR #2348 <https://example.com/2348>\`_ and \`issue 7\`_

.. code-block:: python

    channel.qos(0)
    5.6.9
    =====

.. comment that nobody reads

.. note:: Needs Python 3.9.

Literal::

    .. _kept: 1

.. _issue 7: https://example.com/7

.. _version-5.6.1:

5.6.1
=====

Fixes
~~~~~

* One :ref:\`fix <x>\`.
`;

test('sections go by the underlines, and the text becomes Markdown', () => {
  expect(picked(changelog)).toBe(`5.6.2
### What's Changed

- Improve \`max_prefetch\` (#2430)
- See [PR #2348](https://example.com/2348) and [issue 7](https://example.com/7)

\`\`\`python
channel.qos(0)
5.6.9
=====
\`\`\`

**Note:** Needs Python 3.9.

Literal:

\`\`\`
.. _kept: 1
\`\`\``);
  expect(picked(changelog, { version: '5.6.1' })).toBe('5.6.1\n### Fixes\n\n* One `fix`.');
});

test('a reader sees no mark of reStructuredText', () => {
  expect(readMarkdown(picked(changelog)).join('\n')).not.toMatch(/~~~|::/u);
});

test.each(['~', '^', '"', '-', '=', '*', '+'])('titles underlined with %s are found', (char) => {
  const title = (text: string) => `${text}\n${char.repeat(text.length)}\n`;
  const file = `${title('2.0.0')}\n- New.\n\n${title('1.0.0')}\n- Old.\n`;
  expect(picked(file)).toBe('2.0.0\n- New.');
  expect(picked(file, { version: '1.0.0' })).toBe('1.0.0\n- Old.');
});

test('a section that is to be released is never the newest', () => {
  const file = '5.7.0\n=====\n:release-date: TBA\n\n- New.\n\n5.6.0\n=====\n\n- Old.\n';
  expect(picked(file)).toBe('5.6.0\n- Old.');
});

test.each(['TBD', 'unreleased', 'in progress', '2026-??-??', 'to be announced'])('a date that is %s, too', (date) => {
  for (const fields of [`:version: 5.7.0\n:date: ${date}`, `:released: ${date}\n:release-by: Ann`]) {
    const file = `5.7.0\n=====\n\n${fields}\n\n- New.\n\n5.6.0\n=====\n:date: 2026-01-02\n\n- Old.\n`;
    expect(picked(file)).toBe('5.6.0\n- Old.');
  }
});

test.each([
  [':status: unreleased', '5.6.0\n- Old.'],
  [':status: yanked', '5.6.0\n- Old.'],
  [':status: stable', '5.7.0\n- New.'],
  [':Release Date: 2 May 2026\n:Release-By: Ann\n  and Bo', '5.7.0\n- New.'],
  [':date: 2026-05-02\n:Python: 3.9 and newer\n:tag: v5.7.0', '5.7.0\n- Python: 3.9 and newer\n\n- New.'],
  [':param x: is new', '5.7.0\n:param x: is new\n\n- New.'],
])('fields below a title that tell of the release are no news: %j', (fields, expected) => {
  const file = `5.7.0\n=====\n${fields}\n\n- New.\n\n5.6.0\n=====\n\n- Old.\n`;
  expect(picked(file)).toBe(expected);
});

/** The newest version of two, with these lines below its title. */
const below = (lines: string): string => picked(`5.7.0\n=====\n${lines}\n\n- New.\n\n5.6.0\n=====\n\n- Old.\n`);

test.each([
  'date',
  'release',
  'released',
  'release-date',
  'Release Date',
  'releasedate',
  'date of release',
  'released-on',
])('the field %s tells of the day, and is no news', (name) => {
  expect(below(`:${name}: 2026-05-02`)).toBe('5.7.0\n- New.');
  expect(below(`:${name}: TBA`)).toBe('5.6.0\n- Old.');
});

test.each(
  [
    ...['release-by', 'released by', 'release-manager', 'release manager', 'by', 'author', 'authors', 'maintainer'],
    ...['maintainers', 'organization', 'contact', 'address', 'copyright', 'version', 'revision', 'tag', 'codename'],
    ...['code-name', 'status', 'state'],
  ].map((name) => [name]),
)('the field %s is no news, and says nothing of the day', (name) => {
  expect(below(`:${name}: Ann`)).toBe('5.7.0\n- New.');
  expect(below(`:${name}:`)).toBe('5.7.0\n- New.');
  expect(below(`:${name}: TBA`)).toBe(name.startsWith('sta') ? '5.6.0\n- Old.' : '5.7.0\n- New.');
});

test.each(['update', 'dates', 'released only', 'status code', 'interstate', 'standby', 'bypass', 'tags', 'retag'])(
  'the field %s is news',
  (name) => {
    expect(below(`:${name}: is new`)).toContain(`${name}: is new`);
  },
);

test('the fields of a release may go on in another line, and have blank ones between them', () => {
  for (const lines of [':by: Ann\n and Bo', ':by: Ann\n  \n:date: 2026-05-02', ':by: Ann\n\n\n:tag: v5'])
    expect(below(lines)).toBe('5.7.0\n- New.');
  // A role at the beginning of a line is no field, and below a quote none tells of the release any more.
  expect(below(':tag:`v5` is new.')).toContain('is new.');
  expect(below('  A quote.\n\n:date: 2026-05-02')).toContain('date: 2026-05-02');
});

test('fields further down are text', () => {
  const file = '5.7.0\n=====\n\n- New.\n\nApi\n~~~\n\n:date: the day on which\n\n  it ends\n';
  expect(picked(file)).toContain('- date: the day on which');
});

test('a day below the title is as good as one in it', () => {
  const beta = '5.7.0-beta.2\n~~~~~~~~~~~~\n\n- Tried.\n';
  const file = (fields: string) => `5.7\n===\n${fields}\n- New.\n\n${beta}`;
  expect(picked(file(':release-date: 2 May 2026\n'))).toMatch(/^5\.7\n- New\./u);
});

test('a day below the title of a product makes it the heading of a release, whichever title it is', () => {
  const file = (fields: string) =>
    `1.3.0\n=====\n\n- New.\n\nThing 1.2.0\n===========\n${fields}\n- Mine.\n\n1.1.0\n=====\n\n- Old.\n`;
  for (const fields of [':release-date: 2026-01-02\n', ':status: final\n:release-date: 2026-01-02\n'])
    expect(picked(file(fields), { version: '1.2.0' })).toBe('1.2.0\n- Mine.');
  expect(picked(file(''), { version: '1.2.0' })).toBe('"Thing 1.2.0" may be no heading of a version.');
});

test('a title may stand right below another one', () => {
  const file = '=======\nChanges\n=======\n2.0.0\n=====\nFixed\n~~~~~\n- New.\n\n1.0.0\n=====\nFixed\n~~~~~\n- Old.\n';
  expect(picked(file)).toBe('2.0.0\n### Fixed\n\n- New.');
  expect(picked(file, { version: '1.0.0' })).toBe('1.0.0\n### Fixed\n\n- Old.');
});

test.each([
  '* A fix',
  '- A fix',
  '+ A fix',
  '\u2022 A fix',
  '*',
  ':fixed: one',
  '| A line',
  '>>> fix()',
  '.. A note',
  '__ fix',
])('what begins as `%s` is no title, whatever stands below it', (line) => {
  const file = `2.0.0\n=====\n\n- New.\n\n${line}\n========\n\nLast words.\n\n1.0.0\n=====\n\n- Old.\n`;
  expect(picked(file)).toMatch(/^2\.0\.0\n- New\.[\s\S]*Last words\.$/u);
  expect(picked(file)).not.toContain('###');
});

test('nor is an item that names a version', () => {
  const file = '2.0.0\n=====\n\n* 1.5.0 was wrong\n================\n\nLast words.\n\n1.0.0\n=====\n\n- Old.\n';
  expect(picked(file)).toMatch(/^2\.0\.0\n[\s\S]*Last words\.$/u);
});

test.each(['1. A fix', 'A. Fix', '*emph* fix', ':class:`Fix` it', '--fix', '=======\n* A fix'])(
  'what begins as `%s` may be a title',
  (line) => {
    const file = `2.0.0\n-----\n\n- New.\n\n${line}\n=======\n\nLast words.\n`;
    expect(picked(file)).toMatch(/^2\.0\.0\n- New\.\n\n### [\s\S]*Last words\.$/u);
  },
);

test('a list with a block of code below it is not known by that', () => {
  const file = '2.0.0\n=====\n\n- code\n~~~~~~\nx\n~~~~~~\n\n1.0.0\n=====\n\n- Old.\n';
  expect(picked(file, { path: '-' })).toBe('2.0.0\n- code\n~~~~~~\nx\n~~~~~~');
});

test('text from standard input or a .txt file is known by its targets, directives and underlines', () => {
  for (const path of ['-', 'CHANGES.txt', 'CHANGES']) {
    expect(picked(changelog, { path })).toMatch(/^5\.6\.2\n### What's Changed/u);
    expect(picked('2.0.0\n=====\n\nFixed\n~~~~~\n\n- New.\n', { path })).toBe('2.0.0\n### Fixed\n\n- New.');
    expect(picked('# 2.0.0\n\nText\n~~~~\ncode\n~~~~\n\n# 1.0.0\n\n- Old.\n', { path: 'CHANGELOG.md' })).toContain(
      '~~~~',
    );
  }
});

test('a text of fences and tables cut anywhere is read without a crash', () => {
  for (let end = 0; end <= changelog.length; end += 7) picked(changelog.slice(0, end));
});

const third = new URL('../../../shared/corpus/third/', import.meta.url);

test.for([
  ['kombu-excerpt.rst', '5.6.2', '5.6.1'],
  ['community-docker-excerpt.rst', '1.3.0', 'v1.2.'],
])('%s is read as people read it', ([name = '', version = '', next = ''], context) => {
  if (!existsSync(third)) context.skip('there are no changelogs of other projects beside this repository');
  const file = readFileSync(new URL(name, third), 'utf8');
  const text = picked(file, { version, path: name });
  expect(text).toMatch(new RegExp(`^${version}\n`, 'u'));
  expect(text).toContain('\n- ');
  expect(text).not.toContain(next);
  expect(text).not.toMatch(/~~~|^\.\. /mu);
});
