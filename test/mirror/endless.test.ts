// @module-tag long
// A query that never ends, in a process that has more to do: the built tool, under the Node of SVC_TEST_NODE.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endAfterEach } from '../endings.ts';
import { hasOwnSqlite, type Machine, machine, node } from './copy-process.ts';

const endings = endAfterEach();
let here: Machine;
let folder: string;
beforeAll(async () => {
  here = await machine();
  folder = here.folder();
  expect((await here.run(folder, ['mirror', 'pull'])).code).toBe(0);
});
afterAll(() => here.end());

/** It looks for its first row for ever. */
const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0';

async function assistant() {
  const env = {
    ...process.env,
    ...here.account,
    SVC_CONFIG_DIR: join(folder, 'config'),
    SVC_STATE_DIR: join(folder, 'state'),
  } as Record<string, string>;
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StdioClientTransport({
    command: node,
    args: [here.built.script, 'mcp'],
    env,
    stderr: 'ignore',
  });
  await client.connect(transport);
  endings.push(() => client.close());
  const call = (sql: string) => client.callTool({ name: 'queryCopy', arguments: { sql } });
  const listed = async () => (await client.listTools()).tools;
  return { call, listed, pid: transport.pid, close: () => client.close() };
}

/** The processes that were started by one; on Linux alone it is known. */
function childrenOf(pid: number | null): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((name) => {
    try {
      const [, parent] = /\) \S (\d+)/u.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
      return Number(parent) === pid ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

test('an assistant whose query never ends is answered meanwhile, and the query ends with svc', async () => {
  const { call, listed, pid, close } = await assistant();
  const lost = call(endless).catch((error: unknown) => error);
  expect((await listed()).length).toBeGreaterThan(10);
  // The other engine has the file alone until the query is over.
  if (hasOwnSqlite) {
    const { structuredContent } = await call('SELECT count(*) AS n FROM contacts');
    expect(structuredContent).toEqual({ rows: [{ n: 264 }] });
    expect((await call('SELECT nothing FROM contacts')).isError).toBe(true);
  }
  const started = childrenOf(pid);
  await close();
  await lost;
  const left = () => started.filter((one) => childrenOf(one).length > 0 || isThere(one));
  for (let waited = 0; left().length > 0 && waited < 60_000; waited += 20) await sleep(20);
  expect(left()).toEqual([]);
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('a view of one’s own has its rows, in their order', async () => {
  mkdirSync(join(folder, 'config', 'views'), { recursive: true });
  writeFileSync(
    join(folder, 'config', 'views', 'newest.sql'),
    "SELECT 'ticket' AS kind, id, 'it''s new' AS why FROM tickets ORDER BY id DESC LIMIT 3;\n",
  );
  const { code, stdout, stderr } = await here.run(folder, ['inbox', 'newest', '--json']);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const rows = JSON.parse(stdout) as { id: number; why: string }[];
  expect(rows.map(({ why }) => why)).toEqual(["it's new", "it's new", "it's new"]);
  expect(rows.map(({ id }) => id)).toEqual(rows.map(({ id }) => id).sort((a, b) => b - a));
});
