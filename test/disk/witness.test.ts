import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askWitnesses, forgetWitness, newWitness, witnessFolder } from '../../src/disk/witness.ts';

test('a witness says how far a log came for as long as it is not closed, and after an end that was not clean', async ({
  skip,
}) => {
  const folder = await witnessFolder();
  if (folder === undefined) return skip('There is no memory here that is shared by the processes of a machine.');
  const witness = await newWitness(5);
  const name = witness?.name ?? '';
  const saidBy = await askWitnesses();
  expect(saidBy(name)).toBe(5);
  witness?.reached(123_456);
  expect(saidBy(name)).toBe(123_456);
  await witness?.close({ stays: true });
  expect(saidBy(name)).toBe(123_456);
  await forgetWitness(name);
  expect(saidBy(name)).toBeUndefined();
  const clean = await newWitness(1);
  await clean?.close({ stays: false });
  expect(existsSync(join(folder, clean?.name ?? ''))).toBe(false);
});

test('a name that leads elsewhere is nobody', async () => {
  const saidBy = await askWitnesses();
  expect(saidBy('../../etc/hostname')).toBeUndefined();
  await forgetWitness('../nothing');
});
