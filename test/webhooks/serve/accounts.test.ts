/** Several accounts in one serve: nothing of two ever meets, and none holds up another. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endAfterEach } from '../../endings.ts';
import { svc } from '../../svc.ts';
import { startApp } from '../listening.ts';
import { withPostgres } from '../own-postgres.ts';
import { body, deliver, get, newWorld, serving } from '../serving.ts';
import { newDatabase, withServer } from '../stores.ts';

withServer();
const endings = endAfterEach();
const env = { ACME: 'acme-secret', GLOBEX: 'globex-secret' };

async function app(...about: Parameters<typeof startApp>) {
  const started = await startApp(...about);
  endings.push(() => started.close());
  return started;
}
const start = async (world: Parameters<typeof serving>[0], config: string, argv: readonly string[] = []) => {
  const started = await serving(world, config, { env }, argv);
  endings.push(() => started.end());
  return started;
};

const accounts = `accounts:
  - { name: acme, path: /hooks/acme, secrets: { env: [ACME] } }
  - { name: globex, path: /hooks/globex, secrets: { env: [GLOBEX] } }
`;
const at = (url: string) => ({ acme: url, globex: url.replace('/hooks/acme', '/hooks/globex') });
const places = [
  ['the folder', test, () => 'inbox'],
  ['Postgres', withPostgres, () => `"${newDatabase()}"`],
] as const;

for (const [name, check, inbox] of places) {
  check(
    `the same id of two accounts is two events, and a secret opens its own path alone (${name})`,
    { tags: ['long'] },
    async () => {
      const [world, target] = [await newWorld(), await app()];
      const served = await start(
        world,
        `listen: { port: 0 }
admin: { port: 0 }
inbox: ${inbox()}
${accounts}sinks:
  - { name: app, http: { url: "${target.url}" } }
  - { name: acme-only, filter: '.account == "acme"', exec: { command: [sh, -c, 'echo "$SVC_ACCOUNT" >> told'] } }
  - { name: lines, file: { path: lines.jsonl } }
`,
      );
      const { acme, globex } = at(served.url);
      expect(await deliver(acme, body('a', { account: 'globex' }), env.ACME)).toBe(204);
      expect(await deliver(globex, body('a'), env.GLOBEX, { 'x-svc-account': 'acme', x_svc_account: 'acme' })).toBe(
        204,
      );
      expect(await deliver(globex, body('a'), env.GLOBEX)).toBe(204);
      expect(await deliver(globex, body('b'), env.ACME)).toBe(401);
      expect(served.said()).toContain('A delivery at the path of globex was refused with 401');
      expect(await deliver(acme, body('b'), env.GLOBEX)).toBe(401);
      expect(await deliver(acme.replace('/hooks/acme', '/'), body('b'), env.ACME)).toBe(404);
      await served.until(() => target.got.length === 2);
      expect(target.got.map(({ headers }) => headers['x-svc-account']).sort()).toEqual(['acme', 'globex']);
      expect(target.got.flatMap(({ headers }) => headers.x_svc_account ?? [])).toEqual([]);
      const metrics = async () => (await get(`${served.admin}/metrics`)).text;
      await served.until(async () => (await metrics()).includes('skipped_total{account="globex",sink="acme-only"} 1'));
      await served.until(async () => (await metrics()).includes('delivered_total{account="acme",sink="acme-only"} 1'));
      await served.until(async () => (await metrics()).includes('delivered_total{account="globex",sink="lines"} 1'));
      await served.until(async () => (await metrics()).includes('delivered_total{account="acme",sink="lines"} 1'));
      const text = await metrics();
      for (const row of [
        'accepted_total{account="acme"} 1',
        'accepted_total{account="globex"} 1',
        'repeats_total{account="globex"} 1',
        'rejected_total{account="acme"} 1',
        'rejected_total{account="globex"} 1',
        'waiting{account="acme",sink="app"} 0',
      ])
        expect(text).toContain(`svc_webhooks_${row}\n`);
      expect(readFileSync(join(world.folder, 'told'), 'utf8')).toBe('acme\n');
      const lines = readFileSync(join(world.folder, 'lines.jsonl'), 'utf8').trim().split('\n');
      expect(
        lines
          .map((line) => JSON.parse(line))
          .map(({ id, account }) => `${account} ${id}`)
          .sort(),
      ).toEqual(['acme a', 'globex a']);
      const { stdout } = await served.end();
      expect(JSON.parse(stdout)).toMatchObject({ accepted: 2, rejected: 2, repeats: 1 });
      expect(JSON.parse(stdout).sinks.map((one: { name: string }) => one.name)).toEqual([
        ...['acme/app', 'acme/acme-only', 'acme/lines', 'globex/app', 'globex/acme-only', 'globex/lines'],
      ]);
      const argv = ['webhooks', 'inbox', 'list', '--config', served.file, '--json', '--account', 'globex'];
      expect(JSON.parse((await svc(world, argv)).stdout)).toMatchObject([{ id: 'globex/a', account: 'globex' }]);
      const wrong = await svc(world, [...argv.slice(0, -1), 'glob']);
      expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('Accounts: acme, globex.')]);
    },
  );

  check(
    `what one account cannot deliver holds up no other, and is its dead letter (${name})`,
    { tags: ['long'] },
    async () => {
      const world = await newWorld();
      const taken: string[] = [];
      const target = await app(0, ({ headers, body: text }) => {
        const account = String(headers['x-svc-account']);
        if (account === 'acme') return 500;
        taken.push(JSON.parse(text).id);
        return 200;
      });
      const config = `listen: { port: 0 }
inbox: ${inbox()}
${accounts}retry: { attempts: 2, pause: 1ms }
sinks: [{ name: app, http: { url: "${target.url}" } }]
`;
      const served = await start(world, config);
      const { acme, globex } = at(served.url);
      for (const id of ['a', 'b', 'c']) {
        expect(await deliver(acme, body(id), env.ACME)).toBe(204);
        expect(await deliver(globex, body(id), env.GLOBEX)).toBe(204);
      }
      await served.until(() => taken.length === 3);
      await served.until(() => served.said().includes('acme/c is a dead letter of acme/app'));
      expect(taken).toEqual(['a', 'b', 'c']);
      const dead = ['webhooks', 'dead', 'list', '--config', served.file, '--json'];
      const all = JSON.parse((await svc(world, dead)).stdout);
      expect(all.map(({ id, account, sink }: Record<string, string>) => [id, account, sink])).toEqual(
        ['a', 'b', 'c'].map((id) => [`acme/${id}`, 'acme', 'app']),
      );
      expect(JSON.parse((await svc(world, [...dead, '--account', 'globex'])).stdout)).toEqual([]);
      const told = async (id: string) =>
        (await svc(world, ['webhooks', 'dead', 'show', id, '--config', served.file])).stderr;
      expect(await told('a')).toBe('');
      expect(await told('acme/b')).toBe('');
      expect(await told('globex/a')).toContain('globex/a is no dead letter');
      // The same without the account is two events here, though one of them is dead.
      const shown = async (id: string) =>
        svc(world, ['webhooks', 'inbox', 'show', id, '--config', served.file, '--json']);
      const both = expect.stringMatching(/(?:acme\/a, globex\/a|globex\/a, acme\/a)/u);
      expect((await shown('a')).stderr).toEqual(both);
      const dropped = await svc(world, ['webhooks', 'dead', 'drop', 'a', '--yes', '--config', served.file]);
      expect([dropped.exitCode, dropped.stderr]).toEqual([2, both]);
      expect(JSON.parse((await shown('globex/a')).stdout)).toMatchObject({ id: 'globex/a', account: 'globex' });
      const again = [
        'webhooks',
        'dead',
        'drop',
        '--all',
        '--account',
        'acme',
        '--yes',
        '--config',
        served.file,
        '--json',
      ];
      expect(JSON.parse((await svc(world, again)).stdout)).toEqual({ dropped: 3 });
    },
  );
}

test('the inbox of one account goes on as it was when it becomes one of several, and an account that is gone leaves its events', {
  tags: ['long'],
}, async () => {
  const [world, target] = [await newWorld(), await app()];
  await target.close();
  const sinks = (url: string) => `inbox: inbox\nsinks: [{ name: app, http: { url: "${url}" } }]\n`;
  const alone = await serving(
    world,
    `listen: { port: 0 }\nsecrets: { store: false, env: [ACME] }\n${sinks(target.url)}`,
    {
      env,
    },
  );
  expect(await deliver(alone.url, body('old'), env.ACME)).toBe(204);
  await alone.until(() => alone.said().includes('app does not take old'));
  await alone.end();
  const config = `listen: { port: 0 }\n${accounts}${sinks(target.url)}`;
  const several = await start(world, config);
  expect(await deliver(at(several.url).globex, body('old'), env.GLOBEX)).toBe(204);
  await several.until(() => several.said().includes('globex/app does not take globex/old'));
  several.reload(config.replace(/ {2}- \{ name: globex.*\n/u, ''));
  await several.until(() =>
    several.said().includes('1 event waits for globex/app, which the configuration does not name'),
  );
  const again = await app(target.port);
  await several.until(() => again.got.length === 1);
  expect(again.got.map(({ headers }) => headers['x-svc-account'])).toEqual([undefined]);
  several.reload(config);
  await several.until(() => again.got.length === 2);
  expect(again.got.map(({ headers }) => headers['x-svc-account'])).toEqual([undefined, 'globex']);
});

test.each([
  ['a name twice', 'accounts: [{ name: a, path: /a, profile: a }, { name: a, path: /b, profile: b }]', 'is a again'],
  ['a path twice', 'accounts: [{ name: a, path: /a, profile: a }, { name: b, path: /a, profile: b }]', 'is /a again'],
  [
    'a profile twice',
    'accounts: [{ name: a, path: /a, profile: a }, { name: b, path: /b, profile: a }]',
    'profile is a again',
  ],
  [
    'one variable for two',
    'accounts: [{ name: a, path: /a, secrets: { env: [S] } }, { name: b, path: /b, secrets: { env: [S] } }]',
    'two accounts with one variable',
  ],
  [
    'a secret for a name',
    'accounts: [{ name: a, path: /a, secrets: { env: [whsec-1] } }]',
    'must be the name of a variable: letters',
  ],
  ['a name that is no label', 'accounts: [{ name: a/b, path: /a, profile: a }]', 'accounts[0].name must be 1 to 63'],
  ['no secret', 'accounts: [{ name: a, path: /a }]', 'needs a profile, secrets.env, or both'],
  [
    'a list of secrets',
    'accounts: [{ name: a, path: /a, secrets: [] }]',
    'has a mistake.\n  line 1: accounts[0].secrets must be a map of names and values.\n',
  ],
  [
    'a list of secrets beside a variable that two share',
    'accounts: [{ name: a, path: /a, secrets: { env: [X] } }, { name: b, path: /b, secrets: { env: [X] } }, { name: c, path: /c, profile: c, secrets: [] }]',
    'accounts has two accounts with one variable in secrets.env',
  ],
  ['none', 'accounts: []', 'accounts is an empty list'],
  [
    'secrets of all',
    'secrets: { env: [A] }\naccounts: [{ name: a, path: /a, profile: a }]',
    'secrets is of one account',
  ],
  [
    'a bad path of all',
    'listen: { path: x }\naccounts: [{ name: a, path: /a, profile: a }]',
    'has a mistake.\n  line 1: listen.path is of one account: where accounts is given, each of them has its own.\n',
  ],
  [
    'a path of all',
    'listen: { path: /x }\naccounts: [{ name: a, path: /a, profile: a }]',
    'listen.path is of one account',
  ],
])('accounts with %s are refused', async (_, config, said) => {
  const { world, exitCode, stderr } = await judged(config);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(said)]);
  expect(existsSync(join(world.folder, 'a.jsonl'))).toBe(false);
});

test.each(['[]', 'x', '{ stor: true }', '{ env: 3 }'])(
  'secrets of all accounts that are %s are one mistake',
  async (secrets) => {
    const { exitCode, stderr } = await judged(`secrets: ${secrets}\naccounts: [{ name: a, path: /a, profile: a }]`);
    const said = 'line 1: secrets is of one account: where accounts is given, each of them has its own.';
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`has a mistake.\n  ${said}\n`)]);
  },
);

async function judged(config: string) {
  const world = await newWorld();
  const file = join(world.folder, 'svc-webhooks.yaml');
  writeFileSync(file, `${config}\nsinks: [{ name: a, file: { path: a.jsonl } }]\n`);
  return { world, ...(await svc(world, ['webhooks', 'serve', '--check', '--config', file])) };
}

test.each(['', ' concurrency: 4,'])(
  'between no accounts and several nothing meets, is forgotten, or reaches another account’s program%s',
  { tags: ['long'] },
  async (lanes) => {
    const world = await newWorld();
    const sinks = `inbox: inbox
admin: { port: 0 }
sinks:
  - { name: crm,${lanes} filter: '.account == "acme"', exec: { command: [sh, -c, 'echo "$SVC_ACCOUNT $GLOBEX" >> told'] } }
  - { name: all, file: { path: all.jsonl } }
`;
    const alone = `listen: { port: 0 }\nsecrets: { store: false, env: [ACME] }\n${sinks}`;
    const several = `listen: { port: 0 }\n${accounts}${sinks}`;
    const served = await start(world, alone);
    const lines = () => readFileSync(join(world.folder, 'all.jsonl'), 'utf8').trim().split('\n').length;
    const reload = async (config: string) => {
      const read = () => served.said().split('was read again').length;
      const before = read();
      served.reload(config);
      await served.until(() => read() > before);
    };
    const { acme, globex } = at(served.url.replace(/\/$/u, '/hooks/acme'));
    expect(await deliver(served.url, body('acme/evt_1'), env.ACME)).toBe(204);
    expect(await deliver(served.url, body('acme/evt_1'), env.ACME)).toBe(204);
    await reload(several);
    expect(await deliver(acme, body('evt_1'), env.ACME)).toBe(204);
    expect(await deliver(globex, '[{"private":"of globex"}]', env.GLOBEX)).toBe(204);
    expect(await deliver(globex, body('evt_2'), env.GLOBEX)).toBe(204);
    await served.until(() => lines() === 4);
    const metrics = async () => (await get(`${served.admin}/metrics`)).text;
    await served.until(async () => (await metrics()).includes('skipped_total{account="globex",sink="crm"} 2'));
    for (const row of [
      'accepted_total{account=""} 1',
      'repeats_total{account=""} 1',
      'accepted_total{account="acme"} 1',
    ])
      expect(await metrics()).toContain(row);
    // A secret is one after its account was taken out, too.
    await reload(several.replace(/ {2}- \{ name: globex.*\n/u, ''));
    expect(await deliver(acme, body('evt_3'), env.ACME)).toBe(204);
    await served.until(async () => (await metrics()).includes('delivered_total{account="acme",sink="crm"} 2'));
    expect(readFileSync(join(world.folder, 'told'), 'utf8')).toBe('acme \nacme \n');
    const gone = ['webhooks', 'inbox', 'list', '--config', served.file, '--json', '--account', 'globex'];
    expect(JSON.parse((await svc(world, gone)).stdout)).toHaveLength(2);
  },
);

test('an account without a secret is told how to get one, and the unit of systemd names the variables of all', async () => {
  const world = await newWorld();
  const file = join(world.folder, 'svc-webhooks.yaml');
  const own = accounts.replace('secrets: { env: [GLOBEX] }', 'profile: globex');
  writeFileSync(file, `${own}sinks: [{ name: a, file: { path: a.jsonl } }]\n`);
  const argv = ['webhooks', 'serve', '--config', file];
  const without = await svc(world, argv, { env: { ACME: 'one' } });
  expect([without.exitCode, without.stderr]).toEqual([
    2,
    expect.stringContaining('Subscribe with svc -p globex webhooks create.'),
  ]);
  const { stderr } = await svc(world, argv, { env: {} });
  expect(stderr).toContain('Set ACME.');
  writeFileSync(file, `${accounts}sinks: [{ name: a, file: { path: a.jsonl } }]\n`);
  const { stdout } = await svc(world, [...argv, '--systemd']);
  expect(stdout).toContain('# ACME, GLOBEX and PGPASSWORD belong here');
});

test('two accounts with one secret are refused: a delivery of one would pass for one of the other', async () => {
  const world = await newWorld();
  const file = join(world.folder, 'svc-webhooks.yaml');
  writeFileSync(file, `listen: { port: 0 }\n${accounts}sinks: [{ name: a, file: { path: a.jsonl } }]\n`);
  const same = { ACME: 'one', GLOBEX: 'one' };
  for (const check of [[], ['--check']]) {
    const { exitCode, stderr } = await svc(world, ['webhooks', 'serve', '--config', file, ...check], { env: same });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('acme and globex have a signing secret in common')]);
  }
});
