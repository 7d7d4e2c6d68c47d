import { describe, expect, test } from 'vitest';
import { namesNone, pickSection, seriesOfTag, tagOfJob, versionOfTag } from '../../src/release/pick.ts';
import { normalised, sectionsOf } from '../../src/release/section.ts';

/** Each heading with a text below it: the first in line 1, the next in line 5. */
const fileOf = (...headings: string[]): string => headings.map((each) => `${each}\n\n- Something.\n`).join('\n');

const textOf = (file: string, line: number) => {
  const found = pickSection(sectionsOf(file), undefined, line);
  return found.ok ? found.section.markdown() : undefined;
};

/** Line and version of what is picked, else the problem. */
function picked(file: string, version?: string, line?: number) {
  const found = pickSection(sectionsOf(file), version, line);
  return found.ok ? [found.section.line, found.version] : found.problem;
}

const two = fileOf('## 1.2.0', '## 1.1.0');
const packages = fileOf('## web@1.2.0', '## core@1.2.0', '## core@1.1.0');

test.each(['', ' ', 'v', 'web@', 'web@v', 'refs/tags/', 'refs/tags/v'])(
  'what %j leaves of a version is that of no section, least of all of one that has none',
  (version) => {
    const message = expect.stringMatching(/^There is no section for/u);
    expect(picked(fileOf('## [Unreleased]', '## 1.2.0'), version)).toMatchObject({ message, isAbsent: true });
    expect(picked(fileOf('## web@1.2.0', '## Unreleased'), version)).toMatchObject({ message });
  },
);

describe('with nothing named, the newest released section is picked', () => {
  test.each([
    [two, [1, '1.2.0']],
    [fileOf('## 1.0.0', '## 1.1.0'), [5, '1.1.0']],
    // Neither upwards nor downwards: the first, as is the custom.
    [fileOf('## 1.0.0', '## 1.2.0', '## 1.1.0'), [1, '1.0.0']],
    [fileOf('## Unreleased', '## 1.2.0', '## 1.1.0'), [5, '1.2.0']],
    [fileOf('# 2.0', '## 2.0.1', '## 2.0.0', '# 1.0', '## 1.0.0'), [5, '2.0.1']],
    [fileOf('## 2026-03-04', '## 2026-02-01'), [1, '2026-03-04']],
    [fileOf('## core@1.3.0', '## web@1.2.0'), [1, '1.3.0']],
    ['## 1.3.0\n\n_Unreleased_\n\n- x\n\n## 1.2.0\n\n- x\n', [7, '1.2.0']],
  ])('%j', (file, expected) => {
    expect(picked(file)).toEqual(expected);
  });

  test('what a line below it says is unreleased or yanked is released where it is named', () => {
    for (const line of ['_Unreleased_', '**Yanked**: it lost files.']) {
      const file = `## 1.3.0\n\n${line}\n\n- x\n\n## 1.2.0\n\n- x\n`;
      expect(picked(file)).toEqual([7, '1.2.0']);
      expect(picked(file, '1.3.0')).toEqual([1, '1.3.0']);
    }
  });

  test('also one without a text, whatever the heading below it says', () => {
    const file = '1.3.0\n=====\n\nUnreleased\n==========\n\n- x\n\n1.2.0\n=====\n\n- x\n';
    expect(picked(file)).toMatchObject({ message: 'The section of 1.3.0 is empty.', line: 1 });
  });

  test('unless a heading above names a newer version', () => {
    expect(picked(fileOf('# Release notes 3.0.0', '## 2.0.1', '## 2.0.0'))).toEqual({
      message: 'The heading in line 1 names 3.0.0, but the newest section is 2.0.1.',
      line: 1,
      meant: '2.0.1',
    });
    expect(picked(fileOf('# Release notes 2.0.1', '## 2.0.1', '## 2.0.0'))).toEqual([5, '2.0.1']);
  });

  test('unless a heading that may be one stands where a newer version would', () => {
    const doubtful = '## Version 1.3.0 of everything that we make';
    expect(picked(fileOf(doubtful, '## 1.2.0', '## 1.1.0'))).toEqual({
      message: '"Version 1.3.0 of everything that we make" in line 1 may be a newer version than 1.2.0.',
      line: 1,
      hint: 'Say which: add --line 1 or --line 5.',
    });
    expect(picked(fileOf('## 1.1.0', '## 1.2.0', doubtful))).toEqual({
      message: '"Version 1.3.0 of everything that we make" in line 9 may begin another version, or belong to 1.2.0.',
      line: 9,
      hint: 'If it belongs to 1.2.0, add --line 5.',
    });
    expect(picked(fileOf('## 1.1.0', '## 1.2.0', '## Unreleased', doubtful))).toMatchObject({
      message: '"Version 1.3.0 of everything that we make" in line 13 may be a newer version than 1.2.0.',
      line: 13,
    });
    expect(picked(fileOf(doubtful, '## 1.1.0', '## 1.2.0'))).toEqual([9, '1.2.0']);
    expect(picked(fileOf('## 1.2.0', '## 1.1.0', doubtful))).toEqual([1, '1.2.0']);
  });

  test('and none where nothing is released, or nothing stands below the heading', () => {
    const hint = 'A section begins with a heading like: ## 1.2.0';
    expect(picked(fileOf('## Unreleased'))).toEqual({
      message: 'There is no section of a released version.',
      line: 1,
      hint,
    });
    expect(picked(fileOf('# Changelog'))).toEqual({ message: 'There is no section of a version.', line: 1, hint });
    expect(picked('## 1.2.0\n\n## 1.1.0\n\n- x\n')).toEqual({
      message: 'The section of 1.2.0 is empty.',
      line: 1,
      hint: 'Write below it what is new.',
    });
    expect(
      picked(fileOf('## Version 1.2.0 of everything we have ever wanted to say in one heading of a file')),
    ).toEqual({
      message:
        'svc cannot tell whether "Version 1.2.0 of everything we have ever wanted to say in on…" begins a section.',
      line: 1,
      hint: 'If it does, add --line 1.',
    });
  });
});

describe('a version is found', () => {
  test.each([
    [packages, 'core@1.2.0', [5, 'core@1.2.0']],
    [packages, 'CORE@v1.2.0', [5, 'core@1.2.0']],
    [packages, '1.1.0', [9, '1.1.0']],
    [two, 'web@1.1.0', [5, '1.1.0']],
    [fileOf('## 1.2.0-rc.1', '## 1.1.0'), '1.2.0rc1', [1, '1.2.0-rc.1']],
    [fileOf('## 1.2.0 RC 1', '## 1.1.0'), '1.2.0-rc.1', [1, '1.2.0-RC1']],
    [fileOf('## 1.2.0b2', '## 1.1.0'), '1.2.0-beta.2', [1, '1.2.0b2']],
    [fileOf('## 1.2.0-alpha.2', '## 1.1.0'), '1.2.0a2', [1, '1.2.0-alpha.2']],
    [fileOf('## 1.2.0-beta.2', '## 1.2.0b2'), '1.2.0b2', [5, '1.2.0b2']],
    [fileOf('## 1.2.0-rc.12', '## 1.2.0-rc.1'), '1.2.0 rc 12', [1, '1.2.0-rc.12']],
    [fileOf('## 1.2.0-rc.2', '## 1.1.0'), '1.2.0 release candidate 2', [1, '1.2.0-rc.2']],
    // The very package before a section of none.
    [fileOf('## 1.2.0', '## web@1.2.0'), 'web@1.2.0', [5, 'web@1.2.0']],
    [fileOf('## 1.2.0-rc.1', '## 1.2.0'), '1.2.0', [5, '1.2.0']],
  ])('in %j as %s', (file, version, expected) => {
    expect(picked(file, version)).toEqual(expected);
  });

  test('not by another pre-release, nor by that of another package', () => {
    expect(picked(fileOf('## 1.2.0-rc.1', '## 1.1.0'), '1.2.0-rc.2')).toMatchObject({ isAbsent: true });
    expect(picked(packages, 'docs@1.2.0')).toMatchObject({
      isAbsent: true,
      hint: 'The file has web@1.2.0, core@1.2.0, core@1.1.0.',
    });
  });

  test('only where the file has it once', () => {
    const which = { message: 'There are two sections for 1.2.0, in lines 1 and 5.', line: 5 };
    expect(picked(packages)).toEqual({ ...which, hint: 'Say which: web@1.2.0 or core@1.2.0.' });
    expect(picked(packages, '1.2.0')).toEqual({ ...which, hint: 'Say which: web@1.2.0 or core@1.2.0.' });
    const three = fileOf('## 1.2.0', '## 1.2.0', '## 1.2.0');
    for (const version of [undefined, '1.2.0']) {
      expect(picked(three, version)).toEqual({
        message: 'There are 3 sections for 1.2.0, in lines 1, 5 and 9.',
        line: 5,
        hint: 'Say which: add --line 1, --line 5 or --line 9.',
      });
    }
    // Names cannot tell them apart where one has none, or where two have the same.
    expect(picked(fileOf('## web@1.2.0', '## web@1.2.0', '## core@1.2.0'), '1.2.0')).toMatchObject({
      hint: 'Say which: add --line 1, --line 5 or --line 9.',
    });
    expect(picked(fileOf('## web@1.2.0', '## 1.2.0'), '1.2.0')).toMatchObject({
      hint: 'Say which: add --line 1 or --line 5.',
    });
  });

  test('and else the versions that are there are named, five at most', () => {
    const six = ['## 1.2.0', '## 1.1.0', '## 1.0.0', '## 0.9.0', '## 0.8.0', '## 0.7.0'];
    expect(picked(fileOf(...six), 'v7.0.0')).toEqual({
      message: 'There is no section for 7.0.0.',
      line: 1,
      isAbsent: true,
      hint: 'The file has 1.2.0, 1.1.0, 1.0.0, 0.9.0, 0.8.0, ….',
    });
    expect(picked(fileOf(...six.slice(0, 5)), '7.0.0')).toMatchObject({
      hint: 'The file has 1.2.0, 1.1.0, 1.0.0, 0.9.0, 0.8.0.',
    });
    const others = ['## Unreleased', '# 2.0', '## 2.0.1', '## 2.0.0', '# 1.0', '## 1.0.0'];
    expect(picked(fileOf(...others), '9.0.0')).toMatchObject({ hint: 'The file has 2.0.1, 2.0.0, 1.0.0.' });
    expect(picked(fileOf('# Changelog'), '1.0.0')).toMatchObject({
      hint: 'A section begins with a heading like: ## 1.2.0',
    });
  });

  test('not where its heading stands above several versions, or may be none', () => {
    expect(picked(fileOf('# 2.0', '## 2.0.1', '## 2.0.0', '# 1.0', '## 1.0.0'), '2.0')).toEqual({
      message: '"2.0" stands above several versions.',
      line: 1,
      hint: 'If its text is meant, add --line 1.',
    });
    const maybe = '## Version 1.3.0 of everything that we make';
    expect(picked(fileOf('## 1.2.0', maybe), '1.3.0')).toEqual({
      message: '"Version 1.3.0 of everything that we make" may be no heading of a version.',
      line: 5,
      hint: 'If its text is meant, add --line 5.',
    });
    expect(picked(fileOf('## 1.2.0', maybe, maybe), '1.3.0')).toMatchObject({
      line: 5,
      hint: 'Say which: add --line 5 or --line 9.',
    });
    expect(picked(`${maybe}\n\n${two}`, '1.3.0')).toMatchObject({ isAbsent: true });
  });

  test('up to the next heading like it', () => {
    const maybe = (level: string, minor: number) => `${level} Version 1.${minor}.0 of everything that we make`;
    expect(textOf(fileOf('## 1.9.0', maybe('##', 3), maybe('##', 2), '## 1.1.0'), 5)).toBe('- Something.');
    expect(textOf(fileOf('## 1.9.0', maybe('##', 3), maybe('###', 2), '## 1.1.0'), 5)).toContain('1.2.0');
    const tools = ['### Node 18.0 - 2026-01-02', '#### Npm 9.0 - 2026-01-01', '### Deno 2.0 - 2026-01-01'];
    expect(textOf(fileOf('## 1.9.0', ...tools, '## 1.1.0'), 5)).toContain('Npm');
    expect(textOf(fileOf('## 1.9.0', ...tools, '## 1.1.0'), 5)).not.toContain('Deno');
  });

  test('but not published with what may be another version inside of it', () => {
    const file = fileOf('## 1.2.0', '## Version 1.1.5 of everything that we make', '## 1.1.0');
    const doubt = {
      message: '"Version 1.1.5 of everything that we make" in line 5 may begin another version, or belong to 1.2.0.',
      line: 5,
      hint: 'If it belongs to 1.2.0, add --line 1.',
    };
    expect(picked(file)).toEqual(doubt);
    expect(picked(file, '1.2.0')).toEqual(doubt);
    expect(picked(file, '1.2.0', 1)).toEqual([1, '1.2.0']);
    expect(picked(file, '1.1.0')).toEqual([9, '1.1.0']);
    const whole = pickSection(sectionsOf(file), '1.2.0', 1);
    expect(whole.ok && whole.section.markdown()).toContain('1.1.5');
  });
});

describe('a line picks', () => {
  test.each([
    [two, undefined, 5, [5, '1.1.0']],
    [two, '1.1.0', 5, [5, '1.1.0']],
    [fileOf('## 1.2.0', '## 1.2.0'), '1.2.0', 5, [5, '1.2.0']],
    // Named by its package where another has the same version, or where it was asked for so.
    [packages, undefined, 5, [5, 'core@1.2.0']],
    [packages, undefined, 9, [9, '1.1.0']],
    [packages, '1.1.0', 9, [9, '1.1.0']],
    [fileOf('## web@1.2.0', '## web@1.2.0'), undefined, 5, [5, '1.2.0']],
    [packages, 'core@1.1.0', 9, [9, 'core@1.1.0']],
    ['1.2.0\n=====\n\n- x\n', undefined, 2, [1, '1.2.0']],
  ])('in %j, %s, line %i', (file, version, line, expected) => {
    expect(picked(file, version, line)).toEqual(expected);
  });

  test('nothing where no version stands in it, or another one', () => {
    expect(picked(two, undefined, 3)).toEqual({
      message: 'There is no heading of a version in line 3.',
      line: 3,
      hint: 'Add --line 1 or --line 5.',
    });
    expect(picked(fileOf('## Unreleased', '## 1.2.0'), undefined, 1)).toMatchObject({ hint: 'Add --line 5.' });
    expect(picked('## 1.2.0\n\n## 1.1.0\n\n- x\n', undefined, 2)).toMatchObject({ hint: 'Add --line 3.' });
    expect(picked(two, '1.2.0', 5)).toEqual({
      message: 'The heading in line 5 is not of 1.2.0 but of 1.1.0.',
      line: 5,
      hint: 'Add --line 1.',
    });
    expect(picked(two, 'v1.3.0', 5)).toEqual({
      message: 'The heading in line 5 is not of 1.3.0 but of 1.1.0.',
      line: 5,
      hint: 'Give 1.1.0 as the version.',
    });
  });

  test('of many, five are offered', () => {
    const six = fileOf(...[6, 5, 4, 3, 2, 1].map((minor) => `## 1.${minor}.0`));
    expect(picked(six, undefined, 2)).toMatchObject({
      hint: 'Add --line 1, --line 5, --line 9, --line 13 or --line 17.',
    });
  });
});

test.each([
  [{ GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v1.0.0', CI_COMMIT_TAG: 'v2.0.0' }, 'v1.0.0'],
  [{ GITHUB_REF_TYPE: 'branch', GITHUB_REF_NAME: 'v1.0.0' }, undefined],
  [{ CI_COMMIT_TAG: 'v2.0.0', CIRCLE_TAG: 'v3.0.0' }, 'v2.0.0'],
  [{ CI_COMMIT_TAG: '', CIRCLE_TAG: 'v3.0.0' }, 'v3.0.0'],
  [{ CI_COMMIT_TAG: 'nightly' }, 'nightly'],
  [{}, undefined],
])('the tag of a job in %j is %s', (env, tag) => {
  expect(tagOfJob(env)).toBe(tag);
});

test.each([
  ['v1.2.0', 'v1.2.0'],
  ['web@1.2.0', 'web@1.2.0'],
  ['svc-v10.6.1', 'svc@10.6.1'],
  ['SVC-V10.6.1', 'SVC@10.6.1'],
  ['my-app-1.2', 'my-app@1.2'],
  ['packages/web/v2.0.0-rc.1', 'packages/web@2.0.0-rc.1'],
  ['myapp/release/1.2.0', '1.2.0'],
  ['web-2026-11-27', 'web@2026-11-27'],
  ['ubuntu-22.04-v1.2.0', undefined],
  ['web-1.2.0-rc.1', 'web@1.2.0-rc.1'],
  // `release` is a word for any version; what only begins with it is the name of a package.
  ['relay-v1.2.0', 'relay@1.2.0'],
  ['release-tools/1.2.0', 'release-tools@1.2.0'],
  ['release-10.6.1', '10.6.1'],
  ['release/10.6.1', '10.6.1'],
  ['version-10.6.1', '10.6.1'],
  ['v.10.6.1', '10.6.1'],
  ['REL_10_6_1', undefined],
  ['build-123', undefined],
  ['nightly', undefined],
])('the tag %s is of the version %s', (tag, version) => {
  expect(versionOfTag(tag)).toBe(version);
});

test.each([
  ['v2', '2'],
  ['V12', '12'],
  ['v1.2', undefined],
  ['rev2', undefined],
  ['v2-beta', undefined],
  ['2', undefined],
])('the tag %s is moved on to each version of the series %s', (tag, series) => {
  expect(seriesOfTag(tag)).toBe(series);
});

test.each([
  ['', true],
  ['v', true],
  ['@', true],
  ['web@', true],
  ['web@v', true],
  ['1.2.0', false],
  ['web@1.2.0', false],
  ['very', false],
  ['dev', false],
])('%j names no version: %s', (typed, none) => {
  expect(namesNone(typed)).toBe(none);
});

test('a file is read without its byte-order mark and with one kind of line end', () => {
  expect(normalised('\u{feff}a\r\nb\rc\n\u{feff}d')).toBe('a\nb\nc\n\u{feff}d');
  expect(normalised('a\u{feff}')).toBe('a\u{feff}');
});

test.each([
  ['```sh', 'make', '## 1.1.0'],
  ['~~~~', '~~~', '### [1.1.0] - 2026-01-02'],
  ['<!-- not yet', '- b', '## 1.1.0'],
  ['<pre>', '- b', '**1.1.0**'],
  ['```', 'make', '1.1.0 / 2026-01-02\n=================='],
  ['<!--', '- b', '1.1.0\n-----'],
  ['```', '**b** of 2', '## 1.1.0'],
])('a heading that %j swallows, which nothing closes, may begin another version', (opened, inside, heading) => {
  const file = `## 1.2.0\n\n- a\n\n${opened}\n${inside}\n\n${heading}\n\n- old\n`;
  expect(picked(file)).toMatchObject({
    message: expect.stringMatching(/1\.1\.0.* in line 8 may begin another version, or belong to 1\.2\.0\./u),
    line: 8,
    hint: 'If it belongs to 1.2.0, add --line 1. Else close the code block or comment that line 5 begins.',
  });
  expect(picked(file, '1.2.0', 1)).toEqual([1, '1.2.0']);
  expect(picked(`## 1.3.0\n\n- new\n\n${file}`)).toEqual([1, '1.3.0']);
});

test.each([
  '```\n## 1.1.0\n```',
  '````\n## 1.1.0\n`````',
  '<!--\n## 1.1.0\n-->',
  '<pre>\n## 1.1.0\n</PRE>',
  '```\n# make it',
  '```\nmake\n---\n1.1.0 is old\n',
  '```\n~~~\n## 1.1.0\n```',
  '```\n## 1.1.0\n```  \n',
  '<details>\n## 1.1.0\n</details>',
])('but %j at the end of the file holds no version', (block) => {
  expect(picked(`## 1.2.0\n\n- a\n\n${block}`)).toEqual([1, '1.2.0']);
});

test('a line of such a block that is too long to be Markdown hinders nobody', () => {
  const file = `## 1.2.0\n\n- a\n\n\`\`\`\n** 1${'*'.repeat(20_000)}`;
  expect(picked(file)).toEqual([1, '1.2.0']);
});

test('the text of a heading that may begin a version ends before one that an open code block swallows', () => {
  const file =
    '## 1.9.0\n\n- a\n\n## Version 1.3.0 of everything that we make\n\n- b\n\n```\nmake\n\n## 1.2.0\n\n- old\n';
  expect(textOf(file, 5)).toBe('- b\n\n```\nmake');
});
