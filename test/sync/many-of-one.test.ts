// @module-tag long
import { expect, test } from 'vitest';
import { createDuplicates, mergeDuplicates } from '../../src/sync/duplicates.ts';
import { filterOf } from '../../src/sync/filters.ts';
import type { Row } from '../../src/sync/rows.ts';
import { tagReader } from '../../src/sync/tags.ts';
import { cpuTimer } from '../cpu.ts';

test('one address in each of 200,000 rows is merged in a time that grows with the rows alone', async () => {
  const rows = Array.from(
    { length: 200_000 },
    (_, i): Row => ({
      line: i + 2,
      contact: { email: 'info@example.com', metadata: { [`k${i % 5}`]: String(i) } },
      size: 20,
      phone: 'fine',
    }),
  );
  const computed = cpuTimer();
  const merged = await mergeDuplicates(async function* () {
    yield rows;
  });
  const judge = createDuplicates('merge', merged);
  const judged = rows.map(judge);
  expect(judged[0]).toMatchObject({ line: 2, contact: { metadata: { k0: '199995', k4: '199999' } }, size: 4_000_000 });
  expect(judged.slice(1).every((one) => one === 'merged')).toBe(true);
  expect(computed()).toBeLessThan(5000);
});

test('thousands of spaces between tags take no time', () => {
  const tags: string[] = [];
  const computed = cpuTimer();
  tagReader(undefined, () => {})(`"a",${' '.repeat(20_000)}b "c"`, tags);
  expect(tags).toHaveLength(1);
  expect(computed()).toBeLessThan(5000);
});

test('tags in quotes keep their separators, with spaces around them', () => {
  const tags: string[] = [];
  tagReader(undefined, () => {})('"VIP" , "New, big" ,plain ,"say ""hi"""', tags);
  expect(tags).toEqual(['VIP', 'New, big', 'plain', 'say "hi"']);
});

test('--skip finds a value however its accents are written', () => {
  const leavesOut = filterOf({ skip: ['Status=Gekündigt'.normalize('NFC')], only: [] }, ['Status']);
  expect(leavesOut?.(['gekündigt'.normalize('NFD')])).toBe(true);
  expect(leavesOut?.(['gekundigt'])).toBe(false);
});
