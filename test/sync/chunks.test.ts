import { describe, expect, test } from 'vitest';
import {
  byEmailOrPhone,
  type Chunk,
  createChunker,
  judgeAnswer,
  judgeSilentAnswer,
  refusedRows,
} from '../../src/sync/chunks.ts';
import type { Row } from '../../src/sync/rows.ts';

const row = (line: number, more: Partial<Row> = {}): Row => ({
  line,
  contact: { email: `p${line}@example.com` },
  size: 40,
  phone: 'fine',
  ...more,
});

const chunkOf = (...rows: Row[]): Chunk => ({ number: 0, rows });

/** The lines of each chunk. */
function cut(size: number, rows: readonly Row[]): number[][] {
  const chunker = createChunker(size);
  const chunks = [...rows.map((each) => chunker.add(each)), chunker.end()];
  return chunks.flatMap((chunk) => (chunk ? [chunk.rows.map(({ line }) => line)] : []));
}

describe('rows are cut into chunks', () => {
  test('in their order, so many at a time, and none of no rows', () => {
    expect(
      cut(
        2,
        [2, 3, 4, 5].map((line) => row(line)),
      ),
    ).toEqual([
      [2, 3],
      [4, 5],
    ]);
    expect(createChunker(2).end()).toBeUndefined();
  });

  test('before a body is larger than 700,000 characters, names of fields included', () => {
    const heavy = (size: number) => [2, 3, 4].map((line) => row(line, { size }));
    // Two of them are just as large as a chunk may be.
    expect(cut(100, heavy(349_850))).toEqual([[2, 3], [4]]);
    expect(cut(100, heavy(349_851))).toEqual([[2], [3], [4]]);
    expect(cut(100, heavy(100))).toEqual([[2, 3, 4]]);
  });

  test('a row that is larger than a chunk goes alone', () => {
    expect(cut(100, [row(2), row(3, { size: 800_000 }), row(4)])).toEqual([[2], [3], [4]]);
  });
});

test('of a phone the last ten digits count, and five are the least', () => {
  const keys = (phone?: string) => byEmailOrPhone(row(2, { contact: { email: 'A@example.com', phone } }));
  expect(keys('+1 (202) 555-1003')).toEqual(['a@example.com', 'phone 2025551003']);
  expect(keys('12345')).toEqual(['a@example.com', 'phone 12345']);
  expect(keys('1234')).toEqual(['a@example.com']);
  expect(keys()).toEqual(['a@example.com']);
});

describe('an answer is told by lines of the file', () => {
  const chunk = chunkOf(row(2), row(3), row(4, { alsoLines: [7, 9] }), row(5));
  const told = ({ problems }: { problems: readonly { line: number; error: string }[] }) =>
    problems.map(({ line, error }) => `${line} ${error}`);

  test('in their order, all errors of a row together, and none of a row that was not sent', () => {
    const errors = [
      { index: 3, error: 'late' },
      { index: 2, error: 'bad' },
      { index: 0, error: 'first' },
      { index: 2, error: 'worse' },
      { index: 4, error: 'whose?' },
    ];
    const outcome = judgeAnswer(chunk, { created: 1, updated: 0, errors });
    expect(told(outcome)).toEqual(['2 first', '4 bad; worse', '7 bad; worse', '9 bad; worse', '5 late']);
    expect(outcome).toMatchObject({ created: 1, updated: 0, synced: 0, unaccounted: 0 });
  });

  test('rows that were merged into another count as updates of it', () => {
    const outcome = judgeAnswer(chunk, { created: 1, updated: 3, errors: [] });
    expect(outcome).toMatchObject({ created: 1, updated: 5, unaccounted: 0 });
  });

  test.each([
    [
      { created: 1, updated: 1 },
      { created: 1, updated: 3, unaccounted: 2 },
    ],
    [
      { created: 9, updated: 9 },
      { created: 4, updated: 2, unaccounted: 0 },
    ],
    [
      { created: 3, updated: 9 },
      { created: 3, updated: 3, unaccounted: 0 },
    ],
    [
      { created: Number.NaN, updated: -1 },
      { created: 0, updated: 2, unaccounted: 4 },
    ],
  ])('counts that do not add up, %j, are brought to the number of lines', (counts, expected) => {
    const outcome = judgeAnswer(chunk, { ...counts, errors: [] });
    expect(outcome).toMatchObject(expected);
    expect(outcome.created + outcome.updated + outcome.unaccounted).toBe(6);
  });

  test('where nothing is counted, what was not refused is synced', () => {
    const outcome = judgeSilentAnswer(chunk, new Map([[2, 'bad']]));
    expect(told(outcome)).toEqual(['4 bad', '7 bad', '9 bad']);
    expect(outcome).toMatchObject({ created: 0, updated: 0, synced: 3, unaccounted: 0 });
  });
});

test('a refusal by fields names the rows, however the service writes them', () => {
  const refused = refusedRows({
    'contacts.12.email': ['must be an e.mail address.', 'is too long.'],
    'contacts[12].phone': ['is bad'],
    'contacts[31]': ['is empty.'],
    contacts: ['are too many'],
    name: ['is required'],
    'old_contacts.4.email': ['is of no row'],
  });
  expect([...refused]).toEqual([
    [12, 'must be an e.mail address; is too long; is bad'],
    [31, 'is empty'],
  ]);
});
