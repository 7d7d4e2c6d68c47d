import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { operations } from '../../src/api/index.ts';
import type { Operation } from '../../src/api/operation.ts';
import type { Context, HttpRequest, HttpResponse } from '../../src/context.ts';
import { Failure } from '../../src/errors.ts';
import { call, connect, type Service } from '../../src/http/call/call.ts';
import { screen, settings } from '../cli/fake-context.ts';
import { bodies, type Endpoint, endpoints } from './document.ts';
import { meta } from './samples.ts';
import { idsIn, noScope, type Step, sampleOf, withIds } from './scene.ts';
import { scenes } from './scenes/index.ts';

const base = 'https://api.example.com/prefix';
const folder = mkdtempSync(join(tmpdir(), 'svc-contract-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Reply = Pick<HttpResponse, 'status'> & { readonly body: unknown; readonly headers?: Record<string, string> };

/** A service that answers what it is told, and remembers what it was asked. */
function serviceOf(answers: (request: HttpRequest) => Reply) {
  const sent: HttpRequest[] = [];
  const waits: number[] = [];
  const notices: string[] = [];
  let now = Date.parse('2026-11-20T09:00:00Z');
  const clock = {
    now: () => new Date(now),
    ticks: () => now,
    sleep: async (ms: number) => {
      waits.push(ms);
      now += ms;
    },
  };
  const ctx: Context = {
    ...screen({ env: { SVC_API_KEY: 'key_acme', SVC_ACCESS_TOKEN: 'oauth_token', SVC_M2M_TOKEN: 'm2m_sandbox' } }).ctx,
    files: { config: folder, state: folder },
    clock,
    notice: (text) => notices.push(text),
    exchange: async (request) => {
      sent.push(request);
      const { status, body, headers } = answers(request);
      return {
        status,
        headers: { 'content-type': 'application/json', date: clock.now().toUTCString(), ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      };
    },
  };
  return { service: () => connect(ctx, { ...settings, baseUrl: base }), sent, waits, notices };
}

const operationOf = ({ id }: Endpoint): Operation => operations[id as keyof typeof operations];

/** The input that a command would give for this request: ids from the path, numbers where the query has numbers. */
function inputOf({ path }: Endpoint, url: string, body: unknown) {
  const [pathname = '', search] = url.split('?');
  const names = [...path.matchAll(/\{(\w+)\}/gu)].map(([, name]) => name as string);
  const values = new RegExp(`^${path.replaceAll(/\{\w+\}/gu, '([^/]+)')}$`, 'u').exec(pathname)?.slice(1) ?? [];
  const query = [...new URLSearchParams(search)].map(([name, value]) => [name, /^\d+$/u.test(value) ? +value : value]);
  return {
    params: names.length > 0 ? Object.fromEntries(names.map((name, at) => [name, Number(values[at])])) : undefined,
    query: query.length > 0 ? Object.fromEntries(query) : undefined,
    body,
  };
}

const attempt = async (service: () => Promise<Service>, endpoint: Endpoint, input: object): Promise<unknown> => {
  try {
    return await call(await service(), operationOf(endpoint), input as never);
  } catch (failure) {
    if (failure instanceof Failure) return failure;
    throw failure;
  }
};

/** Lists that are read before a write, so that a lost answer could be looked up. */
const nothing = { data: [], contacts: [], tickets: [], webhooks: [], entries: [], meta };
const account = { account_id: 1, name: 'Acme', billing_active: true, setup_url: null };

/** What the service answers to all that svc asks beside the request: whose account it is, and what was there before. */
function beside({ url }: HttpRequest): Reply {
  const path = new URL(url).pathname.replace('/prefix', '');
  if (path === '/platform/account') return { status: 200, body: account };
  const [, kind = '', id] = /^\/(ticket|conversation)s\/(\d+)$/u.exec(path) ?? [];
  if (kind === '') return { status: 200, body: nothing };
  return { status: 200, body: { [kind]: { id: Number(id), messages: [] } } };
}

const endpointOf = (send: string): Endpoint => {
  const [method = '', url = ''] = send.split(' ');
  const pathname = url.split('?')[0] as string;
  const found = endpoints.find(
    (one) => one.method === method && new RegExp(`^${one.path.replaceAll(/\{\w+\}/gu, '\\d+')}$`, 'u').test(pathname),
  );
  if (!found) throw new Error(`${send} is no request of the document`);
  return found;
};

/** What the client must have sent, written out. */
const expectedRequest = (endpoint: Endpoint, send: string, body: unknown) => {
  const [method = '', url = ''] = send.split(' ');
  const token =
    endpoint.scope === 'm2m' ? 'm2m_sandbox' : endpoint.scope === 'webhooks:manage' ? 'oauth_token' : 'key_acme';
  return { method, url: base + url, authorization: `Bearer ${token}`, body };
};

const asSent = ({ method, url, headers, body }: HttpRequest) => ({
  method,
  url,
  authorization: headers.authorization,
  body: body === undefined ? undefined : JSON.parse(String(body)),
});

async function playToClient(step: Step, ids: Map<string, unknown>): Promise<void> {
  const send = withIds(step.send, ids);
  const body = withIds(step.body, ids);
  const answer = sampleOf(withIds(step.answer, ids));
  const endpoint = endpointOf(send);
  const url = base + send.split(' ')[1];
  const { service, sent, notices } = serviceOf((request) =>
    request.method === endpoint.method && request.url === url ? { status: step.status, body: answer } : beside(request),
  );

  const value = await attempt(service, endpoint, inputOf(endpoint, send.split(' ')[1] as string, body));
  const same = sent.filter((request) => request.method === endpoint.method && request.url === url);
  if (value instanceof Failure && value.kind === 'usage') {
    // The limits of the document are checked here too: what the service would refuse with 422 need not be sent.
    expect([step.refusedHere ?? step.status === 422, sent]).toEqual([true, []]);
    return;
  }
  const writes = endpoint.method !== 'GET';
  // A body is sent only where the document has one; every write carries the content type (service.md#requests-1).
  expect(same.map(asSent)).toEqual([expectedRequest(endpoint, send, body)]);
  expect(sent.filter(({ method }) => method !== 'GET').length).toBe(writes ? 1 : 0);
  expect(same[0]?.headers['content-type']).toBe(writes ? 'application/json' : undefined);
  expect(same[0]?.headers.accept).toContain('application/json');
  if (step.status < 300) {
    expect(JSON.stringify(value)).toBe(JSON.stringify(answer));
    // What is read before a write has no more than its id here.
    expect(
      notices.filter((text) => !text.includes('ticket.ticket_number') && !text.includes('conversation.status')),
    ).toEqual([]);
  } else {
    const kinds = { 401: 'auth', 403: 'forbidden', 404: 'not-found', 422: 'rejected' } as Record<number, string>;
    expect((value as Failure).kind).toBe(kinds[step.status]);
  }
}

test.for(scenes)('$title', async ({ steps }) => {
  const ids = new Map<string, unknown>();
  for (const step of steps) {
    if (!step.control) await playToClient(step, ids);
    const expected = withIds(step.answer, ids);
    for (const [name, value] of idsIn(expected, sampleOf(expected))) ids.set(name, value);
  }
});

const play = async (endpoint: Endpoint, reply: Reply) => {
  const path = endpoint.path.replaceAll(/\{\w+\}/gu, '7');
  const url = base + path;
  const world = serviceOf((request) =>
    request.url === url && request.method === endpoint.method ? reply : beside(request),
  );
  const value = await attempt(world.service, endpoint, inputOf(endpoint, path, bodies[endpoint.id]));
  return { ...world, value, failure: value as Failure };
};

const reads = endpoints.filter(({ method }) => method === 'GET');

describe('a refusal becomes an exit code and the sentence that the service said', () => {
  test.for(endpoints)('$id: 401', async (endpoint) => {
    const { failure } = await play(endpoint, { status: 401, body: { error: 'Token expired.' } });
    expect([failure.exitCode, failure.message]).toEqual([4, 'Token expired.']);
    expect(failure.hint).toMatch(/^The token in SVC_\w+ may be expired or revoked: set a new one\.$/u);
  });

  test.for(endpoints.filter(({ scope }) => scope?.includes(':') || scope === 'identity'))(
    '$id: 403 names the scope, and the variable whose token lacks it',
    async (endpoint) => {
      const { failure } = await play(endpoint, { status: 403, body: sampleOf(noScope(endpoint.scope as string)) });
      expect(failure.exitCode).toBe(5);
      expect(failure.message).toContain(endpoint.scope);
      // The credential is the environment's: svc can neither refresh nor replace it.
      expect(failure.hint).toMatch(
        new RegExp(`^The token in SVC_\\w+ cannot be given more: .*${endpoint.scope}\\.$`, 'u'),
      );
    },
  );

  test.for(endpoints.filter(({ module }) => module))('$id: 403 of a module that is off', async (endpoint) => {
    const { failure } = await play(endpoint, { status: 403, body: { error: 'The module is switched off.' } });
    expect([failure.exitCode, failure.message]).toEqual([5, 'The module is switched off.']);
    expect(`${failure.message} ${failure.hint}`).toMatch(/Support|Changelog|Feedback board|Roadmap/u);
  });

  test.for(endpoints)('$id: 404', async (endpoint) => {
    const { failure } = await play(endpoint, { status: 404, body: { error: 'Not found.' } });
    // An address without an account is not the service.
    if (endpoint.id === 'getAccount') expect(failure.message).toContain('is not the service');
    else
      expect([failure.exitCode, failure.message]).toEqual([
        3,
        expect.stringMatching(/^(?:[A-Z][a-z ]+ 7: )?Not found\.$/u),
      ]);
  });

  test.for(endpoints)('$id: 422 keeps the messages of each field', async (endpoint) => {
    const errors = { name: ['is required.', 'must be text.'], 'contacts.3.email': ['is no address.'] };
    const { failure } = await play(endpoint, { status: 422, body: { message: 'The data was invalid.', errors } });
    expect([failure.exitCode, failure.message, failure.fields]).toEqual([6, 'The data was invalid.', errors]);
  });

  test.for(endpoints)('$id: 429 waits as long as it is told, then goes on', async (endpoint) => {
    let refusals = 0;
    const path = endpoint.path.replaceAll(/\{\w+\}/gu, '7');
    const { service, waits, sent } = serviceOf((request) => {
      if (request.url !== base + path || request.method !== endpoint.method) return beside(request);
      if (refusals++ === 0) return { status: 429, body: { error: 'Slow down.' }, headers: { 'retry-after': '17' } };
      return { status: 404, body: { error: 'Not found.' } };
    });
    const failure = (await attempt(service, endpoint, inputOf(endpoint, path, bodies[endpoint.id]))) as Failure;
    expect(failure.exitCode).toBe(endpoint.id === 'getAccount' ? 1 : 3);
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(17_000);
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(20_000);
    const again = sent.filter(({ url, method }) => url === base + path && method === endpoint.method);
    expect(again.map(asSent)).toEqual([asSent(again[0] as HttpRequest), asSent(again[0] as HttpRequest)]);
  });

  test('a limit that outlasts --max-wait is exit 7', async () => {
    const reply = { status: 429, body: { error: 'Slow down.' }, headers: { 'retry-after': '600' } };
    expect((await play(endpointOf('GET /contacts'), reply)).failure.exitCode).toBe(7);
  });

  test.for(reads)('$id: 500 on a read is tried again, then exit 1', async (endpoint) => {
    const { failure, sent } = await play(endpoint, { status: 500, body: { error: 'Server failure.' } });
    expect(failure.exitCode).toBe(1);
    expect(failure.status).toBe(500);
    expect(sent.length).toBeGreaterThan(1);
  });

  test.for(['addTicketNote', 'sendEvent'])('%s: 500 is sent once and is exit 9', async (id) => {
    const endpoint = endpoints.find((one) => one.id === id) as Endpoint;
    const { failure, sent } = await play(endpoint, { status: 500, body: { error: 'Server failure.' } });
    expect([failure.exitCode, sent.length]).toEqual([9, 1]);
  });

  test('error is read before message', async () => {
    const body = { message: 'second', error: 'first' };
    expect((await play(endpointOf('GET /contacts'), { status: 404, body })).failure.message).toBe('first.');
    expect((await play(endpointOf('GET /contacts'), { status: 404, body: { message: 'alone' } })).failure.message).toBe(
      'alone.',
    );
  });

  test('an error in no shape of the service is told with its status, and as what it is', async () => {
    for (const body of ['<!doctype html><h1>Bad gateway</h1>', '', '{"error":', '[]', 'null', '"x"', '5']) {
      for (const [status, exitCode] of [
        [401, 4],
        [403, 1],
        [404, 1],
        [418, 1],
        [422, 1],
      ] as const) {
        const { failure } = await play(endpointOf('GET /contacts'), { status, body });
        expect([failure.exitCode, failure.status], `${status} ${body}`).toEqual([exitCode, status]);
        expect(failure.message).not.toMatch(/undefined|null|\[object/u);
      }
    }
  });

  test('what a failing service says ends with one full stop', async () => {
    for (const error of ['Server error', 'Server error.']) {
      const { failure } = await play(endpointOf('GET /contacts'), { status: 500, body: { error } });
      expect(failure.message).toBe('The service failed with status 500: Server error.');
    }
    const { failure } = await play(endpointOf('GET /contacts'), { status: 500, body: '<html>' });
    expect(failure.message).toBe('The service failed with status 500.');
  });

  test('a refusal of field errors in any shape is no crash', async () => {
    for (const errors of [null, [], 'x', { name: 'is required' }, { name: null }, { name: [{ deep: 1 }] }, 5]) {
      const { failure } = await play(endpointOf('POST /tickets'), { status: 422, body: { message: 'No.', errors } });
      expect([failure.exitCode, failure.message]).toEqual([6, 'No.']);
    }
  });
});

describe('answers', () => {
  const account = { account_id: 1, name: 'Acme', billing_active: true, setup_url: null };

  test('unknown fields come through, in the order in which they were sent', async () => {
    const body = { zebra: 1, setup_url: null, name: 'Acme', account_id: 1, billing_active: true, plan: { seats: [5] } };
    const { value, notices } = await play(endpointOf('GET /platform/account'), { status: 200, body });
    expect(JSON.stringify(value)).toBe(JSON.stringify(body));
    // What is read before a write has no more than its id here.
    expect(
      notices.filter((text) => !text.includes('ticket.ticket_number') && !text.includes('conversation.status')),
    ).toEqual([]);
  });

  test('a missing field is a warning that names it, not a crash', async () => {
    const { billing_active: _left, ...body } = account;
    const { value, notices } = await play(endpointOf('GET /platform/account'), { status: 200, body });
    expect(value).toEqual(body);
    expect(notices.join('\n')).toContain('billing_active');
  });

  test('an answer that is no object at all is a warning or an error, never a crash', async () => {
    for (const body of ['[]', 'null', '5', '"x"', '{}']) {
      const { value, notices } = await play(endpointOf('GET /platform/account'), { status: 200, body });
      expect(value instanceof Failure || notices.length > 0, body).toBe(true);
    }
  });

  test('a success that is no JSON is an error with its status', async () => {
    for (const body of ['<!doctype html><title>Login</title>', '', '{"account_id": 1, "na']) {
      const { failure } = await play(endpointOf('GET /platform/account'), { status: 200, body });
      expect(failure).toBeInstanceOf(Failure);
      expect(failure.status ?? failure.message).toSatisfy((told: unknown) => String(told).includes('200'));
    }
  });

  test('200 where the document says 201 is a success all the same', async () => {
    const body = { note: { id: 51, body: 'Called back', created_at: '2026-11-20T09:00:00Z' } };
    const { value } = await play(endpointOf('POST /tickets/7/notes'), { status: 200, body });
    expect(value).toEqual(body);
  });
});
