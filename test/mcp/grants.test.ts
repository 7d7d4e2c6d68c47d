import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { operations } from '../../src/api/index.ts';
import type { Operation } from '../../src/api/operation.ts';
import { store } from '../../src/auth/credentials.ts';
import { openStore } from '../../src/auth/store-file.ts';
import { reachOf } from '../../src/derive/grants.ts';
import { toolsets } from '../../src/derive/toolsets.ts';
import { origin, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { type Connected, connected } from './connected.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every tool
type Any = any;

let world: SandboxWorld;
let open: Connected[] = [];

beforeEach(() => {
  world = sandboxWorld({ seed: 'demo' });
});
afterEach(async () => {
  for (const each of open) await each.end();
  open = [];
});

async function assistant(...argv: string[]) {
  const connection = await connected(world, argv);
  open.push(connection);
  const { client } = connection;
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    tools: async () => (await client.listTools()).tools as Any[],
    call: async (name: string, input: object = {}): Promise<Any> => {
      const result: Any = await client.callTool({ name, arguments: input as Record<string, unknown> });
      return { ...result, text: result.content[0].text, data: result.structuredContent };
    },
  };
}

const reads = Object.values<Operation>(operations)
  .filter(({ method }) => method === 'GET')
  .map(({ id }) => id);
const sends = ['replyToTicket', 'replyToConversation', 'resolveConversation', 'sendEvent'];
const ofWebhooks = ['createWebhook', 'deleteWebhook'];
const writes = Object.keys(operations).filter((id) => ![...reads, ...sends, ...ofWebhooks].includes(id));

/** So that no tool is left out for want of a credential. */
const everyCredential = { SVC_API_KEY: 'key_acme', SVC_ACCESS_TOKEN: 'token', SVC_M2M_TOKEN: 'm2m_sandbox' };
const finders = ['findContact', 'findTicket'];
/** They ask the copy, which needs no credential. */
const ofCopy = ['queryCopy', 'searchCopy', 'report', 'contactHistory'];

test.each([
  ['nothing', [], []],
  ['--allow-write', ['--allow-write'], [...writes, 'contacts_sync']],
  ['--allow-send', ['--allow-send'], sends],
  ['--allow-webhooks', ['--allow-webhooks'], ofWebhooks],
])('%s grants, beside what reads, exactly its own tools', async (_, flags, own) => {
  world = sandboxWorld({ seed: 'demo', env: everyCredential });
  expect((await (await assistant(...flags)).names()).sort()).toEqual([...reads, ...finders, ...ofCopy, ...own].sort());
});

test('what the credential is known not to open is not offered', async () => {
  const all = ['--allow-write', '--allow-send', '--allow-webhooks'];
  const withKey = await (await assistant(...all)).names();
  expect(withKey).toContain('replyToTicket');
  for (const name of ['listMeetings', 'listWebhooks', ...ofWebhooks]) expect(withKey).not.toContain(name);
  // The scopes of a token from the environment are not known.
  world = sandboxWorld({ seed: 'demo', env: { SVC_ACCESS_TOKEN: 'token' } });
  expect(await (await assistant(...all)).names()).toEqual(expect.arrayContaining(['listWebhooks', 'sendEvent']));
  await loggedIn();
  const withLogin = await (await assistant(...all)).names();
  expect(withLogin.sort()).toEqual(
    [
      ...['listWebhooks', ...ofWebhooks, 'listContactLists', 'listContactListMembers'],
      ...writes.filter(isOfLists),
      ...ofCopy,
    ].sort(),
  );
});

const isOfLists = (id: string): boolean =>
  Object.values<Operation>(operations).find((one) => one.id === id)?.scope === null;

test('--toolsets narrows by kind of record, together with --tools', async () => {
  const narrow = await assistant('--toolsets', 'tickets,feedback', '--allow-write');
  expect((await narrow.names()).sort()).toEqual([
    'addTicketNote',
    'createTicket',
    'findTicket',
    'getRoadmap',
    'getTicket',
    'listFeedback',
    'listTickets',
    'updateTicket',
  ]);
  expect((await narrow.call('listContacts')).text).toContain(
    'listContacts is not among --toolsets: it needs contacts.',
  );
  expect(await (await assistant('--toolsets', 'contacts', '--tools', 'getContact')).names()).toEqual(['getContact']);
  const wrong = await svc(world, ['mcp', '--toolsets', 'people']);
  expect(wrong).toMatchObject({ exitCode: 2, stdout: '' });
  expect(wrong.stderr).toContain('There are contacts, lists, tickets');
  const crossed = await svc(world, ['mcp', '--toolsets', 'contacts', '--tools', 'getTicket']);
  expect(crossed.stderr).toContain('getTicket needs --toolsets tickets too');
});

test('docs/mcp.md names every toolset', () => {
  const page = readFileSync(new URL('../../docs/mcp.md', import.meta.url), 'utf8');
  const [row = ''] = page.match(/^\| `--toolsets .*$/mu) ?? [];
  expect(toolsets.filter((name) => !new RegExp(`\\b${name}\\b`, 'u').test(row))).toEqual([]);
});

test('every operation that is told to reach a customer needs --allow-send, and what reads needs nothing', () => {
  for (const operation of Object.values<Operation>(operations)) {
    const reach = reachOf(operation);
    expect(reach === 'read', operation.id).toBe(operation.safety === 'read');
    if (operation.reaches === 'customer') expect(reach, operation.id).toBe('send');
    if (operation.scope === 'webhooks:manage' && reach !== 'read') expect(reach, operation.id).toBe('webhooks');
  }
});

test.each([
  ['sendEvent', '--allow-send', { trigger: 'order_create', contact: { name: 'A', email: 'a@example.com' } }],
  ['resolveConversation', '--allow-send', { id: 1 }],
  ['createWebhook', '--allow-webhooks', { event_type: 'ticket.created', target_url: 'https://evil.example.com/' }],
  ['deleteWebhook', '--allow-webhooks', { webhook: 1 }],
])('%s, called with --allow-write alone, names %s and sends nothing', async (name, flag, input) => {
  const { call } = await assistant('--allow-write');
  const { isError, text, data } = await call(name, input);
  expect(isError).toBe(true);
  expect(data.error.kind).toBe('forbidden');
  expect(text).toContain(`${name} was not granted: it needs ${flag}.`);
  expect(world.sent).toEqual([]);
});

test('what may reach somebody outside says so', async () => {
  world = sandboxWorld({ seed: 'demo', env: everyCredential });
  const tools = new Map(
    (await (await assistant('--allow-send', '--allow-webhooks')).tools()).map((one) => [one.name, one]),
  );
  for (const name of [...sends, ...ofWebhooks]) expect(tools.get(name).annotations.openWorldHint, name).toBe(true);
});

test('a published entry, which the public reads, is changed only with --allow-send and --allow-write', async () => {
  const made = await svc(world, [
    'changelog',
    'create',
    '--title',
    'Live',
    '--content',
    'Good news',
    '--status',
    'published',
    '--json',
  ]);
  const { id } = JSON.parse(made.stdout);
  const before = world.sent.length;
  const drafts = await assistant('--allow-write');
  const refused = await drafts.call('updateChangelogEntry', { id, content: 'Bad news' });
  expect(refused.text).toContain(`Entry ${id} is published`);
  expect(refused.text).toContain('--allow-write --allow-send');
  expect(world.sent.slice(before)).toEqual([`GET /changelog/${id}`]);
  const sender = await assistant('--allow-send');
  expect((await sender.call('updateChangelogEntry', { id, content: 'Bad news' })).text).toContain('--allow-write');
  const both = await assistant('--allow-write', '--allow-send');
  expect((await both.call('updateChangelogEntry', { id, content: 'Better news' })).isError).toBeUndefined();
});

test('the members of a list are never emptied by leaving them out', async () => {
  const { call, tools } = await assistant('--allow-write');
  const before = world.sent.length;
  const { isError, text } = await call('syncListContacts', { contactList: 1, name: 'Customers' });
  expect(isError).toBe(true);
  expect(text).toContain('- contacts_ids: is required');
  expect(world.sent).toHaveLength(before);
  const tool = (await tools()).find(({ name }) => name === 'syncListContacts');
  expect(tool.inputSchema.required).toContain('contacts_ids');
});

/** The demo account without an API key in the environment, and a token of an OAuth login. */
async function withToken() {
  world = sandboxWorld({ seed: 'demo', env: { SVC_TOKEN_STORE: 'file' } });
  const scopes = ['webhooks:manage', 'identity'];
  const tokens = (await world.control('POST', 'tokens', { account_id: 1, scopes })) as { access_token: string };
  return tokens.access_token;
}

/** A stored login, as svc login leaves it. */
async function loggedIn() {
  const token = await withToken();
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
  const tokens = openStore({ folder: join(world.folder, 'config'), clock: world.clock, random, warn: () => {} });
  await store(
    tokens,
    { profile: 'default', kind: 'oauth' },
    {
      base_url: origin,
      auth_url: origin,
      client_id: 'sandbox_cli',
      access_token: token,
      issued_at: world.clock.now().toISOString(),
      expires_at: new Date(world.clock.now().getTime() + 3_600_000).toISOString(),
      scopes: ['webhooks:manage'],
    },
  );
  return tokens;
}

const subscription = { event_type: 'ticket.created', target_url: 'https://example.com/hooks' };

test('with a credential from the environment no subscription is created: its secret could not be kept', async () => {
  const token = await withToken();
  world = { ...world, env: { ...world.env, SVC_ACCESS_TOKEN: token } };
  const { call } = await assistant('--allow-webhooks');
  const { isError, text } = await call('createWebhook', subscription);
  expect(isError).toBe(true);
  expect(text).toContain('svc cannot keep the signing secret');
  expect(world.sent).toEqual([]);
});

test('the secret of a subscription goes to the store, and is never in an answer', async () => {
  const tokens = await loggedIn();
  const { call } = await assistant('--allow-webhooks');
  const answered = await call('createWebhook', subscription);
  expect(answered.isError).toBeUndefined();
  const { id } = answered.data;
  const secret = await tokens.read(`webhook/default/${id}`);
  expect(secret).toMatch(/^\S{16,}$/u);
  expect(JSON.stringify(answered)).not.toContain(secret as string);
  expect(answered.data).toMatchObject(subscription);
  expect(answered.data).not.toHaveProperty('signing_secret');
  expect(JSON.stringify(await call('listWebhooks'))).not.toContain(secret as string);
  expect((await call('deleteWebhook', { webhook: id })).isError).toBeUndefined();
  expect(await tokens.read(`webhook/default/${id}`)).toBeUndefined();
});

test('a secret that cannot be stored takes its subscription with it, and is not told', async () => {
  const tokens = await loggedIn();
  const { call } = await assistant('--allow-webhooks');
  // A file where the folder of locks has to be: nothing can be saved.
  rmSync(join(world.folder, 'config', 'locks'), { recursive: true, force: true });
  writeFileSync(join(world.folder, 'config', 'locks'), '');
  const { isError, text } = await call('createWebhook', subscription);
  expect(isError).toBe(true);
  expect(text).toContain('The signing secret could not be stored, so the subscription was deleted again.');
  expect((await call('listWebhooks')).data.webhooks).toEqual([]);
  expect(await tokens.names('webhook/')).toEqual([]);
});
