import { describe, expect, test } from 'vitest';
import { type OperationId, operations } from '../../src/api/index.ts';
import { filledPath, presetPath } from '../../src/api/path.ts';
import type { HttpResponse } from '../../src/context.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { type Ran, svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';
import { lines } from './command-lines.ts';

const deep = (open: string, close: string) => `${open.repeat(20_000)}1${close.repeat(20_000)}`;

/** Bodies that no operation answers with, all of them valid JSON. */
const bodies: readonly string[] = [
  'null',
  'true',
  '0',
  '-1e308',
  '""',
  '"text"',
  '[]',
  '[null]',
  '[[]]',
  '[1,"a",null]',
  '[{}]',
  '{}',
  '{"":null}',
  '{"error":null}',
  '{"status":"up"}',
  '{"__proto__":{"id":1}}',
  '{"data":null,"meta":null}',
  '{"error":"upstream timeout"}',
  '{"status":"queued"}',
  '{"status":"ok"}',
  '{"ok":true}',
  '{"ok":true,"status":"ok","message":"Welcome to the guest network"}',
  '{"message":"Accepted"}',
  '{"id":7,"status":"queued"}',
  '{"success":true}',
  '{"contact":{"name":"Ada"},"ticket":{"status":"open"},"note":{"body":"x"},"entry":{"title":"x"}}',
  deep('[', ']'),
  deep('{"a":', '}'),
];

/** Bodies that hold what belongs there, with one thing changed into something else. */
function mutants(id: string, body: string): string[] {
  const whole = JSON.parse(body) as Record<string, unknown>;
  const { answer } = operations[id as OperationId] as { answer: { key?: string } };
  const key = answer.key ?? Object.keys(whole)[0] ?? 'id';
  const swapped = (value: unknown) => JSON.stringify({ ...whole, [key]: value });
  const inner = [whole[key]].flat()[0];
  const fields = typeof inner === 'object' && inner !== null ? inner : whole;
  const hollow = (value: unknown) => Object.fromEntries(Object.keys(fields).map((field) => [field, value]));
  const wrapped = (record: unknown) =>
    answer.key === undefined ? JSON.stringify(record) : swapped(Array.isArray(whole[key]) ? [record] : record);
  return [
    ...[null, 5, 'text', [], [null], [[1]], {}].map(swapped),
    ...[null, 5, 'text', [], [null], {}, { a: { b: [null] } }, true].map((value) => wrapped(hollow(value))),
    wrapped({}),
    JSON.stringify({ ...whole, meta: null }),
    JSON.stringify({ ...whole, meta: { current_page: 'x', last_page: null, total: [] } }),
  ];
}

const credentials = { SVC_API_KEY: 'key_acme', SVC_M2M_TOKEN: 'm2m_sandbox' };

/** Runs the operation's command; its own request is processed, and answered with `body` where that is given. */
async function play(id: OperationId, body: string | undefined, flags: readonly string[], columns?: number) {
  const world = sandboxWorld({ seed: few, rateLimit: 'off' });
  const tokens = { account_id: 1, scopes: ['webhooks:manage'] };
  const { access_token } = (await world.control('POST', 'tokens', tokens)) as { access_token: string };
  const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' };
  if (id === 'deleteWebhook') {
    const hook = JSON.stringify({ event_type: 'call.completed', target_url: 'https://hooks.example.com/svc' });
    await world.sandbox.handle({ method: 'POST', url: '/oauth-platform/webhooks', headers, body: hook });
  }
  const { method, path } = operations[id];
  const pattern = new RegExp(`${filledPath(presetPath(path), () => '\\d+')}$`, 'u');
  let answered = '{}';
  const { argv, stdin } = lines[id];
  const odd = {
    ...world,
    async exchange(request: Parameters<typeof world.exchange>[0]) {
      const answer = (await world.exchange(request)) as HttpResponse;
      if (request.method !== method || !pattern.test(new URL(request.url).pathname)) return answer;
      answered = answer.body;
      return body === undefined ? answer : { ...answer, body };
    },
  };
  const ran = await svc(odd, [...argv, ...flags], {
    env: { ...credentials, SVC_ACCESS_TOKEN: access_token },
    stdin,
    columns,
  });
  return { ran, answered };
}

test.each([
  ['updateTicket', '{"subject":["x"]}', 9],
  ['updateTicket', '["x"]', 9],
  ['updateTicket', '{}', 0],
  ['updateTicket', '[]', 0],
  ['addTicketNote', '{"body":["x"]}', 9],
  ['sendEvent', '{"contact":["x"]}', 9],
  ['updateBranding', '{"primary_color":["x"]}', 9],
  ['updateContactList', '{"name":["x"]}', 9],
  ['deleteWebhook', '["x"]', 9],
  ['createWebhook', '{"target_url":["x"]}', 9],
  // It may tell of some of them.
  ['createAndSyncListContacts', '[{"index":1}]', 0],
  // One that is there is done, and so is one that is gone.
  ['deleteContactList', '{"contacts_list_id":["x"]}', 0],
  ['createTicket', '{"subject":["x"]}', 0],
] as const)('errors in the answer to %s are no success: %s is exit %i', async (id, errors, exitCode) => {
  const { answered } = await play(id, undefined, []);
  const { ran } = await play(id, JSON.stringify({ ...JSON.parse(answered), errors: JSON.parse(errors) }), []);
  expect(ran.exitCode, ran.stderr).toBe(exitCode);
});

/** As JSON, in a pipe, on a terminal. */
const ways: readonly (readonly [flags: readonly string[], columns: number | undefined])[] = [
  [['--json'], undefined],
  [[], undefined],
  [[], 80],
];

/** All that a deletion answers with. */
const shows = (id: OperationId, body: string): boolean => id === 'deleteWebhook' && body === '{"status":"ok"}';

/** Of a write that was carried out: what can be seen is done, and nothing else is called so. */
function promised(id: OperationId, body: string): number {
  if (shows(id, body)) return 0;
  return operations[id].safety === 'verify' && id !== 'createWebhook' ? 0 : 9;
}

/** Neither a crash nor a false word: a read is done or one clear error, a write is done where that was seen. */
function expectSense(id: OperationId, ran: Ran, body: string): void {
  const told = `${body.slice(0, 120)}\n${ran.stderr}`;
  expect(ran.stderr, told).not.toMatch(/failed unexpectedly|undefined|NaN|\[object|at \w+ \(|Maximum call stack/u);
  const isRead = operations[id].safety === 'read';
  expect(isRead ? [0, 1, 3] : [0, 9], told).toContain(ran.exitCode);
  // A repeated deletion is answered with 404, which is the service's own where the body is an error.
  const isGone = operations[id].safety === 'repeatable' && id.startsWith('delete') && ran.exitCode === 0;
  if (!isRead && !isGone && bodies.includes(body)) expect(ran.exitCode, told).toBe(promised(id, body));
}

/** In turn: each body is met by operations of every kind, and each way by every kind of body. */
describe.each(Object.keys(operations).map((id, n) => [id as OperationId, n] as const))('%s', (id, n) => {
  test('answered with odd JSON is no crash, and a write is done where svc has seen it', async () => {
    const { answered } = await play(id, undefined, ['--json']);
    for (const [i, body] of [...inTurn(bodies, n, 6), ...inTurn(mutants(id, answered), n, 3)].entries()) {
      const [flags, columns] = ways[(i + Math.floor(n / 3)) % ways.length] as (typeof ways)[number];
      const { ran } = await play(id, body, flags, columns);
      expectSense(id, ran, body);
      if (ran.exitCode === 0 && flags.length > 0) expect(() => JSON.parse(ran.stdout), body).not.toThrow();
      if (ran.exitCode === 1)
        expect(ran.stderr.replaceAll(/\s+/gu, ' ')).toMatch(
          /is not the service|deep|not what the service answers|It is not used|is no success/u,
        );
      if (ran.exitCode === 9) expect(ran.stderr.replaceAll(/\s+/gu, ' ')).toMatch(/may or may not have been/u);
    }
  });
});

test('a field that every answer lacks is told once, not in each page', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const nameless = {
    ...world,
    async exchange(request: Parameters<typeof world.exchange>[0]) {
      const answer = (await world.exchange(request)) as HttpResponse;
      return { ...answer, body: answer.body.replaceAll(/"email":(?:"[^"]*"|null),?/gu, '') };
    },
  };
  const ran = await svc(nameless, ['contacts', 'list', '--all', '--json'], { env: credentials });
  expect(ran.exitCode).toBe(0);
  expect(world.sent.length).toBeGreaterThan(1);
  expect(ran.stderr).toBe('Warning: missing in the answer, or not as the service describes it: contacts.0.email.\n');
});
