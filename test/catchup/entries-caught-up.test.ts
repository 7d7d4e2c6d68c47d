import { expect, test } from 'vitest';
import { rebuiltSince } from '../../src/catchup/rebuilt-since.ts';

// `published_at` is what an entry says; the service sends its event when somebody publishes it.

const since = '2026-03-10T00:00:00Z';

async function rebuilt(entry: { created_at: string; published_at: string; updated_at?: string }): Promise<number> {
  const found = await rebuiltSince({
    starts: new Map([['changelog.published', new Date(since)]]),
    records: async function* () {
      yield { id: 3, title: 'News', slug: 'news', version: null, ...entry };
    },
    accountId: async () => 1,
    held: new Set(),
    serviceNow: () => new Date('2026-03-20T00:00:00Z'),
    onUnread: () => {},
  });
  return found.rebuilt.length;
}

const [longAgo, before, within, later] = ['2026-01-01', '2026-03-01', '2026-03-15', '2026-04-01'].map(
  (day) => `${day}T12:00:00+00:00`,
) as [string, string, string, string];

test.each([
  ['published in the window', { created_at: longAgo, published_at: within, updated_at: within }, 1],
  ['scheduled before the window for a day in it', { created_at: longAgo, published_at: within, updated_at: before }, 0],
  [
    'scheduled before the window for a day to come',
    { created_at: longAgo, published_at: later, updated_at: before },
    0,
  ],
  ['scheduled in the window for a day to come', { created_at: longAgo, published_at: later, updated_at: within }, 1],
  ['made in the window, and dated back', { created_at: within, published_at: longAgo, updated_at: within }, 1],
  [
    'published before the window, and edited in it',
    { created_at: longAgo, published_at: before, updated_at: within },
    0,
  ],
  ['of a service that tells no last change', { created_at: longAgo, published_at: within }, 1],
])('an entry %s', async (_, entry, count) => {
  expect(await rebuilt(entry)).toBe(count);
});
