// A send that has to wait before its first attempt, since another process was refused: what was looked at before may be other now.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { once } from '../../src/promise/once.ts';
import { thief } from '../locks.ts';
import { svc, type World } from '../svc.ts';
import { desk, writesOf } from './drafting.ts';

const slow = { status: 429, headers: { 'x-ratelimit-limit': '60', 'retry-after': '40' }, body: '{"error":"Too many"}' };

type At = ReturnType<typeof desk>;

/** Right after the last of so many readings of a record `meanwhile` is done, and another process is told to wait. */
function heldAfter({ world }: At, path: string, reads: number, meanwhile: () => Promise<unknown> = async () => {}) {
  let left = reads;
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    if (request.method === 'GET' && request.url.endsWith(path) && --left === 0) {
      await meanwhile();
      const refused = await svc({ ...world, exchange: async () => slow }, ['calls', 'list', '--max-wait', '1']);
      expect(refused.stderr).toContain('limit');
      // Whether another process waits is not looked for at once again.
      await world.clock.sleep(100);
    }
    return answer;
  };
  return { ...world, exchange };
}

const says = ({ world }: At) =>
  world.control('POST', 'act', { kind: 'customer_message', account_id: 1, conversation_id: 7, body: 'Wait!' });

/** A policy that looks at the record. */
function policy({ world }: At, more = 'mode: allow'): void {
  const folder = join(world.folder, 'config');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'policy.yaml'), `sends:\n  ${more}\n  allow: '.record.id == 7'\n`);
}

test.each(['conversations reply 7 --body Hi', 'conversations reply 7 --body Hi --resolve', 'conversations resolve 7'])(
  'svc %s, approved, is not sent where the customer has written meanwhile',
  async (line) => {
    const at = desk();
    const { digest } = await at.draft(line);
    const held = heldAfter(at, '/conversations/7', 1, () => says(at));
    const ran = await svc(held, ['drafts', 'approve', '1', '--digest', digest]);
    expect(ran).toMatchObject({ exitCode: 11, stderr: expect.stringContaining('The customer has written again.') });
    expect(writesOf(at.world)).toEqual([]);
    expect(await at.shown(1)).toMatchObject({ state: 'waiting' });
  },
);

test('where the look after a wait was long on its way the draft waits with its new state, and its digest is told', async () => {
  const at = desk();
  const { digest } = await at.draft('conversations reply 7 --body Hi');
  let hasWaited = false;
  let isLate = false;
  const exchange: World['exchange'] = async (request) => {
    if (request.method !== 'GET') {
      hasWaited = true;
      return slow;
    }
    const answer = await at.world.exchange(request);
    if (!hasWaited || isLate) return answer;
    isLate = true;
    await says(at);
    at.world.clock.advance(6000);
    return answer;
  };
  const ran = await svc({ ...at.world, exchange }, ['drafts', 'approve', '1', '--digest', digest]);
  const shown = await at.shown(1);
  expect(shown.digest).not.toBe(digest);
  expect(ran).toMatchObject({ exitCode: 11, stderr: expect.stringContaining(`Its digest is ${shown.digest} now.`) });
  expect(writesOf(at.world)).toEqual([]);
});

test('nor where it is a rule that looks at the record after the wait', async () => {
  const at = desk();
  policy(at);
  const { digest } = await at.draft('conversations reply 7 --body Hi');
  const held = heldAfter(at, '/conversations/7', 1, () => says(at));
  const ran = await svc(held, ['drafts', 'approve', '1', '--digest', digest]);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 11 });
  expect(writesOf(at.world)).toEqual([]);
});

test('an approved draft is sent where nobody has written meanwhile', async () => {
  const at = desk();
  const { digest } = await at.draft('conversations reply 7 --body Hi');
  const ran = await svc(heldAfter(at, '/conversations/7', 1), ['drafts', 'approve', '1', '--digest', digest]);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  expect(writesOf(at.world)).toEqual(['POST /conversations/7/messages']);
});

test('quiet hours that begin meanwhile hold', async () => {
  const at = desk();
  const { world } = at;
  const from = new Date(world.clock.now().getTime() + 60_000).toISOString().slice(11, 16);
  const to = new Date(world.clock.now().getTime() + 3_600_000).toISOString().slice(11, 16);
  policy(at, `quiet: { from: '${from}', to: '${to}', zone: UTC }`);
  const hold = async () => world.clock.sleep(59_000 - (world.clock.now().getTime() % 60_000));
  const held = heldAfter(at, '/conversations/7', 2, hold);
  const ran = await svc(held, ['conversations', 'reply', '7', '--body', 'Hi', '--yes']);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('quiet time') });
  expect(writesOf(world)).toEqual([]);
});

const reply = ['conversations', 'reply', '7', '--body', 'Hi', '--yes'];

/** A rule that forbids to write in what is resolved; `resolve` does that. */
function deskWithRule() {
  const at = desk();
  policy(at, `deny: '.record.status == "resolved"'`);
  const resolve = once(() => at.ok('conversations resolve 7'));
  const forbidden = { exitCode: 5, stderr: expect.stringContaining('sends.deny') };
  return { world: at.world, resolve, forbidden };
}

test('a rule holds that looks at a record which changes while the send is held', async () => {
  const { world, resolve, forbidden } = deskWithRule();
  const sleep: typeof world.clock.sleep = async (ms, signal) => {
    await world.clock.sleep(ms, signal);
    await resolve();
  };
  const ran = await svc({ ...world, clock: { ...world.clock, sleep } }, [...reply, '--hold', '10']);
  expect(ran, ran.stderr).toMatchObject(forbidden);
  expect(writesOf(world)).toEqual(['POST /conversations/7/resolve']);
});

test('a rule holds that looks at a record which changes while its answer is on its way', async () => {
  const { world, resolve, forbidden } = deskWithRule();
  // Before that svc reads what is there already, to know its own message by.
  let left = 2;
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    if (request.method !== 'GET' || !request.url.endsWith('/conversations/7') || --left !== 0) return answer;
    await resolve();
    world.clock.advance(3000);
    return answer;
  };
  const ran = await svc({ ...world, exchange }, reply);
  expect(ran, ran.stderr).toMatchObject(forbidden);
  expect(writesOf(world)).toEqual(['POST /conversations/7/resolve']);
});

test.each([
  ['while a person is asked', 0],
  ['while a person is asked', 4000],
  ['in a hold behind the question', 0],
  ['in a hold behind the question', 4000],
])('in mode ask a rule holds that looks at a record which changes %s for %s ms', async (when, ms) => {
  const { world, resolve, forbidden } = deskWithRule();
  const change = async () => {
    await resolve();
    world.clock.advance(ms);
  };
  const atQuestion = { whileAsked: change };
  const inHold = { countdown: () => change().then(() => '') };
  const isHeld = when.startsWith('in a hold');
  const ran = await svc(world, isHeld ? [...reply, '--hold', '10'] : reply, {
    ...{ columns: 80, env: { SVC_SENDS: 'ask' }, answers: [true] },
    ...(isHeld ? inHold : atQuestion),
  });
  expect(ran, ran.stderr).toMatchObject(forbidden);
  expect(writesOf(world)).toEqual(['POST /conversations/7/resolve']);
});

test.each([
  ['leaves at once is read once', 0, 1],
  ['leaves within three seconds is read once', 2999, 1],
  // The last of two looks before it leaves counts, however late its answer is.
  ['is read late is read twice more', 4000, 3],
])('what %s for the rules', async (_, lateMs, times) => {
  const { world } = deskWithRule();
  let reads = 0;
  const exchange: typeof world.exchange = async (request) => {
    if (request.method === 'GET' && request.url.endsWith('/conversations/7')) reads++;
    const answer = await world.exchange(request);
    world.clock.advance(lateMs);
    return answer;
  };
  expect(await svc({ ...world, exchange }, reply)).toMatchObject({ exitCode: 0 });
  // The other one is for what is there already, to know its own message by.
  expect(reads).toBe(times + 1);
});

test('a rule holds that looks at a record which changes while it is long in being read after a wait', async () => {
  const { world, resolve, forbidden } = deskWithRule();
  const refused = {
    status: 429,
    headers: { 'x-ratelimit-limit': '60', 'retry-after': '1' },
    body: '{"error":"Too many"}',
  };
  let hasWaited = false;
  const exchange: typeof world.exchange = async (request) => {
    if (request.method !== 'GET' && !hasWaited) {
      hasWaited = true;
      return refused;
    }
    const answer = await world.exchange(request);
    if (!hasWaited || request.method !== 'GET' || writesOf(world).length > 0) return answer;
    await resolve();
    world.clock.advance(6000);
    return answer;
  };
  const ran = await svc({ ...world, exchange }, reply);
  expect(ran, ran.stderr).toMatchObject(forbidden);
  expect(writesOf(world)).toEqual(['POST /conversations/7/resolve']);
});

test('where every answer is long on its way the second look counts, and it is sent', async () => {
  const { world } = deskWithRule();
  let hasWaited = false;
  let looks = 0;
  const exchange: typeof world.exchange = async (request) => {
    if (request.method !== 'GET' && !hasWaited) {
      hasWaited = true;
      return slow;
    }
    if (hasWaited && request.method === 'GET' && writesOf(world).length === 0) {
      looks++;
      world.clock.advance(6000);
    }
    return world.exchange(request);
  };
  const ran = await svc({ ...world, exchange }, reply);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  expect(writesOf(world)).toEqual(['POST /conversations/7/messages']);
  // Each of the two reads the record once.
  expect(looks).toBe(2);
});

/** Another svc has the lock for ten seconds; `meanwhile` is done as it gives it back. */
function lockedFor10s({ world }: At, lock: string, meanwhile: () => Promise<unknown>) {
  mkdirSync(lock, { recursive: true });
  writeFileSync(join(lock, thief), '');
  const until = world.clock.ticks() + 10_000;
  let isHeld = true;
  const sleep: typeof world.clock.sleep = async (ms, signal) => {
    await world.clock.sleep(ms, signal);
    if (!isHeld || world.clock.ticks() < until) return;
    isHeld = false;
    rmSync(join(lock, thief));
    await meanwhile();
  };
  return { ...world, clock: { ...world.clock, sleep } };
}

test('a mode that is set while it waits for the count of sends holds, and its place in the hour is free again', async () => {
  const at = desk();
  policy(at, 'max_per_hour: 5');
  const state = join(at.world.folder, 'state');
  const held = lockedFor10s(at, join(state, 'sends', 'lock'), () => at.ok('config set sends draft'));
  const ran = await svc(held, reply);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Draft 1') });
  expect(writesOf(at.world)).toEqual([]);
  expect(readFileSync(join(state, 'sends', 'last-hour'), 'utf8')).toBe('');
  // Nothing was on its way to the service yet.
  expect(await at.json('audit list')).toEqual([]);
});

test('a mode that is set while it waits for the record of writes holds', async () => {
  const at = desk();
  await at.ok('tickets note 1 --body Hello');
  const audit = join(at.world.folder, 'state', 'audit');
  const [name = ''] = readdirSync(audit);
  const held = lockedFor10s(at, join(audit, name, 'lock'), () => at.ok('config set sends draft'));
  const ran = await svc(held, reply);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Draft 1') });
  expect(writesOf(at.world)).toEqual(['POST /tickets/1/notes']);
  expect(await at.json<object[]>('audit list')).toMatchObject([{ outcome: 'refused', status: null }, {}]);
});

test('an approved draft is not sent where the customer writes while it waits for the drafts', async () => {
  const at = desk();
  const { world } = at;
  const { digest } = await at.draft('conversations reply 7 --body Hi');
  let locked: World | undefined;
  const exchange: World['exchange'] = async (request) => {
    const answer = await world.exchange(request);
    if (request.url.endsWith('/conversations/7'))
      locked ??= lockedFor10s(at, join(world.folder, 'state', 'drafts', 'lock'), () => says(at));
    return answer;
  };
  const sleep: World['clock']['sleep'] = (...given) => (locked ?? world).clock.sleep(...given);
  const late = { ...world, exchange, clock: { ...world.clock, sleep } };
  const ran = await svc(late, ['drafts', 'approve', '1', '--digest', digest]);
  expect(ran).toMatchObject({ exitCode: 11, stderr: expect.stringContaining('The customer has written again.') });
  expect(writesOf(world)).toEqual([]);
  expect(await at.shown(1)).toMatchObject({ state: 'waiting', steps: [{ state: 'waiting' }] });
});

test('what is as it was leaves once it has waited for them', async () => {
  const at = desk();
  policy(at, 'max_per_hour: 5');
  const state = join(at.world.folder, 'state');
  const ran = await svc(
    lockedFor10s(at, join(state, 'sends', 'lock'), async () => {}),
    reply,
  );
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  expect(writesOf(at.world)).toEqual(['POST /conversations/7/messages']);
  expect(readFileSync(join(state, 'sends', 'last-hour'), 'utf8')).toMatch(/^\S+\n$/u);
});
