import { pipeline, Readable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ErrorCode, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import type { Failure } from '../errors.ts';
import { isClosedPipe, outputFailure } from '../output/write.ts';
import { fieldsIn } from '../text/record.ts';
import { largestMessage, wholeLines } from './lines.ts';
import { checkedMessages } from './messages.ts';
import { openAssistant } from './server.ts';
import type { Grant } from './tool.ts';

/** Standard input and output as a transport that can be ended well: what was asked is answered first. */
function openLine(ctx: Context) {
  // The stream itself, so that it can be let go of while it waits: an iterator of it cannot.
  const input = ctx.stdin instanceof Readable ? ctx.stdin : Readable.from(ctx.stdin, { objectMode: false });
  const refuse = (refusal: Refusal) =>
    ctx.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: refusal })}\n`);
  const lines = wholeLines((message) => refuse({ code: ErrorCode.InvalidRequest, message }));
  pipeline(input, lines, () => {});
  const transport = new StdioServerTransport(lines, ctx.stdout, { maxBufferSize: largestMessage + 1 });
  const open = new Set<RequestId>();
  let whenIdle = () => {};
  const forget = (id: RequestId | undefined) => {
    if (id !== undefined && open.delete(id) && open.size === 0) whenIdle();
  };
  let failure: Failure | undefined;
  // No answer arrives any more, so none is owed.
  ctx.stdout.on('error', (error) => {
    if (!isClosedPipe(error)) failure ??= outputFailure('Standard output', error);
    open.clear();
    whenIdle();
  });
  return {
    transport,
    /** To be called once the server is connected: from then on requests are counted. */
    watch() {
      const { onmessage } = transport;
      const send = transport.send.bind(transport);
      transport.onmessage = (message) => {
        if ('method' in message && 'id' in message) open.add(message.id);
        onmessage?.(message);
        forget(cancelledBy(message));
      };
      const { onerror } = transport;
      transport.onerror = (error) => {
        const refusal = refusalOf(error);
        if (refusal) refuse(refusal);
        onerror?.(error);
      };
      transport.send = async (message) => {
        await send(message);
        if (!('method' in message)) forget(message.id);
      };
    },
    ended: whenEnded(ctx, lines),
    /** Why answers could not be written; undefined also where nobody reads them any more. */
    failure: () => failure,
    /** Resolves when every request that came has its answer, or after a signal when the client reads no more. */
    async idle(): Promise<void> {
      if (open.size === 0) return;
      const idle = new Promise<void>((resolve) => {
        whenIdle = resolve;
      });
      const over = new AbortController();
      await Promise.race([idle, whenStuck(ctx, over.signal)]);
      over.abort();
    },
    close: () => {
      input.destroy();
    },
  };
}

/** Looks each second whether a signal came and the client has taken nothing meanwhile: its answers would wait for ever. */
async function whenStuck({ stdout, signal, clock }: Context, over: AbortSignal): Promise<void> {
  for (let waits: number | undefined; !over.aborted; ) {
    await clock.sleep(1_000, over);
    const now = signal.aborted && stdout.writableNeedDrain ? stdout.writableLength : undefined;
    if (now !== undefined && now === waits) return;
    waits = now;
  }
}

type Refusal = { readonly code: number; readonly message: string };

/** What was no message of MCP, whose sender may wait. Undefined where the error is another. */
function refusalOf(error: Error): Refusal | undefined {
  if (error instanceof SyntaxError) return { code: ErrorCode.ParseError, message: 'The line is no JSON.' };
  if (!('issues' in error)) return undefined;
  const message = 'A line is one message of JSON-RPC 2.0: no batch, and an id is a text or a whole number.';
  return { code: ErrorCode.InvalidRequest, message };
}

/** A request that the client gave up gets no answer. */
function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const { requestId } = fieldsIn(message.params);
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : undefined;
}

/** Resolves when the client has closed its end, reads no more, or a signal came. */
function whenEnded(ctx: Context, input: Readable): Promise<void> {
  return new Promise((resolve) => {
    const end = () => resolve();
    for (const event of ['end', 'close', 'error']) input.once(event, end);
    ctx.stdout.once('error', end);
    if (ctx.signal.aborted) end();
    ctx.signal.addEventListener('abort', end, { once: true });
  });
}

/**
 * Serves the granted operations over standard input and output until the client closes its end or a signal comes; both
 * are the normal end. Calls that are under way are answered first.
 */
export async function serveStdio(ctx: Context, settings: Settings, grant: Grant): Promise<void> {
  const newServer = await openAssistant(ctx, settings, grant);
  const server = newServer();
  const line = openLine(ctx);
  await server.connect(line.transport);
  checkedMessages(line.transport);
  line.watch();
  await line.ended;
  await line.idle();
  await server.close();
  line.close();
  const failure = line.failure();
  if (failure) throw failure;
}
