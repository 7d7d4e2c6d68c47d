import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { operations } from '../../src/api/index.ts';
import { endpoints } from '../contract/document.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape, looked into from all sides
type Any = any;

const world = sandboxWorld();
const printed = async (argv: readonly string[] = [], env = {}): Promise<string> => {
  const { stdout, exitCode } = await svc(world, ['openapi', ...argv], { env });
  expect(exitCode).toBe(0);
  return stdout;
};
const document: Any = JSON.parse(await printed());

describe('the OpenAPI document', () => {
  test('is 3.1 with the version label of the service, needs no login and sends nothing', async () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
    const bare = sandboxWorld({ env: { SVC_API_KEY: undefined, SVC_BASE_URL: undefined } });
    expect((await svc(bare, ['openapi'])).exitCode).toBe(0);
    expect(bare.sent).toEqual([]);
  });

  test('holds every operation of the service, by its method and path', () => {
    const held = Object.entries<Any>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Any>(methods).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
    );
    expect(held.sort()).toEqual(
      Object.values(operations)
        .map(({ id, method, path }) => `${id} ${method} ${path}`)
        .sort(),
    );
    expect(held).toHaveLength(endpoints.length);
  });

  test('says which token opens what', () => {
    const security = (path: string, method: string) => document.paths[path][method].security;
    expect(security('/contacts', 'get')).toEqual([{ accountApiKey: [] }, { oauth: ['contacts:read'] }]);
    expect(security('/contactslists/list', 'get')).toEqual([{ accountApiKey: [] }, { oauth: [] }]);
    expect(security('/oauth-platform/webhooks', 'post')).toEqual([{ oauth: ['webhooks:manage'] }]);
    expect(security('/{account}/meetings', 'get')).toEqual([{ machineToMachine: [] }]);
    const { authorizationCode } = document.components.securitySchemes.oauth.flows;
    expect(Object.keys(authorizationCode.scopes)).toHaveLength(14);
    expect(authorizationCode.tokenUrl).toMatch(/\/oauth\/platform\/token$/u);
  });

  test('carries every limit of the service', () => {
    const body = (path: string, method: string) =>
      document.paths[path][method].requestBody.content['application/json'].schema;
    expect(body('/tickets', 'post').properties).toMatchObject({
      subject: { minLength: 1, maxLength: 255 },
      description: { maxLength: 20_000 },
      priority: { type: 'integer', minimum: 0, maximum: 4 },
    });
    expect(body('/tickets/{id}/notes', 'post').properties.body.maxLength).toBe(10_000);
    expect(body('/tickets/{id}/replies', 'post').properties.body.maxLength).toBe(16_000);
    expect(body('/conversations/{id}/messages', 'post').properties.body.maxLength).toBe(16_000);
    expect(body('/changelog', 'post')).toMatchObject({
      required: ['title', 'content'],
      properties: {
        title: { minLength: 3, maxLength: 255 },
        content: { maxLength: 60_000 },
        version: { type: ['string', 'null'], maxLength: 50 },
        labels: { maxItems: 10, items: { maxLength: 40 } },
      },
    });
    expect(body('/changelog/{id}', 'patch').minProperties).toBe(1);
    expect(body('/platform/contacts/sync', 'post').properties.contacts).toMatchObject({ minItems: 1, maxItems: 200 });
    const { NewContact, SyncContact, Branding, EventContact } = document.components.schemas;
    expect(SyncContact.properties.tags).toMatchObject({ maxItems: 10, items: { maxLength: 50 } });
    expect(NewContact.properties.phone.pattern).toBe('^\\+1\\d{10}$');
    expect(Branding.properties).toMatchObject({ from_name: { maxLength: 120 }, brand_voice: { maxLength: 2000 } });
    expect(EventContact.anyOf).toEqual([{ required: ['email'] }, { required: ['phone'] }]);
    const perPage = document.paths['/contacts'].get.parameters.find(({ name }: Any) => name === 'per_page');
    expect(perPage).toMatchObject({ in: 'query', required: false, schema: { minimum: 1, maximum: 100, default: 50 } });
    expect(document.paths['/platform/contacts/sync'].post.description).toContain('30 calls a minute');
  });

  test('answers as the document says: statuses, rate headers and the three shapes of errors', () => {
    const { responses } = document.paths['/changelog'].post;
    expect(Object.keys(responses)).toEqual(['201', '401', '403', '422', '429', '500', '5XX']);
    expect(Object.keys(responses['201'].headers)).toEqual(['X-RateLimit-Limit', 'X-RateLimit-Remaining']);
    expect(Object.keys(document.paths['/contactslists/list'].get.responses)).toEqual([
      '200',
      '401',
      '429',
      '500',
      '5XX',
    ]);
    expect(Object.keys(document.paths['/{account}/meetings'].get.responses)).toEqual([
      '200',
      '401',
      '404',
      '429',
      '500',
      '5XX',
    ]);
    expect(Object.keys(document.components.responses.RateLimited.headers)).toContain('Retry-After');
    expect(document.components.schemas.Error.anyOf).toHaveLength(3);
  });

  test('shows an example of each delivery', () => {
    for (const { post } of Object.values<Any>(document.webhooks)) {
      const { example } = post.requestBody.content['application/json'];
      expect(`on.${example?.event}`).toBe(post.operationId);
    }
  });

  test('shows an example of each request, success and error, and says what each success is', () => {
    const successes = new Set<string>();
    for (const [path, methods] of Object.entries<Any>(document.paths)) {
      for (const [method, { operationId, description, requestBody, responses }] of Object.entries<Any>(methods)) {
        expect(description, operationId).toMatch(/\.$/u);
        const shows = (body: Any) => {
          const { example, examples } = body.content['application/json'];
          return example !== undefined || Object.keys(examples ?? {}).length > 1;
        };
        if (requestBody) expect(shows(requestBody), operationId).toBe(true);
        for (const [status, given] of Object.entries<Any>(responses)) {
          if (status === '5XX') continue;
          const response = given.$ref ? document.components.responses[given.$ref.split('/').at(-1)] : given;
          expect(shows(response), `${method} ${path} ${status}`).toBe(true);
          if (status.startsWith('2')) successes.add(response.description);
        }
      }
    }
    expect(successes.size).toBe(endpoints.length);
  });

  test('has a type beside every constant, and a description of every field', () => {
    const bare: string[] = [];
    const walk = (value: Any, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if ('const' in value && value.type !== typeof value.const) bare.push(`${path} const`);
      for (const [key, each] of Object.entries<Any>(value)) {
        if (key === 'example' || key === 'examples') continue;
        if (key === 'properties') {
          for (const [name, field] of Object.entries<Any>(each)) {
            if (!field.description && !field.$ref) bare.push(`${path}.${name}`);
          }
        }
        walk(each, `${path}.${key}`);
      }
    };
    walk(document.paths, '');
    walk(document.components, '');
    walk(document.webhooks, '');
    expect(bare).toEqual([]);
  });

  test('tells the rules of state, and what a reply is refused for', () => {
    const { post } = document.paths['/tickets/{id}/replies'];
    expect(post.responses['422'].description).toContain('has no email address, or the send failed');
    expect(document.paths['/tickets/{id}'].patch.description).toContain('counts as a reopen');
    expect(document.paths['/changelog'].post.description).toContain('subscribers are not emailed');
    const { contacts } = document.components.schemas.NewContactBatch.properties;
    expect(contacts.description).toContain('not shown');
    expect(document.info.license.name).toBe('MIT');
    expect(document.info.contact).toBeDefined();
  });

  test('describes the six webhooks with their signature', () => {
    expect(Object.keys(document.webhooks)).toEqual([
      'contact.created',
      'call.completed',
      'ticket.created',
      'conversation.message_received',
      'changelog.published',
      'feedback.created',
    ]);
    const { post } = document.webhooks['changelog.published'];
    expect(post.parameters.map(({ name, required }: Any) => [name, required])).toEqual([
      ['X-SVC-Event', true],
      ['X-SVC-Signature', true],
    ]);
    const { data } = post.requestBody.content['application/json'].schema.properties;
    expect(data.required).toEqual(['entry_id', 'account_id', 'title', 'version', 'slug', 'published_at']);
  });

  test('refers only to what it holds', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/gu)].map(
      ([, path]) => path as string,
    );
    expect(references.length).toBeGreaterThan(100);
    for (const path of new Set(references)) {
      expect(
        path.split('/').reduce((at, key) => at?.[key], document),
        path,
      ).toBeDefined();
    }
  });

  test('names the service that the flags name, and the segment of the events path', async () => {
    const text = await printed(['--base-url', 'http://127.0.0.1:4010/prefix'], { SVC_PARTNER_SEGMENT: 'shop' });
    const named = JSON.parse(text);
    expect(named.servers).toEqual([{ url: 'http://127.0.0.1:4010/prefix' }]);
    const { post } = named.paths['/integrations/{partner}/events'];
    expect(post.parameters).toEqual([
      {
        name: 'partner',
        in: 'path',
        required: true,
        description: 'The literal segment that this service uses for events',
        schema: { type: 'string', default: 'shop' },
      },
    ]);
  });

  test.each([[['--format', 'yaml']], [['--output', 'yaml']]])(
    'is the same in YAML by %j',
    { tags: ['long'] },
    async (argv) => {
      expect(parse(await printed(argv))).toEqual(document);
    },
  );

  test.each([[['--format', 'json']], [['--json']]])('is JSON by %j', async (argv) => {
    expect(JSON.parse(await printed(argv))).toEqual(document);
  });

  // By hand: a person who adds a field reviews its name beside those of the service.
  test('holds the fields of fields.txt, and no others', () => {
    const names = new Set<string>();
    const walk = (value: Any): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, each] of Object.entries<Any>(value)) {
        if (key === 'example' || key === 'examples') continue;
        if (key === 'properties') for (const name of Object.keys(each)) names.add(name);
        if (key === 'parameters' && Array.isArray(each)) {
          for (const one of each) if (one.in === 'query') names.add(one.name);
        }
        walk(each);
      }
    };
    walk(document);
    const written = readFileSync(new URL('fields.txt', import.meta.url), 'utf8').match(/^\w+$/gmu) ?? [];
    expect([...names].sort()).toEqual(written.toSorted());
  });
});

test('a pattern means the same to whoever knows no classes of Unicode', () => {
  const patterns = JSON.stringify(document).match(/"pattern":"(?:[^"\\]|\\.)*"/gu) ?? [];
  expect(patterns.length).toBeGreaterThan(3);
  expect(patterns.filter((one) => /\\\\[pP]\{/u.test(one))).toEqual([]);
});
