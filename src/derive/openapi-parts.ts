import { type Operation, type Scope, scopes } from '../api/operation.ts';
import { answerExample, sharedExample } from './openapi-examples.ts';

type Json = Readonly<Record<string, unknown>>;

/** What the parts of the document share: errors, headers and credentials. */
export const components = (schemas: Json, authUrl: string) => ({
  schemas: { ...schemas, ...errorSchemas },
  responses,
  headers,
  securitySchemes: {
    accountApiKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'A per-account secret. It passes every scope check but cannot manage webhooks.',
    },
    oauth: {
      type: 'oauth2',
      description:
        'Authorization code flow; PKCE with S256 is required. Access tokens last one hour. Refresh tokens last 30 days ' +
        'and rotate on every use.',
      flows: {
        authorizationCode: {
          authorizationUrl: `${authUrl}/oauth/platform/authorize`,
          tokenUrl: `${authUrl}/oauth/platform/token`,
          refreshUrl: `${authUrl}/oauth/platform/token`,
          scopes: scopeMeanings,
        },
      },
    },
    machineToMachine: {
      type: 'http',
      scheme: 'bearer',
      description: 'A first-party machine-to-machine token, valid only for the meetings endpoint.',
    },
  },
});

const scopeMeanings: Readonly<Record<Scope, string>> = {
  identity: 'See the account',
  'branding:write': 'Change the branding',
  'contacts:read': 'List and get contacts',
  'contacts:write': 'Update, create and sync contacts',
  'calls:read': 'List calls',
  'tickets:read': 'List and get tickets',
  'tickets:write': 'Create, update, note and reply on tickets',
  'conversations:read': 'List and get conversations',
  'conversations:write': 'Send messages and resolve',
  'changelog:read': 'List and get changelog entries',
  'changelog:write': 'Create and update changelog entries',
  'feedback:read': 'See the feedback board and the roadmap',
  'sequences:trigger': 'Send events',
  'webhooks:manage': 'Manage webhook subscriptions',
};

const text = { type: 'string' };

const errorSchemas = {
  Error: {
    description: 'One of three shapes. Read `error`, then `message`; `errors` is for display by field.',
    anyOf: ['SimpleError', 'ScopeError', 'ValidationError'].map((name) => ({ $ref: `#/components/schemas/${name}` })),
  },
  SimpleError: {
    type: 'object',
    properties: { error: { ...text, description: 'What went wrong' } },
    required: ['error'],
  },
  ScopeError: {
    type: 'object',
    properties: {
      error: { type: 'string', const: 'insufficient_scope', description: 'Says that a scope is missing' },
      error_description: { ...text, description: 'Names the missing scope', examples: scopes.slice(2, 3) },
    },
    required: ['error', 'error_description'],
  },
  ValidationError: {
    type: 'object',
    properties: {
      message: { ...text, description: 'What is wrong with the request' },
      errors: {
        type: 'object',
        description: 'Messages by field',
        additionalProperties: { type: 'array', items: text },
      },
    },
    required: ['message', 'errors'],
  },
};

const headers = {
  'X-RateLimit-Limit': { description: 'Requests a minute', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left in this minute', schema: { type: 'integer' } },
  'Retry-After': {
    description: 'Seconds to wait before the next request',
    required: true,
    schema: { type: 'integer' },
  },
};

const headersNamed = (...names: (keyof typeof headers)[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Every response carries them (service.md#limits-2). */
export const rateHeaders = headersNamed('X-RateLimit-Limit', 'X-RateLimit-Remaining');

const failure = (description: string, schema: string, example: Json, more: Json = {}) => ({
  description,
  headers: { ...rateHeaders, ...more },
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, ...example } },
});

const responses = {
  Unauthorized: failure('The token is missing, malformed, expired or revoked.', 'Error', sharedExample('401')),
  RateLimited: failure('The rate limit is reached.', 'Error', sharedExample('429'), headersNamed('Retry-After')),
  ServerError: failure(
    'The server failed. Reads are safe to repeat; look before you repeat a write.',
    'Error',
    sharedExample('500'),
  ),
  GatewayError: {
    description:
      'A server or a gateway on the way failed; the body may be of any kind. It may have been done all the same.',
  },
};

const shared = (name: keyof typeof responses): Json => ({ $ref: `#/components/responses/${name}` });

/** The errors of an operation (service.md#errors-1), with what the sandbox answers to it. */
export function errorResponses({ id, scope, module, params, query, body, credentials, refuses }: Operation): Json {
  const own = (status: number, description: string, schema: string) =>
    failure(description, schema, answerExample(id, status));
  const isForbidden = scope !== null || module !== undefined;
  const isJudged = body !== undefined || query !== undefined;
  const causes = [
    scope && `the token lacks the scope ${scope}`,
    module && `the account has the ${module.replaceAll('_', ' ')} module switched off`,
    scope && !credentials.includes('api_key') && 'an account API key is refused',
  ].filter((cause) => typeof cause === 'string');
  const refusal = `Validation failed${refuses ? `, or: ${refuses}` : '.'}`;
  return {
    401: shared('Unauthorized'),
    ...(isForbidden && { 403: own(403, `Forbidden: ${causes.join(', or ')}.`, 'Error') }),
    ...(params && { 404: own(404, "No such record in the caller's account.", 'Error') }),
    ...(isJudged && { 422: own(422, refusal, 'ValidationError') }),
    429: shared('RateLimited'),
    500: shared('ServerError'),
    '5XX': shared('GatewayError'),
  };
}
