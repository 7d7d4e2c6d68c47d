// The order of messages, notes and events to one record: what is behind one that is not done waits for it.
import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HttpRequest } from '../../src/context.ts';
import { lateWorld, ownFailure, unsettledEndings } from '../http/late-service.ts';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const cut = unsettledEndings['a cut connection'] ?? ownFailure;

type Write = { readonly path: string; readonly body: unknown };

/** A sandbox, and what is written to it. */
function desk() {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const writes: Write[] = [];
  const exchange: SandboxWorld['exchange'] = (request) => {
    if (request.method !== 'GET')
      writes.push({ path: new URL(request.url).pathname, body: request.body && JSON.parse(String(request.body)) });
    return world.exchange(request);
  };
  return { world: { ...world, exchange }, writes };
}

const reportOf = ({ stdout }: { readonly stdout: string }) => JSON.parse(stdout);

const behindUnknown = 'not sent: it is not known yet whether an earlier row for the same record was done';
const behindUnsent = 'not sent: an earlier row for the same record was not sent';

test('a message behind one that the policy forbids stays unsent, with its status, and both go in order', async () => {
  const { world, writes } = desk();
  const policy = join(world.folder, 'config', 'policy.yaml');
  mkdirSync(join(world.folder, 'config'), { recursive: true });
  writeFileSync(policy, `sends: { deny: '(.body.body // "") | test("refund")' }\n`);
  const stdin = 'id,body,status\n8,1: your refund is on its way,\n8,2: all done bye,resolved\n9,Hello,\n';
  const argv = ['tickets', 'reply', '--from', '-', '--yes', '--json'];
  const first = await svc(world, argv, { stdin });
  expect(first.exitCode).toBe(8);
  expect(reportOf(first)).toMatchObject({
    done: 1,
    unsent: 2,
    errors: [{ line: 2 }, { line: 3, error: behindUnsent }],
  });
  expect(writes).toMatchObject([{ path: '/tickets/9/replies' }]);
  unlinkSync(policy);
  expect(await svc(world, argv, { stdin })).toMatchObject({ exitCode: 0 });
  expect(writes.slice(1)).toMatchObject([
    { path: '/tickets/8/replies', body: { body: '1: your refund is on its way' } },
    { path: '/tickets/8/replies', body: { body: '2: all done bye' } },
    { path: '/tickets/8', body: { status: 'resolved' } },
  ]);
});

const adding: readonly (readonly [words: string, stdin: string, path: RegExp])[] = [
  ['tickets reply', 'id,body,status\n8,one,\n8,two,resolved\n', /\/replies$/u],
  ['tickets note', 'id,body\n8,one\n8,two\n', /\/notes$/u],
  ['conversations reply', 'id,body,resolve\n1,one,\n1,two,true\n', /\/messages$/u],
  ['events send', 'trigger,contact.name,contact.email\none,Ada,a@example.com\ntwo,Ada,A@example.com\n', /\/events$/u],
];

test.each(adding)(
  '%s behind one that is unknown stays unsent, with what is to follow it',
  async (words, stdin, path) => {
    const { world, writes } = desk();
    const isMeant = ({ method, url }: HttpRequest) => method === 'POST' && path.test(new URL(url).pathname);
    const late = lateWorld(world, { isMeant, ending: cut });
    const argv = [...words.split(' '), '--from', '-', '--yes', '--json', '--settle', '1'];
    const held = { done: 0, unknown: 1, unsent: 1, errors: [{ line: 2 }, { line: 3, error: behindUnknown }] };
    const ran = await svc(late, argv, { stdin });
    expect(ran.exitCode).toBe(9);
    expect(reportOf(ran)).toMatchObject(held);
    expect(writes).toEqual([]);
    const again = await svc(world, [...argv, '--retry-unknown'], { stdin });
    expect(again, again.stderr).toMatchObject({ exitCode: 0 });
    expect(JSON.stringify(writes)).toMatch(/one.*two.*(?:resolve|$)/u);
  },
);

test('a later run sends what waited behind a row that stays unknown: nobody can wait for that for ever', async () => {
  const { world, writes } = desk();
  const isMeant = ({ method, url }: HttpRequest) => method === 'POST' && url.endsWith('/notes');
  const late = lateWorld(world, { isMeant, ending: cut });
  const stdin = 'id,body\n8,one\n8,two\n9,three\n';
  const argv = ['tickets', 'note', '--from', '-', '--yes', '--json', '--settle', '1', '--max-sends', '1'];
  expect(reportOf(await svc(late, argv, { stdin }))).toMatchObject({ unknown: 1, unsent: 2 });
  expect(reportOf(await svc(world, argv, { stdin }))).toMatchObject({ done: 1, unknown: 1, unsent: 1 });
  expect(reportOf(await svc(world, argv, { stdin }))).toMatchObject({ done: 2, unknown: 1, unsent: 0 });
  expect(writes).toMatchObject([{ body: { body: 'two' } }, { body: { body: 'three' } }]);
});

test('rows that the policy forbids, and those behind them, take no place of --max-sends', async () => {
  const { world, writes } = desk();
  mkdirSync(join(world.folder, 'config'), { recursive: true });
  const deny = `sends: { deny: '(.body.body // "") | test("refund")' }\n`;
  writeFileSync(join(world.folder, 'config', 'policy.yaml'), deny);
  const stdin = 'id,body\n8,refund\n8,two\n8,three\n9,four\n10,five\n';
  const argv = ['tickets', 'reply', '--from', '-', '--yes', '--json', '--max-sends', '2', '--concurrency', '1'];
  const ran = await svc(world, argv, { stdin });
  expect(reportOf(ran), ran.stderr).toMatchObject({ done: 2, unsent: 3 });
  expect(writes.map(({ path }) => path)).toEqual(['/tickets/9/replies', '/tickets/10/replies']);
});

test('a message behind one whose status may still be set stays unsent in that run', async () => {
  const { world, writes } = desk();
  const isMeant = ({ method }: HttpRequest) => method === 'PATCH';
  const late = lateWorld(world, { isMeant, ending: cut, times: Number.POSITIVE_INFINITY });
  const stdin = 'id,body,status\n8,one,pending\n8,two,resolved\n';
  const argv = ['tickets', 'reply', '--from', '-', '--yes', '--json', '--max-wait', '1'];
  const first = await svc(late, argv, { stdin });
  expect(first.exitCode).toBe(9);
  expect(reportOf(first)).toMatchObject({ unknown: 1, unsent: 1 });
  expect(writes).toHaveLength(1);
  expect((await svc(world, argv, { stdin })).exitCode).toBe(9);
  expect(writes).toMatchObject([
    { body: { body: 'one' } },
    { body: { body: 'two' } },
    { body: { status: 'resolved' } },
  ]);
});

test('a row behind one that is held by another of its keys is held, too, and those before it go', async () => {
  const { world, writes } = desk();
  const isMeant = ({ body }: HttpRequest) => String(body).includes('"two"');
  const late = lateWorld(world, { isMeant, ending: cut });
  const event = (trigger: string, contact: object) => ({ trigger, contact: { name: 'Ada', ...contact } });
  const rows = [
    event('one', { email: 'a@example.com' }),
    event('two', { email: 'a@example.com' }),
    event('three', { email: 'a@example.com', phone: '+12025550123' }),
    event('four', { phone: '+12025550123' }),
  ];
  const ran = await svc(late, ['events', 'send', '--from', '-', '--yes', '--json'], { stdin: JSON.stringify(rows) });
  expect(reportOf(ran)).toMatchObject({ done: 1, unknown: 1, unsent: 2 });
  expect(writes).toMatchObject([{ body: { trigger: 'one' } }]);
});

test('rows that create a record wait for none that is unknown, however alike', async () => {
  const { world } = desk();
  const isMeant = ({ method, url }: HttpRequest) => method === 'POST' && url.endsWith('/tickets');
  const late = lateWorld(world, { isMeant, ending: cut });
  const argv = ['tickets', 'create', '--from', '-', '--yes', '--json', '--settle', '1'];
  const ran = await svc(late, argv, { stdin: 'subject\nAlike\nAlike\n' });
  expect(reportOf(ran)).toMatchObject({ done: 1, unknown: 1, unsent: 0 });
});
