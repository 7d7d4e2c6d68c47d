// A call that comes twice is done once, one that was given up sends no more, and what is no message of MCP is answered.
import { beforeEach, describe, expect, test } from 'vitest';
import type { Exchange, HttpRequest } from '../../src/context.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { rawSession } from './raw-session.ts';

let world: SandboxWorld;
beforeEach(() => {
  world = sandboxWorld({ rateLimit: 'off' });
});

const all = ['--allow-write', '--allow-send'];
const writes = () => world.sent.filter((line) => !line.startsWith('GET'));
const note = { id: 8, body: 'Once' };

/** A service that waits with the answer to the first request of that method until it is let go. */
function waiting(method: string) {
  let reached = (_: HttpRequest) => {};
  let release = () => {};
  const asked = new Promise<HttpRequest>((resolve) => {
    reached = resolve;
  });
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const exchange: Exchange = async (request) => {
    if (request.method === method && !request.url.endsWith('/platform/account')) {
      reached(request);
      await gate;
    }
    return world.exchange(request);
  };
  return { world: { ...world, exchange }, asked, release };
}

describe('a call that comes a second time in its session', () => {
  test.each([2, 'two'])('with the same arguments is done once, and both get its answer: id %j', async (id) => {
    const session = rawSession(world, all);
    session.call(id, 'addTicketNote', note);
    session.call(id, 'addTicketNote', note);
    const [first, second] = await session.repliesTo(id, 2);
    session.write({ jsonrpc: '2.0', method: 'notifications/initialized' });
    session.call(id, 'addTicketNote', note);
    const [, , third] = await session.repliesTo(id, 3);
    await session.end();
    expect(first.result.isError).toBeUndefined();
    expect([second, third]).toEqual([first, first]);
    expect(writes()).toEqual(['POST /tickets/8/notes']);
  });

  test('with other arguments is refused, and not done', async () => {
    const session = rawSession(world, all);
    session.call(2, 'addTicketNote', note);
    session.call(2, 'addTicketNote', { ...note, body: 'Other' });
    session.call(2, 'replyToTicket', note);
    const replies = await session.repliesTo(2, 3);
    await session.end();
    const errors = replies.flatMap(({ error }) => error ?? []);
    expect(errors).toHaveLength(2);
    for (const { code, message } of errors) expect([code, message]).toEqual([-32600, expect.stringContaining('id 2')]);
    expect(writes()).toEqual(['POST /tickets/8/notes']);
  });

  test('of another id, or after another initialize, is another call', async () => {
    const session = rawSession(world, all);
    session.call(2, 'addTicketNote', note);
    session.call('2', 'addTicketNote', note);
    await session.repliesTo(2);
    await session.repliesTo('2');
    session.initialize('again');
    await session.repliesTo('again');
    session.call(2, 'addTicketNote', note);
    await session.repliesTo(2, 2);
    await session.end();
    expect(writes()).toHaveLength(3);
  });

  test('that reads is read again', async () => {
    const session = rawSession(world, []);
    session.call(2, 'getTicket', { id: 8 });
    await session.repliesTo(2);
    session.call(2, 'getTicket', { id: 9 });
    const [, second] = await session.repliesTo(2, 2);
    await session.end();
    expect(second.result.structuredContent).toMatchObject({ ticket: { id: 9 } });
  });
});

describe('a call that the client cancels', () => {
  test('before its request has left sends nothing', async () => {
    const { world: slow, asked, release } = waiting('GET');
    const session = rawSession(slow, all);
    session.call(2, 'replyToTicket', { id: 8, body: 'Never' });
    await asked;
    session.cancel(2);
    session.call(3, 'listWebhooks', {});
    await session.repliesTo(3);
    release();
    session.call(2, 'replyToTicket', { id: 8, body: 'Never' });
    // Of the repeat alone: who gave a call up gets no answer to it.
    const [again] = await session.repliesTo(2);
    await session.end();
    expect(again.result).toMatchObject({ isError: true, structuredContent: { error: { kind: 'interrupted' } } });
    expect(again.result.content[0].text).toMatch(/^Not done/u);
    expect(session.replies.filter(({ id }) => id === 2)).toHaveLength(1);
    expect(writes()).toEqual([]);
  });

  test('after it has left goes on to its end: it is done, and a repeat of it is not sent', async () => {
    const { world: slow, asked, release } = waiting('POST');
    const session = rawSession(slow, all);
    session.call(2, 'addTicketNote', note);
    const { signal } = await asked;
    session.cancel(2);
    session.call(3, 'listWebhooks', {});
    await session.repliesTo(3);
    expect(signal?.aborted).toBe(false);
    session.call(2, 'addTicketNote', note);
    release();
    const [again] = await session.repliesTo(2);
    await session.end();
    expect(again.result.structuredContent).toMatchObject({ note: { body: 'Once' } });
    expect(writes()).toEqual(['POST /tickets/8/notes']);
  });

  test('in the middle of several requests sends no more of them', async () => {
    const { world: slow, asked, release } = waiting('POST');
    const session = rawSession(slow, all);
    const rows = Array.from({ length: 450 }, (_, n) => ({ email: `n${n}@example.com` }));
    session.call(2, 'contacts_sync', { rows });
    await asked;
    session.cancel(2);
    session.call(3, 'listWebhooks', {});
    await session.repliesTo(3);
    release();
    session.call(2, 'contacts_sync', { rows });
    const [again] = await session.repliesTo(2);
    await session.end();
    expect(again.result.structuredContent).toMatchObject({ created: 200, unsent: 250 });
    expect(writes()).toEqual(['POST /platform/contacts/sync']);
  });
});

test.each([
  ['a batch', [{ jsonrpc: '2.0', id: 5, method: 'ping' }], -32600],
  ['an empty batch', [], -32600],
  ['an id that is too large', { jsonrpc: '2.0', id: 2 ** 60, method: 'ping' }, -32600],
  ['an id with a fraction', { jsonrpc: '2.0', id: 1.5, method: 'ping' }, -32600],
  ['an id that is null', { jsonrpc: '2.0', id: null, method: 'ping' }, -32600],
  ['what is no JSON', '{"jsonrpc":', -32700],
])('%s is answered with an error, and the next message as ever', async (_, message, code) => {
  const session = rawSession(world, []);
  session.write(message);
  const [reply] = await session.repliesTo(null);
  expect(reply).toEqual({ jsonrpc: '2.0', id: null, error: { code, message: expect.stringMatching(/\.$/u) } });
  session.write({ jsonrpc: '2.0', id: 6, method: 'ping' });
  expect(await session.repliesTo(6)).toMatchObject([{ result: {} }]);
  await session.end();
  expect(session.replies).toHaveLength(3);
});
