// A field that a tool does not know is named, however deep it stands: nothing is dropped and told as done.
import { afterEach, expect, test } from 'vitest';
import type { Exchange } from '../../src/context.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type Connected, connected } from './connected.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers and schemas of every tool
type Any = any;

let open: Connected[] = [];

afterEach(async () => {
  for (const each of open) await each.end();
  open = [];
});

const credentials = { SVC_API_KEY: 'key_acme', SVC_ACCESS_TOKEN: 'token', SVC_M2M_TOKEN: 'm2m_sandbox' };

async function assistant() {
  const sent: string[] = [];
  const world: SandboxWorld = sandboxWorld({ seed: 'demo', env: credentials });
  const through: Exchange = world.exchange;
  const exchange: Exchange = (request) => {
    if (request.method !== 'GET') sent.push(String(request.body));
    return through(request);
  };
  const connection = await connected({ ...world, exchange }, ['--allow-write', '--allow-send']);
  open.push(connection);
  const { client } = connection;
  return {
    sent,
    tools: async () => (await client.listTools()).tools as Any[],
    call: async (name: string, input: Record<string, unknown>): Promise<Any> => {
      const result: Any = await client.callTool({ name, arguments: input });
      return { ...result, text: result.content[0].text, data: result.structuredContent };
    },
  };
}

test('in a row of contacts_sync it is a problem of that row, which is not sent', async () => {
  const { call, sent } = await assistant();
  const rows = [
    { email: 'new1@b.test', first_name: 'Ada', lastname: 'Love' },
    { email: 'new2@b.test', name: 'Bo', metadata: { anything: 1, constructor: 'x' } },
  ];
  const { data } = await call('contacts_sync', { rows });
  expect(data).toMatchObject({ rows: 2, created: 1, updated: 0, rejected: 1, unsent: 0 });
  expect(data.errors).toEqual([{ line: 1, email: 'new1@b.test', error: expect.any(String) }]);
  expect(data.errors[0].error).toMatch(
    /^first_name is not a field; there are email, name, last_name, .*; lastname is /u,
  );
  expect(sent).toHaveLength(1);
  expect(sent[0]).not.toContain('new1@b.test');
});

const contact = { name: 'Ada', last_name: 'Love', email: 'ada@b.test', phone: '+12025550123' };

test.each([
  ['createContacts', { contacts: [contact, { ...contact, compny: 'Acme' }] }, 'contacts.1.compny'],
  ['createContacts', { contacts: [JSON.parse('{"__proto__":1}')] }, 'contacts.0.__proto__'],
  ['syncContacts', { contacts: [{ email: 'a@b.test', first_name: 'Ada' }] }, 'contacts.0.first_name'],
  ['sendEvent', { trigger: 'x', contact: { name: 'Ada', email: 'a@b.test', lastname: 'L' } }, 'contact.lastname'],
  ['sendEvent', { trigger: 'x', contact, kpi: { value_minor: 1, currency: 'EUR', value: 2 } }, 'kpi.value'],
])('in the arguments of %s nothing is sent, and it is named: %j', async (name, input, field) => {
  const { call, sent } = await assistant();
  const { data, text } = await call(name, input);
  expect(data.error.kind).toBe('usage');
  expect(Object.keys(data.error.fields)).toEqual([field]);
  expect(text).toContain(`- ${field}: is not a field; there are `);
  expect(text).toContain('nothing was sent');
  expect(sent).toEqual([]);
});

test('own data keeps any key', async () => {
  const { call, sent } = await assistant();
  expect((await call('updateContact', { id: 6, metadata: { anything: { deep: 1 } } })).isError).toBeUndefined();
  expect(sent).toEqual(['{"metadata":{"anything":{"deep":1}}}']);
});

test('the schema of every object that a tool takes says which fields there are', async () => {
  const { tools } = await assistant();
  const found: string[] = [];
  const look = (schema: Any, path: string): void => {
    if (schema?.properties && schema.additionalProperties !== false) found.push(path);
    for (const [name, field] of Object.entries<Any>(schema?.properties ?? {})) look(field, `${path}.${name}`);
    for (const inner of [schema?.items, ...(schema?.anyOf ?? [])]) if (inner) look(inner, path);
  };
  for (const { name, inputSchema, annotations } of await tools())
    if (!annotations.readOnlyHint) look(inputSchema, name);
  expect(found).toEqual([]);
});
