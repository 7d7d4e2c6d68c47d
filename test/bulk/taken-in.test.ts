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
