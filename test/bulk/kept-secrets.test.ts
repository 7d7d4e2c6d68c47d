// Signing secrets in a file of results: the service shows each once, so svc writes over none.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const rows = (...numbers: number[]) =>
  `event,url\n${numbers.map((n) => `ticket.created,https://a.test/${n}\n`).join('')}`;

async function setUp(name = 'r.csv') {
  const world = sandboxWorld({ rateLimit: 'off' });
  const { access_token } = (await world.control('POST', 'tokens', {
    account_id: 1,
    scopes: ['webhooks:manage', 'identity', 'tickets:write', 'tickets:read', 'contacts:write'],
  })) as { access_token: string };
  const env = { SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: access_token };
  const put = (file: string, text: string) => {
    writeFileSync(join(world.folder, file), text);
    return join(world.folder, file);
  };
  const results = join(world.folder, name);
  const run = (...argv: string[]) => svc(world, argv, { env });
  const create = (file: string, ...more: string[]) =>
    run('webhooks', 'create', '--from', file, '--results', results, ...more);
  const secrets = () => readFileSync(results, 'utf8').match(/whsec_[\w-]+/gu) ?? [];
  const file = put('h.csv', rows(1, 2));
  const first = await create(file);
  expect(first.exitCode, first.stderr).toBe(0);
  expect(secrets()).toHaveLength(2);
  world.sent.length = 0;
  const writes = () => world.sent.filter((line) => !line.startsWith('GET')).length;
  return { put, results, run, create, secrets, file, writes };
}

test.each(['r.csv', 'r.jsonl'])(
  '%s run again keeps them, also beside new rows, --dry-run and --max-sends',
  { tags: ['long'] },
  async (name) => {
    const { put, create, secrets, file, writes } = await setUp(name);
    const before = secrets();
    for (const more of [[], ['--dry-run'], ['--max-sends', '1']]) {
      const ran = await create(file, ...more);
      expect(ran.exitCode, ran.stderr).toBe(0);
      expect(secrets()).toEqual(before);
    }
    expect(writes()).toBe(0);
    expect((await create(put('h.csv', rows(1, 2, 3)))).exitCode).toBe(0);
    expect(secrets().slice(0, 2)).toEqual(before);
    expect(secrets()).toHaveLength(3);
  },
);

test.each([
  ['other rows', [], [3]],
  ['fewer rows', ['--yes'], [1]],
  ['the same rows made once more', ['--restart', '--yes'], [1, 2]],
  ['other rows, looked at first', ['--dry-run'], [3]],
] as const)('%s: exit 2 before anything is written', async (_, flags, numbers) => {
  const { put, results, create, writes } = await setUp();
  const before = readFileSync(results, 'utf8');
  const ran = await create(put('other.csv', rows(...numbers)), ...flags);
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`${results} holds signing secrets`) });
  expect(writes()).toBe(0);
  expect(readFileSync(results, 'utf8')).toBe(before);
});

test.each([
  ['tickets create', '--results', 'subject\nOne\n'],
  ['tickets create', '--rejects', 'subject\nOne\n'],
  ['webhooks create', '--report', rows(1)],
  ['contacts sync', '--rejects', 'email\na@b.example\n'],
])('%s %s over them is exit 2', async (words, flag, text) => {
  const { put, results, run, writes } = await setUp();
  const before = readFileSync(results, 'utf8');
  const from = words === 'contacts sync' ? [] : ['--from'];
  const more = flag === '--report' ? ['--results', join(results, '..', 'other.csv')] : [];
  const ran = await run(...words.split(' '), ...from, put('other.csv.in', text), flag, results, ...more);
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('holds signing secrets') });
  expect(writes()).toBe(0);
  expect(readFileSync(results, 'utf8')).toBe(before);
});

test('results without a header, whose columns nobody names, are not written over', async () => {
  const { put, run, results, writes } = await setUp();
  const flags = ['--no-header', '--map', '#1=event_type', '--map', '#2=target_url', '--results', `${results}.2`];
  const argv = ['webhooks', 'create', '--from', put('n.csv', rows(5).split('\n').slice(1).join('\n')), ...flags];
  expect((await run(...argv)).exitCode).toBe(0);
  const before = readFileSync(`${results}.2`, 'utf8');
  expect(before).toContain('whsec_');
  expect(await run(...argv)).toMatchObject({ exitCode: 2 });
  expect(readFileSync(`${results}.2`, 'utf8')).toBe(before);
  expect(writes()).toBe(1);
});

test('rows that were made with them are known as those of that file, also once the secrets are out of the journal', {
  tags: ['long'],
}, async () => {
  const { put, results, create, run, writes, secrets } = await setUp();
  const copy = put('copy.csv', rows(1, 2));
  expect((await create(copy)).stderr).toContain('from h.csv, and were not sent again');
  expect(writes()).toBe(0);
  const again = await run('webhooks', 'create', '--from', copy, '--results', `${results}.2`, '--again', '--yes');
  expect(again.exitCode, again.stderr).toBe(0);
  expect(writes()).toBe(2);
  expect(secrets()).toHaveLength(2);
});
