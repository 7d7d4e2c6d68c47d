import { describe, expect, test } from 'vitest';
import { operations } from '../../src/api/index.ts';
import type { HttpResponse } from '../../src/context.ts';
import { safeBody, traceTo } from '../../src/http/exchange/trace.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const shown = (body: unknown): string => safeBody(JSON.stringify(body));

describe('a URL in a body', () => {
  test.each([
    ['https://user:canary@example.com/hooks', 'https://[redacted]@example.com/hooks'],
    ['https://canary@example.com/hooks', 'https://[redacted]@example.com/hooks'],
    ['https://u:can@ary:canary@example.com/', 'https://[redacted]@example.com/'],
    [
      'https://example.com/hooks?token=canary&page=canary',
      'https://example.com/hooks?token=[redacted]&page=[redacted]',
    ],
    ['https://example.com/?canary', 'https://example.com/?[redacted]'],
    ['https://example.com/#access_token=canary', 'https://example.com/#[redacted]'],
    ['https://example.com/a?x=1#canary', 'https://example.com/a?x=[redacted]#[redacted]'],
    ['HTTPS://U:canary@EXAMPLE.com', 'HTTPS://[redacted]@EXAMPLE.com'],
    ['postgres://svc:canary@db:5432/hooks', 'postgres://[redacted]@db:5432/hooks'],
    ['//user:canary@example.com/', '//[redacted]@example.com/'],
    [
      'see https://u:canary@a.test/ and https://b.test/?k=canary.',
      'see https://[redacted]@a.test/ and https://b.test/?k=[redacted]',
    ],
    ['https://u:canary@[broken/', 'https://[redacted]@[broken/'],
    ['https://example.com/plain', 'https://example.com/plain'],
    ['ada@example.com // no address', 'ada@example.com // no address'],
  ])('%s', (url, redacted) => {
    for (const field of ['target_url', 'message', 'body']) {
      expect(JSON.parse(shown({ [field]: url }))).toEqual({ [field]: redacted });
    }
  });

  test('is redacted in lists and below other fields', () => {
    const body = {
      webhooks: [{ target_url: 'https://u:canary@a.test/' }],
      errors: { target_url: ['https://u:canary@a.test/ is bad'] },
    };
    expect(shown(body)).not.toContain('canary');
    expect(shown(body)).toContain('a.test');
  });
});

describe('what is hidden', () => {
  test.each([
    { signing_secret: 'canary' },
    { webhook: { signing_secret: 'canary' } },
    { access_token: 'canary', refresh_token: 'canary' },
    { client_secret: 'canary', password: 'canary' },
    { unknown_field: 'canary' },
    { unknown_list: ['canary', ['canary'], { 0: 'canary' }] },
    { metadata: { plan: 'canary', 7: 'canary' } },
    'canary',
    ['canary'],
  ])('%j', (body) => {
    expect(shown(body)).not.toContain('canary');
  });

  test('a secret, even where the table of operations would show it', () => {
    // As if somebody had put it on the list: the operation's own answer has the field.
    expect(operations.createWebhook.response.entries).toHaveProperty('signing_secret');
    const names = ['signing_secret', 'name', 'subject', 'target_url'];
    const body = Object.fromEntries(names.map((name) => [name, 'canary']));
    expect(JSON.parse(safeBody(JSON.stringify(body), new Set(names)))).toEqual({
      signing_secret: '[redacted]',
      name: 'canary',
      subject: 'canary',
      target_url: 'canary',
    });
  });
});

test('a body that is nested without end is named by its size', () => {
  expect(safeBody('['.repeat(200_000) + ']'.repeat(200_000))).toMatch(/^\[400000 bytes/u);
});

test('headers that a peer invents are hidden, also those that an object would know', () => {
  const lines: string[] = [];
  const headers = Object.fromEntries([
    ['__proto__', 'canary'],
    ['constructor', 'canary'],
    ['set-cookie', 'canary'],
  ]);
  const answer: HttpResponse = { status: 200, headers, body: '' };
  traceTo((line) => lines.push(line))(
    { method: 'GET', url: 'https://u:canary@a.test/x?q=1&key=canary', headers: {}, timeoutMs: 1 },
    answer,
    { attempt: 1, tookMs: 1 },
  );
  expect(lines.join('\n')).not.toContain('canary');
});

test('--debug numbers the attempts of one request from the second on', async () => {
  const world = sandboxWorld();
  let sent = 0;
  const failing: typeof world.exchange = async (request) =>
    ++sent < 3 ? { status: 504, headers: {}, body: '' } : world.exchange(request);
  const { stderr } = await svc({ ...world, exchange: failing }, ['tickets', 'get', '8', '--debug']);
  expect(stderr.match(/^> GET .*$/gmu)?.map((line) => line.replace(/^\S+ \S+ \S+?8/u, ''))).toEqual([
    '',
    ' (attempt 2)',
    ' (attempt 3)',
  ]);
});

test('webhooks create --debug shows neither the password of the URL nor the signing secret', async () => {
  const world = sandboxWorld({ seed: 'demo', env: {} });
  const tokens = (await world.control('POST', 'tokens', { account_id: 1, scopes: ['webhooks:manage'] })) as {
    access_token: string;
  };
  const url = 'https://hooks:canary-password@example.com/in?token=canary-query';
  const ran = await svc(world, ['webhooks', 'create', 'ticket.created', url, '--debug', '--json'], {
    env: { SVC_ACCESS_TOKEN: tokens.access_token },
  });
  expect(ran.exitCode).toBe(0);
  const { signing_secret: secret } = JSON.parse(ran.stdout);
  expect(ran.stderr).toContain('example.com');
  for (const hidden of ['canary', secret, tokens.access_token]) expect(ran.stderr).not.toContain(hidden);
});

test('webhooks create of an http:// address says how a sandbox comes to take it, and of another machine that none does', async () => {
  const world = sandboxWorld({ seed: 'demo', env: {} });
  const { access_token: token } = (await world.control('POST', 'tokens', {
    account_id: 1,
    scopes: ['webhooks:manage'],
  })) as { access_token: string };
  const create = (url: string) =>
    svc(world, ['webhooks', 'create', 'ticket.created', url], { env: { SVC_ACCESS_TOKEN: token } });
  const here = await create('http://127.0.0.1:3000/hooks');
  expect(here).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('--allow-http-targets') });
  const there = await create('http://hooks.example.com/');
  expect(there).toMatchObject({ exitCode: 2, stderr: expect.not.stringContaining('--allow-http-targets') });
});
