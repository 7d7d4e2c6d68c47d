import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endpoints } from '../contract/document.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { createWorld, svc } from '../svc.ts';

test('a method in lower case is the method', async () => {
  const ran = await svc(sandboxWorld(), [
    'api',
    'contacts/7',
    '-X',
    'patch',
    '-f',
    'company=Umbra',
    '--jq',
    '.contact.company',
  ]);
  expect(ran).toMatchObject({ exitCode: 0, stdout: 'Umbra\n' });
});

test('-F key=@FILE is the text of the file, @- standard input, and -f is as it is written', async () => {
  const world = sandboxWorld();
  const file = join(world.folder, 'nightly.sh');
  writeFileSync(file, 'echo 8\n');
  for (const [flag, value, body] of [
    ['-F', `@${file}`, 'echo 8\n'],
    ['-F', '@-', '8'],
    ['-f', `@${file}`, `@${file}`],
    ['-f', '@-', '@-'],
  ] as const) {
    const line = ['api', 'tickets/8/notes', flag, `body=${value}`];
    const shown = await svc(world, [...line, '--dry-run', '--json'], { stdin: '8' });
    expect(JSON.parse(shown.stdout)).toMatchObject([{ body: { body } }]);
    expect((await svc(world, [...line, '--jq', '.note.body'], { stdin: '8' })).exitCode).toBe(0);
  }
  const listed = await svc(world, ['api', 'tickets', '-F', 'subject=@-', '-F', 'labels[]=@-', '--dry-run', '--json'], {
    stdin: 'null',
  });
  expect(JSON.parse(listed.stdout)).toMatchObject([{ body: { subject: 'null', labels: ['null'] } }]);
});

test.each([
  ['that is not there', undefined, 'there is no file'],
  ['that is no text', new Uint8Array([0xff, 0xfe, 0xff]), 'not UTF-8'],
  ['that is too large', new Uint8Array(16 * 1024 * 1024 + 1), '16 MiB'],
])('-F with a file %s is exit 2 and sends nothing', { tags: ['long'] }, async (_, bytes, said) => {
  const world = sandboxWorld();
  const file = join(world.folder, 'body');
  if (bytes) writeFileSync(file, bytes);
  const ran = await svc(world, ['api', 'tickets/8/notes', '-F', `body=@${file}`]);
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(said) });
  expect(world.sent).toEqual([]);
});

test('a field that a read does not have is exit 2, as everywhere', async () => {
  const ran = await svc(sandboxWorld(), ['api', 'contacts/7', '--fields', 'contact.nmae']);
  expect(ran.exitCode).toBe(2);
});

test('--paginate is one document with the records of all pages', async () => {
  const ran = await svc(sandboxWorld(), ['api', 'contacts?per_page=100', '--paginate']);
  const { contacts, meta } = JSON.parse(ran.stdout) as { contacts: unknown[]; meta: { total: number } };
  expect(contacts).toHaveLength(meta.total);
});

test('a path that leads out of the base URL is refused before anything is sent', async () => {
  for (const path of ['https://elsewhere.example.com/contacts', '//elsewhere.example.com', '/../../x?y']) {
    const world = sandboxWorld({ env: { SVC_BASE_URL: 'https://service.test/prefix', SVC_API_KEY: 'key_acme' } });
    const ran = await svc(world, ['api', path]);
    expect({ path, exitCode: ran.exitCode, sent: world.sent }).toEqual({ path, exitCode: 2, sent: [] });
  }
});

test('a flag never takes a secret', async () => {
  const ran = await svc(sandboxWorld(), ['api', '/contacts', '-H', 'Authorization: Bearer x']);
  expect(ran.exitCode).toBe(2);
});

test('every operation names a command that exists', async () => {
  const world = sandboxWorld();
  const operations = JSON.parse((await svc(world, ['api', 'ls', '--json'])).stdout) as { command: string }[];
  expect(operations).toHaveLength(endpoints.length);
  for (const { command } of operations) expect((await svc(world, [...command.split(' '), '--help'])).exitCode).toBe(0);
});

test.each([40, 60, 80])('api ls cuts no path at %i columns', async (columns) => {
  const world = sandboxWorld();
  const words = (await svc(world, ['api', 'ls', '--no-color'], { columns })).stdout.split(/\s+/u);
  const all = JSON.parse((await svc(world, ['api', 'ls', '--json'])).stdout) as { path: string }[];
  expect(all.filter(({ path }) => !words.includes(path))).toEqual([]);
});

test('--paginate asks each page the same: a name that stands there twice, and a question mark in a value', async () => {
  const world = sandboxWorld();
  const ran = await svc(world, [
    'api',
    '/tickets?per_page=2&label=bug&label=billing&search=why?',
    '--paginate',
    '--quiet',
  ]);
  const [first, ...others] = world.sent.filter((line) => line.includes('/tickets'));
  expect(first).toBe('GET /tickets?per_page=2&label=bug&label=billing&search=why?');
  for (const [at, line] of others.entries())
    expect(line).toBe(`GET /tickets?per_page=2&label=bug&label=billing&search=why%3F&page=${at + 2}`);
  expect(ran.exitCode).toBe(0);
});

test.each([
  ['POST', '/whatever', '{"success":false,"message":"refused"}', 9, 'may or may not have been'],
  ['POST', '/whatever', '{"ok":false}', 9, 'may or may not have been'],
  ['DELETE', '/whatever', '{"error":"no"}', 9, 'may or may not have been'],
  ['POST', '/whatever', '{"id":1}', 0, ''],
  ['PATCH', '/whatever', '{"success":true}', 0, ''],
  ['GET', '/tickets', '{"error":"no"}', 1, 'an error'],
  ['GET', '/whatever', '{"success":"false"}', 1, '"success": "false"'],
  ['GET', '/whatever', '{"success":true,"error":null}', 0, ''],
  ['GET', '/job', '{"id":1,"error":"disk full","state":"done"}', 0, ''],
  ['GET', '/stats', '{"success":0,"failed":0}', 0, ''],
] as const)(
  '%s %s answered with %s is exit %d, and the answer is shown',
  async (method, path, body, exitCode, said) => {
    const answer = { status: 200, headers: { 'content-type': 'application/json' }, body };
    const ran = await svc(
      createWorld(async () => answer),
      ['api', '-X', method, path],
      { env: { SVC_API_KEY: 'any' } },
    );
    expect(ran, ran.stderr).toMatchObject({ exitCode, stderr: expect.stringContaining(said) });
    expect(JSON.parse(ran.stdout)).toEqual(JSON.parse(body));
  },
);

test('a page that says itself that it is none ends --paginate, and no filter makes an answer of one', async () => {
  const headers = { 'content-type': 'application/json' };
  const pages = [
    '{"contacts":[{"contact_id":1}],"meta":{"current_page":1,"last_page":2,"per_page":1,"total":2}}',
    '{"success":false,"error":"partial"}',
  ];
  let page = 0;
  const world = createWorld(async () => ({ status: 200, headers, body: pages[page++] ?? '' }));
  const env = { SVC_API_KEY: 'any' };
  const ran = await svc(world, ['api', '/contacts', '--paginate'], { env });
  expect(ran.exitCode, ran.stderr).not.toBe(0);
  expect(ran.stderr).toContain('The answer is no success: it holds an error.');
  const denied = createWorld(async () => ({ status: 200, headers, body: '{"success":false,"code":7}' }));
  const filtered = await svc(denied, ['api', '/whatever', '--jq', '.code'], { env });
  expect([filtered.exitCode, filtered.stdout]).toEqual([1, '']);
});

test('--paginate of a list that has pages, and comes without its meta, is not all', async () => {
  const world = sandboxWorld();
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    if (!('status' in answer) || !request.url.includes('/tickets')) return answer;
    const { meta: _, ...body } = JSON.parse(answer.body) as Record<string, unknown>;
    return { ...answer, body: JSON.stringify(body) };
  };
  const ran = await svc({ ...world, exchange }, ['api', '/tickets', '--paginate']);
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain('may not be all');
  const alone = await svc({ ...world, exchange }, ['api', '/tickets/8', '--paginate']);
  expect(alone.exitCode).toBe(0);
});

test('--include makes control characters of a header visible, also in a pipe; a tab stays, and the body is as it was sent', async () => {
  const headers = { 'content-type': 'application/json', 'x-odd': 'a\u009b31mb\u001b[0m\tc\u0007' };
  const world = createWorld(async () => ({ status: 200, headers, body: '{"a":"\\u001b"}' }));
  const ran = await svc(world, ['api', '/whatever', '-i'], { env: { SVC_API_KEY: 'any' } });
  expect(ran.stdout).toContain('x-odd: a<U+009B>31mb^[[0m\tc^G\n');
  expect(ran.stdout.endsWith('\n\n{\n  "a": "\\u001b"\n}\n'), ran.stdout).toBe(true);
});
