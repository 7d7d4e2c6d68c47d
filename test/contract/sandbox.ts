import { createSandbox, type SandboxOptions } from '../../src/sandbox/app.ts';
import type { Endpoint } from './document.ts';

type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: what came back is what is being judged
  readonly body: any;
};

export type Subject = {
  /** Sends `METHOD /path` as the credential: a token, `none`, or `oauth` and scopes of account 1. */
  send(as: string, request: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  control(request: string, body?: unknown): Promise<Answer>;
  /** A bearer token of its own connection. */
  token(scopes: readonly string[], account_id?: number, expires_in?: number): Promise<string>;
};

/** A sandbox without a socket, whose clock stands still unless it is moved. */
export function startSubject(options: SandboxOptions = {}): Subject {
  const started = new Date('2026-11-20T09:00:00.000Z');
  const sandbox = createSandbox({ now: () => started, ...options });
  const tokens = new Map<string, Promise<string>>();

  async function exchange(method: string, url: string, headers: Record<string, string>, body: unknown) {
    const response = await sandbox.handle({
      method,
      url,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { ...response, body: parsed(response.body) };
  }

  const subject: Subject = {
    async send(as, request, body, headers = {}) {
      const [method = '', url = ''] = request.split(' ');
      if (as.startsWith('oauth') && !tokens.has(as)) tokens.set(as, subject.token(as.split(' ').slice(1)));
      const token = (await tokens.get(as)) ?? as;
      return exchange(
        method,
        url,
        { ...(as === 'none' ? {} : { authorization: `Bearer ${token}` }), ...headers },
        body,
      );
    },
    control(request, body) {
      const [method = '', name = ''] = request.split(' ');
      return exchange(method, `/_sandbox/${name}`, {}, body);
    },
    async token(scopes, account_id = 1, expires_in) {
      const answer = await subject.control('POST tokens', { account_id, scopes, expires_in });
      if (answer.status !== 200) throw new Error(`POST tokens: ${JSON.stringify(answer.body)}`);
      return answer.body.access_token;
    },
  };
  return subject;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** As account 1 unless the key is of another; every answer but success fails the test. */
export const account = (subject: Subject, key = 'key_acme') => {
  const ok = async (request: string, body?: unknown) => {
    const answer = await subject.send(key, request, body);
    if (answer.status >= 300) throw new Error(`${request}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    get: (path: string) => ok(`GET ${path}`),
    post: (path: string, body?: unknown) => ok(`POST ${path}`, body),
    patch: (path: string, body: unknown) => ok(`PATCH ${path}`, body),
    put: (path: string, body: unknown) => ok(`PUT ${path}`, body),
  };
};

export type Played = ReturnType<typeof start>;

/** A sandbox without limits, used as account 1. */
export function start(seed: 'empty' | 'demo' = 'empty', options: SandboxOptions = {}) {
  const subject = startSubject({ seed, rateLimit: 'off', ...options });
  return {
    subject,
    ...account(subject),
    later: (advance_seconds: number) => subject.control('POST clock', { advance_seconds }),
    act: (kind: string, fields: object = {}) => subject.control('POST act', { kind, account_id: 1, ...fields }),
    state: async () => (await subject.control('GET state')).body,
  };
}

export const person = (n: number) => ({
  name: `Name${n}`,
  last_name: `Last${n}`,
  email: `p${n}@example.com`,
  phone: `+1202555${String(1000 + n)}`,
});

export const newContact = async ({ post }: Played, n = 1, more: object = {}): Promise<number> =>
  (await post('/contacts/create', { ...person(n), ...more })).contacts.contact_id;

/** A request of the endpoint that would succeed but for the id, which is of no record. */
export const request = ({ method, path }: Endpoint, id: number | string = 99_999) =>
  `${method} ${path.replace('{account}', '1').replaceAll(/\{\w+\}/gu, String(id))}`;

/** A credential that the endpoint takes. */
export const rightful = ({ scope }: Endpoint) => (scope === 'm2m' ? 'm2m_sandbox' : `oauth ${scope ?? 'identity'}`);
