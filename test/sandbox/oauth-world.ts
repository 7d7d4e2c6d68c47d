import { createHash } from 'node:crypto';
import { scopes } from '../../src/api/operation.ts';
import { answerOAuth } from '../../src/sandbox/oauth/endpoints.ts';
import type { OAuthAnswer } from '../../src/sandbox/oauth/http.ts';
import type { Client, Connection, Connections } from '../../src/sandbox/oauth/state.ts';

export const sampleClient: Client = {
  client_id: 'sandbox_cli',
  client_secret: 'sandbox_secret',
  name: 'svc',
  redirect_uris: ['http://127.0.0.1:8976/callback'],
  scopes: [...scopes],
};

/** RFC 7636, appendix B. */
export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

export const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

type Options = { clients?: Client[]; consent?: 'page' | 'auto'; accounts?: { account_id: number; name: string }[] };

/** The OAuth endpoints over a state in memory, with a clock that only moves when told. */
export function oauthWorld({ clients = [sampleClient], consent = 'auto', accounts }: Options = {}) {
  const rows = new Map<string, Connection>();
  const connections: Connections = {
    find: (id) => rows.get(id),
    all: () => rows.values(),
    put: (connection) => rows.set(connection.id, connection),
    nextNumber: () => rows.size + 1,
  };
  let seconds = Date.parse('2026-11-20T12:00:00Z') / 1000;
  let drawn = 0;
  const world = {
    consent,
    formKey: 'of this run',
    accounts: accounts ?? [
      { account_id: 1, name: 'Acme' },
      { account_id: 2, name: 'Globex' },
    ],
    get now() {
      return new Date(seconds * 1000);
    },
    // Never the same twice, and the same in every run.
    random: (bytes: number) => createHash('shake256', { outputLength: bytes }).update(`${drawn++}`).digest(),
  };
  const base = 'http://127.0.0.1:4010';
  const send = (method: string, path: string, headers: Record<string, string> = {}, body = ''): OAuthAnswer => {
    const url = new URL(path, base);
    const request = { method, url, headers: { host: url.host, ...headers }, body: Buffer.from(body) };
    const answer = answerOAuth({ clients, connections }, request, world);
    if (!answer) throw new Error(`${path} is no OAuth endpoint`);
    return answer;
  };
  const post = (path: string, form: Record<string, string> | string, headers: Record<string, string> = {}) =>
    send(
      'POST',
      path,
      { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      typeof form === 'string' ? form : new URLSearchParams(form).toString(),
    );
  const authorizePath = (changes: Record<string, string | undefined> = {}): string => {
    const query = { ...authorization, ...changes };
    const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return `/oauth/platform/authorize?${new URLSearchParams(given)}`;
  };
  const token = (form: Record<string, string>, headers: Record<string, string> = credentials) =>
    parsed(post('/oauth/platform/token', form, headers));
  const code = (changes: Record<string, string> = {}): string =>
    new URL(send('GET', authorizePath(changes)).headers.location ?? '').searchParams.get('code') ?? '';
  return {
    rows,
    connections,
    clients,
    world,
    send,
    post,
    token,
    code,
    authorizePath,
    redeem: (changes: Record<string, string> = {}) =>
      token({ ...redemption, ...changes, code: changes.code ?? code() }),
    refresh: (refresh_token: string, more: Record<string, string> = {}) =>
      token({ grant_type: 'refresh_token', refresh_token, ...more }),
    advance: (by: number) => {
      seconds += by;
    },
  };
}

export type OAuthWorld = ReturnType<typeof oauthWorld>;

const authorization: Record<string, string | undefined> = {
  response_type: 'code',
  client_id: 'sandbox_cli',
  redirect_uri: 'http://127.0.0.1:8976/callback',
  scope: 'identity tickets:read tickets:write',
  state: 'sample-state',
  code_challenge: challenge,
  code_challenge_method: 'S256',
};

const redemption = {
  grant_type: 'authorization_code',
  redirect_uri: 'http://127.0.0.1:8976/callback',
  code_verifier: verifier,
};

export const credentials = { authorization: basic('sandbox_cli', 'sandbox_secret') };

export const parsed = (answer: OAuthAnswer): OAuthAnswer & { json: Record<string, string> } => ({
  ...answer,
  json: answer.body === '' ? {} : (JSON.parse(answer.body) as Record<string, string>),
});
