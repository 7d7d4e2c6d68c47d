import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type Ran, svc, type World } from '../svc.ts';

export type Connected = {
  readonly client: Client;
  /** Resolves when svc ends. */
  readonly ran: Promise<Ran>;
  /** Closes the client's end and waits for svc. */
  end(): Promise<Ran>;
};

/** The SDK's own client beside `svc mcp` in this process: the same bytes as over standard input and output. */
export async function connected(world: World, argv: readonly string[] = [], signal?: AbortSignal): Promise<Connected> {
  const toServer = new PassThrough();
  const fromServer = new PassThrough();
  const ran = svc(world, ['mcp', ...argv], {
    stdin: toServer as AsyncIterable<string>,
    seen: (stream, text) => stream === 'stdout' && fromServer.write(text),
    signal,
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(overStreams(fromServer, toServer));
  return {
    client,
    ran,
    end() {
      toServer.end();
      return ran;
    },
  };
}

function overStreams(input: PassThrough, output: PassThrough): Transport {
  const buffer = new ReadBuffer();
  const transport: Transport = {
    async start() {
      input.on('data', (chunk: Buffer) => {
        buffer.append(chunk);
        for (let message = buffer.readMessage(); message; message = buffer.readMessage())
          transport.onmessage?.(message);
      });
    },
    async send(message) {
      output.write(serializeMessage(message));
    },
    async close() {
      transport.onclose?.();
    },
  };
  return transport;
}
