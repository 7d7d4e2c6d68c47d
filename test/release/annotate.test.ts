import { describe, expect, test } from 'vitest';
import { readNotes } from '../../src/release/front-matter.ts';
import { diffLines, withContext } from '../../src/release/show.ts';
import {
  annotation,
  fileInRepository,
  inertInLog,
  outputLines,
  summaryPage,
} from '../../src/text/workflow-commands.ts';

const sixteen = () => new Uint8Array(16).fill(171);

describe('what a job on GitHub is told', () => {
  test('an annotation escapes its data and, more strictly, its properties', () => {
    const place = { file: 'a,b:c%.md', line: 3 };
    expect(annotation('error', 'T: a,b', '50%\r\n::error::x, y: ##[error]', place)).toBe(
      '::error file=a%2Cb%3Ac%25.md,line=3,title=T%3A a%2Cb::50%25%0D%0A::error::x, y: # #[error]',
    );
    expect(annotation('warning', 'T', 'x')).toBe('::warning title=T::x');
  });

  test('an output cannot end itself and begin another', () => {
    const delimiter = `end_${'ab'.repeat(16)}`;
    expect(outputLines({ slug: 'a\nend_x\nentry_id<<E\n7\nE' }, sixteen)).toBe(
      `slug<<${delimiter}\na\nend_x\nentry_id<<E\n7\nE\n${delimiter}\n`,
    );
  });

  test.each([
    ['::error::x', ': :error::x'],
    ['  ::add-mask::x', '  : :add-mask::x'],
    ['a\n::error::x', 'a\n: :error::x'],
    [':::error::x', ': ::error::x'],
    ['a ##[error]x', 'a # #[error]x'],
    ['###[error]x', '## #[error]x'],
    ['std::string :: fine', 'std::string :: fine'],
  ])('the line %j is printed as %j', (text, expected) => {
    expect(inertInLog(text)).toBe(expected);
    for (const line of inertInLog(text).split('\n')) expect(line).not.toMatch(/^\s*::|##\[/u);
  });

  test('a summary shows text as text', () => {
    expect(
      summaryPage({ headline: '<img src=x> **b** [l](javascript:x)', rows: [['Slug', 'a|b\nc']], diff: 'x\n```\ny' }),
    ).toBe(
      [
        '### &lt;img src=x> \\*\\*b\\*\\* \\[l\\]\\(javascript:x\\)',
        '',
        '| | |',
        '|---|---|',
        '| Slug | a\\|b c |',
        '',
        '````diff',
        'x',
        '```',
        'y',
        '````',
        '',
        '',
      ].join('\n'),
    );
  });

  test.each([
    ['CHANGELOG.md', '/w/repo', '/w/repo', 'CHANGELOG.md'],
    ['./docs/../CHANGELOG.md', '/w/repo', '/w/repo', 'CHANGELOG.md'],
    ['../CHANGELOG.md', '/w/repo/web', '/w/repo', 'CHANGELOG.md'],
    ['CHANGELOG.md', '/w/repo/web', '/w/repo', 'web/CHANGELOG.md'],
    ['/w/repo/web/NEWS.md', '/', '/w/repo', 'web/NEWS.md'],
    ['./CHANGELOG.md', '/w/repo', undefined, 'CHANGELOG.md'],
    ['/elsewhere/NEWS.md', '/w/repo', '/w/repo', '/elsewhere/NEWS.md'],
  ])('%s in %s of %s is the file %s', (file, folder, workspace, expected) => {
    expect(fileInRepository(file, folder, workspace)).toBe(expected);
  });
});

describe('a diff', () => {
  const marks = { same: ' ', gone: '-', new: '+' };
  const diff = (before: string, after: string) =>
    diffLines([...before], [...after])
      .map(({ kind, text }) => marks[kind] + text)
      .join('');

  test.each([
    ['abc', 'abc', ' a b c'],
    ['abc', 'aXc', ' a-b+X c'],
    ['', 'ab', '+a+b'],
    ['ab', '', '-a-b'],
    ['abcd', 'acbd', ' a-b c+b d'],
    ['aab', 'ab', ' a-a b'],
    ['xay', 'yax', '-x-a y+a+x'],
  ])('from %j to %j', (before, after, expected) => {
    expect(diff(before, after)).toBe(expected);
  });

  test('of texts beyond measure says that all is new', () => {
    const lines = (name: string) => Array.from({ length: 3000 }, (_, i) => `${name}${i}`);
    expect(diffLines(lines('a'), lines('b'))).toHaveLength(6000);
  });

  test('shows two unchanged lines around a change', () => {
    const shown = withContext(diffLines([...'abcdefghi'], [...'abcdXfghi']));
    expect(shown.map((line) => line?.text ?? '…').join('')).toBe('…cdeXfg…');
  });
});

describe('front matter', () => {
  test('keeps every value as it was typed', () => {
    expect(
      readNotes('---\ntitle: "A: b"\nversion: 1.20\nlabels: [a, "b c"]\npublished_at: 2026-01-02\n---\n\nHello\n'),
    ).toEqual({
      fields: { title: 'A: b', version: '1.20', labels: ['a', 'b c'], published_at: '2026-01-02' },
      content: 'Hello',
      line: 8,
      unknown: [],
    });
  });

  test('takes labels with commas, names what it does not know, and works with Windows line ends', () => {
    expect(readNotes('\u{feff}---\r\nlabels: a, b\r\nlayout: post\r\n---\r\nHello')).toEqual({
      fields: { labels: ['a', 'b'] },
      content: 'Hello',
      line: 5,
      unknown: ['layout'],
    });
  });

  test.each([
    ['draft: true', 'draft'],
    ['draft: false\nstatus: published', 'published'],
    ['draft: false', undefined],
    ['draft:', undefined],
  ])('%j says the status', (yaml, status) => {
    expect(readNotes(`---\n${yaml}\n---\nHello`)).toMatchObject({ unknown: [], fields: status ? { status } : {} });
  });

  test.each(['Hello', '---\nHello', '---\nHello\n---\nWorld', '', '# T\n\n---\ntitle: x\n---\n'])(
    'is not in %j, which is all content',
    (text) => {
      expect(readNotes(text)).toMatchObject({ fields: {}, content: text.trim() });
    },
  );

  test.each([
    ['---\ntitle: [a\n---\nx', 3],
    ['---\ntitle: x\nversion: [1]\n---\nx', 3],
    ['---\ntitle: x\nlabels: {a: b}\n---\nx', 3],
    ['---\ntitle: *nowhere\n---\nx', 2],
    ['---\ndraft: perhaps\n---\nx', 2],
    ['---\nstatus: published\ndraft: true\n---\nx', 3],
    [
      `---\na: &a [x, x]\n${'bcdefghijk'.replaceAll(/./gu, (name, at) => `${name}: &${name} [${'*'.concat('abcdefghijk'[at] ?? '', ', ').repeat(9)}x]\n`)}---\nx`,
      2,
    ],
  ])('that is wrong, as in %j, is a problem in line %i', (text, line) => {
    expect(readNotes(text)).toMatchObject({ problem: { line } });
  });
});
