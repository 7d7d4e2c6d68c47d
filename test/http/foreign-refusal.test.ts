// A 401 or a 429 that something between svc and the service says proves nothing of a write, which it may have passed on.
import { describe, expect, test } from 'vitest';
import type { HttpRequest, HttpResponse } from '../../src/context.ts';
import { isOwnRefusal, readBody } from '../../src/http/answer.ts';
import { loggedIn } from '../auth/auth-world.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

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
  [{ message: 'x', errors: {} }, json],
  [{ error: 'x' }, { 'content-type': 'text/html' }],
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

describe.each([429, 401])('a %d', (status) => {
  test.each(foreign)('%j %j is not surely the service’s own', (body, headers) => {
    const answer = says(status, body, headers);
    expect(isOwnRefusal(answer, readBody(answer.body))).toBe(false);
  });

  test.each(own)('%j %j is the service’s own', (body, headers) => {
    const answer = says(status, body, headers);
    expect(isOwnRefusal(answer, readBody(answer.body))).toBe(true);
  });
});

const writes: Readonly<Record<string, readonly string[]>> = {
  'tickets reply': ['tickets', 'reply', '8', '--body', 'Hi', '--yes'],
  'tickets create': ['tickets', 'create', '--subject', 'Printer'],
  'tickets note': ['tickets', 'note', '8', '--body', 'Hi'],
  'events send': ['events', 'send', 'order_create', '--contact-name', 'A', '--email', 'a@example.com'],
  'conversations reply': ['conversations', 'reply', '1', '--body', 'Hi', '--yes'],
};
const canBeLookedFor = (what: string) => !/note|events/u.test(what);

describe.each(Object.entries(writes))('%s', (what, argv) => {
  /** The first copy is passed on, and answered by another. */
  async function answeredBy(wall: HttpResponse, isPassedOn: boolean) {
    const world = sandboxWorld({ rateLimit: 'off' });
    let left = 0;
    const exchange: typeof world.exchange = async (request) => {
      if (request.method !== 'POST' || ++left > 1) return world.exchange(request);
      if (isPassedOn) await world.exchange(request);
      return wall;
    };
    const ran = await svc({ ...world, exchange }, [...argv, '--settle', '1', '--json']);
    return { ran, left };
  }

  test.each(foreign)('is never sent again after a 429 that says %j %j', async (body, headers) => {
    const { ran, left } = await answeredBy(says(429, body, headers), true);
    expect(left).toBe(1);
    expect(ran.exitCode, ran.stderr).toBe(canBeLookedFor(what) ? 0 : 9);
  });

  test.each(own)('is sent again after a 429 of the service’s own that says %j %j', async (body, headers) => {
    const { ran, left } = await answeredBy(says(429, body, headers), false);
    expect([ran.exitCode, left], ran.stderr).toEqual([0, 2]);
  });
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
  const world = sandboxWorld({ rateLimit: 'off' });
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
