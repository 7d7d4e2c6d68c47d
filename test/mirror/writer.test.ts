import { expect, test } from 'vitest';
import { createWriter } from '../../src/mirror/pull/writer.ts';
import type { Sql, Store } from '../../src/mirror/tables/store.ts';

test('behind a write that failed nothing is stored, neither what waited nor what comes', async () => {
  const stored: string[] = [];
  const sql = {} as Sql;
  const write: Store['write'] = async (work) => {
    await Promise.resolve();
    return work(sql);
  };
  const writer = createWriter({ write } as Store);
  const records = writer.write(() => Promise.reject(new Error('the disk is full')));
  // Begun at once; what follows waits for it.
  const page = writer.write(async () => void stored.push('the next page'));
  await expect(records).rejects.toThrow('the disk is full');
  await expect(page).rejects.toThrow('the disk is full');
  await expect(writer.write(async () => void stored.push('later'))).rejects.toThrow('the disk is full');
  await expect(writer.done()).rejects.toThrow('the disk is full');
  expect(stored).toEqual([]);
});
