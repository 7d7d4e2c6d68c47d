// A row of which nobody knows whether it is done goes out in no other form either: with a flag or a column fewer, or more.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Exchange } from '../../src/context.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc, type World } from '../svc.ts';

type Request = Parameters<Exchange>[0];

/** A world in which nobody knows what became of such requests. */
function setUp(isLost: (request: Request) => boolean) {
  const world = sandboxWorld({ rateLimit: 'off' });
  const silent: World = {
    ...world,
    exchange: async (request) =>
      isLost(request) ? { lost: 'after-sending', reason: 'reset', detail: 'It broke.' } : world.exchange(request),
  };
  const from = async (of: World, command: string, name: string, text: string) => {
    const file = join(world.folder, name);
    writeFileSync(file, text);
    world.sent.length = 0;
    const [words = '', flags = ''] = command.split(' + ');
    const argv = [...words.split(' '), '--from', file, '--yes', '--json', '--settle', '0', ...flags.split(' ')];
    const ran = await svc(of, argv.filter(Boolean));
    const writes = world.sent.filter((line) => line.startsWith('POST') || line.startsWith('PATCH')).length;
    return { ...ran, writes, report: ran.stdout === '' ? {} : JSON.parse(ran.stdout) };
  };
  return { world, silent, from };
}

const isPost = (end: string) => (request: Request) => request.method === 'POST' && request.url.endsWith(end);
const refused = {
  exitCode: 2,
  writes: 0,
  stderr: expect.stringContaining('svc cannot tell whether that one was done in full'),
};

const note = 'id,body\n8,One\n9,Two\n';
const [plain, pending] = ['id,body\n8,One\n', 'id,body,status\n8,One,pending\n'];

test.each([
  ['a column more', 'tickets reply', plain, 'tickets reply', pending],
  ['a column more, with --again', 'tickets reply', plain, 'tickets reply + --again', pending],
  ['a column fewer', 'tickets reply', pending, 'tickets reply', plain],
  ['a flag fewer', 'tickets reply + --status pending', plain, 'tickets reply', plain],
  ['a draft in place of it', 'tickets reply', plain, 'tickets reply + --draft --status pending', plain],
])('%s: the run stops, and --retry-unknown alone goes on', { tags: ['long'] }, async (_, first, text, later, other) => {
  const { world, silent, from } = setUp(isPost('/8/replies'));
  expect((await from(silent, first, 'a.csv', text)).exitCode).toBe(9);
  for (const name of ['a.csv', 'b.csv']) {
    expect(await from(world, later, name, other)).toMatchObject(refused);
    const dry = await from(world, later.includes('+') ? `${later} --dry-run` : `${later} + --dry-run`, name, other);
    expect(dry).toMatchObject(refused);
  }
  const retry = later.includes('+') ? `${later} --retry-unknown` : `${later} + --retry-unknown`;
  expect(await from(world, retry, 'b.csv', other)).toMatchObject({ exitCode: 0 });
  // That has settled it: no later file is held up by the row of then.
  expect(await from(world, 'tickets reply + --status open', 'c.csv', plain)).toMatchObject({ exitCode: 0, writes: 2 });
});

const forbidden = { status: 403, headers: { 'content-type': 'application/json' }, body: '{"error":"forbidden"}' };

test('a row is passed over only once one like it has left: not by a run that was refused, or stopped before', {
  tags: ['long'],
}, async () => {
  const { world, silent, from } = setUp(isPost('/8/replies'));
  const refusing: World = {
    ...world,
    exchange: async (request) => (isPost('/8/replies')(request) ? forbidden : world.exchange(request)),
  };
  expect((await from(silent, 'tickets reply', 'a.csv', pending)).exitCode).toBe(9);
  const other = 'id,body,status\n9,Two,open\n8,One,open\n';
  expect(await from(world, 'tickets reply + --retry-unknown --max-sends 1', 'b.csv', other)).toMatchObject({
    report: { done: 1, unsent: 1 },
  });
  expect(await from(world, 'tickets reply', 'b.csv', other)).toMatchObject(refused);
  expect(await from(refusing, 'tickets reply + --retry-unknown', 'b.csv', other)).toMatchObject({ exitCode: 5 });
  expect(await from(world, 'tickets reply', 'b.csv', other)).toMatchObject(refused);
  expect(await from(world, 'tickets reply + --retry-unknown', 'b.csv', other)).toMatchObject({ exitCode: 0 });
  expect(await from(world, 'tickets reply', 'c.csv', pending.replace('pending', 'closed'))).toMatchObject({
    exitCode: 0,
    writes: 2,
  });
});

test('a row beside which one like it went that is in doubt now holds up no more, but that one does', async () => {
  const { world, silent, from } = setUp(isPost('/8/replies'));
  expect((await from(silent, 'tickets reply', 'a.csv', plain)).exitCode).toBe(9);
  expect((await from(silent, 'tickets reply + --retry-unknown', 'b.csv', pending)).exitCode).toBe(9);
  expect(await from(world, 'tickets reply + --status open', 'c.csv', plain)).toMatchObject(refused);
});

test('the journal of a version that wrote down of no row what it is like: a column more is held up all the same', async () => {
  const { world, silent, from } = setUp(isPost('/8/replies'));
  expect((await from(silent, 'tickets reply', 'a.csv', plain)).exitCode).toBe(9);
  const folder = join(world.folder, 'state', 'bulk');
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.jsonl'))) {
    const text = readFileSync(join(folder, name), 'utf8');
    // As many bytes as before: the first line counts them.
    writeFileSync(
      join(folder, name),
      text.replaceAll(/,"like":"[^"]+"/gu, (like) => ' '.repeat(like.length)),
    );
  }
  for (const command of ['tickets reply', 'tickets reply + --again'])
    expect(await from(world, command, 'a.csv', pending)).toMatchObject(refused);
  expect(await from(world, 'tickets reply + --retry-unknown', 'a.csv', pending)).toMatchObject({ exitCode: 0 });
});

test('a row beside one that this file has in doubt is held up by another that it has not', async () => {
  const { world, silent, from } = setUp(isPost('/tickets'));
  const head = 'subject,status\n';
  const both = await from(silent, 'tickets create', 'a.csv', `${head}One,pending\nOne,open\n`);
  expect(both).toMatchObject({ exitCode: 9, report: { unknown: 2 } });
  expect(await from(world, 'tickets create', 'b.csv', `${head}One,closed\nOne,open\n`)).toMatchObject(refused);
});

test('another customer, and another event, are other work', { tags: ['long'] }, async () => {
  const { world, silent, from } = setUp((request) => isPost('/tickets')(request) || isPost('/events')(request));
  const event = 'trigger,contact.name,email,metadata.day\nlogin,Ann,ann@example.com,';
  expect((await from(silent, 'events send', 'e.csv', `${event}1\n`)).exitCode).toBe(9);
  expect(await from(world, 'events send', 'e2.csv', `${event}2\n`)).toMatchObject({ exitCode: 0, writes: 1 });
  expect((await from(silent, 'tickets create', 't.csv', 'subject,contact\nWelcome,1\n')).exitCode).toBe(9);
  const other = await from(world, 'tickets create', 't2.csv', 'subject,contact\nWelcome,3\n');
  expect(other).toMatchObject({ exitCode: 0, writes: 1 });
  expect(await from(world, 'tickets create', 't3.csv', 'subject,contact,priority\nWelcome,1,3\n')).toMatchObject(
    refused,
  );
});

test('a ticket of which the status is in doubt goes as another request with --again, as any that is there', {
  tags: ['long'],
}, async () => {
  const { world, silent, from } = setUp(({ method }) => method === 'PATCH');
  const text = 'subject,status,x\nRow,closed,more\n';
  expect((await from(silent, 'tickets create', 'a.csv', text)).exitCode).toBe(9);
  const dry = await from(world, 'tickets create + --dry-run', 'a.csv', text);
  expect(dry).toMatchObject({ report: { done: 0, unknown: 1 }, stderr: expect.stringContaining('(exit 9)') });
  const map = 'tickets create + --map x=description';
  expect(await from(world, map, 'a.csv', text)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--again'),
  });
  expect(await from(world, `${map} --again`, 'a.csv', text)).toMatchObject({ exitCode: 0, writes: 2 });
});

test('a ticket of which the status may be set is not created again without it', async () => {
  const { world, silent, from } = setUp(({ method }) => method === 'PATCH');
  const first = await from(silent, 'tickets create', 'a.csv', 'subject,status\nRow,closed\n');
  expect(first).toMatchObject({ exitCode: 9, report: { unknown: 1 } });
  expect(await from(world, 'tickets create', 'a.csv', 'subject\nRow\n')).toMatchObject(refused);
  expect(await from(world, 'tickets create + --priority 3', 'b.csv', 'subject\nRow\n')).toMatchObject(refused);
});

test('another text is other work, and so is the row once it is known', async () => {
  const { world, silent, from } = setUp(isPost('/8/notes'));
  expect((await from(silent, 'tickets note', 'a.csv', note)).exitCode).toBe(9);
  expect(await from(world, 'tickets note', 'b.csv', 'id,body\n8,Other\n')).toMatchObject({ exitCode: 0, writes: 1 });
  expect(await from(world, 'tickets note + --retry-unknown', 'a.csv', note)).toMatchObject({ exitCode: 0, writes: 1 });
  const more = 'id,body,why\n8,One,x\n';
  expect((await from(world, 'tickets note', 'c.csv', more)).stderr).not.toContain('cannot tell');
  expect(await from(world, 'tickets note + --again', 'c.csv', more)).toMatchObject({ exitCode: 0, writes: 1 });
});

test('of a file in the middle, --yes is no answer to rows that were sent to customers and are changed now', async () => {
  const { world, from } = setUp(() => false);
  const plain = 'id,body\n8,One\n9,Two\n25,Three\n';
  const text = plain.replace('body', 'body,status').replaceAll(/(One|Two|Three)/gu, '$1,pending');
  expect((await from(world, 'tickets reply + --max-sends 1', 'a.csv', text)).report).toMatchObject({ done: 1 });
  const ran = await from(world, 'tickets reply', 'a.csv', plain);
  expect(ran).toMatchObject({ exitCode: 2, writes: 0, stderr: expect.stringContaining('To go on, add --again.') });
  expect(await from(world, 'tickets reply + --again', 'a.csv', plain)).toMatchObject({
    exitCode: 0,
    report: { done: 3 },
  });
});

test('the question of --restart says of how many rows it is not known whether they are done', async () => {
  const { world, silent, from } = setUp(isPost('/8/notes'));
  await from(silent, 'tickets note', 'a.csv', note);
  const argv = ['tickets', 'note', '--from', join(world.folder, 'a.csv'), '--restart'];
  // A question without an answer is told by the test's own terminal.
  const ran = await svc(world, argv, { columns: 120 });
  expect(ran.stderr.replaceAll(/\s+/gu, ' ')).toMatch(
    /2 rows of them were sent before, .* and of 1 it is not known whether that was done\./u,
  );
});

test('the advice to add --again tells what it would send beside the rows that it is given for', async () => {
  const { world, from } = setUp(() => false);
  const reply = 'id,body,status\n8,One,\n9,Two,\n25,Three,\n';
  expect((await from(world, 'tickets reply', 'r.csv', reply)).exitCode).toBe(0);
  const copy = await from(world, 'tickets reply', 'copy.csv', reply.replace('9,Two,', '9,Two,pending'));
  expect(copy).toMatchObject({ exitCode: 2, writes: 0 });
  expect(copy.stderr).toContain('over this file it would send 2 rows more that were sent from another one.');
  const own = await from(world, 'tickets reply', 'r.csv', reply.replace('9,Two,', '9,Two,pending'));
  expect(own.stderr).toContain('To send them as new rows, add --again.');
});
