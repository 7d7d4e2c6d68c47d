// What stands around the rows of a file, and lists of ids in JSON.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

test('where the only row is taken for a line of totals, the refusal names it', async () => {
  const stdin = 'subject,priority,description\nTotal,1,2\n';
  const ran = await svc(sandboxWorld(), ['tickets', 'create', '--from', '-', '--yes'], { stdin });
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('holds no rows');
  expect(ran.stderr).toContain('Not read below the rows (line 2): "Total".');
});

test('a list with nothing in it that is piped on is no error: 0 rows, and a note', async () => {
  const world = sandboxWorld();
  const none = ['tickets', 'list', '--search', 'no such ticket', '-o'];
  for (const form of ['jsonl', 'json']) {
    const { stdout } = await svc(world, [...none, form]);
    const file = join(world.folder, 'report.json');
    const close = ['tickets', 'close', '--from', '-', '--yes', '--json', '--report', file];
    const ran = await svc(world, close, { stdin: stdout });
    expect(ran.exitCode).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 0, done: 0, requests: 0, errors: [] });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(ran.stdout));
    expect(ran.stderr).toMatch(/^Standard input (?:is empty|holds no rows)\. Nothing was sent\./u);
    writeFileSync(file, stdout);
    expect((await svc(world, ['tickets', 'close', '--from', file, '--yes'])).exitCode).toBe(2);
  }
  expect((await svc(world, ['tickets', 'close', '--from', '-', '--yes'], { stdin: 'id\n' })).exitCode).toBe(2);
  expect((await svc(world, ['contacts', 'sync', '-', '--yes'], { stdin: '' })).exitCode).toBe(2);
});

test('a list with nothing in it leaves no results, rejects or report of another day behind', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const files = ['results', 'rejects', 'report'].map((kind) => join(world.folder, `${kind}.csv`));
  const [results = '', rejects = '', report = ''] = files;
  const out = ['--results', results, '--rejects', rejects, '--report', report];
  const close = (stdin: string, ...more: string[]) =>
    svc(world, ['tickets', 'close', '--from', '-', '--yes', ...out, ...more], { stdin });
  const held = () => files.map((file) => readFileSync(file, 'utf8'));
  await close('8\nnone\n');
  const [of, ...others] = held();
  expect([of, others[0]]).toEqual([expect.stringContaining('8,'), expect.stringContaining('none,')]);
  // A dry run sends nothing, so what tells of rows that were sent stays.
  const dry = await close('[]', '--dry-run');
  expect([dry.exitCode, ...held().slice(0, 2)]).toEqual([0, of, others[0]]);
  expect(await close('[]')).toMatchObject({ exitCode: 0 });
  expect(held().slice(0, 2)).toEqual(['svc_line,svc_status,svc_id,svc_error\r\n', 'svc_line,svc_error\r\n']);
  expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ rows: 0, done: 0 });
  const lines = join(world.folder, 'results.jsonl');
  await svc(world, ['tickets', 'close', '--from', '-', '--yes', '--results', lines], { stdin: '' });
  expect(readFileSync(lines, 'utf8')).toBe('');
});

test('signing secrets in the results are not lost to a list with nothing in it', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const results = join(world.folder, 'results.csv');
  const held = 'svc_line,svc_status,svc_id,svc_error,svc_secret\r\n2,done,1,,whsec_abcdefghijk\r\n';
  writeFileSync(results, held);
  const create = ['webhooks', 'create', '--from', '-', '--yes', '--results', results];
  const ran = await svc(world, create, { stdin: '[]' });
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('holds signing secrets') });
  expect(readFileSync(results, 'utf8')).toBe(held);
});

test.each([
  ['a line end', '\n'],
  ['blank lines', ' \r\n\r\n'],
  ['a byte order mark', '\ufeff'],
])('%s alone, piped on, is as empty as nothing', async (_, stdin) => {
  const ran = await svc(sandboxWorld(), ['tickets', 'close', '--from', '-', '--yes'], { stdin });
  expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Nothing was sent.') });
});

test('the rejected rows of a table that names its delimiter are read with the same flags', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const [file, rejects] = [join(world.folder, 'f.csv'), join(world.folder, 'rejects.csv')];
  writeFileSync(file, 'sep=^\r\nid^priority\r\n8^1\r\n9^none of these\r\n');
  const update = (from: string) =>
    svc(world, ['tickets', 'update', '--from', from, '--rejects', rejects, '--yes', '--json']);
  expect((await update(file)).exitCode).toBe(8);
  const text = readFileSync(rejects, 'utf8');
  expect(text).toMatch(/^sep=\^\r\nid\^priority\^svc_line\^svc_error\r\n9\^/u);
  writeFileSync(file, text.replace('none of these', '2'));
  expect(await update(file)).toMatchObject({ exitCode: 0 });
});

test('a JSON list of ticket numbers is a list of ids', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const { stdout } = await svc(world, ['tickets', 'list', '--limit', '2', '--json', '--jq', '[.[].ticket_number]']);
  expect(JSON.parse(stdout)).toEqual([expect.any(String), expect.any(String)]);
  const ran = await svc(world, ['tickets', 'close', '--from', '-', '--yes', '--json'], { stdin: stdout });
  expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 2, done: 2 });
});
