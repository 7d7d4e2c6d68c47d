import { PassThrough } from 'node:stream';
import { svc, type World } from '../svc.ts';

// biome-ignore lint/suspicious/noExplicitAny: messages of every kind
type Any = any;

/** `svc mcp` over standard input and output, for what no client of the SDK sends. */
export function rawSession(world: World, argv: readonly string[]) {
  const stdin = new PassThrough();
  const replies: Any[] = [];
  let rest = '';
  let heard = () => {};
  const ran = svc(world, ['mcp', ...argv], {
    stdin: stdin as AsyncIterable<string>,
    seen: (stream, piece) => {
      if (stream !== 'stdout') return;
      const lines = `${rest}${piece}`.split('\n');
      rest = lines.pop() ?? '';
      replies.push(...lines.map((line) => JSON.parse(line)));
      heard();
    },
  });
  const write = (message: unknown) =>
    void stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  const initialize = (id: unknown) => {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    write({ jsonrpc: '2.0', id, method: 'initialize', params });
    write({ jsonrpc: '2.0', method: 'notifications/initialized' });
  };
  initialize('first');
  return {
    replies,
    write,
    /** As it is, without the end of a line. */
    writePart: (text: string) => void stdin.write(text),
    initialize,
    call: (id: unknown, name: string, args: unknown) =>
      write({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }),
    cancel: (requestId: unknown) =>
      write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason: 'enough' } }),
    /** The replies to a request, once there are so many. */
    async repliesTo(id: unknown, count = 1): Promise<readonly Any[]> {
      for (;;) {
        const own = replies.filter((one) => one.id === id);
        if (own.length >= count) return own;
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
    },
    end() {
      stdin.end();
      return ran;
    },
  };
}
