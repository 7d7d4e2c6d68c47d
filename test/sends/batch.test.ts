// The drafts of one file are one batch, over all its runs, and no row is drafted twice.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { desk, type Shown } from './drafting.ts';

test('a run that goes on makes drafts of the batch that it began, and one that sends again makes another', {
  tags: ['long'],
}, async () => {
  const { world, run, json } = desk();
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, 'id,body\n8,One\n9,Two\n11,Three\n');
  const reply = `tickets reply --from ${file} --yes --draft`;
  await run(`${reply} --max-sends 1`);
  await run(reply);
  const first = await json<readonly Shown[]>('drafts list --all');
  expect(first.map(({ body }) => body).sort()).toEqual(['One', 'Three', 'Two']);
  expect(new Set(first.map(({ batch }) => batch)).size).toBe(1);
  await run(`${reply} --restart`);
  const all = await json<readonly Shown[]>('drafts list --all');
  expect(all).toHaveLength(6);
  expect(new Set(all.map(({ batch }) => batch)).size).toBe(2);
});
