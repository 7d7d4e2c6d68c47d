import { existsSync, linkSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endAfterEach } from '../../endings.ts';
import { freePort } from '../../free-port.ts';
import { svc, type World } from '../../svc.ts';
import { startApp } from '../listening.ts';
import { withPostgres } from '../own-postgres.ts';
import { body, deliver, get, newWorld, secret, serving } from '../serving.ts';
import { newDatabase, serverOf, withServer } from '../stores.ts';

withServer();
const endings = endAfterEach();
async function app(...about: Parameters<typeof startApp>) {
  const started = await startApp(...about);
  endings.push(() => started.close());
  return started;
}
const start = async (...given: Parameters<typeof serving>) => {
  const started = await serving(...given);
  endings.push(() => started.end());
  return started;
};

test('serve stores a delivery, answers it, and passes it on to every sink that wants it', async () => {
  const [world, target] = [await newWorld(), await app()];
  const served = await start(
    world,
    `listen: { port: 0, path: /hooks }
admin: { port: 0 }
inbox: inbox
sinks:
  - { name: app, events: [ticket.created], http: { url: "${target.url}in" } }
  - { name: calls, events: [call.completed], http: { url: "${target.url}calls" } }
  - { name: crm, filter: '.data.source == "email"', exec: { command: [sh, -c, "cat >> crm"] } }
  - { name: archive, file: { path: events.jsonl } }
`,
  );
  expect(await deliver(served.url, body('a'))).toBe(204);
  expect(await deliver(served.url, body('a'))).toBe(204);
  expect(await deliver(served.url, body('mail', { data: { ticket_id: 8, source: 'email' } }))).toBe(204);
  expect(await deliver(served.url, body('x'), 'another secret')).toBe(401);
  const archive = () => readFileSync(join(world.folder, 'events.jsonl'), 'utf8').trim().split('\n');
  await served.until(() => target.got.length === 2);
  await served.until(async () => (await get(`${served.admin}/metrics`)).text.includes('skipped_total{sink="crm"} 1'));
  await served.until(async () =>
    (await get(`${served.admin}/metrics`)).text.includes('delivered_total{sink="archive"} 2'),
  );
  await served.until(async () => (await get(`${served.admin}/metrics`)).text.includes('delivered_total{sink="crm"} 1'));
  expect(archive().map((line) => JSON.parse(line).id)).toEqual(['a', 'mail']);
  expect(JSON.parse(readFileSync(join(world.folder, 'crm'), 'utf8')).id).toBe('mail');
  const metrics = (await get(`${served.admin}/metrics`)).text;
  for (const row of [
    'accepted_total 2',
    'rejected_total 1',
    'repeats_total 1',
    'waiting{sink="app"} 0',
    'dead{sink="app"} 0',
  ]) {
    expect(metrics).toContain(`svc_webhooks_${row}\n`);
  }
  expect((await get(`${served.admin}/healthz`)).status).toBe(200);
  expect((await get(`${served.admin}/readyz`)).status).toBe(200);
  expect((await get(`${served.admin}/other`)).status).toBe(404);
  const { exitCode, stdout } = await served.end();
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ accepted: 2, rejected: 1, repeats: 1 });
  expect(JSON.parse(stdout).sinks[0]).toMatchObject({ name: 'app', delivered: 2, waiting: 0 });
});

test('told to end, it delivers what waits; what a dead app did not take goes out at the next start', async () => {
  const world = await newWorld();
  const target = await app();
  await target.close();
  const config = `listen: { port: 0 }\ninbox: inbox\nsinks:\n  - { name: app, http: { url: "${target.url}" } }\n`;
  const first = await serving(world, config);
  for (const id of ['a', 'b', 'c']) expect(await deliver(first.url, body(id))).toBe(204);
  await first.until(() => first.said().includes('app does not take a'));
  const { exitCode, stdout } = await first.end();
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout).sinks[0]).toMatchObject({ delivered: 0, waiting: 3, retrying: 1 });
  const again = await app(target.port);
  const second = await start(world, config);
  await second.until(() => again.got.length === 3);
  expect(again.ids()).toEqual(['a', 'b', 'c']);
});

test('the end says how many events wait for another attempt, and when they go on', async () => {
  const world = await newWorld();
  const target = await app();
  await target.close();
  const config = `listen: { port: 0 }\ninbox: inbox\nsinks:\n  - { name: app, http: { url: "${target.url}" } }\n`;
  const served = await serving(world, config, {}, ['--output', 'table']);
  for (const id of ['a', 'b']) expect(await deliver(served.url, body(id))).toBe(204);
  await served.until(() => served.said().includes('app does not take a'));
  const { stdout, stderr } = await served.end();
  expect(`${stdout}${stderr}`).toMatch(
    /^app: 0 delivered, 2 waiting \(1 for another attempt\)\.\nWhat waits goes on at the next start\.$/mu,
  );
});

test('SIGHUP takes a good configuration, and refuses a bad one', async () => {
  const [world, one, other] = [await newWorld(), await app(), await app()];
  const config = (url: string, port = 0) =>
    `listen: { port: ${port} }\ninbox: inbox\nsinks:\n  - { name: app, http: { url: "${url}" } }\n`;
  const served = await start(world, config(one.url));
  await deliver(served.url, body('a'));
  await served.until(() => one.got.length === 1);
  served.reload(config('nonsense'));
  await served.until(() => served.said().includes('refused, and the old one stays'));
  expect(served.said()).toContain('line 4: sinks[0].http.url must be an http:// or https:// URL.');
  await deliver(served.url, body('b'));
  await served.until(() => one.got.length === 2);
  for (const [bad, said] of [
    ['sinks: []\n', 'line 1: sinks is an empty list: name where events are to go.'],
    ['', 'line 1: sinks is missing.'],
    ['sinks:\n', 'line 1: sinks must be a list of sinks.'],
  ] as const) {
    served.reload(bad);
    await served.until(() => served.said().includes(said));
    await deliver(served.url, body(`after ${said}`));
  }
  await served.until(() => one.got.length === 5);
  expect(served.said().match(/refused, and the old one stays/gu)).toHaveLength(4);
  served.reload(config(other.url, 8000));
  await served.until(() => served.said().includes('was read again: 1 sink.'));
  expect(served.said()).toContain('listen.port changes only with a restart.');
  await deliver(served.url, body('c'));
  await served.until(() => other.got.length === 1);
  expect([one.ids().slice(0, 2), other.ids()]).toEqual([['a', 'b'], ['c']]);
});

test('a second serve at the same folder is refused, naming the first', async () => {
  const world = await newWorld();
  const served = await start(
    world,
    'listen: { port: 0 }\ninbox: inbox\nsinks: [{ name: a, file: { path: a.jsonl } }]\n',
  );
  const { exitCode, stderr } = await svc(world, ['webhooks', 'serve', '--config', served.file], {
    env: { SVC_WEBHOOK_SECRET: secret },
  });
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`is in use by another svc (process ${process.pid})`);
});

withPostgres(
  'while Postgres is away there is no answer and no readiness, and then everything arrives',
  { tags: ['long'] },
  async () => {
    const [world, target] = [await newWorld(), await app()];
    const served = await start(
      world,
      `listen: { port: 0 }\nadmin: { port: 0 }\ninbox: "${newDatabase()}"\nsinks:\n  - { name: app, http: { url: "${target.url}" } }\n`,
    );
    expect(await deliver(served.url, body('before'))).toBe(204);
    await served.until(() => target.got.length === 1);
    await serverOf().crash();
    const held = deliver(served.url, body('during'));
    await served.until(async () => (await get(`${served.admin}/readyz`)).status === 503);
    expect((await get(`${served.admin}/healthz`)).status).toBe(200);
    await serverOf().start();
    expect(await held).toBe(204);
    await served.until(() => target.ids().includes('during'));
    await served.until(async () => (await get(`${served.admin}/readyz`)).status === 200);
    expect(target.ids()).toEqual(['before', 'during']);
    await served.until(() => served.said().includes('The inbox answers again.'));
    expect(served.said().match(/The inbox answers again/gu)).toHaveLength(1);
  },
);

test.each([
  ['sinks: [', 'line 1'],
  ['sinks: []\nlissten: {}\n', 'line 2: lissten is not known; did you mean listen?'],
  ['listen:\n  port: 99999\nsinks: []\n', 'line 2: listen.port must be a whole number from 0 to 65535.'],
  ['sinks:\n  - name: app\n', 'line 2: sinks[0] needs exactly one of http, exec, file and nats.'],
  [
    'sinks:\n  - name: app\n    http:\n      url: ftp://x\n',
    'line 4: sinks[0].http.url must be an http:// or https:// URL.',
  ],
  [
    'sinks:\n  - { name: a, file: { path: x } }\n  - { name: a, file: { path: x } }\n',
    'line 3: sinks[1].name is a again: each sink needs a name of its own.',
  ],
  [
    'sinks:\n  - name: a\n    file: { path: x }\n    events: [ticket.made]\n',
    'line 4: sinks[0].events[0] is "ticket.made", which is no event; did you mean ticket.created?',
  ],
  [
    'sinks:\n  - name: a\n    file: { path: x }\n    filter: .a |\n',
    'line 4: sinks[0].filter: The filter .a | is not valid jq',
  ],
  ['sinks: []\nretry: { max_age: soon }\n', 'line 2: retry.max_age must be a time like 24h, from 1s to 365d.'],
  ['sinks: []\nretry: { pause: 2s }\n', 'line 2: retry.pause must be a time like 500ms, from 1ms to 1s.'],
  ...[
    ['tiket.created', '; did you mean ticket.created?'],
    ['bogus', '. Events: contact.created, call.completed,'],
  ].map(([event, said]) => [
    `sinks:\n  - { name: a, file: { path: x }, events: [${event}] }\n`,
    `line 2: sinks[0].events[0] is "${event}", which is no event${said}`,
  ]),
  ...[
    'mysql://localhost/hooks',
    'sqlite:/hooks.db',
    'file:///var/hooks',
    'postgres:/localhost/hooks',
    'POSTGRESQL:hooks',
    'mysql://root:hunter2@db/hooks',
    '"host=db password=hunter2"',
    'root:hunter2@db/hooks',
  ].map((url) => [
    `sinks: []\ninbox: ${url}\n`,
    'line 2: inbox must be a folder or a postgres:// URL. A URL looks like postgres://user@host:5432/database.',
  ]),
  ...[`"'postgres://root:hunter2@db/hooks'"`, '" postgres://root:hunter2@db/hooks"'].map((url) => [
    `sinks: []\ninbox: ${url}\n`,
    'line 2: inbox must be a folder or a postgres:// URL. There are quotation marks or blanks around the URL',
  ]),
  [
    'sinks: []\nlisten: { max_connections: 0 }\n',
    'line 2: listen.max_connections must be a whole number from 1 to 100000.',
  ],
  ['listen: {}\n', 'line 1: sinks is missing.'],
  ['listen: {}\nsinks: []\n', 'line 2: sinks is an empty list: name where events are to go.'],
  ['', 'line 1: sinks is missing.'],
  ['- 1\n', 'line 1: the file must be a map'],
  ...['secrets: [{ env: HOOKS }]', 'secrets: []', 'retry: [8]', 'retry: []'].map((line) => [
    `sinks: [{ name: app, file: { path: a } }]\n${line}\n`,
    `has a mistake.\n  line 2: ${line.split(':')[0]} must be a map of names and values.\n`,
  ]),
  ['sinks: [[{ name: app }]]\n', 'has a mistake.\n  line 1: sinks[0] must be a map of names and values.\n'],
  [
    'sinks: [{ name: app, http: [url] }]\n',
    'has a mistake.\n  line 1: sinks[0].http must be a map of names and values.\n',
  ],
])('--check finds the mistake in %j', async (config = '', said = '') => {
  const world = await newWorld();
  writeFileSync(join(world.folder, 'c.yaml'), config);
  const { exitCode, stderr } = await svc(world, [
    'webhooks',
    'serve',
    '--config',
    join(world.folder, 'c.yaml'),
    '--check',
  ]);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(said)]);
});

test('--check names every key that is not known, however deep it stands, and what was meant', async () => {
  const world = await newWorld();
  const file = join(world.folder, 'c.yaml');
  writeFileSync(file, 'sinks:\n  - { name: a, concurency: 3, timout: 1s, http: { url: "http://a/", ulr: x } }\n');
  const { exitCode, stderr } = await svc(world, ['webhooks', 'serve', '--config', file, '--check']);
  expect(exitCode).toBe(2);
  for (const [name, meant] of [
    ['concurency', 'concurrency'],
    ['timout', 'timeout'],
    ['http.ulr', 'url'],
  ])
    expect(stderr).toContain(`sinks[0].${name} is not known; did you mean ${meant}?`);
});

test('what a program says with the text of a customer colours, hides and forges nothing in the log', async () => {
  const world = await newWorld();
  const evil = String.raw`Eve\033[8m\033]0;x\a\rListening on nothing`;
  const served = await serving(
    world,
    `listen: { port: 0 }\ninbox: inbox\nretry: { attempts: 1 }\nsinks:\n  - { name: crm, exec: { command: [sh, -c, 'printf "${evil}" >&2; exit 1'] } }\n`,
  );
  await deliver(served.url, body('evt_1\u001b[8m'));
  await served.until(() => served.said().includes('is a dead letter'));
  await served.end();
  expect(served.said()).toContain('Eve^[[8m^[]0;x^G^MListening on nothing');
  expect(served.said()).toContain('evt_1^[[8m is a dead letter of crm');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be there
  expect(served.said()).not.toMatch(/[\x00-\x09\x0b-\x1f]/u);
});

const moment = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/u;

test('each line of the log begins with its time where nobody watches, and is JSON beside JSON', async () => {
  const text = 'listen: { port: 0 }\ninbox: inbox\nsinks:\n  - { name: log, file: { path: events.jsonl } }\n';
  const inText = await serving(await newWorld(), text, {}, ['--output', 'table']);
  await inText.end();
  const lines = inText.said().trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(line.split(' ')[0]).toMatch(moment);
  const inJson = await serving(await newWorld(), text);
  const ran = await inJson.end();
  const logged = inJson
    .said()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(logged.map(({ message }) => message)).toContainEqual(expect.stringContaining('Listening on http'));
  for (const line of logged) expect(line).toEqual({ time: expect.stringMatching(moment), message: expect.any(String) });
  expect(JSON.parse(ran.stdout)).toMatchObject({ accepted: 0 });
  const onTerminal = await serving(await newWorld(), text, { columns: 100 });
  await onTerminal.end();
  expect(onTerminal.said()).toMatch(/^Listening on/u);
});

test('a line of the log as JSON has the facts of an event at a sink, whole and by the names of dead list', async () => {
  const id = 'evt_1\u202e';
  const target = await app(0, ({ body }) => (JSON.parse(body).id === id ? 503 : 200));
  const served = await start(
    await newWorld(),
    `listen: { port: 0 }\ninbox: inbox\nretry: { attempts: 2, pause: 1ms }\nsinks: [{ name: app, http: { url: "${target.url}" } }]\n`,
  );
  await deliver(served.url, body(id));
  await served.died(0);
  await deliver(served.url, body('evt_2'));
  await served.until(() => served.said().includes('app takes events again'));
  const lines = served.said().trimEnd().split('\n');
  const told = lines.map((line) => JSON.parse(line)).filter(({ state }) => state !== undefined);
  const at = { id, sink: 'app', status: 503 };
  expect(told).toMatchObject([
    { ...at, state: 'failed', tries: 1, message: expect.stringContaining('app does not take evt_1<U+202E>') },
    { ...at, state: 'dead', tries: 2, message: expect.stringContaining('after try 2') },
    { id: 'evt_2', sink: 'app', state: 'delivered', status: 200, error: null, tries: 1 },
  ]);
  expect(Object.keys(told[0])).toEqual(['time', 'message', 'state', 'id', 'sink', 'tries', 'status', 'error']);
});

test('--check refuses options of a database that serve could not use', async () => {
  const world = await newWorld();
  const file = join(world.folder, 'c.yaml');
  const url = 'postgres://zed:hunter2@localhost/hooks?sslrootcert=/nowhere/ca.pem';
  writeFileSync(file, `sinks: [{ name: a, file: { path: a.jsonl } }]\ninbox: '${url}'\n`);
  for (const argv of [['--check'], []]) {
    const ran = await svc(world, ['webhooks', 'serve', '--config', file, ...argv], {
      env: { SVC_WEBHOOK_SECRET: secret },
    });
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining('The postgres:// URL cannot be read.')]);
    expect(ran.stderr).not.toMatch(/hunter2|zed/u);
  }
});

test('a sink that leads back to svc has not taken the event', async () => {
  const world = await newWorld();
  const port = await freePort();
  const config = `listen: { port: ${port} }\ninbox: inbox\nretry: { attempts: 1 }\nsinks:\n  - { name: loop, http: { url: "http://127.0.0.1:${port}/" } }\n`;
  const served = await serving(world, config);
  expect(await deliver(served.url, body('evt_1'))).toBe(204);
  await served.until(() => served.said().includes('is a dead letter of loop'));
  expect(served.said()).toContain('HTTP 508');
  await served.end();
});

test.each([
  ['inbox/inbox.jsonl', 'the inbox'],
  ['inbox/lock/x', 'the inbox'],
  ['inbox', 'the inbox'],
  ['c.yaml', 'the configuration'],
  ['link.jsonl', 'the inbox'],
  ['hard.yaml', 'the configuration'],
])('a file sink may not write into %s', async (path, what) => {
  const world = await newWorld();
  const file = join(world.folder, 'c.yaml');
  writeFileSync(file, `listen: { port: 0 }\ninbox: inbox\nsinks: [{ name: a, file: { path: ${path} } }]\n`);
  symlinkSync(join(world.folder, 'inbox', 'inbox.jsonl'), join(world.folder, 'link.jsonl'));
  linkSync(file, join(world.folder, 'hard.yaml'));
  for (const argv of [['--check'], []]) {
    const ran = await svc(world, ['webhooks', 'serve', '--config', file, ...argv], {
      env: { SVC_WEBHOOK_SECRET: secret },
    });
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining(`is ${what} itself: ${path}`)]);
  }
});

test('a file sink whose path becomes a link onto the inbox while svc runs is refused, and its events go on once that is over', async () => {
  const world = await newWorld();
  const served = await serving(
    world,
    'listen: { port: 0 }\ninbox: inbox\nsinks: [{ name: a, file: { path: a.jsonl } }]\nretry: { attempts: 100, pause: 10ms }\n',
  );
  const [path, inbox] = [join(world.folder, 'a.jsonl'), join(world.folder, 'inbox', 'inbox.jsonl')];
  symlinkSync(inbox, path);
  expect(await deliver(served.url, body('evt_1'))).toBe(204);
  await served.until(() => served.said().includes('is the inbox itself'));
  rmSync(path);
  await served.until(() => existsSync(path) && readFileSync(path, 'utf8').includes('evt_1'));
  expect((await served.end()).exitCode).toBe(0);
  expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength(1);
  // Each line of the inbox is one of its own: an envelope of the sink's would begin so.
  expect(readFileSync(inbox, 'utf8')).not.toMatch(/^\{"event"/mu);
});

test.each([
  ['state/mirror.db', 'the copy of the account'],
  ['config/credentials.json', 'the saved logins'],
  ['link.json', 'the saved logins'],
  ['elsewhere.db-wal', 'the copy of the account'],
])('a file sink may not write into %s either', async (path, what) => {
  const world = await newWorld();
  const file = join(world.folder, 'c.yaml');
  writeFileSync(file, `listen: { port: 0 }\ninbox: inbox\nsinks: [{ name: a, file: { path: ${path} } }]\n`);
  symlinkSync(join(world.folder, 'config', 'credentials.json'), join(world.folder, 'link.json'));
  const env = { SVC_WEBHOOK_SECRET: secret, SVC_MIRROR_DB: join(world.folder, 'elsewhere.db') };
  for (const argv of [['--check'], []]) {
    const ran = await svc(world, ['webhooks', 'serve', '--config', file, ...argv], { env });
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining(`sink a svc keeps ${what}: ${path}`)]);
  }
});

test.each([
  'postgres://zed:hunt/er2@localhost/hooks',
  'postgres://zed:hunt#er2@localhost/hooks',
  'postgres://zed:hunt?er2@localhost/hooks',
  'postgres://zed:p@hunt/er2@localhost/hooks',
  'postgres://zed:p@hunt@er2/hooks',
  'postgres://zed:1234/hunter2@localhost/hooks',
  'postgres://zed:12?x=hunter2@localhost/hooks',
  'postgres://zed:hunter2%zz@localhost/hooks',
  'postgres://zed:hunter2@localhost/hooks ',
  ' postgres:zed:hunter2@localhost/hooks',
  'zed:hunter2@localhost/hooks',
])('an inbox that can be read in several ways is refused without its text, by each command: %j', async (inbox) => {
  const world = await newWorld();
  const file = join(world.folder, 'c.yaml');
  writeFileSync(file, `sinks: [{ name: a, file: { path: a.jsonl } }]\ninbox: '${inbox}'\n`);
  for (const argv of [['serve', '--check'], ['serve'], ['inbox', 'list']]) {
    const ran = await svc(world, ['webhooks', ...argv, '--config', file]);
    expect([ran.exitCode, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).not.toMatch(/hunt|er2|zed/u);
  }
});

test.each([
  'hooks',
  './a/b',
  '/var/hooks',
  'C:\\hooks',
  'postgres://localhost/hooks',
  'postgresql:///hooks',
  'a b: c',
  'postgres://u:p%40s%2F:x@[::1]:5432/h?sslmode=disable',
  './a:b@c',
])('--check takes the inbox %j', async (inbox) => {
  const world = await newWorld();
  const file = join(world.folder, 'c.yaml');
  writeFileSync(file, `sinks: [{ name: a, file: { path: a.jsonl } }]\ninbox: '${inbox}'\n`);
  expect((await svc(world, ['webhooks', 'serve', '--config', file, '--check'])).exitCode).toBe(0);
});

test.each([
  [
    'postgres://u@127.0.0.1:1/hooks',
    /would start and take no delivery: the inbox cannot be used\. The database .+ cannot be reached/u,
    true,
  ],
  ['c.yaml', /would not start: the inbox cannot be used\. .+c\.yaml: is not a folder\./u, false],
])('--check says that the inbox %j cannot be used here', async (inbox, said, starts) => {
  const world = await newWorld();
  const file = join(world.folder, 'c.yaml');
  writeFileSync(file, `sinks: [{ name: a, file: { path: a.jsonl } }]\ninbox: '${inbox}'\n`);
  const ran = await svc(world, ['webhooks', 'serve', '--config', file, '--check']);
  expect([ran.exitCode, ran.stderr.replaceAll(/\s+/gu, ' ')]).toEqual([0, expect.stringMatching(said)]);
  await tellsStart(world, file, { env: { SVC_WEBHOOK_SECRET: secret }, starts });
});

test('--check names programs that are not there or cannot be run, and is right all the same', async () => {
  const world = await newWorld();
  const file = join(world.folder, 'programs.yaml');
  for (const [name, mode] of [
    ['runs', 0o755],
    ['plain', 0o644],
  ] as const) {
    writeFileSync(join(world.folder, name), '#!/bin/sh\n', { mode });
  }
  const sinks = ['./runs', './plain', './nowhere', 'sh'].map(
    (program, at) => `  - { name: s${at}, exec: { command: [${program}] } }\n`,
  );
  writeFileSync(file, `sinks:\n${sinks.join('')}`);
  const env = { SVC_WEBHOOK_SECRET: secret };
  const ran = await svc(world, ['webhooks', 'serve', '--config', file, '--check'], { env });
  const said = (name: string, program: string) =>
    `The program of sink ${name} is not there, or cannot be run: ./${program}\n`;
  expect(ran).toMatchObject({ exitCode: 0, stderr: said('s1', 'plain') + said('s2', 'nowhere') });
  // Each problem is said once.
  expect(ran.stdout).toBe(`config\t${file}\nsinks\ts0, s1, s2, s3\nwould_start\ttrue\n`);
});

test('a program that is not there is told when serve starts and when it reads its configuration again, and is no end', {
  tags: ['long'],
}, async () => {
  const world = await newWorld();
  const config = (program: string) =>
    `listen: { port: 0 }\ninbox: inbox\nsinks:\n  - { name: crm, exec: { command: [${program}] } }\n`;
  const env = { SVC_WEBHOOK_SECRET: secret, PATH: `${join(world.folder, 'nothing')}:/bin` };
  const served = await start(world, config('./nowhere'), { env });
  const warning = (program: string) => `Warning: The program of sink crm is not there, or cannot be run: ${program}`;
  expect(served.said()).toContain(warning('./nowhere'));
  served.reload(config('no-such-program'));
  await served.until(() => served.said().includes(warning('no-such-program')));
  served.reload(config('sh'));
  await served.until(() => served.said().match(/was read again/gu)?.length === 2);
  expect(await deliver(served.url, body('a'))).toBe(204);
  expect(served.said().match(/Warning: The program/gu)).toHaveLength(2);
});

test.each([
  ['listen', 'sinks'],
  ['admin', 'listen: { port: 0 }\nsinks'],
])('a port of %s that is in use is told with the key of the configuration', async (key, rest) => {
  const world = await newWorld();
  const { port } = await app();
  const file = join(world.folder, 'c.yaml');
  writeFileSync(file, `${key}: { port: ${port} }\n${rest}: [{ name: a, file: { path: a.jsonl } }]\n`);
  const ran = await svc(world, ['webhooks', 'serve', '--config', file], { env: { SVC_WEBHOOK_SECRET: secret } });
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain(`Cannot listen on 127.0.0.1:${port}: the port is in use.`);
  expect(ran.stderr).toContain(`Set another one in the configuration: ${key}.port. 0 takes any free one.`);
  expect(ran.stderr).not.toContain('--port');
});

test.each([
  ['{ env: [ACME_SECRET] }', {}, ['ACME_SECRET is not set here']],
  ['{ env: [ACME_SECRET, OTHER] }', { OTHER: 'x' }, ['ACME_SECRET is not set here']],
  ['{ store: false, env: [ACME_SECRET, OTHER] }', {}, ['ACME_SECRET is not set here', 'OTHER is not set', 'not start']],
  ['{ store: false }', {}, ['not start']],
  ['{ store: false, env: [SVC_WEBHOOK_SECRET] }', {}, ['SVC_WEBHOOK_SECRET is not set here', 'not start']],
  ['{ env: [ACME_SECRET] }', { ACME_SECRET: 'x' }, []],
  ['{ store: true, env: [SVC_WEBHOOK_SECRET] }', {}, ['Here svc webhooks serve would not start']],
  ['{ store: true, env: [SVC_WEBHOOK_SECRET] }', { SVC_WEBHOOK_SECRET: 'x' }, []],
])('--check of secrets: %s names what is not set here, and is right all the same', async (secrets, env, said) => {
  const world = await newWorld();
  const file = join(world.folder, 'secrets.yaml');
  writeFileSync(file, `secrets: ${secrets}\nsinks: [{ name: a, file: { path: a.jsonl } }]\n`);
  const ran = await svc(world, ['webhooks', 'serve', '--config', file, '--check'], { env });
  expect(ran.exitCode).toBe(0);
  for (const one of said) expect(ran.stderr).toContain(one);
  if (said.length === 0) expect(ran.stderr).toBe('');
  await tellsStart(world, file, { env, starts: Object.keys(env).length > 0 });
});

test('--check of an account whose secrets are only variables says whether serve would start', async () => {
  const world = await newWorld();
  const file = join(world.folder, 'accounts.yaml');
  const accounts = '[{ name: a, path: /a, secrets: { env: [A1, A2] } }, { name: b, path: /b, secrets: { env: [B] } }]';
  writeFileSync(file, `accounts: ${accounts}\nsinks: [{ name: a, file: { path: a.jsonl } }]\n`);
  await tellsStart(world, file, { env: { A1: 'one' }, starts: false });
  await tellsStart(world, file, { env: { A1: 'one', B: 'two' }, starts: true });
});

/** What --check says to a machine, and that serve itself does as it says where it would not start. */
async function tellsStart(
  world: World,
  file: string,
  { env, starts }: { readonly env: Readonly<Record<string, string>>; readonly starts: boolean },
) {
  const argv = ['webhooks', 'serve', '--config', file];
  const checked = await svc(world, [...argv, '--check', '--json'], { env });
  const { would_start, problems } = JSON.parse(checked.stdout);
  expect([checked.exitCode, would_start]).toEqual([0, starts]);
  expect(problems).toEqual(checked.stderr.split('\n').filter(Boolean));
  if (!starts) expect((await svc(world, argv, { env })).exitCode).toBeGreaterThan(0);
}

test.each(['{ store: true }', '{ store: false }', '{}'])(
  'secrets: %s leaves the other key at its default, and a delivery signed with SVC_WEBHOOK_SECRET is taken',
  { tags: ['long'] },
  async (secrets) => {
    const world = await newWorld();
    const config = `listen: { port: 0 }\ninbox: inbox\nsecrets: ${secrets}\nsinks: [{ name: a, file: { path: a.jsonl } }]\n`;
    const served = await start(world, config);
    expect(await deliver(served.url, body('a'))).toBe(204);
    expect(await deliver(served.url, body('b'), 'another secret')).toBe(401);
  },
);

test('--check accepts the example of the docs, and --systemd prints a unit for it', async () => {
  const world = await newWorld();
  const docs = readFileSync('docs/webhooks.md', 'utf8');
  const [, example = ''] = /```yaml\n(listen:.*?)```/su.exec(docs) ?? [];
  const file = join(world.folder, 'svc-webhooks.yaml');
  writeFileSync(file, example);
  writeFileSync(join(world.folder, 'to-crm'), '#!/bin/sh\n', { mode: 0o755 });
  const env = { SVC_WEBHOOK_SECRET: secret };
  const checked = await svc(world, ['webhooks', 'serve', '--config', file, '--check', '--json'], { env });
  // Its database is not here.
  expect(checked.exitCode).toBe(0);
  expect(checked.stderr).toMatch(/^(?:Here [^\n]+the inbox cannot be used\.[^\n]+\n)?$/u);
  expect(JSON.parse(checked.stdout).sinks).toEqual(['app', 'crm', 'archive']);
  const unit = await svc(world, ['webhooks', 'serve', '--config', file, '--systemd']);
  expect(unit.stdout).toContain(`webhooks serve --config ${file}\n`);
  expect(unit.stdout).toContain('useradd --system ');
  expect(unit.stdout).not.toContain('below /tmp');
  writeFileSync(file, 'sinks: [{ name: a, file: { path: /tmp/a.jsonl } }]\n');
  const inTmp = await svc(world, ['webhooks', 'serve', '--config', file, '--systemd']);
  expect(inTmp.stdout).toContain('# A file sink writes below /tmp, where only this service sees it');
  expect(unit.stdout).toContain('ExecReload=/bin/kill -HUP $MAINPID');
});

withPostgres('a password in inbox: is never shown', { tags: ['long'] }, async () => {
  const world = await newWorld();
  const url = newDatabase().replace('postgres:///', 'postgres://svc:hunter2@/');
  const served = await start(
    world,
    `listen: { port: 0 }\ninbox: "${url}"\nsinks: [{ name: a, file: { path: a.jsonl } }]\n`,
  );
  expect(served.said()).toContain('inbox in postgres:///hooks');
  await served.end();
  expect(served.said()).not.toContain('hunter2');
});
