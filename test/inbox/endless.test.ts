// @module-tag long
// A view whose query never ends: the built tool, under the Node of SVC_TEST_NODE. It waits the whole bound.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Machine, machine } from '../mirror/copy-process.ts';

let here: Machine;
beforeAll(async () => {
  here = await machine();
});
afterAll(() => here.end());

/** It looks for its first row for ever. */
const endless =
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'ticket' AS kind, i AS id FROM n WHERE i < 0";

test('a view whose query takes more than 20 seconds is given up, and says so; the copy is there for the next', async () => {
  const folder = here.folder();
  expect((await here.run(folder, ['mirror', 'pull'])).code).toBe(0);
  const views = join(folder, 'config', 'views');
  mkdirSync(views, { recursive: true });
  writeFileSync(join(views, 'slow.sql'), endless);
  const begun = performance.now();
  const ran = await here.run(folder, ['inbox', 'slow']);
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('The view slow took more than 20 seconds.') });
  expect(performance.now() - begun).toBeGreaterThan(20_000);
  expect((await here.run(folder, ['inbox', 'waiting', '--json'])).code).toBe(0);
});
