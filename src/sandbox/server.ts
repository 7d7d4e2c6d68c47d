import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { andThen } from '../promise/and-then.ts';
import { closedNow } from '../promise/closed.ts';
import type { Sandbox, SandboxResponse } from './app.ts';
import { largestBody } from './body.ts';

export type Server = { readonly port: number; close(): Promise<void> };

/** Serves the sandbox on the loopback address alone. Rejects with EADDRINUSE where the port is taken. */
export async function serve(sandbox: Sandbox, port: number): Promise<Server> {
  const http = process.getBuiltinModule('node:http');
  // Longer than clients keep an idle connection, so that no request meets one that is closing.
  const options = { keepAliveTimeout: 75_000, requireHostHeader: false };
  const server = http.createServer(options, (request, response) => {
    const cut = () => request.socket.destroy();
    try {
      const answering = answer(sandbox, request, response);
      if (answering instanceof Promise) answering.catch(cut);
    } catch {
      cut();
    }
  });
  // What is not HTTP never reaches the app.
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else socket.end(notHttp);
  });
  server.listen({ host: '127.0.0.1', port });
  await once(server, 'listening');
  const at = server.address();
  return {
    port: typeof at === 'object' && at ? at.port : port,
    close: () => closedNow(server),
  };
}

const notHttp = [
  'HTTP/1.1 400 Bad Request',
  'content-type: application/json',
  'x-ratelimit-limit: 60',
  'x-ratelimit-remaining: 60',
  'connection: close',
  '\r\n{"error":"This is not a valid HTTP request."}',
].join('\r\n');

function answer(sandbox: Sandbox, request: IncomingMessage, response: ServerResponse): void | Promise<void> {
  const { method = 'GET', url = '/', headers, socket } = request;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const { remoteAddress } = socket;
  const handled = andThen(hasBody ? read(request) : undefined, (body) =>
    sandbox.handle({ method, url, headers: isOneEach(headers) ? headers : oneEach(headers), body, remoteAddress }),
  );
  return andThen(handled, (answered) => send(response, answered));
}

type OneEach = Readonly<Record<string, string | undefined>>;

/** Node gives a list where a name may come more than once, which is one name alone. */
const isOneEach = (headers: IncomingHttpHeaders): headers is IncomingHttpHeaders & OneEach =>
  headers['set-cookie'] === undefined;

const oneEach = (headers: IncomingHttpHeaders): OneEach =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );

/** The body, or a little more than the largest where it is larger: enough for the app to refuse it. */
async function read(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    const chunk: Buffer = part;
    // The rest is read and forgotten: a client that is still writing would not see an answer.
    if (size <= largestBody) chunks.push(chunk);
    size += chunk.length;
  }
  return Buffer.concat(chunks);
}

function send(response: ServerResponse, { status, headers, body, cut }: SandboxResponse): void {
  if (cut === 'before' || cut === 'after') {
    response.socket?.destroy();
    return;
  }
  const length = Buffer.byteLength(body);
  // A list, which Node writes as it is: of an object with one more name V8 would make a new kind for each answer.
  const lines: string[] = [];
  for (const name in headers) lines.push(name, headers[name] ?? '');
  lines.push('content-length', String(length));
  response.writeHead(status, lines);
  if (cut === 'half') {
    response.write(Buffer.from(body).subarray(0, length >> 1), () => response.socket?.destroy());
    return;
  }
  response.end(body);
}
