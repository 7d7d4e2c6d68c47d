// A server that repeats in an error what it was sent: svc's own secrets are neither printed nor written.
import { describe, expect, test } from 'vitest';
import type { HttpRequest, HttpResponse } from '../src/context.ts';
import { withoutSentSecrets } from '../src/text/redact.ts';
import { authWorld, loggedIn, loginOf, visit } from './auth/auth-world.ts';
import { createWorld, type Ran, svc } from './svc.ts';

const type = { 'content-type': 'application/json' };
const says = (status: number, body: object): HttpResponse => ({ status, headers: type, body: JSON.stringify(body) });

const printed = ({ stdout, stderr }: Ran): string => `${stdout}\n${stderr}`;

/** The token endpoint repeats the whole form, as it was sent and read. */
const repeats = ({ body }: HttpRequest): HttpResponse => {
  const form = [...new URLSearchParams(String(body))].map((pair) => pair.join(' is ')).join(', ');
  return says(400, { error: 'invalid_grant', error_description: `Not good: ${body}; ${form}` });
};

describe('a token endpoint that repeats the request', () => {
  test.each([[[]], [['--json']], [['--debug']]])('at a refresh %j', async (flags) => {
    const world = await loggedIn({ left: -5 });
    const { refresh_token: token = '' } = (await loginOf(world)) ?? {};
    world.override = (request) => (request.url.endsWith('/token') ? repeats(request) : undefined);
    const ran = await world.svc(['contacts', 'list', ...flags]);
    expect(ran.exitCode).toBe(4);
    expect(token.length).toBeGreaterThan(8);
    expect(printed(ran)).toContain('Not good: ');
    expect(printed(ran)).toContain('[redacted]');
    for (const secret of [token, 'sandbox_secret']) expect(printed(ran)).not.toContain(secret);
  });

  test('at a login', async () => {
    const world = await authWorld();
    const sent: string[] = [];
    world.override = (request) => {
      if (!request.url.endsWith('/token')) return undefined;
      const form = new URLSearchParams(String(request.body));
      sent.push(...['code', 'code_verifier', 'client_secret'].map((name) => form.get(name) ?? ''));
      return repeats(request);
    };
    const openBrowser = async (url: URL) => void world.consent(url).then(visit);
    const ran = await world.svc(['login', '--redirect-uri', world.redirectUri], { openBrowser });
    expect(ran.exitCode).toBe(4);
    expect(printed(ran)).toContain('Not good: ');
    expect(sent).toHaveLength(3);
    for (const secret of sent) {
      expect(secret.length).toBeGreaterThan(8);
      expect(printed(ran)).not.toContain(secret);
    }
    expect(printed(ran)).toContain('client_id=sandbox_cli');
  });
});

const key = 'k/3y+of=acme';

async function refused(argv: string[], answer: (authorization: string) => HttpResponse): Promise<Ran> {
  const exchange = async ({ headers }: HttpRequest) => answer(headers.authorization ?? '');
  const world = createWorld(exchange, { env: { SVC_BASE_URL: 'https://service.test', SVC_API_KEY: key } });
  return svc(world, [...argv, '--max-wait', '0', '--settle', '0']);
}

describe('a service that repeats the credential', () => {
  const list = ['contacts', 'list'];
  test.each<[string, string[], (authorization: string) => HttpResponse]>([
    ['in a message', list, (sent) => says(401, { message: `bad token ${sent}` })],
    ['in a field', list, (sent) => says(422, { message: 'No', errors: { token: [sent], [sent]: ['x'] } })],
    [
      'in a problem',
      list,
      (sent) => ({
        ...says(422, { title: 'No', detail: sent, errors: [{ detail: 'x', pointer: sent }] }),
        headers: { 'content-type': 'application/problem+json' },
      }),
    ],
    ['percent-encoded', list, (sent) => says(403, { error: `no ${encodeURIComponent(sent)}` })],
    [
      'with escaped letters',
      list,
      (sent) => {
        const { body, ...answer } = says(422, { message: `bad token ${sent}` });
        return { ...answer, body: body.replaceAll('/', '\\/').replaceAll('+', '\\u002B') };
      },
    ],
    [
      'in an address that it redirects to',
      list,
      (sent) => ({
        status: 302,
        headers: { location: `https://other.test/?token=${encodeURIComponent(sent)}` },
        body: '',
      }),
    ],
    ['in the answer that svc api shows', ['api', '/contacts'], (sent) => says(422, { message: `bad token ${sent}` })],
    ['as a text', ['api', '/contacts'], (sent) => ({ status: 422, headers: {}, body: `bad token ${sent}` })],
    [
      'where the outcome of a write is not known',
      ['tickets', 'note', '1', '--body', 'x'],
      (sent) => ({
        ...says(502, { title: 'Bad gateway', detail: `for ${sent}` }),
        headers: { 'content-type': 'application/problem+json' },
      }),
    ],
  ])('%s', async (_, argv, answer) => {
    for (const flags of [[], ['--json'], ['--debug']]) {
      const ran = await refused([...argv, ...flags], answer);
      expect(ran.exitCode).toBeGreaterThan(0);
      for (const form of [key, encodeURIComponent(key), key.replace('/', '\\/')]) {
        expect(printed(ran)).not.toContain(form);
      }
      expect(printed(ran)).toContain('[redacted]');
    }
  });
});

describe('what is no secret of the request stands', () => {
  const request: HttpRequest = {
    method: 'POST',
    url: 'https://service.test/',
    headers: { ...type, authorization: 'Bearer short', accept: 'application/json' },
    body: JSON.stringify({
      subject: 'Export fails',
      signing_secret: 'whsec_12345678',
      hooks: [{ token: 'tok_12345678' }],
    }),
    timeoutMs: 1,
  };

  test('own data of a contact, whatever it is called, and the names of fields', () => {
    const contacts = [{ email: 'a@b.test', metadata: { object_key: 'contacts', cookie_consent: 'required' } }];
    const own = { ...request, body: JSON.stringify({ contacts, api_key: 'contacts' }) };
    const body = JSON.stringify({ errors: { 'contacts.0.email': ['is required'] } });
    expect(withoutSentSecrets(own, { status: 422, headers: {}, body }).body).toBe(body);
  });

  test('a short credential, an ordinary field, a number, and all of a success', () => {
    const body = '{ "message": "short application/json Export fails", "id": 12345678901234567890 }';
    expect(withoutSentSecrets(request, { status: 422, headers: {}, body })).toEqual({ status: 422, headers: {}, body });
    const done = { status: 200, headers: {}, body: '{"signing_secret":"whsec_12345678"}' };
    expect(withoutSentSecrets(request, done)).toBe(done);
  });

  test('secrets in the body and a password of Basic do not', () => {
    const authorization = `Basic ${Buffer.from('app:pass word/1').toString('base64')}`;
    const basic = { ...request, headers: { ...request.headers, authorization } };
    const body = JSON.stringify({ message: `whsec_12345678 tok_12345678 ${authorization} pass+word%2f1`, id: 1 });
    expect(withoutSentSecrets(basic, { status: 422, headers: {}, body }).body).toBe(
      '{"message":"[redacted] [redacted] Basic [redacted] [redacted]","id":1}',
    );
  });

  test('an answer that is nested without end is a text', () => {
    const body = '['.repeat(100_000);
    expect(withoutSentSecrets(request, { status: 500, headers: {}, body }).body).toBe(body);
    const closed = `${body}"tok_12345678"${']'.repeat(100_000)}`;
    expect(withoutSentSecrets(request, { status: 500, headers: {}, body: closed }).body).not.toContain('tok_');
  });
});
