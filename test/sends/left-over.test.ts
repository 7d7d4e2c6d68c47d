// What follows a reply, where svc was stopped between the two: the next run does it, as the mode of then says.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runOrKill } from '../bulk/killing.ts';
import { refusals } from '../refusing.ts';
import { svc, type World } from '../svc.ts';
import { desk, writesOf } from './drafting.ts';

const line = ['conversations', 'reply', '--from', '-', '--yes', '--json'];
const rows = { stdin: 'id,body,resolve\n7,Bye,true\n' };
const [reply, resolve] = ['POST /conversations/7/messages', 'POST /conversations/7/resolve'];

/** A run that Ctrl-C ended as soon as the message was there. */
async function stopped() {
  const at = desk();
  const { world } = at;
  const stop = new AbortController();
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    if (request.method === 'POST') stop.abort('SIGINT');
    return answer;
  };
  expect((await svc({ ...world, exchange }, line, { ...rows, signal: stop.signal })).exitCode).toBe(130);
  expect(writesOf(world)).toEqual([reply]);
  return at;
}

test('what a stopped run has left goes in mode allow', async () => {
  const { world, ok } = await stopped();
  await ok(line, rows);
  expect(writesOf(world)).toEqual([reply, resolve]);
});

test('in mode draft nothing of what a stopped run has left is sent', async () => {
  for (const [flags, env] of [
    [[], { SVC_SENDS: 'draft' }],
    [['--draft'], {}],
  ] as const) {
    const { world, run, json } = await stopped();
    await run([...line, ...flags], { ...rows, env });
    expect(writesOf(world)).toEqual([reply]);
    expect(await json('drafts list')).toMatchObject([{ id: 1, state: 'waiting', operation: 'resolveConversation' }]);
  }
});

test('in mode ask a person is asked for what a stopped run has left, and a pipe leaves it to a later run', async () => {
  const { world, run, ok } = await stopped();
  const env = { SVC_SENDS: 'ask' };
  for (let more = 0; more < 2; more++) {
    const piped = await run(line, { ...rows, env });
    expect(piped.exitCode).toBe(8);
    expect(piped.stdout).toContain('A person must see this before it is sent');
  }
  expect(writesOf(world)).toEqual([reply]);
  await ok(line, { ...rows, env, columns: 80, answers: ['yes'] });
  expect(writesOf(world)).toEqual([reply, resolve]);
});

const resolved = async (json: ReturnType<typeof desk>['json']) =>
  (await json<{ status: string }>('conversations get 7')).status;

test('what a stopped run has left is done once its draft is sent, and the row is a draft until then', async () => {
  const { world, run, ok, json, approve } = await stopped();
  const first = await ok([...line, '--draft'], rows);
  expect(JSON.parse(first.stdout)).toMatchObject({ done: 1, drafted: 1, errors: [], batch: expect.any(String) });
  expect(first.stderr).toContain('1 draft waits for a person; nothing was sent.');
  for (const flags of [[], ['--draft'], ['--again']])
    expect(JSON.parse((await ok([...line, ...flags], rows)).stdout)).toMatchObject({ done: 1, drafted: 1, errors: [] });
  expect(await json('drafts list')).toHaveLength(1);
  expect(writesOf(world)).toEqual([reply]);
  expect((await approve(1)).exitCode).toBe(0);
  expect(writesOf(world)).toEqual([reply, resolve]);
  expect(await resolved(json)).toBe('resolved');
  for (const flags of [[], ['--draft']]) {
    const next = await run([...line, ...flags], rows);
    expect(JSON.parse(next.stdout)).toMatchObject({ done: 1, errors: [] });
    expect(next.stderr).toContain(': nothing is sent. To send it all again, add --restart.');
  }
  expect(writesOf(world)).toEqual([reply, resolve]);
});

test('what is so already needs no draft, and the row is done', async () => {
  const { world, ok, json } = await stopped();
  await ok('conversations resolve 7 --yes');
  const sent = writesOf(world);
  for (const flags of [['--draft'], []])
    expect(JSON.parse((await ok([...line, ...flags], rows)).stdout)).toMatchObject({ done: 1, errors: [] });
  expect(await json('drafts list --all')).toEqual([]);
  expect(writesOf(world)).toEqual(sent);
});

test('a draft of what a stopped run has left that a person rejected is told, and the reply is not sent again', async () => {
  const { world, run, ok } = await stopped();
  await ok([...line, '--draft'], rows);
  await ok(['drafts', 'reject', '1', '--reason', 'Still open.']);
  const error = 'it is sent, but draft 1 with what follows was rejected by a person (Still open): svc drafts show 1';
  for (const flags of [[], ['--again'], ['--retry-unknown'], ['--draft']]) {
    const next = await run([...line, ...flags], rows);
    expect(next.exitCode).toBe(8);
    expect(JSON.parse(next.stdout)).toMatchObject({ done: 1, rejected: 0, errors: [{ line: 2, error }] });
  }
  const other = { stdin: 'id,body,resolve\n7,Bye,true\n5,Hello,\n' };
  expect((await run([...line, '--again'], other)).exitCode).toBe(8);
  expect(writesOf(world)).toEqual([reply, 'POST /conversations/5/messages']);
});

test('of a draft of which a part was sent, and whose rest a person rejected, nothing is sent again', async () => {
  const { world, run, ok, approve } = desk();
  const replies = ['tickets', 'reply', '--from', '-', '--yes', '--json'];
  const one = { stdin: 'id,body,note\n8,Hello,n1\n' };
  await ok([...replies, '--draft'], one);
  await world.control('POST', 'faults', { method: 'POST', path: '/tickets/8/notes', action: 'status', status: 422 });
  await approve(1);
  await ok('drafts reject 1');
  const sent = writesOf(world);
  expect(sent).toEqual(['POST /tickets/8/replies', 'POST /tickets/8/notes']);
  const rejects = join(world.folder, 'r.csv');
  const error = 'the rest of draft 1 was rejected by a person: svc drafts show 1';
  for (const flags of [[], ['--again'], ['--rejects', rejects], ['--draft']])
    for (const rows of [one, { stdin: 'id,note,body\n8,n1,Hello\n' }]) {
      const next = await run([...replies, ...flags], rows);
      expect(next.exitCode).toBe(8);
      expect(JSON.parse(next.stdout)).toMatchObject({ done: 1, rejected: 0, errors: [{ line: 2, error }] });
    }
  expect(readFileSync(rejects, 'utf8').trim().split('\n')).toHaveLength(1);
  expect(writesOf(world)).toEqual(sent);
  await ok([...replies, '--restart'], one);
  expect(writesOf(world)).toHaveLength(4);
});

test('of what follows a reply, and was on its way when svc was killed, nobody knows, whatever refuses it in the next run', async () => {
  const whole = desk().world;
  await svc(whole, line, rows);
  const at = whole.sent.indexOf(resolve);
  for (const refusal of [refusals['HTTP 422'], undefined]) {
    const { world } = desk();
    const { next } = await runOrKill(world, line, { at, heard: true }, rows);
    expect(writesOf(world)).toEqual([reply, resolve]);
    const exchange: World['exchange'] = async (request) =>
      (request.url.endsWith('/resolve') && refusal) || world.exchange(request);
    const ran = await svc({ ...next, exchange }, line, rows);
    const [exitCode, unknown] = refusal ? [9, 1] : [0, 0];
    expect(ran.exitCode).toBe(exitCode);
    expect(JSON.parse(ran.stdout)).toMatchObject({ done: 1 - unknown, unknown, rejected: 0, unsent: 0 });
    expect(writesOf(world)).toEqual(refusal ? [reply, resolve] : [reply, resolve, resolve]);
  }
});
