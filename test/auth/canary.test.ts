import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AuthWorld, authWorld, visit } from './auth-world.ts';

/** Everything secret that has gone to the service or come from it. */
function listenFor(world: AuthWorld): Set<string> {
  const secrets = new Set(['key_acme', 'sandbox_secret', 'm2m_sandbox']);
  const through = world.exchange;
  Object.assign(world, {
    exchange: async (request: Parameters<typeof through>[0]) => {
      const form = new URLSearchParams(String(request.body ?? ''));
      for (const name of ['code', 'code_verifier', 'refresh_token', 'token', 'client_secret']) {
        const secret = form.get(name);
        if (secret) secrets.add(secret);
      }
      const answer = await through(request);
      if ('body' in answer) {
        for (const [, secret = ''] of answer.body.matchAll(/"(?:access_token|refresh_token)":\s*"([^"]+)"/gu)) {
          secrets.add(secret);
        }
      }
      return answer;
    },
  });
  return secrets;
}

async function filesBeside(world: AuthWorld): Promise<string[]> {
  const entries = await readdir(world.folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name !== 'credentials.json')
    .map((entry) => join(entry.parentPath, entry.name));
}

test('no secret is printed, not even with --debug, or written anywhere but into the store', {
  tags: ['long'],
}, async () => {
  const world = await authWorld();
  const secrets = listenFor(world);
  const csv = join(world.folder, 'contacts.csv');
  await writeFile(csv, 'email,name\nada@example.com,Ada\nnot an email,Bob\n');
  const printed: string[] = [];
  const run = async (argv: string[], options: Parameters<AuthWorld['svc']>[1] = {}) => {
    const { stdout, stderr, exitCode } = await world.svc([...argv, '--debug'], options);
    printed.push(stdout, stderr);
    return exitCode;
  };
  const openBrowser = async (url: URL) => void world.consent(url).then(visit);

  expect(await run(['login', '--redirect-uri', world.redirectUri], { openBrowser })).toBe(0);
  expect(await run(['login', '--with-m2m-token'], { stdin: 'm2m_sandbox\n' })).toBe(0);
  expect(await run(['whoami', '--json'])).toBe(0);
  expect(await run(['contacts', 'list'])).toBe(0);
  expect(await run(['meetings', 'list', '--account', '1'])).toBe(0);
  expect(await run(['contacts', 'sync', csv, '--report', join(world.folder, 'report.json')])).toBe(8);
  expect(await run(['auth', 'refresh'])).toBe(0);
  expect(await run(['auth', 'list', '--json'])).toBe(0);
  expect(await run(['config', 'list'])).toBe(0);
  expect(await run(['api', '/contacts/999'])).toBe(3);
  expect(await run(['login', '--with-api-key'], { stdin: 'key_acme\n' })).toBe(0);
  expect(await run(['contacts', 'list', '--base-url', 'https://evil.example.com'])).toBe(2);
  expect(await run(['contacts', 'list', '-p', 'default'], { env: { SVC_API_KEY: 'key_acme' } })).toBe(2);
  await run(['auth', 'refresh', '--scope', 'nothing']);
  // Refreshing fails in every way; the answers hold tokens too.
  world.clock.advance(4000_000);
  for (const body of ['{"access_token":"canary_half', '{"access_token":"canary_whole\\n"}']) {
    world.override = ({ url }) => (url.endsWith('/token') ? { status: 200, headers: {}, body } : undefined);
    expect(await run(['webhooks', 'list'])).toBe(1);
  }
  world.override = undefined;
  await world.control('disconnect', { account_id: 1, client_id: 'sandbox_cli' });
  expect(await run(['webhooks', 'list'])).toBe(4);
  expect(await run(['logout'])).toBe(0);

  for (const canary of ['canary_half', 'canary_whole']) secrets.add(canary);
  expect(secrets.size).toBeGreaterThan(8);
  const text = printed.join('\n');
  expect([...secrets].filter((secret) => text.includes(secret))).toEqual([]);
  for (const path of await filesBeside(world)) {
    const written = await readFile(path, 'utf8');
    expect([path, [...secrets].filter((secret) => written.includes(secret))]).toEqual([path, []]);
  }
  // Logged out, the store itself holds none any more.
  const store = await readFile(join(world.folder, 'config', 'credentials.json'), 'utf8');
  expect([...secrets].filter((secret) => store.includes(secret))).toEqual([]);
});
