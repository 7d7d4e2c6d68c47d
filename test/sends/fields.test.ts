// --fields of what becomes a draft: the fields are those of the draft that is printed.
import { expect, test } from 'vitest';
import { desk, writesOf } from './drafting.ts';

const reply = ['tickets', 'reply', '8', '--body', 'Hello'];

test('--draft --fields takes the fields of a draft, and names them where one is strange', async () => {
  const { world, ok, run } = desk();
  const made = await ok([...reply, '--draft', '--json', '--fields', 'id,state,record.number']);
  expect(JSON.parse(made.stdout)).toEqual({ id: 1, state: 'waiting', record: { number: 'T-1008' } });
  const strange = await run([...reply, '--draft', '--fields', 'direction']);
  expect(strange).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Fields: id, state, batch,') });
  expect(writesOf(world)).toEqual([]);
  const drafts = await ok(['drafts', 'list', '--json']);
  expect(JSON.parse(drafts.stdout)).toHaveLength(1);
});

test('every field that a draft has may be asked for', async () => {
  const { ok } = desk();
  const whole = JSON.parse((await ok([...reply, '--draft', '--json'])).stdout);
  const some = await ok([...reply, '--draft', '--json', '--fields', Object.keys(whole).join(',')]);
  expect(Object.keys(JSON.parse(some.stdout))).toEqual(Object.keys(whole));
});

test('in mode draft the fields of either are taken, and of what reaches nobody only its own', async () => {
  const { ok, run } = desk();
  const env = { SVC_SENDS: 'draft' };
  const made = await ok([...reply, '--json', '--fields', 'id,state'], { env });
  expect(JSON.parse(made.stdout)).toEqual({ id: 1, state: 'waiting' });
  const entry = ['changelog', 'create', '--title', 'Faster', '--content', 'Seconds', '--json', '--fields', 'id,slug'];
  expect(JSON.parse((await ok(entry, { env })).stdout)).toEqual({ id: expect.any(Number), slug: expect.any(String) });
  expect((await run(['tickets', 'note', '8', '--body', 'x', '--fields', 'state'], { env })).exitCode).toBe(2);
});

test('without a draft its fields are refused before anything is sent; of an entry it depends on what is written', async () => {
  const { world, run, ok } = desk();
  expect((await run([...reply, '--fields', 'state'])).exitCode).toBe(2);
  expect((await run(['changelog', 'publish', '1', '--fields', 'state'])).exitCode).toBe(2);
  const made = await ok(['changelog', 'publish', '32', '--draft', '--json', '--fields', 'id,state']);
  expect(JSON.parse(made.stdout)).toEqual({ id: 1, state: 'waiting' });
  expect(writesOf(world)).toEqual([]);
});
