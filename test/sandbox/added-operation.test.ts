import * as v from 'valibot';
import { expect, test } from 'vitest';
import { Call } from '../../src/api/calls.ts';
import { operations } from '../../src/api/index.ts';
import { defineOperation } from '../../src/api/operation.ts';
import { toolsOf } from '../../src/derive/mcp-tools.ts';
import { openApiOf } from '../../src/derive/openapi.ts';
import { connect } from '../../src/http/call/call.ts';
import { wireOf } from '../../src/http/exchange/request.ts';
import { send } from '../../src/http/send/send.ts';
import type { HandlersOf } from '../../src/sandbox/handlers/handler.ts';
import { handlers } from '../../src/sandbox/handlers/index.ts';
import { servedBy } from '../../src/sandbox/served.ts';
import { remove } from '../../src/sandbox/store/state.ts';
import { screen, settings } from '../cli/fake-context.ts';
import { origin, sandboxWorld } from '../sandbox-world.ts';

const base = { command: ['calls', 'get'], resource: 'calls', scope: 'calls:read', status: 200 } as const;

const getCall = defineOperation({
  ...base,
  id: 'getCall',
  method: 'GET',
  path: '/calls/{id}',
  summary: 'Show a phone call',
  ids: { id: 'calls' },
  response: v.looseObject({ call: Call }),
  answer: { shape: 'record', key: 'call' },
  safety: 'read',
});

// Neither its id nor its path says that it deletes.
const eraseCall = defineOperation({
  ...base,
  id: 'eraseCall',
  method: 'POST',
  path: '/calls/{phoneCall}/erase',
  summary: 'Erase a phone call',
  ids: { phoneCall: 'calls' },
  response: v.looseObject({ status: v.literal('ok') }),
  answer: { shape: 'record' },
  safety: 'repeatable',
  effect: { of: 'The call', done: 'erased', lookHint: 'Look with: svc calls list' },
  grant: 'write',
  deletes: true,
  destructive: true,
});

const table = { ...operations, getCall, eraseCall };

const own: HandlersOf<typeof table> = {
  ...handlers,
  getCall: ({ state, params }) => {
    const row = state.rows.calls.get(params.id);
    if (!row) throw new Error('The sandbox let in an id that is not there.');
    const { account_id: _, ended_reason: __, ...call } = row;
    return { call };
  },
  eraseCall: ({ state, params }) => {
    remove(state, 'calls', params.phoneCall);
    return { status: 'ok' };
  },
};

const worldWith = () => {
  const world = sandboxWorld({ serves: servedBy(table, own), rateLimit: 'off' });
  return {
    ...world,
    ask: async (method: string, url: string, key = 'key_acme') => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const { status, body } = await world.sandbox.handle({ method, url, headers });
      return { status, body: JSON.parse(body) };
    },
  };
};

const firstCall = async ({ ask }: ReturnType<typeof worldWith>, key = 'key_acme') =>
  (await ask('GET', '/calls', key)).body.calls[0] as { phone_call_id: number };

test('the sandbox serves an operation that was added to the table', async () => {
  const world = worldWith();
  const call = await firstCall(world);
  expect(await world.ask('GET', `/calls/${call.phone_call_id}`)).toEqual({ status: 200, body: { call } });
});

test('a record of the other account and an unknown id are a 404 of an added operation, and nothing happens', async () => {
  const world = worldWith();
  const { phone_call_id: id } = await firstCall(world);
  for (const [method, path] of [
    ['GET', (call: number) => `/calls/${call}`],
    ['POST', (call: number) => `/calls/${call}/erase`],
  ] as const) {
    const others = await world.ask(method, path(id), 'key_globex');
    const unknown = await world.ask(method, path(999_999));
    expect([others.status, unknown.status]).toEqual([404, 404]);
    expect(others.body).toEqual(unknown.body);
  }
  expect((await world.ask('GET', `/calls/${id}`)).status).toBe(200);
});

test('two operations may name the id in the same place differently', async () => {
  const world = worldWith();
  const { phone_call_id: id } = await firstCall(world);
  expect((await world.ask('POST', `/calls/${id}/erase`)).status).toBe(200);
  expect((await world.ask('GET', `/calls/${id}`)).status).toBe(404);
});

test('a repeated deletion that finds nothing is done, whatever the operation is called', async () => {
  const world = worldWith();
  const { phone_call_id: phoneCall } = await firstCall(world);
  await world.control('POST', 'faults', { method: 'POST', path: '/calls/', action: 'drop-after' });
  const { ctx } = screen({ env: { SVC_API_KEY: 'key_acme' } });
  const { exchange, clock } = world;
  const files = { config: world.folder, state: world.folder };
  const service = await connect({ ...ctx, exchange, clock, files }, { ...settings, baseUrl: origin });
  const sent = await send(service, eraseCall, wireOf(eraseCall, { params: { phoneCall } }));
  expect(sent).toEqual({ how: 'gone' });
});

test('OpenAPI holds an added operation under the chapter of its resource', () => {
  const addresses = { baseUrl: 'https://a.test', authUrl: 'https://a.test', partnerSegment: 'partner' };
  const { paths } = openApiOf(addresses, table);
  expect(paths['/calls/{id}']).toMatchObject({
    get: { operationId: 'getCall', tags: ['Calls'], parameters: [{ name: 'id', description: 'Id of the phone call' }] },
  });
  expect(paths['/calls/{phoneCall}/erase']).toMatchObject({ post: { operationId: 'eraseCall', tags: ['Calls'] } });
});

test('an assistant gets an added operation with true hints, and needs the grant that its entry names', () => {
  const tools = new Map(toolsOf({ maySend: false }, table).map((tool) => [tool.name, tool]));
  expect(tools.get('getCall')).toMatchObject({ reach: 'read', annotations: { readOnlyHint: true } });
  expect(tools.get('eraseCall')).toMatchObject({
    reach: 'write',
    inputSchema: { required: ['phoneCall'] },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  });
});

test('an entry or a handler that leaves something out does not compile', () => {
  // `npx tsc -p .` fails where one of these compiles; none is run.
  const refused = () => [
    // @ts-expect-error a handler is missing
    servedBy(table, handlers),
    // @ts-expect-error a path with an id must say whose id it is
    defineOperation({ ...getCall, ids: undefined }),
    // @ts-expect-error the kind of record must be one that there is
    defineOperation({ ...getCall, ids: { id: 'phone_calls' } }),
    // @ts-expect-error a write must say what it does
    defineOperation({ ...eraseCall, effect: undefined }),
    // @ts-expect-error a write must say what it needs to be granted
    defineOperation({ ...eraseCall, grant: undefined }),
    // @ts-expect-error what reaches a customer is granted by --allow-send alone
    defineOperation({ ...eraseCall, reaches: 'customer' }),
    // @ts-expect-error what is looked for must say where the id of what it made is
    defineOperation({ ...eraseCall, safety: 'verify' }),
    // @ts-expect-error a list must say how it is sorted
    defineOperation({ ...getCall, answer: { shape: 'list', key: 'calls', paged: false } }),
  ];
  expect(refused).toBeTypeOf('function');
});
