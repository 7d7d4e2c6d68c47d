// Headings and marks as real projects write them: names before versions in brackets, links, summaries, targets.

import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pickSection } from '../../src/release/pick.ts';
import { sectionsOf } from '../../src/release/section.ts';

const picked = (file: string, version?: string): string => {
  const result = pickSection(sectionsOf(file), version);
  return result.ok ? `${result.version}\n${result.section.markdown()}` : result.problem.message;
};

test('a version in brackets behind a name is a heading of that version', () => {
  const file = `## Widget 2.5.1

### widget 2.5.1

- Fixed.

## Widget (2.5.0)

### Widget (2.5.0)

- New.

## Widget (2.4.13)

### Widget (2.4.13)

- Old.
`;
  expect(picked(file)).toBe('2.5.1\n### widget 2.5.1\n\n- Fixed.');
  expect(picked(file, '2.5.0')).toBe('2.5.0\n### Widget (2.5.0)\n\n- New.');
  expect(picked(file, '2.4.13')).toBe('2.4.13\n### Widget (2.4.13)\n\n- Old.');
});

test.each(['2.4.0', '2.4.0 [YANKED]', 'Gadget (2.4.0)', 'Widget 2.4.0', '[2.4.0] - 2026-01-02'])(
  'so is one above a heading of another form: %s',
  (below) => {
    const file = `# Changelog\n\n## Widget (2.5.0)\n\n- New.\n\n## ${below}\n\n- Old.\n`;
    expect(picked(file, '2.5.0')).toBe('2.5.0\n- New.');
    expect(picked(file)).toBe('2.5.0\n- New.');
  },
);

test.each([
  'Next (30.6.0)',
  'Upcoming (30.6.0)',
  'Next release (30.6.0)',
  'Coming soon (30.6.0)',
  'WIP (30.6.0)',
  'Draft (30.6.0)',
  'Planned (30.6.0)',
  'HEAD (30.6.0)',
  'main (30.6.0)',
  'Unpublished (30.6.0)',
  '30.6.0 (planned)',
  '30.6.0 (draft)',
])('what is to come is not released: %s', (heading) => {
  const file = `# Changelog\n\n## ${heading}\n\n- Not yet.\n\n## 30.5.0\n\n- Done.\n`;
  expect(picked(file)).toBe('30.5.0\n- Done.');
});

test.each(['Next 5.0.0 - 2026-02-01', 'Head 5.0.0 (2026-02-01)', 'Draft 5.0.0 - 2026-02-01'])(
  'a product may be called as what is to come: %s is out',
  (heading) => {
    expect(picked(`# Changelog\n\n## ${heading}\n\n- New.\n\n## 4.0.0 - 2025-01-01\n\n- Old.\n`)).toBe('5.0.0\n- New.');
  },
);

test.each([
  'Upcoming 5.0.0 - 2026-02-01',
  'WIP 5.0.0 (2026-02-01)',
  'Next 5.0.0 - 2999-02-01',
  'Next 5.0.0 (planned 2026-02-01)',
  'Upcoming release 5.0.0 (planned 2999-12-31)',
])('what is to come is not out for a day beside it: %s', (heading) => {
  expect(picked(`# Changelog\n\n## ${heading}\n\n- New.\n\n## 4.0.0 - 2025-01-01\n\n- Old.\n`)).toBe('4.0.0\n- Old.');
});

test('a series in brackets is no version, and the word before the number is not part of it', () => {
  expect(picked('## Widget (3.6.x)\n\n- Soon.\n\n## Widget (3.5.0)\n\n- Done.\n')).toBe(
    'The heading in line 1 names 3.6.x, but the newest section is 3.5.0.',
  );
  expect(picked('## Widget (version 3.6.0)\n\n- New.\n\n## 3.5.0\n\n- Old.\n')).toBe('3.6.0\n- New.');
});

test('a name, a version in brackets and a date are a heading too; a remark in brackets is none', () => {
  expect(picked('## Widget (2.5.0) - 2026-01-02\n\n- New.\n\n## Widget (2.4.0)\n\n- Old.\n')).toBe('2.5.0\n- New.');
  expect(picked('## 3.0.0\n\n- New.\n\n## Breaking changes (since 2.0.0)\n\n- Away.\n')).toContain('Away.');
  expect(picked('## 3.0.0\n\n- New.\n\n## Deprecations (2.0.0)\n\n- Away.\n')).toContain('Away.');
});

test('a dated heading with its own text is a version, also above deeper headings of its series', () => {
  const file = `# Changelog

## 1.2.0 (2026-03-01)

- The final one.

### 1.2.0-beta.2 (2026-02-01)

- A beta.

### 1.2.0-beta.1 (2026-01-01)

- The first.

## 1.1.0 (2025-01-01)

- Old.
`;
  expect(picked(file)).toBe('1.2.0\n- The final one.');
  expect(picked(file, '1.2.0')).toBe('1.2.0\n- The final one.');
  expect(picked(file, '1.2.0-beta.2')).toBe('1.2.0-beta.2\n- A beta.');
});

test('a link behind the version is no text of the section, and a section of a gist alone is empty', () => {
  const file = `### 2.30.1
- Release Dec 27, 2023
- Fixed.

### 2.30.0 [Full changelog](https://gist.example/1)
- Release Dec 26, 2023

### 2.29.4 [See full changelog](https://gist.example/2)
- Release Jul 6, 2022
`;
  expect(picked(file, '2.30.0')).toBe('2.30.0\n- Release Dec 26, 2023');
  expect(picked(file, '2.29.4')).toBe('2.29.4\n- Release Jul 6, 2022');
});

test('a bold summary above the headings is no section', () => {
  const file = `# NAN ChangeLog

**Version 2.27.0: current Node 26.1.0, Node 0.12: 0.12.18**

### 2.27.0 May 12 2026
  - Feature

### 2.26.2 Mar 18 2026
  - Bugfix
`;
  expect(picked(file)).toBe('2.27.0\n  - Feature');
  expect(picked(file, '2.27.0')).toBe('2.27.0\n  - Feature');
});

test.each([
  '## [1.3.0] - 2026-02-01 [YANKED]',
  '## 1.3.0 (yanked)',
  '## ~~1.3.0~~ - 2026-02-01 (Yanked)',
  '## 1.3.0 - YANKED',
])('a section that was taken back is never the newest: %s', (heading) => {
  const file = `# Changelog\n\n${heading}\n\n- Broken.\n\n## [1.2.0] - 2026-01-01\n\n- Good.\n`;
  expect(picked(file)).toBe('1.2.0\n- Good.');
  expect(picked(file, '1.3.0')).toBe('1.3.0\n- Broken.');
});

test('where every version was taken back there is none to release', () => {
  expect(picked('## 1.3.0 [YANKED]\n\n- Broken.\n')).toBe('There is no section of a released version.');
});

test.each(['(v0_32_rc2)=', '.. _version-1.1.0:', '<a name="1.1.0"></a>', '<a id="v1.1.0"></a>\n\n'])(
  'a target for the next heading is no text: %s',
  (target) => {
    expect(picked(`## 1.2.0\n\n- New.\n\n${target}\n## 1.1.0\n\n- Old.\n`)).toBe('1.2.0\n- New.');
  },
);

const third = new URL('../../../shared/corpus/third/', import.meta.url);

test('the excerpts of real changelogs are read as people read them', (context) => {
  if (!existsSync(third)) context.skip('there are no changelogs of other projects beside this repository');
  const read = (name: string) => readFileSync(new URL(name, third), 'utf8');
  const apollo = picked(read('apollo-client-excerpt.md'), '2.5.0');
  expect(apollo.split('\n').length).toBeLessThan(25);
  expect(picked(read('apollo-client-excerpt.md'), '2.5.1').split('\n').length).toBeLessThan(15);
  expect(picked(read('nan-excerpt.md'), '2.27.0')).toContain('Node.js v26');
});
