// Cells of tags, each of which may stand in a file a million times.
import { expect, test } from 'vitest';
import { tagReader } from '../../src/sync/tags.ts';

function reading(separator?: string) {
  let lists = 0;
  const add = tagReader(separator, () => {
    lists++;
  });
  const read = (text: string, before: readonly string[] = []) => {
    const tags = [...before];
    return { doubt: add(text, tags), tags };
  };
  return { read, lists: () => lists };
}

test('a cell says the same however often it stands in the file', () => {
  const { read, lists } = reading();
  for (let row = 0; row < 3; row++) {
    expect(read('vip; beta')).toEqual({ tags: ['vip', 'beta'], doubt: undefined });
    expect(read('vip, beta')).toEqual({ tags: ['vip, beta'], doubt: ',' });
    expect(read('"vip","new, big"')).toEqual({ tags: ['vip', 'new, big'], doubt: undefined });
    expect(lists()).toBe(row + 1);
  }
});

test('what a cell said before is not changed by what other cells of its row say', () => {
  const { read } = reading();
  read('vip; beta');
  expect(read('vip; beta', ['beta', 'pro']).tags).toEqual(['beta', 'pro', 'vip']);
  expect(read('vip; beta').tags).toEqual(['vip', 'beta']);
});

test('more cells than are remembered, and longer ones, are read all the same', () => {
  const { read } = reading('|');
  for (let pass = 0; pass < 2; pass++) {
    for (let i = 0; i < 1_500; i++) expect(read(`a${i}|b`).tags).toEqual([`a${i}`, 'b']);
    expect(read(`${'x'.repeat(300)}|b`).tags).toEqual(['x'.repeat(300), 'b']);
  }
});
