import { beforeAll, describe, expect, test } from 'vitest';
import { type OperationId, operations } from '../../src/api/index.ts';
import type { Exchange } from '../../src/context.ts';
import { createExchange } from '../../src/node/exchange.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { type Ran, svc } from '../svc.ts';
import { type Fault, faults, faultyService } from './faulty-service.ts';

type State = Record<string, Record<string, unknown>[]>;

type Line = {
  readonly argv: readonly string[];
  readonly stdin?: string;
  /** How many records the command has made, for those that must never be doubled. */
  readonly made?: (state: State) => number;
};

const person = ['--name', 'Ada', '--last-name', 'Byron', '--email', 'ada@example.com', '--phone', '+12025550123'];
const hook = { event_type: 'call.completed', target_url: 'https://hooks.example.com/svc' };
const count = (
  rows: readonly Record<string, unknown>[] = [],
  match: (row: Record<string, unknown>) => boolean,
): number => rows.filter(match).length;
const nested = (state: State, kind: string, key: string, body: string): number =>
  (state[kind] ?? []).flatMap((row) => row[key] as Record<string, unknown>[]).filter((m) => m?.body === body).length;

/** A command line for every operation. */
const lines: Record<OperationId, Line> = {
  getAccount: { argv: ['account', 'get'] },
  updateBranding: { argv: ['branding', 'update', '--from-name', 'Acme Care'] },
  listContacts: { argv: ['contacts', 'list'] },
  getContact: { argv: ['contacts', 'get', '7'] },
  updateContact: { argv: ['contacts', 'update', '7', '--company', 'Umbra'] },
  createContacts: {
    argv: ['contacts', 'create', ...person],
    made: ({ contacts }) => count(contacts, (row) => row.email === 'ada@example.com'),
  },
  syncContacts: {
    argv: ['api', '/platform/contacts/sync', '--input', '-'],
    stdin: '{"contacts":[{"email":"sync@example.com","name":"Sync"}]}',
    made: ({ contacts }) => count(contacts, (row) => row.email === 'sync@example.com'),
  },
  listContactLists: { argv: ['lists', 'list'] },
  createContactList: {
    argv: ['lists', 'create', '--name', 'Matrix', '--target-industry', 'Any', '--notes', 'n'],
    made: ({ lists }) => count(lists, (row) => row.name === 'Matrix'),
  },
  updateContactList: { argv: ['lists', 'update', '1', '--name', 'Renamed'] },
  deleteContactList: { argv: ['lists', 'delete', '1', '--yes'] },
  listContactListMembers: { argv: ['lists', 'members', '1'] },
  createAndSyncListContacts: {
    argv: ['api', '/contactslists/1/create_sync_contacts', '--input', '-'],
    stdin: '{"contacts":[{"email":"listed@example.com","name":"Listed"}]}',
    made: ({ contacts }) => count(contacts, (row) => row.email === 'listed@example.com'),
  },
  syncListContacts: { argv: ['lists', 'set', '1', '--contact', '7', '--yes'] },
  removeListContacts: { argv: ['lists', 'remove', '1', '--contact', '7'] },
  listCalls: { argv: ['calls', 'list'] },
  listTickets: { argv: ['tickets', 'list'] },
  getTicket: { argv: ['tickets', 'get', '7'] },
  createTicket: {
    argv: ['tickets', 'create', '--subject', 'Matrix', '--description', 'Once only'],
    made: ({ tickets }) => count(tickets, (row) => row.subject === 'Matrix'),
  },
  updateTicket: { argv: ['tickets', 'update', '7', '--priority', '4'] },
  addTicketNote: {
    argv: ['tickets', 'note', '7', '--body', 'Matrix note'],
    made: (state) => nested(state, 'tickets', 'notes', 'Matrix note'),
  },
  replyToTicket: {
    argv: ['tickets', 'reply', '8', '--body', 'Matrix reply'],
    made: (state) => nested(state, 'tickets', 'messages', 'Matrix reply'),
  },
  listConversations: { argv: ['conversations', 'list'] },
  getConversation: { argv: ['conversations', 'get', '3'] },
  replyToConversation: {
    argv: ['conversations', 'reply', '3', '--body', 'Matrix message'],
    made: (state) => nested(state, 'conversations', 'messages', 'Matrix message'),
  },
  resolveConversation: { argv: ['conversations', 'resolve', '3'] },
  listChangelog: { argv: ['api', '/changelog'] },
  getChangelogEntry: { argv: ['api', '/changelog/3'] },
  createChangelogEntry: {
    argv: ['api', '/changelog', '-f', 'title=Matrix', '-f', 'content=Once'],
    made: ({ changelog }) => count(changelog, (row) => row.title === 'Matrix'),
  },
  updateChangelogEntry: { argv: ['api', '/changelog/3', '-X', 'PATCH', '-f', 'title=Renamed'] },
  listFeedback: { argv: ['feedback', 'list'] },
  getRoadmap: { argv: ['roadmap', 'get'] },
  sendEvent: {
    argv: ['events', 'send', 'matrix', '--contact-name', 'Ada', '--email', 'a@example.com'],
    made: ({ events }) => count(events, (row) => row.trigger === 'matrix'),
  },
  listWebhooks: { argv: ['api', '/oauth-platform/webhooks'] },
  createWebhook: {
    argv: [
      'api',
      '/oauth-platform/webhooks',
      '-f',
      `event_type=${hook.event_type}`,
      '-f',
      `target_url=${hook.target_url}`,
    ],
    made: ({ subscriptions }) =>
      count(subscriptions, (row) => row.event_type === hook.event_type && row.is_active === true),
  },
  deleteWebhook: { argv: ['api', '/oauth-platform/webhooks/1', '-X', 'DELETE'] },
  listMeetings: { argv: ['meetings', 'list', '--account', '1'] },
};

/** What the class of an operation promises: the exit code, and how many records there are afterwards. */
function promised(safety: string, fault: Fault): { exitCode: number; made: number } {
  const story = faults[fault];
  if (story === 'answered' || story === 'refused') return { exitCode: 0, made: 1 };
  if (safety === 'once') return { exitCode: 9, made: story === 'processed' ? 1 : 0 };
  return { exitCode: 0, made: 1 };
}

let exchange: Exchange;

beforeAll(async () => {
  exchange = await createExchange({});
});

const credentials = { SVC_API_KEY: 'key_acme', SVC_ACCESS_TOKEN: 'any', SVC_M2M_TOKEN: 'm2m_sandbox' };

async function play(id: OperationId, fault: Fault, times: number, flags: readonly string[] = []) {
  const world = sandboxWorld({ rateLimit: 'off' });
  const { method, path } = operations[id];
  const pattern = new RegExp(`^${path.replace(/\{\w+\}/gu, '\\d+')}$`, 'u');
  const tokens = (await world.control('POST', 'tokens', {
    account_id: 1,
    scopes: ['webhooks:manage'],
  })) as { access_token: string };
  const env = { ...credentials, SVC_ACCESS_TOKEN: tokens.access_token };
  if (id === 'deleteWebhook') {
    const body = JSON.stringify(hook);
    const headers = { authorization: `Bearer ${tokens.access_token}`, 'content-type': 'application/json' };
    await world.sandbox.handle({ method: 'POST', url: '/oauth-platform/webhooks', headers, body });
  }
  const service = await faultyService(world.sandbox, { method, path: pattern, fault, times });
  try {
    const { argv, stdin, made } = lines[id];
    const ran = await svc({ ...world, exchange }, [...argv, '--timeout', '0.5', '--json', ...flags], {
      env: { ...env, SVC_BASE_URL: service.url },
      stdin,
    });
    const state = (await world.control('GET', 'state')) as State;
    return { ran, hits: service.hits(), made: made?.(state) };
  } finally {
    await service.close();
  }
}

const ids = Object.keys(operations) as OperationId[];

describe.concurrent.each(Object.keys(faults) as Fault[])('%s', (fault) => {
  test.each(ids)('%s does its work once, or says what is not known', { timeout: 20_000 }, async (id) => {
    const { ran, made } = await play(id, fault, 1);
    const promise = promised(operations[id].safety, fault);
    expect({ exitCode: ran.exitCode, stderr: ran.exitCode === promise.exitCode ? '' : ran.stderr }).toEqual({
      exitCode: promise.exitCode,
      stderr: '',
    });
    if (made !== undefined) expect(made).toBe(promise.made);
    if (ran.exitCode === 0) expect(() => JSON.parse(ran.stdout)).not.toThrow();
    else expectStory(ran, id);
  });
});

describe.concurrent('for ever', () => {
  test.each(ids)('429: %s ends as rate-limited and nothing is made', async (id) => {
    const { ran, made } = await play(id, '429 once', Number.POSITIVE_INFINITY, ['--max-wait', '10']);
    expect(ran.exitCode).toBe(7);
    expect(ran.stderr).toContain('--max-wait');
    if (made !== undefined) expect(made).toBe(0);
  });

  test.each(ids)('reset after processing: %s is never doubled', async (id) => {
    const { ran, made } = await play(id, 'reset after processing', Number.POSITIVE_INFINITY);
    const expected = { read: 10, repeatable: 9, verify: id === 'createWebhook' ? 9 : 0, once: 9 }[
      operations[id].safety
    ];
    expect(ran.exitCode).toBe(id.startsWith('delete') ? 9 : expected);
    if (made !== undefined) expect(made).toBe(id === 'createWebhook' ? 0 : 1);
  });

  test.each(ids)('refused: %s says that nothing happened', async (id) => {
    const world = sandboxWorld();
    const { argv, stdin } = lines[id];
    const ran = await svc({ ...world, exchange }, [...argv, '--json'], {
      env: { ...credentials, SVC_BASE_URL: 'http://127.0.0.1:1' },
      stdin,
    });
    expect(ran.exitCode).toBe(10);
    expect(ran.stderr).toContain('refuses connections');
  });
});

/** The message names the operation and says not to repeat it blindly. */
function expectStory(ran: Ran, id: OperationId): void {
  expect(ran.stderr).toContain(id);
  expect(ran.stderr).toContain('Do not repeat it blindly');
  const last = ran.stderr.trimEnd().split('\n').at(-1) ?? '';
  expect(JSON.parse(last)).toMatchObject({ error: { kind: 'unknown', exit_code: 9 } });
}
