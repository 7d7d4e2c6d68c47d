// Reading a list whole while others change it between any two requests.
import { expect, test } from 'vitest';
import { type Page, sweep } from '../../src/http/look/sweeps.ts';

const perPage = 50;

/** Draws from 0 to 1, the same for the same seed. */
function drawing(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    const once = Math.imul(state ^ (state >>> 15), 1 | state);
    const twice = (once + Math.imul(once ^ (once >>> 7), 61 | once)) ^ once;
    return ((twice ^ (twice >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A list, newest first, that `change` changes before each request but the first. */
function listOf(count: number, change: (ids: Set<number>, request: number) => void) {
  const ids = new Set(Array.from({ length: count }, (_, n) => n + 1));
  const always = new Set(ids);
  let requests = 0;
  const read = async (page: number): Promise<Page> => {
    if (requests++ > 0) change(ids, requests);
    for (const id of always) if (!ids.has(id)) always.delete(id);
    const all = [...ids].sort((a, b) => b - a);
    const records = all.slice((page - 1) * perPage, page * perPage).map((id) => ({ id }));
    const last = Math.max(1, Math.ceil(all.length / perPage));
    return { records, last, total: all.length, isOdd: false, isUncounted: false };
  };
  return { read, always };
}

async function readWhole(read: (page: number) => Promise<Page>): Promise<number[]> {
  const how = { read, perPage, wanted: Number.POSITIVE_INFINITY, several: true, isCounted: true, nouns: 'tickets' };
  const got: number[] = [];
  for await (const { id } of sweep({ ...how, keyOf: (record) => record.id }, { yielded: 0, total: undefined }))
    got.push(Number(id));
  return got;
}

test('two leave, and as many come before the page is read again: those between are not passed over', async () => {
  const { read, always } = listOf(100, (ids, request) => {
    if (request === 2) for (const id of [90, 91]) ids.delete(id);
    if (request === 3) for (const id of [101, 102]) ids.add(id);
  });
  const got = await readWhole(read);
  expect([...always].filter((id) => !got.includes(id))).toEqual([]);
});

test.each([
  ['some leave', { leave: 1, come: 0 }],
  ['more leave than come', { leave: 2, come: 1 }],
  ['as many leave as come', { leave: 1, come: 1 }],
  ['many leave', { leave: 10, come: 3 }],
])(
  '%s between any two requests: nothing that stays is passed over, nothing comes twice',
  async (_, { leave, come }) => {
    for (let seed = 1; seed <= 150; seed++) {
      const random = drawing(seed);
      const upTo = (most: number) => Math.floor(random() * (most + 1));
      let newest = 400;
      const { read, always } = listOf(150 + upTo(200), (ids) => {
        for (let n = upTo(leave); n > 0; n--) ids.delete([...ids][upTo(ids.size - 1)] ?? 0);
        for (let n = upTo(come); n > 0; n--) ids.add(++newest);
      });
      const got = await readWhole(read);
      expect(
        [...always].filter((id) => !got.includes(id)),
        `seed ${seed}`,
      ).toEqual([]);
      expect(new Set(got).size).toBe(got.length);
    }
  },
);
