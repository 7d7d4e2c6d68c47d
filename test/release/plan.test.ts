import { describe, expect, test } from 'vitest';
import { claimOf } from '../../src/release/heading.ts';
import {
  type Entry,
  entryOf,
  isScheduled,
  nameOf,
  newBody,
  packagesAmong,
  planChange,
  publishesAlone,
  readOf,
  type Wanted,
} from '../../src/release/plan.ts';

const entry: Entry = {
  id: 7,
  title: 'Release 1.2.0',
  slug: 'release-1-2-0',
  version: '1.2.0',
  labels: ['fix', 'improvement'],
  category: { id: 3, name: 'App', color: '#000000' },
  status: 'published',
  is_live: true,
  published_at: '2026-11-20T12:00:00+00:00',
  created_at: '2026-11-19T12:00:00+00:00',
  updated_at: '2026-11-19T12:00:00+00:00',
  content_html: '<p>New</p>',
};

const wanted: Wanted = { version: '1.2.0', content: 'New', draft: false };

describe('of the entries of a version', () => {
  const foundFor = (asked: { version: string; package?: string }, ...entries: readonly Partial<Entry>[]) => {
    const { entry: chosen, doubled } = entryOf(
      asked,
      entries.map((each, at) => ({ ...entry, id: at + 1, ...each })),
    );
    return [chosen?.id, doubled];
  };
  const found = (version: string, ...entries: readonly Partial<Entry>[]) => foundFor({ version }, ...entries);

  test('the one that is written as svc writes it is chosen before an announcement of it', () => {
    expect(found('2.0.0', { version: 'Release 2.0.0' }, { version: '2.0.0' })).toEqual([2, [1]]);
    expect(found('v2.0.0', { version: 'Release 2.0.0' }, { version: '2.0.0', status: 'draft' })).toEqual([2, [1]]);
  });

  test('the published one is chosen, then the oldest, whatever their order', () => {
    expect(found('1.2.0', { status: 'draft' }, {}, { id: 9 }, { status: 'draft' })).toEqual([2, [9, 1, 4]]);
    expect(found('1.2.0', { id: 9 }, {})).toEqual([2, [9]]);
    expect(found('1.2.0', { status: 'draft', id: 5 }, { status: 'draft', id: 4 })).toEqual([4, [5]]);
    expect(found('1.2.0', {}, { id: 9, created_at: '2026-11-18T12:00:00Z' })).toEqual([9, [1]]);
  });

  test.each(['', ' ', 'v'])('an entry without a version is of none, asked for by %j too', (version) => {
    expect(found(version, { version: null }, { version: '' }, { version: ' ' })).toEqual([undefined, []]);
    expect(foundFor({ version, package: 'web' }, { version: null, title: 'Release web@' })).toEqual([undefined, []]);
    expect(found('1.2.0', { version: null }, { version: '' })).toEqual([undefined, []]);
  });

  test.each([
    ...[
      'Version 1.2.0',
      'version: v1.2.0',
      'Release 1.2.0',
      'ver. 1.2.0',
      'rel-1.2.0',
      'v.1.2.0',
      '[1.2.0]',
      ' "V1.2.0" ',
    ],
    '(Release 1.2.0)',
  ])('%j is the version 1.2.0, as a heading is that says so', (version) => {
    expect(claimOf(version.trim())?.version).toBe('1.2.0');
    expect(found('1.2.0', { version })).toEqual([1, []]);
    expect(found(version, { version: 'v1.2.0' })).toEqual([1, []]);
  });

  test.each([
    'Version 1.2.0 beta',
    'Version 11.2.0',
    'Release of 1.2.0',
    'Versions 1.2.0',
    'Version web@1.2.0',
    'Version',
    '',
  ])('%j is another one', (version) => {
    expect(found('1.2.0', { version })).toEqual([undefined, []]);
  });

  describe('where a package is asked for that the heading does not name', () => {
    const web = { version: '1.2.0', package: '@acme/web' };
    const [ofWeb, ofCore, draft] = [
      { title: 'Release @acme/Web@1.2.0' },
      { title: 'Release @acme/core@1.2.0' },
      { status: 'draft' },
    ] as const;

    test('that of another package is none, also no twin', () => {
      expect(foundFor(web, ofCore)).toEqual([undefined, []]);
      expect(foundFor(web, ofCore, ofWeb)).toEqual([2, []]);
      expect(foundFor(web, { ...ofCore, ...draft }, { ...ofWeb, ...draft })).toEqual([2, []]);
    });

    test('one that names no package is its own, as it was when svc wrote none', () => {
      expect(foundFor(web, {})).toEqual([1, []]);
      expect(foundFor(web, { title: 'Faster exports' }, ofCore)).toEqual([1, []]);
      expect(foundFor(web, { title: 'Release @acme/core@1.1.0' })).toEqual([1, []]);
    });

    test('a run that names it and one that does not publish the same draft, and each keeps what is published', () => {
      const entries = [draft, { ...ofWeb, ...draft }] as const;
      expect([foundFor(web, ...entries), found('1.2.0', ...entries)]).toEqual([
        [1, [2]],
        [1, [2]],
      ]);
      const later = [{ ...ofWeb, ...draft }, {}] as const;
      expect([foundFor(web, ...later), found('1.2.0', ...later)]).toEqual([
        [2, [1]],
        [2, [1]],
      ]);
      expect(foundFor(web, {}, ofWeb)).toEqual([2, [1]]);
      expect(found('1.2.0', ofWeb, {})).toEqual([2, [1]]);
      expect(found('1.2.0', ofWeb)).toEqual([1, []]);
    });
  });

  test('those of other versions, and of none, are none', () => {
    expect(found('1.2.0', { version: '1.2' }, { version: null }, { version: 'web@1.2.0' })).toEqual([undefined, []]);
    expect(found('v1.2.0-RC.1', { version: ' V1.2.0-rc.1' })).toEqual([1, []]);
  });
});

describe('a new entry', () => {
  test('has what is wanted, and a title of its own', () => {
    expect(newBody(wanted)).toEqual({
      title: 'Release 1.2.0',
      content: 'New',
      version: '1.2.0',
      status: 'published',
    });
    const whole = { title: 'Big', labels: ['fix'], categoryId: 3, publishedAt: '2030-01-01T00:00:00Z' };
    expect(newBody({ ...wanted, ...whole })).toEqual({
      title: 'Big',
      content: 'New',
      version: '1.2.0',
      labels: ['fix'],
      category_id: 3,
      status: 'published',
      published_at: '2030-01-01T00:00:00Z',
    });
  });

  test('names the package that was asked for', () => {
    expect(newBody({ ...wanted, package: '@acme/web' })).toMatchObject({
      title: 'Release @acme/web@1.2.0',
      version: '1.2.0',
    });
  });

  test('is a draft without a time where a draft is wanted', () => {
    expect(newBody({ ...wanted, draft: true, publishedAt: '2030-01-01T00:00:00Z' })).toEqual({
      title: 'Release 1.2.0',
      content: 'New',
      version: '1.2.0',
      status: 'draft',
    });
  });
});

describe('a change', () => {
  test('is none where the entry agrees already', () => {
    const same = { title: ' Release 1.2.0', labels: ['improvement', 'fix', 'fix'], categoryId: 3 };
    const publishedAt = '2026-11-20T13:00:00.900+01:00';
    expect(planChange({ ...wanted, ...same, publishedAt }, entry, true)).toEqual({ action: 'unchanged' });
    expect(planChange(wanted, entry, true)).toEqual({ action: 'unchanged' });
    const untidy = { ...entry, title: 'Release 1.2.0 ', labels: ['improvement', 'fix'] };
    expect(planChange({ ...wanted, ...same }, untidy, true)).toEqual({ action: 'unchanged' });
  });

  test.each([
    [{ title: 'Big' }, { title: 'Big' }],
    [{ labels: ['fix'] }, { labels: ['fix'] }],
    [{ labels: [] }, { labels: [] }],
    [{ categoryId: 4 }, { category_id: 4 }],
    [{ publishedAt: '2026-11-20T12:00:01Z' }, { published_at: '2026-11-20T12:00:01Z' }],
  ])('of %j alone sends that alone', (more, body) => {
    expect(planChange({ ...wanted, ...more }, entry, true)).toEqual({ action: 'updated', body });
  });

  test('sends the content where readers do not see it yet', () => {
    expect(planChange(wanted, entry, false)).toEqual({ action: 'updated', body: { content: 'New' } });
  });

  test('publishes a draft, and never takes back what is published', () => {
    const draft: Entry = { ...entry, status: 'draft', is_live: false, published_at: null, category: null };
    expect(planChange(wanted, draft, true)).toEqual({ action: 'published', body: { status: 'published' } });
    expect(planChange({ ...wanted, draft: true }, draft, true)).toEqual({ action: 'unchanged' });
    expect(planChange({ ...wanted, draft: true }, entry, true)).toEqual({ action: 'unchanged' });
    expect(planChange({ ...wanted, categoryId: 3, publishedAt: '2030-01-01T00:00:00Z' }, draft, true)).toEqual({
      action: 'published',
      body: { category_id: 3, published_at: '2030-01-01T00:00:00Z', status: 'published' },
    });
  });
});

test.each([
  ['published', true, false],
  ['published', false, true],
  ['draft', false, false],
] as const)('%s, live: %s, is scheduled: %s', (status, is_live, expected) => {
  expect(isScheduled({ status, is_live })).toBe(expected);
});

test.each([
  ['Release web@1.2.0', '1.2.0', 'web'],
  ['Release @acme/web@1.2.0', 'v1.2.0', '@acme/web'],
  [' Release web@1.2.0 ', '1.2.0', 'web'],
  ['Release web@1.2.0', '1.3.0', undefined],
  ['Release web@1.2.0', null, undefined],
  ['Release 1.2.0', '1.2.0', undefined],
  ['The Release web@1.2.0', '1.2.0', undefined],
  ['Release web@1.2.0\nand more', '1.2.0', undefined],
])('the title %j of an entry of %s names the package %s', (title, version, name) => {
  expect(nameOf({ ...entry, title, version })).toBe(name);
});

describe('where a version is released without its package', () => {
  const among = (asked: { package?: string }, ...titles: readonly string[]) =>
    packagesAmong(
      { version: '1.2.0', ...asked },
      titles.map((title, at) => ({ ...entry, id: at + 1, title })),
    );

  test('and the portal has it of several, each is one to choose from', () => {
    expect(among({}, 'Release web@1.2.0', 'Release api@1.2.0', 'Release Web@1.2.0')).toEqual(['Web', 'api']);
    expect(among({}, 'Release web@1.2.0', 'Release api@1.2.0')).toEqual(['api', 'web']);
  });

  test('there is nothing to choose where one has it, or one without a name, or another version', () => {
    expect(among({})).toEqual([]);
    expect(among({}, 'Release web@1.2.0', 'Release Web@1.2.0')).toEqual([]);
    expect(among({}, 'Release web@1.2.0', 'Release api@1.2.0', 'News')).toEqual([]);
    expect(among({}, 'News')).toEqual([]);
    const items = ['web', 'api'].map((name) => ({ ...entry, title: `Release ${name}@1.3.0`, version: '1.3.0' }));
    expect(packagesAmong({ version: '1.2.0' }, items)).toEqual([]);
  });

  test('there is nothing to choose where the package was asked for', () => {
    expect(among({ package: 'web' }, 'Release web@1.2.0', 'Release api@1.2.0')).toEqual([]);
  });
});

test('what a reader sees of an entry is its title, text, labels and category', () => {
  const { title, content_html: content, labels, category } = entry;
  expect(readOf(entry)).toEqual({ title, content, labels, category });
});

test.each([
  [{ status: 'published' }, true],
  [{ published_at: '2026-11-20T12:00:00Z' }, true],
  [{ status: 'published', published_at: '2026-11-20T12:00:00Z' }, true],
  [{ status: 'published', content: 'New' }, false],
  [{ title: 'Other' }, false],
] as const)('%j changes nothing that a reader sees: %s', (body, alone) => {
  expect(publishesAlone(body)).toBe(alone);
});
