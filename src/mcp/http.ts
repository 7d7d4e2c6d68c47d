import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { codeOf, Failure } from '../errors.ts';
import { aborted } from '../promise/aborted.ts';
import { isSameSecret } from '../text/digest.ts';
import { jsonIn } from '../text/json.ts';
import { largestMessage } from './lines.ts';
import { checkedMessages } from './messages.ts';
import { openAssistant } from './server.ts';
import type { Grant } from './tool.ts';

/** Where a client finds it, and the header that it has to send. */
export type HttpAddress = { readonly url: string; readonly authorization: string };

/** Assistants open few; one that was forgotten gives way, and its client begins another. */
const mostSessions = 64;

type Session = { readonly transport: StreamableHTTPServerTransport; readonly server: Server; used: number };

type Serving = {
  readonly ctx: Context;
  readonly key: string;
  readonly newServer: () => Server;
  readonly sessions: Map<string, Session>;
  /** Calls that wait for their answer. */
  readonly open: Set<ServerResponse>;
  /** What the Host of a request may be: known once it listens. */
  own: readonly string[];
};

/**
 * Serves the granted operations over Streamable HTTP on loopback, for whoever has the key of this run. Yields the address,
 * then serves until a signal comes, which is the normal end: calls that are under way are answered first.
 */
export async function* serveHttp(
  ctx: Context,
  settings: Settings,
  grant: Grant,
  port: number,
): AsyncGenerator<HttpAddress> {
  const newServer = await openAssistant(ctx, settings, grant);
  const key = Buffer.from(ctx.random(32)).toString('base64url');
  const serving: Serving = { ctx, key, newServer, sessions: new Map(), open: new Set(), own: [] };
  const http = process.getBuiltinModule('node:http').createServer((request, response) => {
    response.on('error', () => {});
    answer(serving, request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'svc failed unexpectedly.');
    });
  });
  const bound = await listen(http, port);
  serving.own = [`127.0.0.1:${bound}`, `localhost:${bound}`];
  try {
    yield { url: `http://127.0.0.1:${bound}/mcp`, authorization: `Bearer ${key}` };
    await aborted(ctx.signal);
  } finally {
    http.close();
    await Promise.all([...serving.open].map(whenClosed));
    for (const { server } of serving.sessions.values()) await server.close();
    http.closeAllConnections();
  }
}

async function answer(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!isOwn(request, serving.own)) return refuse(response, 403, 'Only programs of this machine may call svc here.');
  const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
  if (pathname !== '/mcp') return refuse(response, 404, 'There is only /mcp here.');
  if (!hasKey(request, serving.key)) {
    response.setHeader('www-authenticate', 'Bearer realm="svc"');
    return refuse(response, 401, 'Send the header Authorization: Bearer KEY that svc mcp --http printed.');
  }
  const id = request.headers['mcp-session-id'];
  const session = typeof id === 'string' ? serving.sessions.get(id) : undefined;
  if (id !== undefined && !session) return refuse(response, 404, 'This session has ended. Initialize another one.');
  if (session) session.used = serving.ctx.clock.ticks();
  const { method } = request;
  const text = method === 'POST' ? await bodyOf(request) : '';
  if (text === undefined)
    return refuse(response, 413, `A request may have at most ${largestMessage / 1024 / 1024} MB.`);
  const message = method === 'POST' ? jsonIn(text) : undefined;
  if (method === 'POST' && message === undefined)
    return refuse(response, 400, 'A request is one message in JSON.', ErrorCode.ParseError);
  // As over standard input: the protocol since 2025-06-18 has no batch.
  if (Array.isArray(message))
    return refuse(response, 400, 'A request is one message of JSON-RPC 2.0: no batch.', ErrorCode.InvalidRequest);
  // Begun now, it could be cut off in the middle.
  if (serving.ctx.signal.aborted) return refuse(response, 503, 'svc is ending. Nothing was done.');
  if (method === 'POST') {
    serving.open.add(response);
    response.on('close', () => serving.open.delete(response));
  }
  const { transport } = session ?? (await newSession(serving));
  await transport.handleRequest(request, response, message);
}

/** Undefined where it is longer than a message may be: read to its end all the same, or the client would see no answer. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size <= largestMessage) parts.push(part);
  }
  return size > largestMessage ? undefined : new TextDecoder().decode(Buffer.concat(parts));
}

/** It counts as a session once the client has initialized it; the SDK refuses whatever else comes first. */
async function newSession(serving: Serving): Promise<Session> {
  const { sessions, ctx, newServer } = serving;
  const server = newServer();
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => Buffer.from(ctx.random(24)).toString('base64url'),
    onsessioninitialized: (id) => {
      sessions.set(id, session);
      dropOldest(sessions);
    },
    onsessionclosed: (id) => {
      sessions.delete(id);
    },
  });
  const session: Session = { transport, server, used: ctx.clock.ticks() };
  await server.connect(transport);
  checkedMessages(transport);
  return session;
}

function dropOldest(sessions: Map<string, Session>): void {
  if (sessions.size <= mostSessions) return;
  const [oldest] = [...sessions].sort(([, a], [, b]) => a.used - b.used);
  if (!oldest) return;
  sessions.delete(oldest[0]);
  void oldest[1].server.close();
}

/** A page of another site must not reach it, also not under a name that leads to this machine. */
function isOwn({ headers }: IncomingMessage, own: readonly string[]): boolean {
  const { host = '', origin } = headers;
  return own.includes(host) && (origin === undefined || own.some((each) => origin === `http://${each}`));
}

function hasKey({ headers }: IncomingMessage, key: string): boolean {
  const given = /^Bearer +(\S+)$/iu.exec(headers.authorization ?? '')?.[1] ?? '';
  return isSameSecret(given, key);
}

function refuse(response: ServerResponse, status: number, message: string, code = -32000): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }));
}

/** Of one that is open still: each is forgotten as it closes. */
const whenClosed = (response: ServerResponse): Promise<void> =>
  new Promise((closed) => response.once('close', () => closed()));

async function listen(http: HttpServer, port: number): Promise<number> {
  await new Promise<void>((listening, failed) => {
    http.once('error', (error) => {
      if (codeOf(error) !== 'EADDRINUSE') return failed(error);
      const hint = 'Name another with --port, or take a free one with --port 0.';
      failed(new Failure('failed', `Port ${port} of 127.0.0.1 is in use.`, { hint }));
    });
    http.listen({ host: '127.0.0.1', port }, listening);
  });
  const at = http.address();
  return typeof at === 'object' && at ? at.port : port;
}
