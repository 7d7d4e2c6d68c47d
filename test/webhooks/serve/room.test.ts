import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { svc } from '../../svc.ts';
import { newWorld } from '../serving.ts';

test.each([
  ['keep: 10000000', 'about 48 GB of disk'],
  ['keep: 2000000\ninbox: kept', 'about 10 GB of disk'],
  ['keep: 1000000', undefined],
  ['keep: 10000000\ninbox: postgres:///hooks', undefined],
])('%j: --check says what a folder takes that is to keep more than a million', async (config, said) => {
  const world = await newWorld();
  const file = join(world.folder, 'svc-webhooks.yaml');
  writeFileSync(file, `${config}\nsinks: [{ name: a, file: { path: a.jsonl } }]\n`);
  const { exitCode, stderr } = await svc(world, ['webhooks', 'serve', '--check', '--config', file]);
  expect(exitCode).toBe(0);
  if (said === undefined) expect(stderr).not.toContain('of disk');
  else expect(stderr).toContain(said);
});
