import type { IncomingMessage, ServerResponse } from 'node:http';
import { textsOf } from '../store/line.ts';
import { answer, decide, type Receiving, tooLarge } from './decide.ts';
import { receiverLimits } from './limits.ts';
import { bound, close, listen, loopback, originOf, pathOf } from './listening.ts';
import { doorAt, mostConnections, type ReceiverOptions } from './options.ts';
import { isMarked, markHeader } from './own-mark.ts';

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/**
 * Takes deliveries on 127.0.0.1. The order is what makes it safe: verify, drop repeats, make durable, answer, and
 * only then pass on. A non-2xx is never redelivered (service.md#delivery-3), so nothing that comes later may be the
 * answer. Where the delivery cannot be stored there is no answer, since only silence makes the service send again (service.md#delivery-2).
 */
export async function startReceiver(options: ReceiverOptions) {
  const limits = { ...receiverLimits, ...options.limits };
  const receiving: Receiving = {
    options,
    limits,
    storing: new Map(),
    held: 0,
    doubted: 0,
    hasProblem: false,
    refusedAt: Number.NEGATIVE_INFINITY,
    refused: 0,
    isClosed: false,
  };
  const server = process.getBuiltinModule('node:http').createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.wholeMs,
    connectionsCheckingInterval: Math.min(500, limits.headersMs / 4),
    keepAliveTimeout: 5_000,
  });
  server.on('request', (request, response) => receive(receiving, request, response));
  server.on('checkContinue', (request, response) =>
    receive(receiving, request, response, () => response.writeContinue()),
  );
  bound(server, () => mostConnections(options));
  const host = options.host ?? loopback;
  const hint = options.portHint ?? 'Choose another with --port, or --port 0 for any free one.';
  const port = await listen(server, { host, port: options.port, hint });
  const origin = originOf(host, port);
  return {
    port,
    /** Without a path. */
    origin,
    url: `${origin}${options.doors()[0]?.path ?? ''}`,
    close: () =>
      close(server).finally(() => {
        receiving.isClosed = true;
      }),
  };
}

function receive(
  receiving: Receiving,
  request: IncomingMessage,
  response: ServerResponse,
  goOn: () => void = () => {},
): void {
  const { options, limits } = receiving;
  // A sender who leaves early is no reason to end.
  request.on('error', () => {});
  response.on('error', () => {});
  if (!doorAt(options, pathOf(request))) answer(response, 404);
  else if (request.method !== 'POST') answer(response, 405, { allow: 'POST' });
  else if (options.mark !== undefined && isMarked(request.headers[markHeader], options.mark)) answer(response, 508);
  else if (Number(request.headers['content-length']) > limits.bodyBytes) tooLarge(request);
  else {
    goOn();
    takeBody(receiving, request, response);
  }
}

function takeBody(receiving: Receiving, request: IncomingMessage, response: ServerResponse): void {
  const { limits } = receiving;
  const chunks: Buffer[] = [];
  let length = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    receiving.held += chunk.length;
    if (length > limits.bodyBytes) {
      request.removeAllListeners('data').removeAllListeners('end');
      chunks.length = 0;
      tooLarge(request);
    } else if (receiving.held > limits.heldBytes) {
      // Cut off without an answer, it counts as a failed connection and comes again.
      request.destroy();
    } else chunks.push(chunk);
  });
  request.on('end', () => {
    const [only, ...more] = chunks;
    const raw = only && more.length === 0 ? only : Buffer.concat(chunks);
    decide(receiving, { headers: textsOf(request.headers), raw, response, path: pathOf(request) });
  });
  response.on('close', () => {
    receiving.held -= length;
  });
}
