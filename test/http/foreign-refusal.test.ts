// A 401 or a 429 that something between svc and the service says proves nothing of a write, which it may have passed on.
import { describe, expect, test } from 'vitest';
import type { HttpRequest, HttpResponse } from '../../src/context.ts';
import { isOwnRefusal, readBody } from '../../src/retry/own-word.ts';
import { loggedIn } from '../auth/auth-world.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';

const json = { 'content-type': 'application/json' };
const limit = { ...json, 'x-ratelimit-limit': '60' };
const says = (status: number, body: object, headers: Record<string, string> = json): HttpResponse => ({
  status,
  headers,
  body: JSON.stringify(body),
});

type Said = readonly (readonly [body: object, headers: Record<string, string>])[];

const foreign: Said = [
  [{ message: 'Too Many Requests' }, json],
  [{ message: 'API rate limit exceeded', request_id: 'a' }, json],
  [{ error: 'x', code: 1 }, json],
  [{ error: 'slow_down', error_description: 'x' }, json],
  [{ error: 'insufficient_scope', error_description: 'x', code: 1 }, json],
  [{ error: 'x' }, { 'content-type': 'text/html' }],
  [{ title: 'Blocked', detail: 'x' }, { 'content-type': 'application/problem+json' }],
  [{ message: 'x', errors: { a: ['x'] }, code: 1 }, json],
  [{ status: 403, message: 'x' }, json],
  [{ error: { message: 'x' } }, limit],
  [{ detail: 'x' }, limit],
  [
    { error: 'x', code: 1 },
    { ...json, 'x-ratelimit-limit': 'none' },
  ],
];

const own: Said = [
  [{ error: 'Slow down.' }, json],
  [{ error: 'Slow down.' }, {}],
  [{ error: 'Slow down.' }, { 'content-type': 'application/json; charset=utf-8' }],
  [{ error: 'insufficient_scope', error_description: 'x' }, json],
  [{ message: 'Too Many Attempts.' }, limit],
  [{ message: 'Unauthenticated.', added: 1 }, limit],
  [{ error: 'x', added: 1 }, limit],
  [{ error: 'x' }, { 'x-ratelimit-limit': '60' }],
];

describe.each([400, 401, 403, 404, 422, 429])('a %d', (status) => {
  test.each(foreign)('%j %j is not surely the service’s own', (body, headers) => {
    const answer = says(status, body, headers);
    expect(isOwnRefusal(answer, readBody(answer.body))).toBe(false);
  });

  test.each(own)('%j %j is the service’s own', (body, headers) => {
    const answer = says(status, body, headers);
    expect(isOwnRefusal(answer, readBody(answer.body))).toBe(true);
  });
});

describe.each([401, 403, 404, 422, 429])('a %d that says nothing', (status) => {
  const isOwn = (body: string, headers: Record<string, string>) =>
    isOwnRefusal({ status, headers, body }, readBody(body));

  test.each(['', ' \n', '{}'])('(%j) is the service’s own beside its limit, and nobody’s without', (body) => {
    expect(
      [limit, { 'x-ratelimit-limit': '60' }, json, {}].map((headers) => isOwn(body, headers as Record<string, string>)),
    ).toEqual([true, true, false, false]);
  });

  test.each(['Forbidden', '<html></html>', '[]', 'null', '"x"'])('is something else than %s', (body) => {
    expect(isOwn(body, limit)).toBe(false);
  });
});

describe.each([402, 405, 408, 409, 413, 415, 425, 451, 499])('a %d, which the document does not know,', (status) => {
  const isOwn = (headers: Record<string, string>) => {
    const answer = says(status, { error: 'x' }, headers);
    return isOwnRefusal(answer, readBody(answer.body));
  };

  test('is not believed in the service’s form', () => expect(isOwn(json)).toBe(false));

  test('is believed beside the limit, unless it says that it took too long', () => {
    expect(isOwn(limit)).toBe(status !== 408 && status !== 499);
  });
});

test.each<[number, object, Record<string, string>, boolean]>([
  [422, { message: 'x', errors: { body: ['x'] } }, json, true],
  [400, { message: 'x', errors: { body: ['x'] } }, json, true],
  [422, { message: 'x', errors: [] }, json, true],
  [422, { message: 'x', errors: 'x' }, json, true],
  [422, { message: 'x', code: 1 }, json, false],
  [422, { errors: { body: ['x'] } }, json, false],
  [422, { errors: { body: ['x'] } }, limit, true],
  [403, { message: 'x', errors: {} }, json, false],
  [429, { message: 'x', errors: {} }, json, false],
  [422, { title: 'x' }, { ...limit, 'content-type': 'application/problem+json' }, true],
  [200, { error: 'x' }, limit, false],
  [500, { error: 'x' }, limit, false],
])('a %i that says %j beside %j is a refusal of the service: %s', (status, body, headers, isOwn) => {
  const answer = says(status, body, headers);
  expect(isOwnRefusal(answer, readBody(answer.body))).toBe(isOwn);
});

const writes: Readonly<Record<string, readonly string[]>> = {
  'tickets reply': ['tickets', 'reply', '8', '--body', 'Hi', '--yes'],
  'tickets create': ['tickets', 'create', '--subject', 'Printer'],
  'tickets note': ['tickets', 'note', '8', '--body', 'Hi'],
  'events send': ['events', 'send', 'order_create', '--contact-name', 'A', '--email', 'a@example.com'],
  'conversations reply': ['conversations', 'reply', '1', '--body', 'Hi', '--yes'],
};
const canBeLookedFor = (what: string) => !/note|events/u.test(what);

/** In turn: each answer is met by one command, or by two. */
describe.each(Object.entries(writes).map((write, turn) => [...write, turn] as const))('%s', (what, argv, turn) => {
  /** The first copy is passed on, and answered by another. */
  async function answeredBy(wall: HttpResponse, isPassedOn: boolean) {
    const world = sandboxWorld({ seed: few, rateLimit: 'off' });
    let left = 0;
    const exchange: typeof world.exchange = async (request) => {
      if (request.method !== 'POST' || ++left > 1) return world.exchange(request);
      if (isPassedOn) await world.exchange(request);
      return wall;
    };
    const ran = await svc({ ...world, exchange }, [...argv, '--settle', '1', '--json']);
    return { ran, left };
  }

  test.each(inTurn(foreign, turn, 3))('is never sent again after a 429 that says %j %j', async (body, headers) => {
    const { ran, left } = await answeredBy(says(429, body, headers), true);
    expect(left).toBe(1);
    expect(ran.exitCode, ran.stderr).toBe(canBeLookedFor(what) ? 0 : 9);
  });

  test.each(inTurn(own, turn, 3))(
    'is sent again after a 429 of the service’s own that says %j %j',
    async (body, headers) => {
      const { ran, left } = await answeredBy(says(429, body, headers), false);
      expect([ran.exitCode, left], ran.stderr).toEqual([0, 2]);
    },
  );
});

const walls: Said = [
  [{ error: 'Blocked by policy', code: 1 }, json],
  [{ detail: 'x' }, json],
  [{ message: 'x' }, json],
];

/** The service does each write, and something behind it says otherwise, once. */
function walled(wall: HttpResponse, world = sandboxWorld({ seed: few, rateLimit: 'off' })) {
  let left = 0;
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    return request.method !== 'GET' && ++left === 1 ? wall : answer;
  };
  return { world: { ...world, exchange }, left: () => left };
}

describe.each([403, 404, 409, 413, 422])('a %d of another, after the write was done,', (status) => {
  test.each(walls)('that says %j is no refusal of a message', async (body, headers) => {
    const { world, left } = walled(says(status, body, headers));
    const ran = await svc(world, [...(writes['tickets reply'] ?? []), '--settle', '1', '--json']);
    expect([ran.exitCode, left()], ran.stderr).toEqual([0, 1]);
    const note = walled(says(status, body, headers));
    const noted = await svc(note.world, [...(writes['tickets note'] ?? []), '--json']);
    expect([noted.exitCode, note.left()]).toEqual([9, 1]);
    expect(noted.stderr).toContain(`HTTP ${status} in a form that the service does not use`);
  });
});

test.each([
  ['api', '/tickets/8/notes', '-X', 'POST', '-f', 'body=Hi'],
  ['contacts', 'update', '8', '--company', 'Ada Ltd'],
  ['lists', 'create', '--name', 'New', '--target-industry', 'x', '--notes', 'y'],
  ['changelog', 'create', '--title', 'New', '--content', 'x'],
])('%s %s does not take the word of another for a refusal', async (...argv) => {
  const { world } = walled(says(403, { message: 'Blocked by policy' }));
  const { exitCode, stderr } = await svc(world, [...argv, '--settle', '0', '--json']);
  expect(stderr).not.toContain('"kind":"forbidden"');
  expect([0, 9], stderr).toContain(exitCode);
});

test('a row that was done is not sent again after a 403 of another, nor is it among the rejected ones', async () => {
  const { world, left } = walled(says(403, { message: 'Blocked by policy' }));
  const argv = ['tickets', 'note', '--from', '-', '--json'];
  const first = await svc(world, argv, { stdin: 'ticket,body\n8,Hi\n' });
  expect(first.exitCode, first.stderr).toBe(9);
  expect(JSON.parse(first.stdout)).toMatchObject({ rejected: 0, unknown: 1 });
  const again = await svc(world, argv, { stdin: 'ticket,body\n8,Hi\n' });
  expect([again.exitCode, left()]).toEqual([9, 1]);
});

test('a read that another refuses says that something in between may have answered', async () => {
  const world = sandboxWorld({ seed: few, rateLimit: 'off' });
  const wall = says(403, { message: 'Blocked by policy' });
  const foreign = await svc({ ...world, exchange: async () => wall }, ['tickets', 'list', '--json']);
  expect(foreign.stderr).toContain('Something between svc and the service may have answered');
  const own = await svc({ ...world, exchange: async () => says(403, { error: 'No.' }) }, ['tickets', 'list', '--json']);
  expect(own.stderr).not.toContain('Something between');
});

describe('a login', () => {
  const once = ['tickets', 'note', '8', '--body', 'Hello', '--json'];
  const isNote = ({ url }: Pick<HttpRequest, 'url'>) => url.endsWith('/notes');
  const noted = says(201, { note: { id: 1, body: 'Hello' } });

  test.each(foreign)('is not refreshed for a write after a 401 that says %j %j', async (body, headers) => {
    const world = await loggedIn();
    world.override = (request) => (isNote(request) ? says(401, body, headers) : undefined);
    expect((await world.svc(once)).exitCode).toBe(9);
    expect(world.sent.filter(({ what }) => what.endsWith('/notes'))).toHaveLength(1);
  });

  test.each(own)('is refreshed after a 401 of the service’s own that says %j %j', async (body, headers) => {
    const world = await loggedIn();
    const answers = [says(401, body, headers), noted];
    world.override = (request) => (isNote(request) ? answers.shift() : undefined);
    expect((await world.svc(once)).exitCode).toBe(0);
  });
});

test('a row is not sent again after a 429 of another', async () => {
  const world = sandboxWorld({ seed: few, rateLimit: 'off' });
  let left = 0;
  const exchange: typeof world.exchange = async (request) => {
    if (request.method !== 'POST') return world.exchange(request);
    await world.exchange(request);
    return ++left === 1 ? says(429, { message: 'Too Many Requests' }) : world.exchange(request);
  };
  const argv = ['tickets', 'note', '--from', '-', '--json'];
  const first = await svc({ ...world, exchange }, argv, { stdin: 'ticket,body\n8,Hi\n' });
  expect(first.exitCode, first.stderr).toBe(9);
  const again = await svc({ ...world, exchange }, argv, { stdin: 'ticket,body\n8,Hi\n' });
  expect([again.exitCode, left]).toEqual([9, 1]);
});
