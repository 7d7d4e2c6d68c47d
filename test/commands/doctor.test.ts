import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { credentialNames } from '../../src/config/credential-variables.ts';
import { environmentNames } from '../../src/config/environment-names.ts';
import { sandboxWorld as anyWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

/** With a redirect URI of its own: what listens on this machine's port 8976 is no matter of the test. */
function sandboxWorld(...options: Parameters<typeof anyWorld>) {
  const world = anyWorld(...options);
  mkdirSync(join(world.folder, 'config'), { recursive: true });
  const profiles = { default: { redirect_uri: 'https://app.example.com/callback' } };
  writeFileSync(join(world.folder, 'config', 'config.json'), JSON.stringify({ profiles }));
  return world;
}

type Report = { ok: boolean; checks: { name: string; ok: boolean; message: string; fix: string | null }[] };

const wrongOf = (stdout: string) => (JSON.parse(stdout) as Report).checks.filter((check) => !check.ok);

test('a good set-up has nothing wrong', async () => {
  const ran = await svc(sandboxWorld(), ['doctor', '--json']);
  expect(wrongOf(ran.stdout)).toEqual([]);
  expect(JSON.parse(ran.stdout)).toMatchObject({ ok: true });
  expect(ran.exitCode).toBe(0);
});

test('in a pipe a name of the service neither breaks a row nor reaches a terminal', async () => {
  const world = sandboxWorld();
  const name = 'Acme\r\nok\tAPI key\tforged\u001B[31m\u202E';
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    return 'lost' in answer || !request.url.endsWith('/platform/account')
      ? answer
      : { ...answer, body: JSON.stringify({ ...JSON.parse(answer.body), name }) };
  };
  for (const argv of [['doctor'], ['auth', 'status']]) {
    const { stdout } = await svc({ ...world, exchange }, argv);
    expect(stdout).toContain('Acme\\r\\nok\\tAPI key\\tforged');
    for (const raw of ['\u001B', '\u202E', '\r', '\nok\tAPI key\tforged']) expect(stdout).not.toContain(raw);
  }
});

test('a place that only a shell can read is named by its variable', async () => {
  const names = ['SVC_MIRROR_DB', 'SVC_DRAFTS_DB', 'SVC_POLICY'];
  const env = Object.fromEntries(names.map((name) => [name, '~/svc']));
  const ran = await svc(sandboxWorld(), ['doctor', '--json'], { env });
  expect(ran.exitCode).toBe(1);
  const wrong = wrongOf(ran.stdout);
  expect(wrong.map(({ message }) => message.replace(/ .*/u, ''))).toEqual(names);
  for (const { fix } of wrong) expect(fix).toBe('Write the whole path, like /home/ada/svc.');
});

test('without a login and without a base URL both are named with the command that mends them, exit 1', async () => {
  const world = sandboxWorld({ env: { SVC_BASE_URL: undefined } });
  const ran = await svc(world, ['doctor', '--json']);
  expect(ran.exitCode).toBe(1);
  expect(wrongOf(ran.stdout).map(({ name, fix }) => [name, fix])).toEqual([
    ['base URL', 'Set SVC_BASE_URL, or run: svc login --base-url URL'],
    ['credential', 'Run: svc login'],
  ]);
});

test('a credential that the service refuses is told apart from a service that is not there', async () => {
  const refused = await svc(sandboxWorld(), ['doctor', '--json'], { env: { SVC_API_KEY: 'no_such_key' } });
  expect(wrongOf(refused.stdout).map(({ name }) => name)).toEqual(['API key', 'modules']);
  const gone = {
    ...sandboxWorld(),
    exchange: async () => ({ lost: 'before-sending', reason: 'dns', detail: 'No such name.' }) as const,
  };
  const unreachable = await svc(gone, ['doctor', '--json']);
  expect(wrongOf(unreachable.stdout).map(({ name }) => name)).toEqual(['base URL']);
});

test('a port that svc login cannot listen on is told with the reason', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const world = sandboxWorld();
  await svc(world, ['config', 'set', 'redirect_uri', `http://127.0.0.1:${port}/callback`]);
  const ran = await svc(world, ['doctor', '--json']);
  server.close();
  expect(ran.exitCode).toBe(1);
  expect(wrongOf(ran.stdout)).toMatchObject([
    {
      name: 'callback',
      message: `svc login cannot listen on port ${port} of 127.0.0.1: another program listens on it.`,
      fix: 'Stop the program that uses it, or give svc login another registered --redirect-uri.',
    },
  ]);
});

test('a clock that is wrong by minutes is found, one that is seconds off is not', async () => {
  const world = sandboxWorld();
  await world.control('POST', 'clock', { advance_seconds: 3 });
  expect((await svc(world, ['doctor'])).exitCode).toBe(0);
  await world.control('POST', 'clock', { advance_seconds: 300 });
  const ran = await svc(world, ['doctor', '--json']);
  expect(wrongOf(ran.stdout)[0]).toMatchObject({ name: 'clock', message: expect.stringContaining('behind') });
});

test('a switched-off module is told and is not held against the set-up', async () => {
  const world = sandboxWorld();
  await world.control('POST', 'modules', { account_id: 1, support: false });
  const ran = await svc(world, ['doctor', '--json']);
  expect(ran.exitCode).toBe(0);
  expect(ran.stdout).toContain('Off, or the scope is missing: Support.');
});

test('a damaged store is named and left as it is', async () => {
  const world = sandboxWorld();
  mkdirSync(join(world.folder, 'config'), { recursive: true });
  writeFileSync(join(world.folder, 'config', 'credentials.json'), '{"version":1,"secr');
  const ran = await svc(world, ['doctor', '--json']);
  expect(wrongOf(ran.stdout)[0]).toMatchObject({ name: 'store', message: expect.stringContaining('credentials.json') });
});

test('people see a line for each thing, scripts a row', async () => {
  const seen = await svc(sandboxWorld(), ['doctor', '--no-color'], { columns: 80 });
  expect(seen.stdout).toMatch(/^✓ svc {12}svc \d.*\n(?: {17}.*\n)?✓ node {11}Node \d+/u);
  const piped = await svc(sandboxWorld(), ['doctor']);
  expect(piped.stdout.split('\n')[0]?.split('\t').slice(0, 2)).toEqual(['ok', 'svc']);
});

test('a damaged configuration is a check of its own and does not keep the others from being made', async () => {
  const world = sandboxWorld();
  mkdirSync(join(world.folder, 'config'), { recursive: true });
  writeFileSync(join(world.folder, 'config', 'config.json'), '{"profiles":');
  const ran = await svc(world, ['doctor', '--json']);
  expect(ran.exitCode).toBe(1);
  const { ok, checks } = JSON.parse(ran.stdout);
  expect(ok).toBe(false);
  expect(checks).toContainEqual(
    expect.objectContaining({ name: 'config', ok: false, message: expect.stringContaining('config.json') }),
  );
  expect(checks).toContainEqual(expect.objectContaining({ name: 'base URL', ok: true }));
});

test('with a damaged configuration no login is advised, which would fail the same way, and no sends are called allowed', async () => {
  const world = sandboxWorld({ env: { SVC_BASE_URL: undefined, SVC_API_KEY: undefined } });
  mkdirSync(join(world.folder, 'config'), { recursive: true });
  const file = join(world.folder, 'config', 'config.json');
  writeFileSync(file, '{"profiles": {"default": {"sends": "draft"}}');
  const ran = await svc(world, ['doctor', '--json']);
  expect(ran.exitCode).toBe(1);
  const { checks } = JSON.parse(ran.stdout) as Report;
  expect(checks.map(({ fix }) => fix).join(' ')).not.toContain('Run: svc login');
  expect(checks).toContainEqual(
    expect.objectContaining({ name: 'sends', ok: false, message: expect.stringContaining('or on what is stricter') }),
  );
  writeFileSync(file, '{"profiles": {"default": {"sends": "draft"}}}');
  const mended = await svc(world, ['doctor', '--json']);
  expect(mended.stdout).toContain('Run: svc login');
  expect(mended.stdout).toContain('Sends are on draft.');
});

test('what is neither right nor wrong has no mark of success, and its JSON is as before', async () => {
  const env = { SHELL: '/bin/zsh', HOME: '/nowhere', NO_COLOR: '1' };
  const shown = await svc(sandboxWorld(), ['doctor'], { columns: 120, env });
  expect(shown.stdout).toMatch(/^- completions +Not installed for zsh/mu);
  expect(shown.stdout).toMatch(/^✓ node/mu);
  const piped = (await svc(sandboxWorld(), ['doctor'], { env })).stdout;
  expect(piped).toMatch(/^-\tcompletions\tNot installed for zsh/mu);
  expect(piped).toMatch(/^ok\tnode/mu);
  const { checks } = JSON.parse((await svc(sandboxWorld(), ['doctor', '--json'], { env })).stdout) as Report;
  for (const check of checks) expect(Object.keys(check)).toEqual(['name', 'ok', 'message', 'fix']);
});

test('the first Ctrl-C ends it', async () => {
  const world = sandboxWorld();
  const ending = new AbortController();
  let asked = 0;
  const exchange: typeof world.exchange = async (request) => {
    asked++;
    ending.abort('SIGINT');
    return request.signal?.aborted
      ? { lost: 'after-sending', reason: 'aborted', detail: 'It was ended.' }
      : world.exchange(request);
  };
  const ran = await svc({ ...world, exchange }, ['doctor'], { signal: ending.signal });
  expect(ran.exitCode).toBe(130);
  expect(ran.stderr).toBe('Error: Interrupted.\n');
  expect(asked).toBe(1);
});

test('a profile whose login is forgotten is not called saved', async () => {
  const world = sandboxWorld();
  const noKey = { SVC_API_KEY: undefined };
  const configCheck = async () => {
    const { checks } = JSON.parse((await svc(world, ['doctor', '--json'], { env: noKey })).stdout) as Report;
    return checks.find(({ name }) => name === 'config')?.message;
  };
  await svc(world, ['login', '--with-api-key'], { stdin: 'key_acme', env: noKey });
  expect(await configCheck()).toBe('Profile default; saved: default.');
  await svc(world, ['logout', '--all', '--yes'], { env: noKey });
  expect(await configCheck()).toBe('Profile default; no login is saved.');
});

test('a variable that svc does not know is named with what was meant, never with its value, and nothing is wrong', async () => {
  const env = {
    SVC_APIKEY: 'abcSECRET',
    SVC_BASEURL: 'x',
    SVC_ZZZ_OF_OURS: '1',
    SVC_WEBHOOK_SECRET_ACME: 'x',
    svc_json: '1',
  };
  const ran = await svc(sandboxWorld(), ['doctor', '--json'], { env });
  const said = (JSON.parse(ran.stdout) as Report).checks.filter(({ name }) => name === 'environment');
  expect(said.map(({ message }) => message)).toEqual([
    'SVC_APIKEY is no variable of svc; did you mean SVC_API_KEY?',
    'SVC_BASEURL is no variable of svc; did you mean SVC_BASE_URL?',
    'SVC_ZZZ_OF_OURS is no variable of svc',
    'svc_json is no variable of svc',
  ]);
  expect(ran.stdout).not.toContain('SECRET');
  expect(wrongOf(ran.stdout)).toEqual([]);
});

test('what doctor knows of variables is what the help names', async () => {
  const { stdout } = await svc(sandboxWorld(), ['help', 'environment']);
  expect([...environmentNames].sort()).toEqual([...new Set(stdout.match(/SVC_\w+/gu))].sort());
});

test('docs/logging-in.md names the variable of every credential', () => {
  const page = readFileSync(new URL('../../docs/logging-in.md', import.meta.url), 'utf8');
  expect(credentialNames.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
