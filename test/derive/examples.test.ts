import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../src/api/index.ts';
import type { Operation } from '../../src/api/operation.ts';
import { presetPath } from '../../src/api/path.ts';
import { webhookEvents } from '../../src/api/webhooks.ts';
import { sampleEnvelope } from '../../src/webhooks/event/samples.ts';
import { bodies } from '../contract/document.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every operation
type Any = any;

const file = join(import.meta.dirname, '..', '..', 'src', 'derive', 'examples.json');

/** Better to copy than the shortest body that is accepted. */
const requests: Readonly<Record<string, unknown>> = {
  ...bodies,
  updateBranding: { primary_color: '#102030', from_name: 'Acme Support', website_url: 'https://acme.example' },
  updateContact: { company: 'Example Ltd', metadata: { plan: 'pro' } },
  syncContacts: { contacts: [{ email: 'ada@example.com', name: 'Ada', tags: ['vip'], metadata: { plan: 'pro' } }] },
  syncListContacts: { name: 'Leads', contacts_ids: [1, 2] },
  createTicket: { subject: 'Printer on fire', description: 'It smokes.', priority: 3, contact_id: 1 },
  updateTicket: { status: 'resolved' },
  sendEvent: {
    trigger: 'order_create',
    contact: { name: 'Ada', email: 'ada@example.com' },
    kpi: { value_minor: 1999, currency: 'EUR' },
  },
};

/** What each body is refused for; the others are refused when they are empty. */
const wrong: Readonly<Record<string, unknown>> = {
  updateBranding: { primary_color: 'red' },
  updateContact: { phone: 'junk' },
  createContacts: { name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com', phone: '12' },
  updateTicket: { priority: 9 },
};

const counting = () => {
  let next = 0;
  return (bytes: number) => Uint8Array.from({ length: bytes }, () => next++ % 256);
};

/** Lists of two are long enough to see what they are. */
const shortened = (value: Any): Any => {
  if (Array.isArray(value)) return value.slice(0, 2).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [
    key,
    key === 'signing_secret' ? '<SIGNING_SECRET>' : shortened(each),
  ]);
  return Object.fromEntries(entries);
};

type Asking = { readonly token?: string; readonly body?: unknown; readonly query?: string; readonly id?: number };

async function ask(world: SandboxWorld, { method, path, query: schema }: Operation, asking: Asking) {
  const { token, body, query = schema ? '?per_page=2' : '', id = 1 } = asking;
  const url = `${presetPath(path).replaceAll(/\{\w+\}/gu, String(id))}${query}`;
  const headers = {
    host: '127.0.0.1',
    ...(token && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const answer = await world.sandbox.handle({
    method,
    url,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: answer.status, body: shortened(JSON.parse(answer.body)) };
}

async function tokenFor(world: SandboxWorld, scopes: readonly string[]): Promise<string> {
  const made = (await world.control('POST', 'tokens', { account_id: 1, scopes })) as { access_token: string };
  return made.access_token;
}

/** Every answer that the description shows of an operation, each from a sandbox of its own. */
async function answersOf(operation: Operation) {
  const { id, scope, module, params, body: schema, query, credentials } = operation;
  const body = requests[id];
  const answers: Record<string, Record<string, unknown>> = {};
  const see = async (name: string, status: number, change: (world: SandboxWorld) => Promise<Asking>) => {
    const world = sandboxWorld({ seed: 'demo', random: counting() });
    const token = credentials.includes('m2m') ? 'm2m_sandbox' : await tokenFor(world, [scope ?? 'identity']);
    if (id === 'deleteWebhook') {
      await ask(world, operations.createWebhook, { token, body: requests.createWebhook });
    }
    const answer = await ask(world, operation, { token, body, ...(await change(world)) });
    expect(answer.status, `${id} ${name}`).toBe(status);
    answers[status] = { ...answers[status], [name]: answer.body };
  };
  await see('done', operation.status, async () => ({}));
  if (scope) {
    await see('scope', 403, async (world) => ({
      token: await tokenFor(world, [scope === 'identity' ? 'calls:read' : 'identity']),
    }));
  }
  if (scope && !credentials.includes('api_key')) await see('api_key', 403, async () => ({ token: 'key_acme' }));
  if (module) {
    await see('module', 403, async (world) => {
      await world.control('POST', 'modules', { account_id: 1, [module]: false });
      return {};
    });
  }
  if (params) await see('unknown', 404, async () => ({ id: 999_999 }));
  if (schema) await see('invalid', 422, async () => ({ body: wrong[id] ?? {} }));
  else if (query) await see('invalid', 422, async () => ({ query: '?per_page=0' }));
  if (operation.reaches === 'customer') {
    await see('not_sent', 422, async (world) => {
      await world.control('POST', 'act', { kind: 'sends_fail', account_id: 1, value: true });
      return {};
    });
  }
  return { ...(body !== undefined && { request: body }), answers };
}

async function sharedAnswers() {
  const world = sandboxWorld({ seed: 'demo', random: counting() });
  const answers: Record<string, unknown> = { 401: { refused: (await ask(world, operations.getAccount, {})).body } };
  for (const [name, fault] of [
    ['429', { action: 'rate-limit', retry_after: 12 }],
    ['500', { action: 'status', status: 500 }],
  ] as const) {
    await world.control('POST', 'faults', fault);
    answers[name] = { failed: (await ask(world, operations.getAccount, { token: 'key_acme' })).body };
  }
  return { answers };
}

test('the examples of the description are what the sandbox answers (to renew: UPDATE_EXAMPLES=1)', async () => {
  const examples: Record<string, unknown> = { shared: await sharedAnswers() };
  for (const operation of Object.values<Operation>(operations)) examples[operation.id] = await answersOf(operation);
  for (const event of webhookEvents) {
    const request = sampleEnvelope(event, 'evt_1', new Date('2026-03-01T12:00:00Z'));
    examples[`on.${event}`] = { request };
  }
  const lines = Object.entries(examples).map(([id, each]) => `${JSON.stringify(id)}: ${JSON.stringify(each)}`);
  const text = `{\n${lines.join(',\n')}\n}\n`;
  if (process.env.UPDATE_EXAMPLES) writeFileSync(file, text);
  expect(readFileSync(file, 'utf8') === text).toBe(true);
});
