import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Sandbox, SandboxResponse } from '../../src/sandbox/app.ts';

/** What goes wrong with a request on a real socket. The service acts on it, or not, as the name says. */
export const faults = {
  'reset before': 'unprocessed',
  'reset after processing': 'processed',
  'time-out after processing': 'processed',
  '500 before': 'unprocessed',
  '500 after processing': 'processed',
  '429 once': 'refused',
  truncated: 'processed',
  'an HTML page': 'processed',
  'malformed JSON': 'processed',
  'slow drip': 'answered',
  'missing headers': 'answered',
  'extra fields': 'answered',
} as const;

export type Fault = keyof typeof faults;

export type FaultyService = {
  readonly url: string;
  /** Requests that matched, in all. */
  readonly hits: () => number;
  close(): Promise<void>;
};

type Plan = { readonly method: string; readonly path: RegExp; readonly fault: Fault; readonly times: number };

/** The sandbox behind a real socket that goes wrong for the first `times` requests that match. */
export async function faultyService(sandbox: Sandbox, plan: Plan): Promise<FaultyService> {
  let hits = 0;
  const server = createServer(async (request, response) => {
    const body = await readAll(request);
    const url = request.url ?? '';
    const matches = request.method === plan.method && plan.path.test(url.replace(/\?.*$/u, ''));
    const process = async () =>
      sandbox.handle({ method: request.method ?? '', url, headers: request.headers as Record<string, string>, body });
    if (matches && ++hits <= plan.times) return goWrong(plan.fault, response, process);
    write(response, await process());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hits: () => hits,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function goWrong(fault: Fault, response: ServerResponse, process: () => Promise<SandboxResponse>): Promise<void> {
  const cut = () => response.socket?.resetAndDestroy();
  const say = (status: number, body: string, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };
  switch (fault) {
    case 'reset before':
      return void cut();
    case 'reset after processing':
      await process();
      return void cut();
    case 'time-out after processing':
      await process();
      return;
    case '500 before':
      return say(500, '{"error":"Server error"}');
    case '500 after processing':
      await process();
      return say(500, '{"error":"Server error"}');
    case '429 once':
      return say(429, '{"error":"Too many requests"}', { 'retry-after': '2' });
    case 'truncated': {
      const { status, headers, body } = await process();
      response.writeHead(status, headers);
      response.write(body.slice(0, body.length / 2));
      await new Promise((resolve) => setTimeout(resolve, 5));
      return void response.socket?.destroy();
    }
    case 'an HTML page':
      await process();
      return say(200, '<!doctype html><title>Sign in</title>', { 'content-type': 'text/html' });
    case 'malformed JSON':
      await process();
      return say(200, '{"contact":{"id":7,');
    case 'slow drip': {
      const { status, headers, body } = await process();
      response.writeHead(status, headers);
      const size = Math.ceil(body.length / 8);
      for (let at = 0; at < body.length; at += size) {
        response.write(body.slice(at, at + size));
        await new Promise((resolve) => setImmediate(resolve));
      }
      return void response.end();
    }
    case 'missing headers': {
      const { status, body } = await process();
      response.sendDate = false;
      return void response.writeHead(status).end(body);
    }
    case 'extra fields': {
      const { status, headers, body } = await process();
      const { 'content-length': _, ...others } = headers;
      response.writeHead(status, others).end(JSON.stringify({ ...JSON.parse(body), added_later: { deep: [1] } }));
    }
  }
}

function write(response: ServerResponse, { status, headers, body }: SandboxResponse): void {
  response.writeHead(status, headers).end(body);
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
