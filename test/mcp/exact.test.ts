// Numbers that JSON cannot carry exactly: a tool that is called with one sends nothing, and says so.
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Exchange } from '../../src/context.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Told = { readonly text: string; readonly error: unknown; readonly isError: boolean };

/** As a client writes it, digit by digit, and what went to the service. */
async function called(name: string, args: string): Promise<{ readonly told: Told; readonly sent: string[] }> {
  const sent: string[] = [];
  const world = sandboxWorld({ seed: 'demo' });
  const through: Exchange = world.exchange;
  const exchange: Exchange = (request) => {
    sent.push(`${request.method} ${new URL(request.url).pathname} ${request.body ?? ''}`);
    return through(request);
  };
  const stdin = new PassThrough();
  const info = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: info })}\n`);
  stdin.end(
    `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":${JSON.stringify(name)},"arguments":${args}}}\n`,
  );
  const { stdout } = await svc({ ...world, exchange }, ['mcp', '--allow-write'], {
    stdin: stdin as AsyncIterable<string>,
  });
  const lines = stdout.trim().split('\n');
  const { result } = lines.map((line) => JSON.parse(line)).find(({ id }) => id === 2);
  return {
    told: {
      text: result.content[0].text,
      error: result.structuredContent.error,
      isError: result.isError === true,
    },
    sent,
  };
}

test.each([
  ['getTicket', '{"id":9007199254740993}', 'id'],
  ['updateContact', '{"id":6,"metadata":{"order_id":12345678901234567890}}', 'metadata.order_id'],
  ['updateContact', '{"id":6,"metadata":{"order_id":-12345678901234567890}}', 'metadata.order_id'],
  ['updateContact', '{"id":6,"metadata":{"ratio":1e400}}', 'metadata.ratio'],
  ['contacts_sync', '{"rows":[{"email":"a@b.test","metadata":{"n":9007199254740993}}]}', 'rows.0.metadata.n'],
  ['findContact', '{"q":12345678901234567890}', 'q'],
])('%s with %s sends nothing and names %s', async (name, args, field) => {
  const { told, sent } = await called(name, args);
  expect(told.isError).toBe(true);
  expect(told.error).toMatchObject({
    kind: 'usage',
    fields: { [field]: [expect.stringMatching(/write it in quotes$/u)] },
  });
  expect(told.text).toContain('nothing was sent');
  expect(told.text).not.toMatch(/\d{16}/u);
  expect(sent).toEqual([]);
});

test('a number that is exact is sent as it is, and a long one in quotes as its text', async () => {
  const { told, sent } = await called(
    'updateContact',
    '{"id":6,"metadata":{"largest":9007199254740991,"share":0.1234567890123456789,"order_id":"12345678901234567890"}}',
  );
  expect(told.isError).toBe(false);
  expect(sent.join('\n')).toContain('"largest":9007199254740991');
  expect(sent.join('\n')).toContain('"order_id":"12345678901234567890"');
});
