// Files that two processes make at the same moment have names of their own.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { newName } from '../../src/bulk/journal/on-disk.ts';
import { closeIndex, createIndex } from '../../src/webhooks/store/folder/index-file.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('whatever chance and the clock say', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  vi.spyOn(Date, 'now').mockReturnValue(1_800_000_000_000);
  const keys = { scope: 'a'.repeat(20), profile: 'b'.repeat(20) };
  expect(newName(keys)).not.toBe(newName(keys));
  const folder = mkdtempSync(join(tmpdir(), 'svc-names-'));
  const [one, other] = [createIndex(folder), createIndex(folder)];
  expect(one.name).not.toBe(other.name);
  for (const index of [one, other]) await closeIndex(index);
});
