import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { pickSection } from '../../src/release/pick.ts';
import { sectionsOf } from '../../src/release/section.ts';
import { isVersion } from '../../src/release/version.ts';
import { cpuTimer } from '../cpu.ts';

const corpus = (name: string): string => readFileSync(new URL(`corpus/${name}.txt`, import.meta.url), 'utf8');

const picked = (file: string, version?: string) => {
  const result = pickSection(sectionsOf(file), version);
  if (!result.ok) throw new Error(result.problem.message);
  return result.section;
};

const problem = (file: string, version?: string) => {
  const result = pickSection(sectionsOf(file), version);
  if (result.ok) throw new Error(`found ${result.section.version}`);
  return result.problem;
};

describe('the sections of a changelog', () => {
  test.each([
    ['keep-a-changelog', ['8 ', '14 1.2.0', '29 1.1.0', '35 1.0.0']],
    ['conventional', ['5 2.0.0', '19 1.1.1', '26 1.1.0', '34 1.0.0']],
    ['history', ['1 ', '7 4.18.2', '15 4.18.1', '20 5.0.0-beta.1', '28 0.0.1']],
    ['changesets', ['3 3.1.0', '20 3.0.0-next.2']],
    ['monorepo', ['3 1.4.0', '7 1.4.0', '11 1.3.0']],
    ['traps', ['7 3.0.0', '11 2.5.0', '44 2', '48 1.9.0', '50 1.8.0', '52 2025.12.01']],
    ['upwards', ['1 0.1.0', '5 0.2.0', '9 0.10.0']],
    ['days', ['3 2026-03-04', '9 2026-02-01']],
  ])('of %s are found with the lines of their headings', (name, expected) => {
    expect(sectionsOf(corpus(name)).map(({ line, version }) => `${line} ${version}`)).toEqual(expected);
  });

  test.each(['keep-a-changelog', 'conventional', 'history', 'changesets', 'traps'])(
    'of %s are the same with the line ends of Windows and a byte-order mark',
    (name) => {
      const file = corpus(name);
      const read = (text: string) => sectionsOf(text).map((section) => ({ ...section, markdown: section.markdown() }));
      expect(read(`\u{feff}${file.replaceAll('\n', '\r\n')}`)).toEqual(read(file));
    },
  );

  test('end where the next heading of a version begins, and nowhere else', () => {
    const markdown = picked(corpus('traps'), '2.5.0').markdown();
    expect(markdown).toContain('### 1.1 compatibility');
    expect(markdown).toContain('A day.');
    expect(markdown).toContain('## 9.9.9');
    expect(markdown).toContain('## Upgrading from 1.x');
    expect(markdown).not.toContain('Second.');
  });

  test('keep nested lists, code and setext marks as they were written', () => {
    expect(picked(corpus('history'), 'v4.18.2').markdown()).toBe(
      [
        '  * Fix regression routing a large stack in a single route',
        '  * deps: parser@1.20.1',
        '    - deps: qs@6.11.0',
        '    - perf: remove unnecessary object clone',
      ].join('\n'),
    );
  });

  test('bring the link definitions that they use, and no others', () => {
    const markdown = picked(corpus('keep-a-changelog'), '1.2.0').markdown();
    expect(markdown.slice(markdown.indexOf('### Fixed'))).toBe(
      [
        '### Fixed',
        '',
        '- A crash at start ([#41]).',
        '',
        '[export guide]: https://example.com/guide "The guide"',
        '[@sample-person]: https://example.com/people/sample',
        '[#41]: https://example.com/issues/41',
      ].join('\n'),
    );
    expect(picked(corpus('keep-a-changelog'), '1.0.0').markdown()).toBe('- First release.');
  });

  test('of peers below a patch heading belong to the patch', () => {
    expect(picked(corpus('conventional'), '1.1.1').markdown()).toContain('mend the thing');
  });

  test('of no changelog at all are none', () => {
    for (const file of ['', '\n\n', 'Hello', '# Changelog\n\nNothing yet.\n']) expect(sectionsOf(file)).toEqual([]);
  });

  test('cannot be found where it is nested beyond reason, and that is said', { tags: ['long'] }, () => {
    expect(() => sectionsOf('>'.repeat(60_000))).toThrow('nested too deeply');
  });

  test('are found in a changelog of nine thousand versions', { tags: ['long'] }, () => {
    const file = Array.from({ length: 9000 }, (_, i) => `## 1.${9000 - i}.0\n\n- Change number ${i} of [many].\n`).join(
      '\n',
    );
    const computed = cpuTimer();
    const sections = sectionsOf(`${file}\n[many]: https://example.com\n`);
    expect(sections).toHaveLength(9000);
    expect(sections[8999]?.line).toBe(1 + 8999 * 4);
    expect(computed()).toBeLessThan(5000);
  });

  test.each([
    ['anchors', '<a name="a"></a> '.repeat(5000)],
    ['targets of MyST', '(a)='.repeat(5000)],
    ['targets of reStructuredText', '.. _a:'.repeat(5000)],
  ])('a line of %s with a word behind them is text, and takes no time', (_, anchors) => {
    const computed = cpuTimer();
    expect(sectionsOf(`# 2.0.0\n\n${anchors}word\n\n# 1.0.0\n\nx\n`)).toHaveLength(2);
    expect(computed()).toBeLessThan(5000);
  });
});

describe('the section of a version', () => {
  test.each([
    ['keep-a-changelog', '1.2.0'],
    ['conventional', '2.0.0'],
    ['history', '4.18.2'],
    ['traps', '2.5.0'],
    ['upwards', '0.10.0'],
    ['days', '2026-03-04'],
  ])('is, in %s and with none named, the newest that is released', (name, version) => {
    expect(picked(corpus(name)).version).toBe(version);
  });

  test('is found with and without a v, as a tag, and when it is not released yet', () => {
    for (const name of ['2.5.0', 'v2.5.0', 'V2.5.0', 'refs/tags/v2.5.0', ' 2.5.0\n']) {
      expect(picked(corpus('traps'), name).line).toBe(11);
    }
    expect(picked(corpus('traps'), '3.0.0').markdown()).toBe('- Not yet.');
    expect(picked(corpus('traps'), 'v2').markdown()).toBe('Second.');
    expect(picked(corpus('traps'), '1.9.0').markdown()).toBe('No blank line above this.');
  });

  test('that several packages have must say which', () => {
    expect(problem(corpus('monorepo'), '1.4.0')).toMatchObject({
      message: 'There are two sections for 1.4.0, in lines 3 and 7.',
      line: 7,
    });
    expect(picked(corpus('monorepo'), '@sample/core@1.4.0').markdown()).toBe('- Core only.');
    expect(picked(corpus('monorepo'), 'web@1.4.0').markdown()).toBe('- Web only.');
  });

  test('that is not there, or says nothing, is a problem in a line', () => {
    expect(problem(corpus('traps'), '1.8.0')).toMatchObject({ message: 'The section of 1.8.0 is empty.', line: 50 });
    expect(problem(corpus('traps'), '9.9.9')).toMatchObject({ message: 'There is no section for 9.9.9.', line: 1 });
    expect(problem(corpus('upwards'), '3.0.0').hint).toBe('The file has 0.1.0, 0.2.0, 0.10.0.');
    expect(problem('# Changelog\n\n## Unreleased\n\n- x\n').message).toBe('There is no section of a released version.');
    expect(problem('Hello\n').line).toBe(1);
  });
});

test('names of versions are told from names of branches', () => {
  const names = [
    '1.2.0',
    'v1.2.0',
    'refs/tags/v1.2.0-rc.1',
    'web@1.2.0',
    'main',
    'release/1.2',
    'v',
    '',
    '2026',
    'next',
  ];
  expect(names.filter(isVersion)).toEqual(['1.2.0', 'v1.2.0', 'refs/tags/v1.2.0-rc.1', 'web@1.2.0']);
});
