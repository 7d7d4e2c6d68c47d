import { describe, expect, test } from 'vitest';
import { type OperationId, operations } from '../../src/api/index.ts';
import type { HttpResponse } from '../../src/context.ts';
import { createWorld, svc } from '../svc.ts';
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
  'another API without that path': says(404, '{"error":"no such route"}'),
  'an API that says it otherwise': says(404, '{"code":404,"msg":"not found"}'),
};

const env = { SVC_API_KEY: 'any', SVC_ACCESS_TOKEN: 'any', SVC_M2M_TOKEN: 'any' };
const credentials = { ...env, SVC_BASE_URL: 'https://service.test/v9' };

describe.each(Object.entries(strangers))('%s', (_, answer) => {
  test.each(Object.keys(operations) as OperationId[])(
    'is not taken for the service by the command of %s',
    async (id) => {
      const world = createWorld(async () => answer, { env: credentials });
      const { argv, stdin } = lines[id];
      const ran = await svc(world, [...argv, '--settle', '0'], { stdin });
      // A success status of a write is believed, with a warning: the body is only of another kind. `svc api` shows JSON as it is.
      const isRaw = argv[0] === 'api';
      const isBelieved =
        answer.status === 200 && answer.body.startsWith('{') && (isRaw || operations[id].safety !== 'read');
      if (isBelieved && ran.exitCode === 0) return;
      expect([1, 9], ran.stderr).toContain(ran.exitCode);
      if (ran.exitCode === 9) expect(operations[id].safety).not.toBe('read');
      else expect(ran.stderr).toMatch(/is not the service|web page/u);
      expect(ran.stderr).not.toContain('Records of other accounts');
    },
  );
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
    if (answer.status === 404) expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(['base URL']);
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
