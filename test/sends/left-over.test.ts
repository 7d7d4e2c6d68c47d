// What follows a reply, where svc was stopped between the two: the next run does it, as the mode of then says.
import { expect, test } from 'vitest';
import { svc } from '../svc.ts';
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
