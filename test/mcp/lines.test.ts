// What comes on standard input, however it is cut into lines and however long they are.
import { expect, test } from 'vitest';
import { largestMessage } from '../../src/mcp/lines.ts';
import { cpuTimer } from '../cpu.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { rawSession } from './raw-session.ts';

const world = () => sandboxWorld({ rateLimit: 'off' });
const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' });

test('a line that is too long is refused, and the session goes on', { tags: ['long'] }, async () => {
  const session = rawSession(world(), []);
  await session.repliesTo('first');
  session.call('long', 'getTicket', { id: 8, note: 'x'.repeat(largestMessage) });
  session.write(ping('next'));
  await session.repliesTo('next');
  expect(session.replies.find(({ id }) => id === null)).toMatchObject({
    error: { code: -32600, message: 'A line may have at most 16 MB.' },
  });
  session.write(ping('as long as may be'.padEnd(largestMessage - JSON.stringify(ping('')).length)));
  expect(await session.end()).toMatchObject({ exitCode: 0 });
  expect(session.replies.at(-1)).toMatchObject({ id: expect.stringMatching(/^as long as may be/u), result: {} });
});

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const calling = (id: string, input: string) =>
  `{"jsonrpc":"2.0","id":"${id}","method":"tools/call","params":{"name":"listTickets","arguments":${input}}}\n`;

test('arguments that are nested too deep are refused with a sentence, and the session goes on', async () => {
  const session = rawSession(world(), []);
  await session.repliesTo('first');
  session.writePart(calling('deep', nested(300)));
  const [reply] = await session.repliesTo('deep');
  expect(reply.error).toEqual({ code: -32_602, message: 'The arguments may be nested 200 levels deep.' });
  session.write(ping('next'));
  await session.repliesTo('next');
  expect(await session.end()).toMatchObject({ exitCode: 0 });
});

test('a line that is nested so deep that reading it would fill the memory is refused unread', async () => {
  const session = rawSession(world(), []);
  await session.repliesTo('first');
  session.writePart(calling('deep', nested(1_000_000)));
  session.write(ping('next'));
  await session.repliesTo('next');
  expect(session.replies.find(({ id }) => id === null)).toMatchObject({
    error: { code: -32_600, message: 'A line may be nested 1000 levels deep.' },
  });
  expect(session.replies.some(({ id }) => id === 'deep')).toBe(false);
  expect(await session.end()).toMatchObject({ exitCode: 0 });
});

test.each([
  ['initialize', { capabilities: {}, clientInfo: { name: 'x', version: '1' } }, 'params.protocolVersion'],
  ['initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: 'x' }, 'params.clientInfo'],
  ['initialize', undefined, 'params'],
  ['tools/list', { cursor: 7 }, 'params.cursor'],
  ['tools/call', { name: 'listTickets', task: 7 }, 'params.task'],
])('%s with %j is answered with a sentence, and the session goes on', async (method, params, place) => {
  const session = rawSession(sandboxWorld(), []);
  session.write({ jsonrpc: '2.0', id: 'wrong', method, ...(params && { params }) });
  const [reply] = await session.repliesTo('wrong');
  expect(reply.error).toEqual({
    code: -32_602,
    message: `${method}: ${place} is missing, or not of the kind that the protocol asks for.`,
  });
  session.write({ jsonrpc: '2.0', id: 'next', method: 'tools/list' });
  expect((await session.repliesTo('next'))[0].result.tools.length).toBeGreaterThan(0);
  expect(await session.end()).toMatchObject({ exitCode: 0 });
});

test('the last line needs no end: what it asks is done and answered', async () => {
  const made = world();
  const session = rawSession(made, ['--allow-write']);
  await session.repliesTo('first');
  const params = { name: 'addTicketNote', arguments: { id: 8, body: 'Without a line feed' } };
  session.writePart(JSON.stringify({ jsonrpc: '2.0', id: 'last', method: 'tools/call', params }));
  expect(await session.end()).toMatchObject({ exitCode: 0 });
  expect(session.replies.at(-1)).toMatchObject({ id: 'last', result: { structuredContent: { note: {} } } });
  expect(made.sent.filter((line) => line.startsWith('POST'))).toHaveLength(1);
});

test('a last line that was cut off is answered as no JSON', async () => {
  const session = rawSession(world(), []);
  await session.repliesTo('first');
  session.writePart('{"jsonrpc":"2.0","id":1,"meth');
  expect(await session.end()).toMatchObject({ exitCode: 0 });
  expect(session.replies.at(-1)).toMatchObject({ id: null, error: { code: -32700 } });
});

test.each(['x', '.', ',', '['])('fields of a million %j are refused at once', async (letter) => {
  const session = rawSession(world(), []);
  await session.repliesTo('first');
  const computed = cpuTimer();
  session.call('long', 'getTicket', { id: 8, fields: letter.repeat(1_000_000) });
  const [{ result }] = await session.repliesTo('long');
  expect(computed()).toBeLessThan(2000);
  expect(result.content[0].text).toContain('must be no longer than 10,000 letters');
  expect(await session.end()).toMatchObject({ exitCode: 0 });
});
