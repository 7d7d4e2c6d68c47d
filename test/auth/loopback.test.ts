import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { callbackPage } from '../../src/login/callback-page.ts';
import { canListen, judge, listenForCallback } from '../../src/login/loopback.ts';
import { freePort } from '../free-port.ts';
import { visit } from './auth-world.ts';

const state = 'the-state';
const redirectUri = 'http://127.0.0.1:8976/callback';
const hit = (target: string, headers: Record<string, string> = {}, method = 'GET') => ({
  method,
  target,
  headers: { host: '127.0.0.1:8976', ...headers },
});

test.each<[string, ReturnType<typeof hit>, number | 'callback']>([
  ['the redirect', hit('/callback?code=abc&state=the-state'), 'callback'],
  ['an error', hit('/callback?error=access_denied&state=the-state'), 'callback'],
  [
    'a navigation',
    hit('/callback?code=a&state=the-state', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }),
    'callback',
  ],
  [
    'a host in capitals',
    { ...hit('/callback?code=a&state=the-state'), headers: { host: '127.0.0.1:8976'.toUpperCase() } },
    'callback',
  ],
  ['another state', hit('/callback?code=abc&state=other'), 400],
  ['no state', hit('/callback?code=abc'), 400],
  ['an empty state', hit('/callback?code=abc&state='), 400],
  ['two states', hit('/callback?code=abc&state=the-state&state=the-state'), 400],
  ['two codes', hit('/callback?code=a&code=b&state=the-state'), 400],
  ['a code and an error', hit('/callback?code=a&error=b&state=the-state'), 400],
  ['neither', hit('/callback?state=the-state'), 400],
  ['another path', hit('/other?code=abc&state=the-state'), 404],
  ['a longer path', hit('/callback/?code=abc&state=the-state'), 404],
  ['a favicon', hit('/favicon.ico'), 404],
  ['a whole URL of elsewhere', hit('http://evil.example.com/callback?code=a&state=the-state'), 404],
  ['a path that looks like a host', hit('//evil.example.com/callback?code=a&state=the-state'), 404],
  ['an options request', hit('*', {}, 'OPTIONS'), 404],
  ['a post', hit('/callback?code=a&state=the-state', {}, 'POST'), 405],
  ['a head request', hit('/callback?code=a&state=the-state', {}, 'HEAD'), 405],
  ['a host of another port', hit('/callback?code=a&state=the-state', { host: '127.0.0.1:1' }), 421],
  ['a rebound name', hit('/callback?code=a&state=the-state', { host: 'evil.example.com:8976' }), 421],
  ['localhost for 127.0.0.1', hit('/callback?code=a&state=the-state', { host: 'localhost:8976' }), 421],
  [
    'a frame',
    hit('/callback?code=a&state=the-state', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }),
    403,
  ],
  ['a fetch of another origin', hit('/callback?code=a&state=the-state', { origin: 'http://evil.example.com' }), 403],
])('%s', (_, request, expected) => {
  const verdict = judge(request, redirectUri, state);
  expect(verdict.kind === 'callback' ? 'callback' : verdict.status).toBe(expected);
});

test.each([
  ['http://127.0.0.1:8976/callback', true],
  ['http://localhost:8976/callback', true],
  ['http://[::1]:8976/callback', true],
  ['https://127.0.0.1:8976/callback', false],
  ['https://app.example.com/callback', false],
])('svc can wait at %s: %s', (uri, can) => {
  expect(canListen(uri)).toBe(can);
});

/** Whether a stranger on that address could take the port, which only works where svc has not. */
const isFree = (host: string, port: number) =>
  new Promise<boolean | 'no such address'>((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'EADDRINUSE' ? false : 'no such address'),
    );
    server.listen(port, host, () => server.close(() => resolve(true)));
  });

test('only the address of the redirect URI is bound, and it is free again afterwards', async () => {
  const port = await freePort();
  const receiver = await listenForCallback(`http://127.0.0.1:${port}/callback`, state, 'svc login');
  expect(await isFree('127.0.0.1', port)).toBe(false);
  expect(await isFree('127.0.0.2', port)).not.toBe(false);
  expect(await isFree('::1', port)).not.toBe(false);
  await receiver.close();
  expect(await isFree('127.0.0.1', port)).toBe(true);
});

test('for localhost both families are bound, where there are both', async () => {
  const port = await freePort();
  const six = await isFree('::1', port);
  const receiver = await listenForCallback(`http://localhost:${port}/callback`, state, 'svc login');
  expect(await isFree('127.0.0.1', port)).toBe(false);
  expect(await isFree('::1', port)).toBe(six === true ? false : six);
  await receiver.close();
});

test('for localhost a stranger on the other family is a busy port, not a second listener', async (context) => {
  const port = await freePort();
  const stranger = createServer();
  const has = await new Promise<boolean>((resolve) => {
    stranger.once('error', () => resolve(false));
    stranger.listen(port, '::1', () => resolve(true));
  });
  if (!has) context.skip('no IPv6 here');
  const login = 'svc login --client-id mine';
  await expect(listenForCallback(`http://localhost:${port}/callback`, state, login)).rejects.toMatchObject({
    message: expect.stringContaining('is in use'),
    hint: expect.stringContaining(`${login} --redirect-uri http://127.0.0.1:PORT/callback`),
  });
  expect(await isFree('127.0.0.1', port)).toBe(true);
  stranger.close();
});

test('a redirect URI of IPv6 is waited for there', async (context) => {
  const port = await freePort();
  if ((await isFree('::1', port)) !== true) context.skip('no IPv6 here');
  const receiver = await listenForCallback(`http://[::1]:${port}/callback`, state, 'svc login');
  const visited = visit(`http://[::1]:${port}/callback?code=abc&state=${state}`);
  const { params, answer } = await receiver.callback;
  expect(params.get('code')).toBe('abc');
  await answer({ ok: true, title: 'Done', text: 'It worked.' });
  expect((await visited).status).toBe(200);
  await receiver.close();
});

test('a page that was closed while svc asked for the tokens is not waited for', async () => {
  const port = await freePort();
  const receiver = await listenForCallback(`http://127.0.0.1:${port}/callback`, state, 'svc login');
  const page = connect(port, '127.0.0.1').on('error', () => {});
  page.write(`GET /callback?code=abc&state=${state} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
  const { answer } = await receiver.callback;
  page.resetAndDestroy();
  await once(page, 'close');
  // By the end of another visit the server has seen that the page is gone.
  await visit(`http://127.0.0.1:${port}/favicon.ico`);
  await answer({ ok: true, title: 'Done', text: 'It worked.' });
  await receiver.close();
});

test('a page goes into no cache, loads nothing and runs nothing', async () => {
  const port = await freePort();
  const receiver = await listenForCallback(`http://127.0.0.1:${port}/callback`, state, 'svc login');
  const { headers, body } = await visit(`http://127.0.0.1:${port}/callback?code=abc&state=wrong`);
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'content-type': 'text/html; charset=utf-8',
  });
  expect(body).not.toMatch(/<script|src=|href=/u);
  await receiver.close();
});

test('what the service says is shown as text', () => {
  const page = callbackPage({ ok: false, title: '<img src=x onerror=alert(1)>', text: '"><script>alert(1)</script>' });
  expect(page).not.toContain('<img');
  expect(page).not.toContain('<script');
});
