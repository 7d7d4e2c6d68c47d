import { describe, expect, test } from 'vitest';
import { pickSection } from '../../src/release/pick.ts';
import { sectionsOf } from '../../src/release/section.ts';
import { cpuTimer } from '../cpu.ts';

const read = (file: string, version?: string, line?: number) => {
  const picked = pickSection(sectionsOf(file), version, line);
  return picked.ok ? `${picked.version}: ${picked.section.markdown()}` : `refused: ${picked.problem.message}`;
};

/** The choices that a refusal offers: words to add, or a version to give. */
const choicesIn = (hint: string): { version?: string; line?: number }[] => [
  ...[...hint.matchAll(/--line (\d+)/gu)].map(([, line]) => ({ line: Number(line) })),
  ...[...hint.matchAll(/[@\w./-]+@[\w.-]+\w/gu)].map(([version]) => ({ version })),
];

describe('a heading is of the version', () => {
  test.each([
    ['## [2025-09-19] Version 8.1.6', '8.1.6'],
    ['## 2025-09-10, Version 24.8.0 (Current), @person', '24.8.0'],
    ['## 19.09.2025 - 1.2.0', '1.2.0'],
    ['## September 19, 2025: v1.2.0', '1.2.0'],
    ['## 2026-03-04 / web 1.2.0', '1.2.0'],
    ['## 2025.12.01 - 2025-12-01', '2025.12.01'],
    ['## Gin v1.12.0', '1.12.0'],
    ['## core-v1.2.0', '1.2.0'],
    ['dbus 1.14.10 (2023-09-01)\n===', '1.14.10'],
    ["What's New in IDLE 3.5.0?\n===", '3.5.0'],
    ["What's New in IDLE 3.12.0\n(since 3.11.0)\nReleased on 2023-10-02\n===", '3.12.0'],
    ['Apache Commons CSV 1.14.1 Release Notes\n---', '1.14.1'],
    ['=====\n1.2.0\n=====', '1.2.0'],
    ['**1.2.0**', '1.2.0'],
    ['**Version 1.2.0** (2026-01-02)\n', '1.2.0'],
    ['__v1.2.0 / 2026-01-02__\n', '1.2.0'],
    ['## **[1.2.0](https://example.com)**', '1.2.0'],
    ['## 🎉 v1.2.0', '1.2.0'],
    ['## [Version 1.2.0] - 2026-01-02', '1.2.0'],
    ['## 2.0.0 Beta 1', '2.0.0-Beta1'],
    ['## 2.0.0 release candidate 2 (2026-01-02)', '2.0.0-rc2'],
    ['## 1.9.13 Enterprise (September 19, 2025)', '1.9.13'],
    ['### Changes between 3.5.1 and 3.5.2 [5 Aug 2025]', '3.5.2'],
  ])('%j', (heading, version) => {
    expect(read(`# Changelog\n\n${heading}\n\n- New\n`)).toBe(`${version}: - New`);
    expect(read(`# Changelog\n\n${heading}\n\n- New\n`, version)).toBe(`${version}: - New`);
  });

  test('that a bold line names, and not of one that a sentence begins with', () => {
    const file =
      '# Changes\n\n**1.2.0** (2026-01-02)\n- New\n\n**1.1.9** was a mistake.\n\n## Thanks\n\n**1.1.0**\nOld\n';
    expect(read(file)).toBe('1.2.0: - New\n\n**1.1.9** was a mistake.\n\n## Thanks');
    expect(read(file, '1.1.0')).toBe('1.1.0: Old');
  });
});

describe('a section has all that stands', () => {
  const inside = (part: string) => `# Changelog\n\n## 1.2.0\n\nNew\n\n${part}\n\nmore\n\n## 1.1.0\n\nOld\n`;

  test.each([
    '## Features',
    '# Features',
    '### pkg@1.2.0',
    '#### `@acme/grid@1.2.0`',
    '### pkg@1.1.9 / other@1.1.9',
    '## Upgrading from 1.1.0',
    '### Upgrading from 1.1.0',
    '## Support for Node 18.0.0',
    '## Node 18.0.0',
    '### Node 18.0.0',
    "## What's new in 1.2.0",
    '### 1.1 compatibility',
    '### 1.2.0',
    '### 2026-01-02',
    '```\n## 1.1.5\n```',
    '<!--\n## 1.1.5\n-->',
    '> ## 1.1.5',
  ])('below %j too', (part) => {
    expect(read(inside(part))).toBe(`1.2.0: New\n\n${part}\n\nmore`);
    expect(read(inside(part), '1.1.0')).toBe('1.1.0: Old');
  });

  test.each(['### [1.1.9] (2026-01-02)', '### 1.1.9', '#### [1.1.9](https://example.com)', '**1.1.9**'])(
    'above %j, another version below it',
    (heading) => {
      expect(read(inside(heading))).toBe('1.2.0: New');
      expect(read(inside(heading), '1.1.9')).toBe('1.1.9: more');
    },
  );

  test('above the same product in another version', () => {
    const file = '## Gin v1.5.0\n\nNew\n\n### Gin v1.4.0\n\nOld\n';
    expect([read(file), read(file, '1.4.0')]).toEqual(['1.5.0: New', '1.4.0: Old']);
  });
});

describe('the default is never', () => {
  test.each([
    ['## [Unreleased]'],
    ['## Unreleased changes'],
    ['## HEAD'],
    ['## [Master (Unreleased)](https://example.com)'],
    ['## [Next] - TBD'],
    ['## 1.3.0 - TBD'],
    ['## 1.3.0 (unreleased)'],
    ['## [1.3.0] - YYYY-MM-DD'],
    ['## 1.3.0 / xx.01.2026'],
    ['## 1.3.0-wip'],
    ['## 1.3.0-SNAPSHOT'],
    ['## Acme 1.3.0 (in development)'],
    ['## 1.3.0\n\n_Unreleased_'],
    ["What's New in IDLE 1.3.0?\n===\n\n*Release date: 2026-??-??*"],
  ])('%j', (heading) => {
    expect(read(`# Changelog\n\n${heading}\n\n- Not yet\n\n## 1.2.0\n\n- New\n`)).toBe('1.2.0: - New');
  });

  test('the version of the title, nor one older than that', () => {
    expect(read('# Changelog for v1.9\n\n- Perhaps 1.9\n\n## v1.8\n\n- Old\n')).toBe(
      'refused: The heading in line 1 names 1.9, but the newest section is 1.8.',
    );
    expect(read('# Changelog for Acme v1.20\n\n## v1.20.0-dev\n\n- Not yet\n\n## v1.19\n\nElsewhere.\n')).toBe(
      'refused: The heading in line 1 names 1.20, but the newest section is 1.19.',
    );
    expect(read('# Changelog for Acme v1.20\n\n## v1.20.1\n\n- New\n\n## v1.19\n\nElsewhere.\n')).toBe('1.20.1: - New');
    expect(read('# Log\n\n## 2026-01-02\n\n### v1.2.0\n\n- New\n\n### v1.1.0\n\n- Old\n')).toBe('1.2.0: - New');
    expect(read('# v1.20\n\n## Release v1.20.0 - TBD\n\n- Not yet\n')).toBe(
      'refused: There is no section of a released version.',
    );
    expect(read('# v1.20\n\n## Release v1.20.0 - TBD\n\n- Not yet\n\n## v1.19.1\n\n- Old\n')).toBe('1.19.1: - Old');
    expect(read('# v1.20\n\n## v1.20.1\n\n- New\n\n## v1.20.0\n\n- Old\n')).toBe('1.20.1: - New');
    expect(read('# v1.20\n\n## v1.20.1\n\n- New\n', '1.20')).toBe('refused: There is no section for 1.20.');
    expect(read('# 1.20\n\n## 1.20.1\n\n- New\n\n# 1.19\n\n## 1.19.5\n\n- Old\n', '1.19.5')).toBe('1.19.5: - Old');
  });
});

describe('what is ambiguous is refused with choices that work', () => {
  const body = (text: string) => `\n\n- ${text}\n\n`;
  test.each([
    [
      'peers of two packages',
      `## a@1.2.0${body('A')}## b@1.2.0${body('B')}`,
      undefined,
      ['a@1.2.0: - A', 'b@1.2.0: - B'],
    ],
    [
      'the same by version',
      `## @x/a@1.2.0${body('A')}## b@1.2.0${body('B')}`,
      '1.2.0',
      ['@x/a@1.2.0: - A', 'b@1.2.0: - B'],
    ],
    ['identical headings', `## 1.2.0${body('A')}## 1.2.0${body('B')}`, '1.2.0', ['1.2.0: - A', '1.2.0: - B']],
    ['identical newest headings', `## 1.2.0${body('A')}## v1.2.0${body('B')}`, undefined, ['1.2.0: - A', '1.2.0: - B']],
    [
      'a version and a package of it',
      `## 1.2.0${body('A')}## b@1.2.0${body('B')}`,
      '1.2.0',
      ['1.2.0: - A', 'b@1.2.0: - B'],
    ],
    ['two products', `## Foo 1.2.0${body('A')}## Bar 1.2.0${body('B')}`, '1.2.0', ['1.2.0: - A', '1.2.0: - B']],
    [
      'a sentence that begins with a version',
      `## 1.2.0${body('A')}## 2.0 migration guide${body('B')}## 1.1.0${body('C')}`,
      '1.2.0',
      ['1.2.0: - A\n\n## 2.0 migration guide\n\n- B'],
    ],
    [
      'the same above the newest',
      `## 2.0 migration guide${body('B')}## 1.1.0${body('C')}`,
      undefined,
      ['2.0: - B', '1.1.0: - C'],
    ],
    ['a version below what is unreleased', `# Unreleased${body('A')}## 1.2.0${body('B')}`, undefined, ['1.2.0: - B']],
    ['another thing alone', `# Hello\n\n## Python 3.8${body('A')}`, undefined, ['3.8: - A']],
    ['a heading above versions', `# v1.20${body('A')}## v1.20.1${body('B')}`, '1.20', ['1.20: - A']],
    ['a title of a newer version', `# Changelog for v1.9${body('A')}## v1.8${body('B')}`, undefined, ['1.8: - B']],
    [
      'what comes next, at the end',
      `## 1.1.0${body('A')}## 1.2.0${body('B')}## Next${body('C')}`,
      undefined,
      ['1.2.0: - B\n\n## Next\n\n- C'],
    ],
    [
      'a dated name below a version',
      `# 0.5.0 (2023-11-16)${body('A')}## plugin 0.4.0 (2022-11-16)${body('B')}`,
      undefined,
      ['0.5.0: - A\n\n## plugin 0.4.0 (2022-11-16)\n\n- B'],
    ],
    [
      'packages below a bold version',
      `**9.0.0**${body('A')}#### @x/a@9.0.0${body('B')}`,
      '9.0.0',
      ['9.0.0: - A\n\n#### @x/a@9.0.0\n\n- B'],
    ],
  ])('%s', (_, file, version, expected) => {
    const sections = sectionsOf(file);
    const picked = pickSection(sections, version);
    expect(picked.ok).toBe(false);
    if (picked.ok) return;
    const { hint = '', meant } = picked.problem;
    const choices = meant === undefined ? choicesIn(hint) : [{ version: meant }];
    expect(choices.map((choice) => read(file, choice.version ?? version, choice.line))).toEqual(expected);
  });

  test('a line that is no heading of the version is refused, and a line that is one is offered', () => {
    const file = '## 1.2.0\n\n- A\n\n1.1.0\n-----\n\n- B\n';
    expect(read(file, '1.2.0', 2)).toBe('refused: There is no heading of a version in line 2.');
    expect(read(file, '1.2.0', 5)).toBe('refused: The heading in line 5 is not of 1.2.0 but of 1.1.0.');
    expect(read(file, undefined, 6)).toBe('1.1.0: - B');
    for (const line of [2, 5]) {
      const picked = pickSection(sectionsOf(file), '1.2.0', line);
      expect(picked.ok ? '' : picked.problem.hint).toContain('--line 1');
    }
  });

  test('a pre-release is found however it is spelled, and a release is not one of its candidates', () => {
    const file =
      "# News\n\n## What's New in IDLE 3.5.0 release candidate 1?\n\n- A\n\n## What's New in IDLE 3.4.0-beta.2?\n\n- B\n";
    for (const typed of ['3.5.0rc1', 'v3.5.0-rc.1', '3.5.0-RC1']) expect(read(file, typed)).toBe('3.5.0-rc1: - A');
    expect(read(file, '3.4.0b2')).toBe('3.4.0-beta.2: - B');
    expect(read(file, '3.5.0')).toBe('refused: There is no section for 3.5.0.');
  });

  test('a name chooses its package also where a heading has none', () => {
    expect(read('## 1.2.0\n\n- A\n\n## b@1.2.0\n\n- B\n', 'b@1.2.0')).toBe('b@1.2.0: - B');
  });
});

test('a heading of any length and kind is read at once', { tags: ['long'] }, () => {
  const computed = cpuTimer();
  for (const text of [
    'a '.repeat(200),
    'changes from '.repeat(30),
    '1.'.repeat(249),
    'a-'.repeat(240),
    '(['.repeat(249),
  ]) {
    sectionsOf(`${`## ${text}\n\n`.repeat(200)}## ${text.repeat(1000)}\n`);
  }
  expect(computed()).toBeLessThan(5000);
});
