// What was there before a run is in its journal: a row that was on its way is looked for among what came since.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Exchange, HttpResponse } from '../../src/context.ts';
import { asksAccount, wholeAccount } from '../sandbox-world.ts';
import { createWorld } from '../svc.ts';
import { runOrKill } from './killing.ts';

type List = { readonly contacts_list_id: number; readonly name: string; readonly target_industry: string };

const says = (json: unknown): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(json),
});

/** Lists whose ids say nothing about their age: new ones get the ids given. */
function listService(lists: List[], ids: number[]): Exchange {
  return async (request) => {
    if (asksAccount(request)) return says(JSON.parse(wholeAccount));
    const { method, body } = request;
    if (method === 'GET') return says({ data: lists });
    const { name, target_industry } = JSON.parse(String(body)) as List;
    const made = { contacts_list_id: ids.shift() ?? 1, name, target_industry };
    lists.push(made);
    return says({ contact_list_id: made.contacts_list_id });
  };
}

const list = (contacts_list_id: number, name: string): List => ({ contacts_list_id, name, target_industry: 'Any' });

function fileOf(names: readonly string[]): string {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-test-')), 'lists.csv');
  writeFileSync(file, `name,target_industry,notes\n${names.map((name) => `${name},Any,n\n`).join('')}`);
  return file;
}

test('the row that was on its way is found although its id is smaller than those that were there', async () => {
  const lists = [list(500, 'Other'), list(700, 'Beta')];
  const world = createWorld(listService(lists, [10, 20]));
  const argv = ['lists', 'create', '--from', fileOf(['Beta', 'Gamma']), '--json', '--concurrency', '1'];
  // The account, a look at what is there, then the first row, which the service hears of.
  const { ran, next } = await runOrKill(world, argv, { at: 2, heard: true });
  expect(ran).toBeUndefined();
  const again = await runOrKill(next, argv, undefined);
  expect(again.ran, again.ran?.stderr).toMatchObject({ exitCode: 0 });
  expect(lists.map(({ contacts_list_id: id, name }) => `${id} ${name}`)).toEqual([
    '500 Other',
    '700 Beta',
    '10 Beta',
    '20 Gamma',
  ]);
});

test('a record that was there before the killed run is never taken for its row', async () => {
  const lists = [list(500, 'Other'), list(700, 'Beta')];
  const world = createWorld(listService(lists, [10]));
  const argv = ['lists', 'create', '--from', fileOf(['Beta']), '--json'];
  const { next } = await runOrKill(world, argv, { at: 2, heard: false });
  const { ran } = await runOrKill(next, argv, undefined);
  expect(ran).toMatchObject({ exitCode: 9 });
  expect(lists).toHaveLength(2);
});
