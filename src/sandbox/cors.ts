import type { SandboxResponse } from './response.ts';

/** `--cors`: pages of any origin may call the sandbox. The control calls stay closed to them. */
const allowed = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After',
};

type CorsRequest = { readonly method: string; readonly headers: Readonly<Record<string, string | undefined>> };

/** A browser's question before the request itself; it carries no credential, and counts for no limit. */
export const isPreflight = ({ method, headers }: CorsRequest): boolean =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

export const preflightAnswer = ({ headers }: CorsRequest): SandboxResponse => ({
  status: 204,
  headers: {
    ...allowed,
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': headers['access-control-request-headers'] ?? 'Authorization, Content-Type',
    'access-control-max-age': '600',
    vary: 'Access-Control-Request-Headers',
  },
  body: '',
});

export const withCors = (response: SandboxResponse): SandboxResponse => ({
  ...response,
  headers: { ...response.headers, ...allowed },
});
