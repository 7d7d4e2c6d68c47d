// What a command says where a send becomes a draft, is only shown, is so already, or must be asked for.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { enter } from '../svc.ts';
import { desk, writesOf } from './drafting.ts';

const drafting = { env: { SVC_SENDS: 'draft', NO_COLOR: '1' } };
const rows = 'id,body\n8,One\n9,Two\n10,\n';
const reply = ['tickets', 'reply', '--from', '-'];

test('a dry run in mode draft says that the rows would become drafts', async () => {
  const { run, ok, world } = desk();
  const shown = await run([...reply, '--dry-run'], { ...drafting, stdin: rows, columns: 100 });
  expect(shown.stdout).toContain(
    '2 of 3 rows would become drafts that a person approves; nothing would be sent.\n1 row would be rejected.',
  );
  expect(JSON.parse((await run([...reply, '--dry-run', '--json'], { ...drafting, stdin: rows })).stdout)).toMatchObject(
    {
      would_send: 2,
      would_draft: 2,
    },
  );
  const allowed = await run([...reply, '--dry-run'], { stdin: rows, columns: 100 });
  expect(allowed.stdout).toContain('2 of 3 rows would be sent');
  const one = await ok('tickets reply 8 --body Hello --draft --dry-run', { columns: 100 });
  expect(one.stderr).toContain('It would become a draft that a person approves. Nothing was sent.');
  expect((await ok('tickets note 8 --body Hello --dry-run', drafting)).stderr).not.toContain('draft');
  expect(writesOf(world)).toEqual([]);
});

test('the summary of a file in mode draft calls no draft done, and names the batch', async () => {
  const { run, json } = desk();
  const ran = await run(reply, { ...drafting, stdin: rows, columns: 100 });
  expect(ran.stdout).toMatch(/ 3 {2}rows\n {2}2 {2}drafted\n {2}1 {2}rejected\n/u);
  const [first] = await json<readonly { batch: string }[]>('drafts list');
  expect(ran.stderr).toContain(`svc drafts approve --batch ${first?.batch}`);
  const inPipe = await run(reply, { ...drafting, stdin: rows.replaceAll('One', 'Three').replaceAll('Two', 'Four') });
  expect(inPipe.stderr).toContain('2 of 3 rows became drafts: 1 rejected.');
  expect(inPipe.stderr).not.toContain('are done');
});

test('what is so already becomes no draft, and the command says so', async () => {
  const { run, ok, json } = desk({ seed: 'demo' });
  await ok('conversations resolve 9');
  const published = await json<readonly { id: number; is_live: boolean }[]>('changelog list --status published');
  const [live, toCome] = [true, false].map((isLive) => published.find(({ is_live }) => is_live === isLive));
  const told = await ok('conversations resolve 9 --draft', { columns: 100, env: { NO_COLOR: '1' } });
  expect(told.stdout).toBe('✓ Conversation 9 is resolved already. No draft was made.\n');
  expect((await ok(`changelog publish ${live?.id} --draft`)).stderr).toContain(
    `Entry ${live?.id} is published already.`,
  );
  expect((await ok(`changelog publish ${toCome?.id} --draft`)).stderr).toContain(
    `Entry ${toCome?.id} is scheduled already.`,
  );
  expect((await ok(`changelog publish ${toCome?.id} --yes`)).stderr).toContain(
    `To publish it now: svc changelog publish ${toCome?.id} --at now`,
  );
  await ok(`changelog publish ${toCome?.id} --at now --yes`);
  expect(await json(`changelog get ${toCome?.id}`)).toMatchObject({ is_live: true });
  const several = await run('conversations resolve 9 7', drafting);
  expect(several).toMatchObject({ exitCode: 0, stdout: '9\tdone\n7\tdraft 1\n' });
  expect(several.stderr).toContain('2 in all: 1 drafted, 1 done');
  const file = await run('conversations resolve --from - --json', { ...drafting, stdin: 'id\n9\n5\n' });
  expect(JSON.parse(file.stdout)).toMatchObject({ rows: 2, done: 2, drafted: 1 });
  expect(await json('drafts list')).toHaveLength(2);
});

test('a text that only becomes a draft, or is asked for before it is sent, is not asked for here', async () => {
  const { run, world, json } = desk();
  mkdirSync(join(world.folder, 'config/templates'), { recursive: true });
  writeFileSync(join(world.folder, 'config/templates/eta.md'), 'It is done today.\n');
  const line = 'tickets reply 8 --template eta';
  const noEdit = { columns: 80, edit: (text: string) => text };
  for (const more of [line, `${line} --editor`])
    expect(await run(`${more} --draft`, { ...noEdit, answers: [] })).toMatchObject({ exitCode: 0 });
  expect(await json('drafts list')).toHaveLength(2);
  const asked = await run(line, { ...noEdit, env: { SVC_SENDS: 'ask' }, answers: [false] });
  expect(asked).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Declined') });
  expect((await run(line, { ...noEdit, answers: [false] })).stderr).toContain('Declined');
  expect(writesOf(world)).toEqual([]);
});

test('in mode ask Return alone sends nothing, for the rows of a file too', async () => {
  const { run, world } = desk();
  writeFileSync(join(world.folder, 'rows.csv'), 'id,body\n8,One\n9,Two\n');
  const line = ['tickets', 'reply', '--from', join(world.folder, 'rows.csv'), '--yes'];
  const ran = await run(line, { env: { SVC_SENDS: 'ask' }, columns: 80, answers: [enter] });
  expect(ran.exitCode).not.toBe(0);
  expect(ran.stderr).toContain('Viktor Nakamura');
  expect(writesOf(world)).toEqual([]);
});

test('a command whose --draft means something else names the way that leaves it for a person', async () => {
  const { run, world } = desk();
  writeFileSync(join(world.folder, 'notes.md'), '# Changes\n\n## 9.9.9\n\n- Faster\n');
  const line = ['changelog', 'release', '9.9.9', '--from', join(world.folder, 'notes.md'), '--yes'];
  const ran = await run(line, { env: { SVC_SENDS: 'ask' } });
  expect(ran.stderr).toContain('run it with SVC_SENDS=draft');
  expect(ran.stderr).not.toContain('add --draft');
});

test('a run whose mode becomes draft meanwhile says how many rows it has sent', async () => {
  const { world, run } = desk();
  const config = join(world.folder, 'config');
  mkdirSync(config, { recursive: true });
  const tighten = (_: 'stdout' | 'stderr', text: string) => {
    if (text.includes('POST')) writeFileSync(join(config, 'config.json'), '{"profiles":{"default":{"sends":"draft"}}}');
  };
  const stdin = 'id,body\n8,One\n9,Two\n10,Three\n11,Four\n';
  const ran = await run([...reply, '--yes', '--concurrency', '1', '--debug'], { stdin, seen: tighten });
  expect(writesOf(world).length).toBeGreaterThan(0);
  expect(ran.stderr).toMatch(/\d drafts? waits? for a person; \d rows? (?:was|were) sent/u);
  expect(ran.stderr).not.toContain('nothing was sent');
});

test('a file of which some rows became drafts does not advise to send what was sent again without a word', async () => {
  const { ok } = desk();
  const stdin = 'id,body\n8,One\n9,Two\n';
  await ok([...reply, '--yes', '--max-sends', '1'], { stdin }).catch(() => {});
  await ok([...reply, '--yes'], { ...drafting, stdin });
  const again = await ok([...reply, '--yes'], { stdin });
  expect(again.stderr).toContain('some of its rows as drafts: nothing is sent. To see those: svc drafts list --all.');
  expect(again.stderr).toContain('what was sent too');
});

const two = 'id,body\n8,One\n9,Two\n';

test('rows whose drafts a person rejected are rejected, and go with --again alone', async () => {
  const { world, run, ok } = desk();
  const first = await run([...reply, '--yes', '--json'], { ...drafting, stdin: two });
  expect(JSON.parse(first.stdout)).toMatchObject({ drafted: 2, batch: expect.any(String) });
  await ok('drafts reject 1 2 --reason Phoned');
  for (const stdin of [two, 'id,body\n9,Two\n']) {
    const again = await run([...reply, '--yes', '--json'], { stdin });
    expect(again.exitCode).toBe(8);
    const report = JSON.parse(again.stdout);
    expect(report).toMatchObject({ done: 0, rejected: report.rows, unsent: 0 });
    expect(report).not.toHaveProperty('drafted');
    expect(report.errors.at(-1).error).toContain('draft 2 was rejected by a person (Phoned)');
    expect(again.stderr).not.toContain('wait for a person');
    expect(again.stderr).not.toContain('--restart');
  }
  expect(writesOf(world)).toEqual([]);
  const sent = await ok([...reply, '--yes', '--again', '--json'], { stdin: two });
  expect(JSON.parse(sent.stdout)).toMatchObject({ done: 2, rejected: 0 });
  expect(writesOf(world)).toHaveLength(2);
  const last = await ok([...reply, '--yes', '--again', '--json'], { stdin: two });
  expect(JSON.parse(last.stdout)).toMatchObject({ done: 2 });
  expect(writesOf(world)).toHaveLength(2);
});

test('of some rejected drafts those rows alone go with --again, or become drafts again', async () => {
  const { world, run, ok } = desk();
  await ok([...reply, '--yes'], { ...drafting, stdin: two });
  await ok('drafts reject 2');
  const said = await run([...reply, '--yes'], { ...drafting, stdin: two });
  expect(said.exitCode).toBe(8);
  expect(said.stderr).toContain('A person rejected the draft of 1 row: to draft it again, add --again.');
  const anew = await ok([...reply, '--yes', '--again', '--json'], { ...drafting, stdin: two });
  expect(JSON.parse(anew.stdout)).toMatchObject({ done: 2, drafted: 2 });
  await ok('drafts reject 3');
  await ok([...reply, '--yes', '--again'], { stdin: two });
  expect(writesOf(world)).toEqual([expect.stringContaining('/9/')]);
});

test('while drafts wait nothing is sent beside them, and --restart says that they wait', async () => {
  const { world, run, ok } = desk();
  await ok([...reply, '--yes'], { ...drafting, stdin: two });
  const again = await run([...reply, '--yes', '--json'], { stdin: two });
  expect(JSON.parse(again.stdout)).toMatchObject({ done: 2, drafted: 2 });
  expect(again.stderr).toContain(
    'nothing is sent beside them. To see and send those that wait: svc drafts list --all.',
  );
  expect(again.stderr).not.toContain('--restart');
  expect(writesOf(world)).toEqual([]);
  const more = await run([...reply, '--yes', '--restart'], { stdin: two });
  expect(more.stderr).toContain(
    'The drafts of 2 rows that go again wait, or are not settled: whoever approves them too sends twice.',
  );
});

test('of drafts that were all sent nobody says that they wait, and one in doubt is no row that is done', async () => {
  const { world, run, ok, shown, approve } = desk();
  const line = ['tickets', 'reply', '--from', '-', '--yes', '--json'];
  const both = { stdin: 'id,body\n8,One\n9,Two\n' };
  const other = join(world.folder, 'other.csv');
  writeFileSync(other, 'id,body\n9,Two\n8,One\n');
  const ofOther = line.map((word) => (word === '-' ? other : word));
  await ok([...line, '--draft'], both);
  await world.control('POST', 'faults', { method: 'POST', path: '/tickets', action: 'drop-before' });
  await run(['drafts', 'approve', '1', '--digest', (await shown(1)).digest, '--settle', '1']);
  const inDoubt = await run(line, both);
  expect(inDoubt.stderr).toContain('Error: 1 of 2 rows became drafts, earlier runs included. 1 row may or may not');
  const third = await run(line, { stdin: 'id,body\n8,One\n9,Two\n10,Three\n' });
  expect(third.stderr).toContain('Error: 2 of 3 rows are done or became drafts, earlier runs included.');
  await approve(2);
  const elsewhere = await run(ofOther);
  expect(elsewhere.stderr).toContain('nothing is sent beside it. To see what became of it: svc drafts list --all');
  await run(['drafts', 'approve', '1', '--digest', (await shown(1)).digest, '--retry-unknown', '--yes']);
  expect((await ok(ofOther)).stderr).not.toMatch(/wait|beside/u);
  expect((await ok(line, both)).stderr).toContain('and none of them waits: nothing is sent.');
});
