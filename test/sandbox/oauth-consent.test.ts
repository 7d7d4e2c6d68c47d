import { expect, test } from 'vitest';
import { type OAuthWorld, oauthWorld, sampleClient } from './oauth-world.ts';

const page = (options = {}) => oauthWorld({ consent: 'page', ...options });

/** Opens the page and fills its form in as a browser would. */
function open(service: OAuthWorld, path = service.authorizePath()) {
  const shown = service.send('GET', path);
  const token = /name="form_token" value="([\w-]+)"/u.exec(shown.body)?.[1] ?? '';
  const submit = (fields: [string, string][], headers: Record<string, string> = {}) =>
    service.post(path, new URLSearchParams([['form_token', token], ...fields]).toString(), headers);
  return { shown, token, submit };
}

const all: [string, string][] = [
  ['account_id', '1'],
  ['scope', 'identity'],
  ['scope', 'tickets:read'],
  ['scope', 'tickets:write'],
  ['decision', 'allow'],
];

const answerOf = (location: string | undefined) => Object.fromEntries(new URL(location ?? '').searchParams);

test('the page offers every account and, ticked, the scopes that are asked for, and no others', () => {
  const { shown } = open(page());
  expect(shown.status).toBe(200);
  expect(shown.body.match(/name="account_id" value="\d+" required( checked)?/gu)).toEqual([
    'name="account_id" value="1" required checked',
    'name="account_id" value="2" required',
  ]);
  expect(shown.body.match(/name="scope" value="[\w:]+"( checked)?/gu)).toEqual([
    'name="scope" value="identity" checked',
    'name="scope" value="tickets:read" checked',
    'name="scope" value="tickets:write" checked',
  ]);
});

test('the page runs nothing, loads nothing and can be framed by nobody', () => {
  const { headers, body } = open(page()).shown;
  expect(headers['content-security-policy']).toBe(
    `default-src 'none'; style-src '${/sha256-[^']+/u.exec(headers['content-security-policy'] ?? '')?.[0]}'; ` +
      "form-action 'self' http://127.0.0.1:8976; frame-ancestors 'none'; base-uri 'none'",
  );
  expect(headers).toMatchObject({
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  });
  expect(body).not.toMatch(/<script|<link|<img|src=|\son\w+=/u);
});

test('names and addresses that hold markup are shown as text', () => {
  const evil = `</p><script>alert('1')</script>"&`;
  const { body } = open(
    page({ clients: [{ ...sampleClient, name: evil }], accounts: [{ account_id: 1, name: evil }] }),
  ).shown;
  expect(body).not.toContain('<script');
  expect(body.match(/&#60;script&#62;alert\(&#39;1&#39;\)&#60;\/script&#62;&#34;&#38;/gu)).toHaveLength(3);

  const service = page();
  for (const changes of [{ client_id: evil }, { redirect_uri: evil }]) {
    expect(service.send('GET', service.authorizePath(changes)).body).not.toContain('<script');
  }
});

test('Allow brings a code for the account and the scopes that were left ticked', () => {
  const service = page();
  const answer = open(service).submit([
    ['account_id', '2'],
    ['scope', 'tickets:read'],
    ['decision', 'allow'],
  ]);
  expect(answer.status).toBe(303);
  const { code = '', state } = answerOf(answer.headers.location);
  expect(state).toBe('sample-state');
  expect(service.redeem({ code }).json.scope).toBe('tickets:read');
  expect(service.rows.get('conn_1')).toMatchObject({ account_id: 2 });
});

test('Deny sends access_denied and the state back, whatever is ticked', () => {
  const service = page();
  const answer = open(service).submit([['decision', 'deny']]);
  expect(answer.status).toBe(303);
  expect(answerOf(answer.headers.location)).toEqual({
    error: 'access_denied',
    error_description: expect.any(String),
    state: 'sample-state',
  });
  expect(service.rows.size).toBe(0);
});

test('a scope that nobody asked for cannot be slipped into the form', () => {
  const service = page();
  const answer = open(service).submit([...all, ['scope', 'contacts:write'], ['scope', 'everything']]);
  const { code = '' } = answerOf(answer.headers.location);
  expect(service.redeem({ code }).json.scope).toBe('identity tickets:read tickets:write');
});

const unfinished: [string, [string, string][], string][] = [
  [
    'no scope is ticked',
    [
      ['account_id', '2'],
      ['decision', 'allow'],
    ],
    'Tick at least one permission',
  ],
  [
    'no account is chosen',
    [
      ['scope', 'identity'],
      ['decision', 'allow'],
    ],
    'Choose an account',
  ],
  [
    'the account is not there',
    [
      ['account_id', '99'],
      ['scope', 'identity'],
      ['decision', 'allow'],
    ],
    'Choose an account',
  ],
  [
    'no button was pressed',
    [
      ['account_id', '1'],
      ['scope', 'identity'],
    ],
    'Choose an account',
  ],
];

test.each(unfinished)('the form comes back as it was filled in when %s', (_, fields, problem) => {
  const service = page();
  const answer = open(service).submit(fields);
  expect(answer.status).toBe(422);
  expect(answer.body).toContain(problem);
  const ticked = [...answer.body.matchAll(/name="scope" value="([\w:]+)" checked/gu)].map((match) => match[1]);
  expect(ticked).toEqual(fields.filter(([name]) => name === 'scope').map(([, value]) => value));
  expect(service.rows.size).toBe(0);
});

test('a form is taken only with its token, for the request that it was shown for, in the run that showed it', () => {
  const service = page();
  const { token, submit } = open(service);
  const path = service.authorizePath();
  const widened = service.authorizePath({ scope: 'identity contacts:write' });
  const body = (value: string) => new URLSearchParams([['form_token', value], ...all]).toString();
  const attempts = [
    service.post(path, new URLSearchParams(all).toString()),
    service.post(path, body('')),
    service.post(path, body('x'.repeat(43))),
    service.post(widened, body(token)),
    submit(all, { origin: 'https://elsewhere.test' }),
    submit(all, { origin: 'http://127.0.0.1:9999' }),
    submit(all, { origin: 'nonsense' }),
  ];
  for (const attempt of attempts) expect([attempt.status, attempt.headers.location]).toEqual([403, undefined]);
  expect(service.rows.size).toBe(0);
  for (const origin of ['http://127.0.0.1:4010', 'null']) expect(submit(all, { origin }).status).toBe(303);
  service.world.formKey = 'of the next run';
  expect(submit(all).status).toBe(403);
});

test('two pages open in one browser are both good', () => {
  const service = page();
  const first = open(service);
  const second = open(service, service.authorizePath({ state: 'second' }));
  expect(answerOf(first.submit(all).headers.location).state).toBe('sample-state');
  expect(answerOf(second.submit(all).headers.location).state).toBe('second');
});

test('a body that is no form, or a huge one, is refused', () => {
  const service = page();
  const { submit } = open(service);
  const json = { 'content-type': 'application/json' };
  expect(service.send('POST', service.authorizePath(), json, '{"decision":"allow"}').status).toBe(400);
  expect(submit([['x', 'x'.repeat(70_000)]]).status).toBe(413);
});

test('a sandbox without accounts says so', () => {
  const { status, body } = open(page({ accounts: [] })).shown;
  expect(status).toBe(400);
  expect(body).toContain('There is no account to connect');
});

test('a return address on the IPv6 loopback may be posted on to, although no policy can name it', () => {
  const ipv6 = 'http://[::1]:8976/callback';
  const service = page({ clients: [{ ...sampleClient, redirect_uris: [ipv6] }] });
  const { headers } = open(service, service.authorizePath({ redirect_uri: ipv6 })).shown;
  expect(headers['content-security-policy']).toContain("form-action 'self' http:;");
});
