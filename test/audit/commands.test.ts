// svc audit: list, show, verify, head.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { filesOf } from '../../src/audit/read.ts';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

let world: SandboxWorld;
let file: string;

const json = async (...argv: string[]) => JSON.parse((await svc(world, ['audit', ...argv, '--json'])).stdout);
const seqsOf = async (...argv: string[]) => (await json('list', ...argv)).map(({ seq }: { seq: number }) => seq);

beforeAll(async () => {
  world = sandboxWorld({ seed: few, rateLimit: 'off' });
  await svc(world, ['tickets', 'note', 'T-1008', '--body', 'One']);
  world.clock.advance(3 * 3_600_000);
  await svc(world, ['tickets', 'close', '8']);
  await svc(world, ['api', '/tickets', '-f', 'subject=Hello']);
  await svc(world, ['lists', 'delete', '1', '--yes']);
  [file = ''] = filesOf(join(world.folder, 'state', 'audit', 'service.test-environment'));
});

test('where nothing is recorded by a number, the hint says where to find its id, and names no other record', async () => {
  const { stderr } = await svc(world, ['audit', 'list', '--record', 'T-1003']);
  expect(stderr).toContain('For the ID: svc tickets get T-1003 --jq .id');
  expect(stderr).not.toContain('--record 8');
});

test('the list is newest first, and narrowed by time, record, face and outcome', async () => {
  expect(await seqsOf()).toEqual([4, 3, 2, 1]);
  expect(await seqsOf('--since', '1h')).toEqual([4, 3, 2]);
  expect(await seqsOf('--until', '1h')).toEqual([1]);
  expect(await seqsOf('--since', '1h', '--until', '1h')).toEqual([]);
  expect(await seqsOf('--record', 'T-1008')).toEqual([2, 1]);
  expect(await seqsOf('--record', '8')).toEqual([2, 1]);
  expect(await seqsOf('--face', 'api')).toEqual([3]);
  expect(await seqsOf('--outcome', 'unknown')).toEqual([]);
  expect(await seqsOf('--limit', '1')).toEqual([4]);
});

test('what --limit leaves out is told', async () => {
  const ran = await svc(world, ['audit', 'list', '--limit', '1']);
  expect(ran.stderr).toContain('Showing 1 of 4. For more: --limit N, or --all.');
  expect((await svc(world, ['audit', 'list', '--limit', '4'])).stderr).not.toContain('Showing');
});

test('in csv a nested part is JSON in its cell, and has a column of its own where it is named', async () => {
  const csv = async (...argv: string[]) =>
    (await svc(world, ['audit', 'list', '-o', 'csv', ...argv])).stdout.split('\r\n');
  const [header = '', row = ''] = await csv();
  expect([header.split(',').includes('who'), row.includes('{""')]).toEqual([true, true]);
  expect((await csv('--fields', 'seq,who.user'))[0]).toBe('seq,who.user');
});

test('a table, csv and rows show it as every list', async () => {
  const { stdout } = await svc(world, ['audit', 'list'], { columns: 120 });
  expect(stdout).toContain('ticket T-1008');
  const rows = (await svc(world, ['audit', 'list'])).stdout.trimEnd().split('\n');
  expect(rows.map((row) => row.split('\t')[4])).toEqual([
    'contact list 1',
    expect.stringMatching(/^ticket /u),
    expect.stringMatching(/^ticket /u),
    'ticket T-1008',
  ]);
  expect((await svc(world, ['audit', 'list', '-o', 'csv'])).stdout.split('\n')[0]).toContain('seq,time');
});

test('one write is shown with all that is kept of it', async () => {
  expect(await json('show', '1')).toMatchObject({
    ...{ seq: 1, account: null, profile: null, credential: 'api_key', face: 'cli', command: 'tickets note' },
    ...{ operation: 'addTicketNote', method: 'POST', path: '/tickets/8/notes', draft: null, status: 201 },
    ...{
      record: { kind: 'tickets', id: 8, number: 'T-1008' },
      outcome: 'done',
      prev: expect.stringMatching(/^[\da-f]{64}$/u),
    },
  });
  const { stdout: forPeople } = await svc(world, ['audit', 'show', '1', '--no-color'], { columns: 80 });
  expect(forPeople).toMatch(/^HTTP status +201$/mu);
  expect(forPeople).toMatch(/^Record +ticket T-1008$/mu);
  expect(forPeople).toMatch(/^Request +POST \/tickets\/8\/notes$/mu);
  // Each field is there in words, but for what there is nothing of.
  expect(forPeople).not.toMatch(/^\w*_|null|^(?:Draft|Profile)/mu);
  const entry = await json('show', '1');
  const values = forPeople.replaceAll(/\s+/gu, ' ');
  for (const name of ['face', 'operation', 'credential', 'service', 'digest', 'prev'])
    expect(values).toContain(entry[name]);
  expect(forPeople).not.toMatch(/\dT\d\d:/u);
  expect((await svc(world, ['audit', 'show', '99'])).exitCode).toBe(3);
});

test('verify says what is wrong with exit 1, and a head that was kept tells of a cut tail', async () => {
  const head = (await svc(world, ['audit', 'head'])).stdout.trim();
  expect(head).toMatch(/^[\da-f]{64}$/u);
  expect((await svc(world, ['audit', 'verify', '--head', head])).exitCode).toBe(0);
  for (const text of ['0', `{"head":"${head}"}`, head.slice(1)]) {
    const strange = await svc(world, ['audit', 'verify', '--head', text]);
    expect(strange).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('takes what svc audit head prints') });
  }
  const whole = readFileSync(file, 'utf8');
  writeFileSync(file, whole.replace('"face":"api"', '"face":"cli"'));
  const changed = await svc(world, ['audit', 'verify']);
  expect(changed).toMatchObject({ exitCode: 1, stdout: expect.stringContaining(`Line 5 of ${file} was changed.`) });
  writeFileSync(file, whole.split('\n').slice(0, -3).join('\n').concat('\n'));
  expect((await svc(world, ['audit', 'verify'])).exitCode).toBe(0);
  const cut = await svc(world, ['audit', 'verify', '--head', head]);
  expect(cut).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('were cut off') });
  writeFileSync(file, whole);
  appendFileSync(file, '{"se');
  const torn = await svc(world, ['audit', 'verify', '--head', head]);
  expect(torn).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('was not sent') });
  writeFileSync(file, whole);
});

test('a credential that comes with a request is read for which record is meant, and none asks for one', async () => {
  const env = { SVC_API_KEY: '', SVC_BASE_URL: '' };
  expect((await svc(world, ['audit', 'list'], { env })).exitCode).toBe(0);
  const sent = world.sent.length;
  await svc(world, ['audit', 'verify']);
  expect(world.sent).toHaveLength(sent);
  expect((await svc(world, ['audit', 'head', '--account', 'nobody'])).exitCode).toBe(3);
});

test('a torn line that told what became of a write leaves that write unknown in the list', async () => {
  const torn = sandboxWorld({ seed: few, rateLimit: 'off' });
  await svc(torn, ['tickets', 'note', 'T-1008', '--body', 'One']);
  const [path = ''] = filesOf(join(torn.folder, 'state', 'audit', 'service.test-environment'));
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, -20));
  expect(JSON.parse((await svc(torn, ['audit', 'list', '--json'])).stdout)).toMatchObject([
    { seq: 1, operation: 'addTicketNote', outcome: 'unknown' },
  ]);
  expect((await svc(torn, ['audit', 'verify'])).exitCode).toBe(0);
});
