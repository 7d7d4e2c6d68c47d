import { request } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type Ran, svc } from '../svc.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every tool
type Any = any;

type Serving = { readonly url: string; readonly authorization: string; readonly ran: Promise<Ran> };

let world: SandboxWorld;
let stop: AbortController;
let ran: Promise<Ran> | undefined;

beforeEach(() => {
  world = sandboxWorld({ seed: 'demo', rateLimit: 'off' });
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort('SIGTERM');
  await ran;
});

async function serving(...argv: string[]): Promise<Serving> {
  const printed = new Promise<string>((resolve, reject) => {
    let text = '';
    ran = svc(world, ['mcp', '--http', '--port', '0', ...argv], {
      signal: stop.signal,
      seen: (stream, piece) => {
        if (stream === 'stdout') text += piece;
        if (/^Authorization: .+$/mu.test(text)) resolve(text);
      },
    });
    ran.then(({ stderr }) => reject(new Error(stderr)));
  });
  const [url = '', header = ''] = (await printed).split('\n');
  return { url, authorization: header.replace('Authorization: ', ''), ran: ran as Promise<Ran> };
}

async function client({ url, authorization }: Serving): Promise<Client> {
  const made = new Client({ name: 'test', version: '1.0.0' });
  await made.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } }));
  return made;
}

/** A request that no well-behaved client sends. */
const send = (
  { url }: Serving,
  headers: Record<string, string>,
  { path = '/mcp', body = '{}', method = 'POST' } = {},
) =>
  new Promise<{ status: number; text: string; headers: Any }>((resolve, reject) => {
    const asked = request(new URL(path, url), { method, headers: { 'content-type': 'application/json', ...headers } });
    asked.on('error', reject);
    asked.on('response', async (answer) => {
      let text = '';
      for await (const piece of answer) text += piece;
      resolve({ status: answer.statusCode ?? 0, text, headers: answer.headers });
    });
    asked.end(body);
  });

test('it prints its address and a key of this run, in two lines', async () => {
  const one = await serving();
  expect(one.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/u);
  expect(one.authorization).toMatch(/^Bearer [\w-]{43}$/u);
});

test('a session of the client of the SDK lists and calls tools, and several go on side by side', async () => {
  const one = await serving('--allow-write');
  const [first, second] = await Promise.all([client(one), client(one)]);
  expect((await first.listTools()).tools.map(({ name }) => name)).toContain('createTicket');
  const made: Any = await first.callTool({ name: 'createTicket', arguments: { subject: 'Over HTTP' } });
  const { id } = made.structuredContent.ticket;
  const read: Any = await second.callTool({ name: 'getTicket', arguments: { id } });
  expect(read.structuredContent.ticket.subject).toBe('Over HTTP');
  await first.close();
  expect((await second.listTools()).tools.length).toBeGreaterThan(10);
  await second.close();
});

test('progress comes over HTTP too', async () => {
  const connected = await client(await serving('--allow-write'));
  const seen: number[] = [];
  const rows = Array.from({ length: 250 }, (_, i) => ({ email: `row${i}@example.com` }));
  const call = { name: 'contacts_sync', arguments: { rows } };
  await connected.callTool(call, undefined, { onprogress: ({ progress }) => seen.push(progress) });
  expect(seen).toEqual([200, 250]);
  await connected.close();
});

test('without the key, or with another, nobody gets in', async () => {
  const one = await serving();
  for (const authorization of [undefined, 'Bearer wrong', 'Basic eA==', `Bearer ${one.authorization}`]) {
    const { status, headers } = await send(one, authorization ? { authorization } : {});
    expect({ status, asks: headers['www-authenticate'] }).toEqual({ status: 401, asks: 'Bearer realm="svc"' });
  }
  expect(world.sent).toEqual([]);
});

test.each([
  [{ host: 'evil.example.com' }],
  [{ host: '127.0.0.1' }],
  [{ origin: 'https://evil.example.com' }],
  [{ origin: 'null' }],
])('a foreign Host or Origin is refused: %j', async (headers) => {
  const one = await serving();
  expect((await send(one, { authorization: one.authorization, ...headers })).status).toBe(403);
});

test('only /mcp is there, and a session that has ended is told so', async () => {
  const one = await serving();
  const { authorization } = one;
  expect((await send(one, { authorization }, { path: '/' })).status).toBe(404);
  expect((await send(one, { authorization, 'mcp-session-id': 'gone' })).status).toBe(404);
  expect(
    (await send(one, { authorization, accept: 'application/json, text/event-stream' }, { body: 'x' })).status,
  ).toBe(400);
});

test('a batch is refused before anything of it is done, as over standard input', async () => {
  const one = await serving('--allow-write');
  const connected = await client(one);
  const { sessionId = '' } = connected.transport as StreamableHTTPClientTransport;
  const headers = {
    ...{ authorization: one.authorization, accept: 'application/json, text/event-stream' },
    ...{ 'mcp-session-id': sessionId, 'mcp-protocol-version': '2025-03-26' },
  };
  const call = { name: 'createTicket', arguments: { subject: 'In a batch' } };
  const messages = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: call }));
  // It begins behind more than arrives at once.
  const { status, text } = await send(one, headers, { body: `\n${' '.repeat(300_000)}${JSON.stringify(messages)}` });
  expect([status, JSON.parse(text).error]).toEqual([
    400,
    { code: -32600, message: expect.stringContaining('no batch') },
  ]);
  expect(world.sent.filter((each) => each.startsWith('POST'))).toEqual([]);
  // One message comes through whole, however large, and nothing at all is none.
  const body = `\n${JSON.stringify(messages[0])}${' '.repeat(300_000)}`;
  expect((await send(one, headers, { body })).status).toBe(200);
  expect(world.sent.filter((each) => each.startsWith('POST'))).toHaveLength(1);
  expect((await send(one, headers, { body: '' })).status).toBe(400);
  await connected.close();
});

test('a message of more than 16 MB is refused, and one with a byte order mark is read', {
  tags: ['long'],
}, async () => {
  const one = await serving();
  const headers = { authorization: one.authorization, accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  });
  const most = 16 * 1024 * 1024;
  for (const more of [1, most]) {
    const { status, text } = await send(one, headers, { body: `${body}${' '.repeat(most + more - body.length)}` });
    expect([status, text]).toEqual([413, expect.stringContaining('at most 16 MB')]);
  }
  expect((await send(one, headers, { body: `${body}${' '.repeat(most - body.length)}` })).status).toBe(200);
  expect((await send(one, headers, { body: `\uFEFF${body}` })).status).toBe(200);
});

test('a request whose body has not come to its end holds no end up, and is not carried out', async () => {
  const one = await serving('--allow-write');
  const connected = await client(one);
  const { sessionId = '' } = connected.transport as StreamableHTTPClientTransport;
  const body = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'createTicket', arguments: { subject: 'Late' } },
  });
  const asked = request(new URL('/mcp', one.url), {
    method: 'POST',
    headers: {
      ...{ authorization: one.authorization, accept: 'application/json, text/event-stream' },
      ...{ 'content-type': 'application/json', 'content-length': body.length, 'mcp-session-id': sessionId },
    },
  });
  const cut = new Promise((resolve) => asked.once('error', resolve));
  await new Promise((written) => asked.write(body.slice(0, 20), written));
  // The session is known by then, so svc has read the request too, which came before.
  await connected.listTools();
  stop.abort('SIGTERM');
  expect(await one.ran).toMatchObject({ exitCode: 0 });
  await cut;
  expect(world.sent.filter((each) => each.startsWith('POST'))).toEqual([]);
  await connected.close();
});

test('null for no arguments is taken, and arguments of another kind get a sentence', async () => {
  const connected = await client(await serving());
  const params: Any = { name: 'getAccount', arguments: null };
  const answer: Any = await connected.callTool(params);
  expect(answer.structuredContent.name).toBe('Acme');
  await expect(connected.callTool({ ...params, arguments: 'x' })).rejects.toThrow('The arguments must be an object');
  await connected.close();
});

test('120 calls a minute are the most, over all sessions', { tags: ['long'] }, async () => {
  const one = await serving();
  const [first, second] = await Promise.all([client(one), client(one)]);
  const calls = Array.from({ length: 60 }, () => [first, second].map((each) => each.callTool({ name: 'getAccount' })));
  for (const answer of (await Promise.all(calls.flat())) as Any[]) expect(answer.isError).toBeUndefined();
  const refused: Any = await second.callTool({ name: 'getAccount' });
  expect(refused.structuredContent.error.kind).toBe('rate-limited');
  await Promise.all([first.close(), second.close()]);
});

test('SIGTERM ends it with 0, also while a client listens', async () => {
  const one = await serving();
  const connected = await client(one);
  stop.abort('SIGTERM');
  expect(await one.ran).toMatchObject({ exitCode: 0 });
  await connected.close();
});

test('a port that is in use is named, and --port without --http is refused', async () => {
  const { url } = await serving();
  const { port } = new URL(url);
  const second = await svc(world, ['mcp', '--http', '--port', port]);
  expect(second.exitCode).toBe(1);
  expect(second.stderr).toContain(`Port ${port} of 127.0.0.1 is in use.`);
  expect(await svc(world, ['mcp', '--port', '0'])).toMatchObject({ exitCode: 2 });
});
