import { describe, expect, test } from 'vitest';
import { type OperationId, operations } from '../../src/api/index.ts';
import type { HttpResponse } from '../../src/context.ts';
import { createWorld, svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';
import { lines } from './command-lines.ts';

const says = (status: number, body: string, type = 'application/json'): HttpResponse => ({
  status,
  headers: { 'content-type': type },
  body,
});

/** What stands at the base URL instead of the service. */
const strangers: Readonly<Record<string, HttpResponse>> = {
  'a web page': says(200, '<!doctype html><title>Welcome</title>', 'text/html'),
  'a web server without that page': says(404, '<html><h1>404</h1></html>', 'text/html'),
  'another API': says(200, '{"status":"up"}'),
  'plain text': says(200, 'It works!', 'text/plain'),
  'plain text without that path': says(404, 'Not found', 'text/plain'),
  'an API with a detail': says(404, '{"detail":"Not Found"}'),
  'an API that judges otherwise': says(422, '{"detail":[{"loc":["body"],"msg":"field required"}]}'),
  'a portal in JSON': says(200, '{"ok":true,"status":"ok","message":"Welcome to the guest network"}'),
  'another API without that path': says(404, '{"error":"no such route"}'),
  'an API that says it otherwise': says(404, '{"code":404,"msg":"not found"}'),
};

const env = { SVC_API_KEY: 'any', SVC_ACCESS_TOKEN: 'any', SVC_M2M_TOKEN: 'any' };
const credentials = { ...env, SVC_BASE_URL: 'https://service.test/v9' };

const ids = Object.keys(operations) as OperationId[];

describe.each(Object.entries(strangers).map((stranger, turn) => [...stranger, turn] as const))(
  '%s',
  (_, answer, turn) => {
    test.each(inTurn(ids, turn, 3))('is not taken for the service by the command of %s', async (id) => {
      const world = createWorld(async () => answer, { env: credentials });
      const { argv, stdin } = lines[id];
      const ran = await svc(world, [...argv, '--settle', '0'], { stdin });
      // `svc api` shows the JSON of a read as it is. Of a deletion `status` ok is all that the service says.
      const isRead = operations[id].safety === 'read';
      const isBelieved = isRead ? argv[0] === 'api' : id === 'deleteWebhook' && answer.body.includes('"status":"ok"');
      if (isBelieved && answer.status === 200 && answer.body.startsWith('{')) return;
      expect(ran.stderr).toContain('https://service.test/v9 is not the service: it answers with ');
      expect(ran.stderr).toContain('Check the base URL and its path prefix');
      expect(ran.stderr).not.toMatch(/Records of other accounts|safe to run the command again|cut off/u);
      if (operations[id].safety === 'repeatable') expect(ran.stderr).not.toContain('blindly');
      // What reads first ends before anything is sent.
      const readsFirst = operations[id].safety === 'verify' || id === 'syncListContacts';
      expect(ran.exitCode, ran.stderr).toBe(isRead || readsFirst ? 1 : 9);
    });
  },
);

const accounts: Readonly<Record<string, HttpResponse>> = {
  'answers for the account': says(200, '{"account_id":1,"name":"Acme"}'),
  'refuses to answer for it': says(403, '{"error":"insufficient_scope"}'),
};

describe.each(Object.entries(accounts))('a service that %s', (_, account) => {
  test.each([
    [says(404, '<html><h1>404</h1></html>', 'text/html'), ['tickets', 'update', '7', '--priority', '1'], 9],
    [says(404, '{"detail":"Not Found"}'), ['tickets', 'note', '7', '--body', 'Hello'], 9],
    [says(404, '{"detail":"Not Found"}'), ['tickets', 'get', '7'], 1],
    [says(200, 'It works!', 'text/plain'), ['tickets', 'get', '7'], 1],
  ])('is not called another address where something before it answers (%#)', async (answer, argv, exitCode) => {
    const asked: string[] = [];
    const world = createWorld(
      async ({ url }) => {
        asked.push(new URL(url).pathname);
        return url.endsWith('/platform/account') ? account : answer;
      },
      { env: credentials },
    );
    const ran = await svc(world, argv);
    expect(ran.exitCode, ran.stderr).toBe(exitCode);
    expect(ran.stderr).not.toContain('is not the service');
    expect(asked.filter((path) => path.endsWith('/account'))).toHaveLength(1);
  });
});

test('where the service was seen in this run, it is not asked for again', async () => {
  const asked: string[] = [];
  const world = createWorld(
    async ({ url, method }) => {
      asked.push(new URL(url).pathname);
      if (method !== 'GET') return says(404, '<html>', 'text/html');
      return says(200, '{"tickets":[],"meta":{"current_page":1,"last_page":1,"total":0}}');
    },
    { env: credentials },
  );
  const ran = await svc(world, ['tickets', 'create', '--subject', 'x']);
  expect(ran.exitCode).toBe(9);
  expect(ran.stderr).toContain('svc looked once and did not find it.');
  expect(asked.filter((path) => path.endsWith('/account'))).toEqual([]);
});

test('doctor says so too', async () => {
  for (const answer of Object.values(strangers)) {
    const ran = await svc(
      createWorld(async () => answer, { env: credentials }),
      ['doctor', '--json'],
      { env },
    );
    expect(ran.exitCode, answer.body).toBe(1);
    expect(ran.stdout, answer.body).toMatch(/is not the service|web page|not with JSON/u);
    const { checks } = JSON.parse(ran.stdout) as { checks: { name: string; ok: boolean; fix: string | null }[] };
    // The port of a login may be another program's on this machine.
    const failed = checks.filter(({ ok, name }) => !ok && name !== 'callback').map(({ name }) => name);
    if (answer.status === 404) expect(failed).toEqual(['base URL']);
    // Whoever reads it has just run it.
    expect(ran.stdout, answer.body).not.toContain('svc doctor');
  }
});

test('a record that the service does not have is exit 3, and the account is asked for once', async () => {
  const asked: string[] = [];
  const world = createWorld(
    async ({ url }) => {
      asked.push(new URL(url).pathname);
      return url.endsWith('/platform/account')
        ? says(403, '{"error":"insufficient_scope","error_description":"identity"}')
        : says(404, '{"error":"Not found."}');
    },
    { env: credentials },
  );
  const ran = await svc(world, ['tickets', 'get', '7']);
  expect(ran.exitCode).toBe(3);
  expect(asked).toEqual(['/v9/tickets/7', '/v9/platform/account']);
});

test.each([
  ['-i', 'HTTP 422\ncontent-type: application/json\n\n{\n  "message": "No.",\n  "errors": {}\n}\n'],
  ['--no-color', '{\n  "message": "No.",\n  "errors": {}\n}\n'],
])('svc api %s prints what the service answered on an error', async (flag, stdout) => {
  const world = createWorld(async () => says(422, '{"message":"No.","errors":{}}'), { env: credentials });
  const ran = await svc(world, ['api', '/contacts', flag]);
  expect(ran).toMatchObject({ exitCode: 6, stdout });
  expect(ran.stderr).toContain('No.');
});

test('svc api -i prints what a gateway answered, also where the outcome of a write is not known', async () => {
  const answer = says(504, '<h1>Gateway timeout</h1>', 'text/html');
  const ran = await svc(
    createWorld(async () => answer, { env: credentials }),
    ['api', '/elsewhere', '-i', '-X', 'POST'],
  );
  expect(ran.exitCode).toBe(9);
  expect(ran.stdout).toBe('HTTP 504\ncontent-type: text/html\n\n<h1>Gateway timeout</h1>\n');
});
