import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';

/** The Node that runs the built tool: this one, or the one that CI names. */
const node = process.env.SVC_TEST_NODE ?? process.execPath;

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

test('an assistant works with the sandbox through svc mcp, as docs/mcp.md shows it', async () => {
  const transport = new StdioClientTransport({
    command: node,
    args: [built.script, 'sandbox', 'exec', '--', 'svc', 'mcp', '--allow-write'],
    cwd: built.folder,
    stderr: 'pipe',
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['listContacts', 'createTicket', 'contacts_sync']),
  );
  const made = await client.callTool({ name: 'createTicket', arguments: { subject: 'From outside' } });
  const { ticket } = made.structuredContent as { ticket: { id: number; subject: string } };
  const read = await client.callTool({ name: 'getTicket', arguments: { id: ticket.id } });
  expect(read.structuredContent).toMatchObject({ ticket: { subject: 'From outside', source: 'api' } });
  await client.close();
});

test.each(['SIGTERM', 'SIGINT', 'end of input'])(
  'svc mcp ends with 0 on %s, having answered',
  { tags: ['long'] },
  async (how) => {
    const child = spawn(node, [built.script, 'mcp'], {
      env: {
        ...process.env,
        SVC_BASE_URL: 'http://127.0.0.1:1',
        SVC_API_KEY: 'any',
        SVC_CONFIG_DIR: `${built.folder}/config`,
        SVC_STATE_DIR: `${built.folder}/state`,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    const [answer] = (await once(child.stdout, 'data')) as [Buffer];
    expect(JSON.parse(answer.toString())).toMatchObject({ id: 1, result: { serverInfo: { name: 'svc' } } });
    if (how === 'end of input') child.stdin.end();
    else child.kill(how as NodeJS.Signals);
    expect(await once(child, 'exit')).toEqual([0, null]);
  },
);
