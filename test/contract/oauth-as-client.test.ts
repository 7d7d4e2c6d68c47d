import { expect, test } from 'vitest';
import { beginAttempt, exchangeRefreshToken, redeem, revoke } from '../../src/auth/oauth.ts';
import type { HttpRequest } from '../../src/context.ts';
import { Failure } from '../../src/errors.ts';
import { oauthTranscripts } from './oauth-transcripts.ts';
import type { Exchange, Message } from './transcript.ts';

// The same conversations from the other side: svc must send what stands there, and understand what comes back.
// Names like <code> are taken for the very text of a code or a token.

const authUrl = 'https://auth.example.com/prefix';
const now = new Date('2026-11-20T09:00:00Z');

const exchanges = oauthTranscripts.flatMap(({ title, exchanges }) =>
  exchanges.map((exchange, at) => ({ title: `${title}, exchange ${at + 1}`, ...exchange, form: formOf(exchange) })),
);

/** What svc itself would send: forms with a code or a refresh token as the document has them, or a token to revoke. */
function formOf({ request, response }: Exchange): URLSearchParams | undefined {
  if (!request.start.startsWith('POST /oauth/')) return undefined;
  if (request.headers['content-type'] !== 'application/x-www-form-urlencoded') return undefined;
  const form = new URLSearchParams(request.body);
  if (request.start.endsWith('/revoke')) return form;
  const isComplete = form.has('code') || (form.has('refresh_token') && form.has('grant_type') && !form.has('scope'));
  return isComplete && response.body !== '' ? form : undefined;
}

const sendable = exchanges.filter(({ form, request }) => form && credentialsOf(request, form)[1] !== null);

test.for(sendable)('$title', async ({ request, response, form = new URLSearchParams() }) => {
  const [client_id, client_secret] = credentialsOf(request, form);
  const sent: HttpRequest[] = [];
  const ports = {
    exchange: async (made: HttpRequest) => {
      sent.push(made);
      const headers = { 'content-type': 'application/json', ...response.headers };
      return { status: Number(response.start), headers, body: response.body };
    },
    clock: { now: () => now, ticks: () => now.getTime(), sleep: async () => {} },
    progress: () => {},
    notice: () => {},
    signal: new AbortController().signal,
  };
  const client = { authUrl, clientId: client_id ?? '', clientSecret: client_secret ?? '' };
  const result = await outcomeOf(request, form, ports, client);

  expect(sent).toHaveLength(1);
  const [made] = sent as [HttpRequest];
  expect(`${made.method} ${made.url}`).toBe(request.start.replace(' ', ` ${authUrl}`));
  expect(made.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/u);
  const madeForm = new URLSearchParams(String(made.body));
  expect(credentialsOf({ ...request, headers: made.headers }, madeForm)).toEqual([client_id, client_secret]);
  expect(parametersOf(madeForm)).toEqual(parametersOf(form));

  if (response.start !== '200') {
    const { error, error_description } = JSON.parse(response.body) as Record<string, string>;
    expect(result).toBeInstanceOf(Failure);
    expect((result as Failure).status).toBe(Number(response.start));
    expect((result as Failure).message).toContain(error);
    expect((result as Failure).message).toContain(error_description);
    expect((result as Failure).exitCode).toBe(error === 'invalid_grant' || error === 'invalid_client' ? 4 : 6);
  } else if (response.body !== '') {
    const { access_token, refresh_token, scope } = JSON.parse(response.body) as Record<string, string>;
    const expires_at = '2026-11-20T10:00:00.000Z';
    expect(result).toMatchObject({ access_token, refresh_token, scopes: scope?.split(' '), expires_at });
  } else {
    expect(result).toBeUndefined();
  }
});

async function outcomeOf(
  { start }: Message,
  form: URLSearchParams,
  ports: Parameters<typeof redeem>[0],
  client: Parameters<typeof redeem>[2]['client'],
): Promise<unknown> {
  const limits = { timeoutMs: 30_000, maxWaitMs: 0 };
  const get = (name: string) => form.get(name) ?? '';
  try {
    if (start.endsWith('/revoke')) return await revoke(ports, limits, client, get('token'));
    if (form.has('code')) {
      const attempt = {
        url: new URL(authUrl),
        state: 'xyz',
        verifier: get('code_verifier'),
        redirectUri: get('redirect_uri'),
        scopes: ['identity'],
      };
      const answer = new URLSearchParams({ code: get('code'), state: 'xyz' });
      return await redeem(ports, limits, { client, attempt }, answer);
    }
    const held = { refresh_token: get('refresh_token'), scopes: ['identity'] };
    const result = await exchangeRefreshToken(ports, limits, client, held);
    return 'failure' in result ? result.failure : result;
  } catch (failure) {
    return failure;
  }
}

/** By HTTP Basic or by the body: the document takes both, so which of them svc uses is its own affair. */
function credentialsOf({ headers }: Pick<Message, 'headers'>, form: URLSearchParams): (string | null)[] {
  const basic = headers.authorization?.replace('Basic ', '');
  if (basic === undefined) return [form.get('client_id'), form.get('client_secret')];
  return Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent);
}

const parametersOf = (form: URLSearchParams) =>
  Object.fromEntries([...form].filter(([name]) => !name.startsWith('client_')));

test('svc asks for a code with the very parameters of the document, and with the challenge of RFC 7636', async () => {
  const [first] = oauthTranscripts[0]?.exchanges ?? [];
  const written = new URL(first?.request.start.split(' ')[1] ?? '', 'https://auth.example.com');
  const verifier = Buffer.from('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk', 'base64url');
  const randoms = [Buffer.alloc(32, 1), verifier];
  const { url, state } = await beginAttempt(
    { random: () => randoms.shift() ?? Buffer.alloc(32) },
    { authUrl, clientId: 'sandbox_cli' },
    { redirectUri: 'http://127.0.0.1:8976/callback', scopes: ['identity', 'tickets:read'] },
  );
  expect(url.origin + url.pathname).toBe(`${authUrl}/oauth/platform/authorize`);
  expect(Object.fromEntries(url.searchParams)).toEqual({ ...Object.fromEntries(written.searchParams), state });
});
