import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { announce } from '../../src/webhooks/serve/running.ts';
import { endAfterEach } from '../endings.ts';
import { enter, svc } from '../svc.ts';
import { startApp } from './listening.ts';
import { body, deliver, get, newWorld, serving } from './serving.ts';
import { forBoth, newDatabase } from './stores.ts';

const endings = endAfterEach();

/** Every event that the app refuses once is a dead letter. */
const oneTryEach = (name: string, url: string): string => `listen: { port: 0 }
inbox: "${name === 'Postgres' ? newDatabase() : 'inbox'}"
retry: { attempts: 1, pause: 5ms }
sinks:
  - { name: app, http: { url: "${url}" } }
`;

forBoth(({ name, test }) => {
  test('the beginning of an id is enough where one dead letter begins so', { tags: ['long'] }, async () => {
    const world = await newWorld();
    const app = await startApp(0, () => 500);
    endings.push(() => app.close());
    const config = oneTryEach(name, app.url);
    const served = await serving(world, config);
    const dead = async (...argv: string[]) =>
      svc(world, ['webhooks', 'dead', ...argv, '--config', served.file, '--json']);
    for (const id of ['evt_abc', 'evt_abd', 'evt_x', 'evt_x1']) await deliver(served.url, body(id));
    await served.died(4);
    expect(JSON.parse((await dead('list')).stdout)).toHaveLength(4);
    for (const [typed, id] of [
      ['evt_abc', 'evt_abc'],
      ['evt_x', 'evt_x'],
      ['evt_x1', 'evt_x1'],
    ] as const) {
      expect(JSON.parse((await dead('show', typed)).stdout)).toMatchObject({ id });
    }
    for (const argv of [
      ['show', 'evt_a'],
      ['retry', 'evt_a'],
    ]) {
      const ran = await dead(...argv);
      expect([ran.exitCode, ran.stdout]).toEqual([2, '']);
      expect(ran.stderr).toContain('2 dead letters have an id that begins with evt_a.');
    }
    expect((await dead('show', 'evt_b')).exitCode).toBe(3);
    // The same once more, or the beginning of another id, gives up nothing.
    expect((await dead('drop', 'evt_ab', '--yes')).exitCode).toBe(3);
    expect(JSON.parse((await dead('drop', 'evt_abd', '--yes')).stdout)).toEqual({ dropped: 1 });
    expect((await dead('drop', 'evt_abd', '--yes')).exitCode).toBe(3);
    expect(JSON.parse((await dead('show', 'evt_ab')).stdout)).toMatchObject({ id: 'evt_abc' });
    await served.end();
  });

  test('the whole id of an event that is no dead letter means no other event that begins so', {
    tags: ['long'],
  }, async () => {
    const world = await newWorld();
    const app = await startApp(0, ({ body: text }) => (text.includes('evt_1"') ? 200 : 500));
    endings.push(() => app.close());
    const config = oneTryEach(name, app.url);
    const served = await serving(world, config);
    const dead = async (...argv: string[]) => svc(world, ['webhooks', 'dead', ...argv, '--config', served.file]);
    const left = async () => JSON.parse((await dead('list', '--json')).stdout).map(({ id }: { id: string }) => id);
    for (const id of ['evt_1', 'evt_10', 'evt_2', 'evt_20']) await deliver(served.url, body(id));
    await served.died(3);
    const some = await dead('list', '--limit', '2', '--json');
    expect(JSON.parse(some.stdout)).toHaveLength(2);
    expect(some.stderr).toContain('Showing 2 of 3. For more: --limit N, or --all.');
    for (const argv of [
      ['drop', 'evt_1', '--yes'],
      ['retry', 'evt_1'],
      ['show', 'evt_1'],
    ]) {
      const ran = await dead(...argv);
      expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([
        3,
        '',
        expect.stringContaining('evt_1 is no dead letter.'),
      ]);
    }
    const dropped = await svc(world, ['webhooks', 'dead', 'drop', 'evt_2', '--yes', '--config', served.file], {
      columns: 200,
      env: { NO_COLOR: '1' },
    });
    expect(dropped.stderr + dropped.stdout).toContain('Gave up 1 dead letter (evt_2).');
    for (const argv of [
      ['drop', 'evt_2', '--yes'],
      ['retry', 'evt_2'],
    ])
      expect((await dead(...argv)).exitCode).toBe(3);
    expect(await left()).toEqual(['evt_10', 'evt_20']);
    await deliver(served.url, body('other_30'));
    await served.died(4);
    expect(await left()).toHaveLength(3);
    const begun = await dead('drop', 'other', '--yes');
    expect([begun.exitCode, begun.stderr]).toEqual([3, expect.stringContaining('Its whole id: other_30')]);
    expect(await left()).toHaveLength(3);
    await dead('drop', 'other_30', '--yes');
    const retried = await dead('retry', 'evt_2', 'evt_20');
    expect(retried.exitCode).toBe(3);
    await served.end();
  });

  test.each(['while serve runs', 'while it does not'])(
    'two that retry or drop the same dead letters at once count each of them once, %s',
    { tags: ['long'] },
    async (when) => {
      const world = await newWorld();
      const app = await startApp(0, () => 500);
      endings.push(() => app.close());
      const config = oneTryEach(name, app.url);
      let served = await serving(world, config);
      const dead = async (...argv: string[]) => {
        const ran = await svc(world, ['webhooks', 'dead', ...argv, '--config', served.file, '--json']);
        return JSON.parse(ran.stdout);
      };
      const ids = Array.from({ length: 12 }, (_, n) => `evt_${n}`);
      for (const id of ids) await deliver(served.url, body(id));
      await served.died(ids.length);
      if (when !== 'while serve runs') await served.end();
      // One that was put back may die again before the other command looks: then it is put back twice, and both are right.
      const before = app.got.length;
      const retried = await Promise.all([dead('retry', '--all'), dead('retry', '--all'), dead('retry', '--all')]);
      if (when !== 'while serve runs') served = await serving(world, config);
      const sum = retried.reduce((all, one) => all + one.retried, 0);
      await served.died(sum + (when === 'while serve runs' ? ids.length : 0));
      expect(await dead('list')).toHaveLength(ids.length);
      expect(app.got.length - before).toBe(sum);
      if (when !== 'while serve runs') expect(sum).toBe(ids.length);
      const dropped = await Promise.all([dead('drop', '--all', '--yes'), dead('drop', '--all', '--yes')]);
      expect(dropped[0].dropped + dropped[1].dropped).toBe(ids.length);
      await served.end();
    },
  );

  test('a replay that every HTTP sink took ends the dead letter and what waits; a file is left out, and named', {
    tags: ['long'],
  }, async () => {
    const world = await newWorld();
    const app = await startApp(0, () => (up ? 200 : 500));
    endings.push(() => app.close());
    let up = false;
    const inbox = name === 'Postgres' ? newDatabase() : 'inbox';
    const config = (attempts: number) => `listen: { port: 0 }
inbox: "${inbox}"
retry: { attempts: ${attempts}, pause: 1s }
sinks:
  - { name: archive, file: { path: archive.jsonl } }
  - { name: app, http: { url: "${app.url}" } }
  - { name: second, http: { url: "${app.url}?second" } }
`;
    for (const [attempts, id, kind] of [
      [1, 'evt_dead', 'dead'],
      [5, 'evt_waits', 'waiting'],
    ] as const) {
      up = false;
      const served = await serving(world, config(attempts));
      const inboxOf = async (...argv: string[]) =>
        svc(world, ['webhooks', 'inbox', ...argv, '--config', served.file, '--json']);
      await deliver(served.url, body(id));
      await served.until(async () => {
        const [one] = JSON.parse((await inboxOf('list')).stdout);
        return one.forward.state === (kind === 'dead' ? 'failed' : 'waiting') && app.got.length % 2 === 0;
      });
      // Nobody delivers meanwhile what is sent by hand.
      if (kind === 'waiting') await served.end();
      up = true;
      const before = app.got.length;
      const ran = await inboxOf('replay', id);
      expect([ran.exitCode, JSON.parse(ran.stdout).map(({ to }: { to: string }) => to)]).toEqual([
        0,
        [app.url, `${app.url}?second`],
      ]);
      expect(ran.stderr).toContain(`${id} also went to archive, which is no HTTP sink: left out.`);
      expect(ran.stderr).not.toContain('still waits');
      expect(JSON.parse((await inboxOf('list')).stdout)[0].forward.state).toBe('answered');
      expect((await svc(world, ['webhooks', 'dead', 'list', '--config', served.file, '--json'])).stdout).toBe('[]\n');
      if (kind === 'dead') await served.end();
      const again = await serving(world, config(attempts));
      await deliver(again.url, body(`${id}_next`));
      await again.until(() => app.got.length >= before + 4);
      expect(app.got.length).toBe(before + 4);
      await again.end();
    }
  });

  test('a replay goes to the sinks that have not taken the event, and where all have, to all of them', {
    tags: ['long'],
  }, async () => {
    const world = await newWorld();
    const app = await startApp(0, ({ path }) => (path === '/second' && !up ? 500 : 200));
    endings.push(() => app.close());
    let up = false;
    const config = oneTryEach(name, app.url).trimEnd();
    const served = await serving(world, `${config}\n  - { name: second, http: { url: "${app.url}second" } }\n`);
    const of = (...argv: string[]) => svc(world, ['webhooks', ...argv, '--config', served.file, '--json']);
    await deliver(served.url, body('evt_half'));
    await served.died(1);
    await served.until(() => app.got.length === 2);
    up = true;
    for (const paths of [['/second'], ['/', '/second']]) {
      const before = app.got.length;
      expect((await of('inbox', 'replay', 'evt_half')).exitCode).toBe(0);
      expect(app.got.slice(before).map(({ path }) => path)).toEqual(paths);
    }
    await served.end();
  });

  test('a replay to one sink goes there alone, taken or not, also where the event never went there', {
    tags: ['long'],
  }, async () => {
    const world = await newWorld();
    const app = await startApp(0, ({ path }) => (path === '/down' && !up ? 500 : 200));
    endings.push(() => app.close());
    let up = false;
    const config = `${oneTryEach(name, app.url).trimEnd()}\n  - { name: down, http: { url: "${app.url}down" } }\n`;
    const served = await serving(world, config);
    const of = (...argv: string[]) => svc(world, ['webhooks', ...argv, '--config', served.file, '--json']);
    await deliver(served.url, body('evt_one'));
    await served.until(async () => JSON.parse((await of('dead', 'list')).stdout).length === 1 && app.got.length === 2);
    await served.end();
    const later = `  - { name: new, http: { url: "${app.url}new" } }\n  - { name: log, exec: { command: ["cat"] } }\n`;
    writeFileSync(served.file, readFileSync(served.file, 'utf8') + later);
    up = true;
    for (const [sink, path] of [
      ['app', '/'],
      ['new', '/new'],
      ['down', '/down'],
    ] as const) {
      const before = app.got.length;
      expect(JSON.parse((await of('inbox', 'replay', 'evt_one', '--sink', sink)).stdout)).toMatchObject([
        { status: 200 },
      ]);
      expect(app.got.slice(before).map((one) => one.path)).toEqual([path]);
      expect(JSON.parse((await of('dead', 'list')).stdout)).toHaveLength(sink === 'down' ? 0 : 1);
    }
    const before = app.got.length;
    for (const sink of ['log', 'ap']) {
      const ran = await of('inbox', 'replay', 'evt_one', '--sink', sink);
      expect([ran.exitCode, ran.stdout]).toEqual([2, '']);
      expect(ran.stderr).toContain('HTTP sinks: app, down, new.');
    }
    expect((await of('inbox', 'replay', 'evt_one', '--sink', 'app', '--to', app.url)).exitCode).toBe(2);
    expect(app.got).toHaveLength(before);
  });

  test('what a sink has taken since a replay began is not sent there again', { tags: ['long'] }, async () => {
    const world = await newWorld();
    let up = false;
    const app = await startApp(0, () => (up ? 200 : 500));
    endings.push(() => app.close());
    const served = await serving(world, oneTryEach(name, app.url));
    const of = (...argv: string[]) => svc(world, ['webhooks', ...argv, '--config', served.file, '--json']);
    const dead = async () => JSON.parse((await of('dead', 'list')).stdout).map(({ id }: { id: string }) => id);
    const stateOf = async (wanted: string) =>
      JSON.parse((await of('inbox', 'list')).stdout).find(({ id }: { id: string }) => id === wanted)?.forward.state;
    for (const id of ['evt_one', 'evt_two']) await deliver(served.url, body(id));
    await served.until(async () => (await dead()).length === 2);
    up = true;
    const before = app.got.length;
    const watched: typeof world = {
      ...world,
      async exchange(request) {
        await of('dead', 'retry', 'evt_two');
        await served.until(async () => (await stateOf('evt_two')) === 'answered');
        return world.exchange(request);
      },
    };
    const ran = await svc(watched, ['webhooks', 'inbox', 'replay', 'evt_one', 'evt_two', '--config', served.file]);
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain('Meanwhile evt_two was settled at app: it is not sent there again.');
    expect(app.got.slice(before)).toHaveLength(2);
    await served.end();
  });

  test('each event that a replay delivers is settled before the next one goes out, also to a URL that is typed', {
    tags: ['long'],
  }, async () => {
    const world = await newWorld();
    let dead = async (): Promise<string[]> => [];
    const seen: (readonly string[])[] = [];
    let up = false;
    const app = await startApp(0, () => (up ? 200 : 500));
    endings.push(() => app.close());
    const typed = app.url.replace(/\/$/u, '');
    const served = await serving(world, oneTryEach(name, typed));
    dead = async () => {
      const { stdout } = await svc(world, ['webhooks', 'dead', 'list', '--config', served.file, '--json']);
      return JSON.parse(stdout).map(({ id }: { id: string }) => id);
    };
    for (const id of ['evt_one', 'evt_two']) await deliver(served.url, body(id));
    await served.died(2);
    expect(await dead()).toHaveLength(2);
    up = true;
    const watched: typeof world = {
      ...world,
      async exchange(request) {
        seen.push(await dead());
        return world.exchange(request);
      },
    };
    const argv = ['webhooks', 'inbox', 'replay', 'evt_one', 'evt_two', '--config', served.file, '--to', typed];
    expect((await svc(watched, argv)).exitCode).toBe(0);
    expect(seen.map((ids) => ids.length)).toEqual([2, 1]);
    expect(await dead()).toEqual([]);
    await served.end();
  });

  test('at 80 columns a long id leaves room for why it is dead, and how often it was tried', async () => {
    const world = await newWorld();
    const app = await startApp(0, () => 500);
    endings.push(() => app.close());
    const served = await serving(world, oneTryEach(name, app.url));
    const id = '0193f1c2-7c1e-7b7a-9d52-1f0c6a1f0e55';
    await deliver(served.url, body(id));
    await served.died(1);
    const argv = ['webhooks', 'dead', 'list', '--config', served.file, '--no-color'];
    const [header = '', line = ''] = (await svc(world, argv, { columns: 80 })).stdout.split('\n');
    expect(header.split(/ {2,}/u)).toEqual(expect.arrayContaining(['ID', 'Sink', 'Error', 'Tries']));
    expect(line).toContain(`${id}  app   HTTP 500`);
    await served.end();
  });

  test('dead letters are listed, shown, retried and given up, while serve runs and while it does not', {
    tags: ['long'],
  }, async () => {
    const world = await newWorld();
    let status = 500;
    const app = await startApp(0, () => status);
    endings.push(() => app.close());
    const inbox = name === 'Postgres' ? newDatabase() : 'inbox';
    const config = `listen: { port: 0 }
inbox: "${inbox}"
retry: { attempts: 2, pause: 5ms }
sinks:
  - { name: app, http: { url: "${app.url}" } }
  - { name: other, http: { url: "${app.url}" } }
`;
    const served = await serving(world, config);
    const dead = async (...argv: string[]) =>
      svc(world, ['webhooks', 'dead', ...argv, '--config', served.file, '--json']);
    const listed = async () =>
      JSON.parse((await dead('list')).stdout).map(({ id, sink }: { id: string; sink: string }) => `${id} ${sink}`);
    for (const id of ['a', 'b']) await deliver(served.url, body(id));
    await served.died(4);
    expect((await listed()).sort()).toEqual(['a app', 'a other', 'b app', 'b other']);
    expect(JSON.parse((await dead('list')).stdout)[0]).toMatchObject({ status: 500, error: 'HTTP 500', tries: 2 });
    expect(JSON.parse((await dead('show', 'a')).stdout)).toMatchObject({ id: 'a', body: body('a') });

    for (const argv of [['list'], ['retry', '--all'], ['drop', '--all', '--yes']]) {
      const ran = await dead(...argv, '--sink', 'ap');
      expect([ran.exitCode, ran.stdout]).toEqual([2, '']);
      expect(ran.stderr).toContain('There is no sink ap.\nSinks: app, other.\n');
    }

    status = 200;
    const refused = app.got.length;
    expect(JSON.parse((await dead('retry', 'a', '--sink', 'app')).stdout)).toEqual({ retried: 1 });
    await served.until(() => app.got.length === refused + 1);
    expect((await listed()).length).toBe(3);
    const unconfirmed = await dead('drop', 'b');
    expect([unconfirmed.exitCode, unconfirmed.stderr]).toEqual([2, expect.stringContaining('Pass --yes.')]);
    expect(JSON.parse((await dead('drop', 'b', '--yes')).stdout)).toEqual({ dropped: 2 });
    expect(await listed()).toHaveLength(1);
    expect((await dead('retry', 'b')).exitCode).toBe(3);
    expect((await dead('retry')).exitCode).toBe(2);
    await served.end();

    const before = app.got.length;
    expect(JSON.parse((await dead('retry', '--all')).stdout)).toEqual({ retried: 1 });
    expect(await listed()).toEqual([]);
    const again = await serving(world, config);
    await again.until(() => app.got.length === before + 1);
    await again.end();
    const all = await svc(world, ['webhooks', 'inbox', 'list', '--config', served.file, '--json']);
    expect(JSON.parse(all.stdout).map(({ id }: { id: string }) => id)).toEqual(['b', 'a']);
    const purged = await svc(world, ['webhooks', 'inbox', 'purge', '--config', served.file, '--json', '--yes']);
    expect(JSON.parse(purged.stdout)).toEqual({ deleted: 2 });
  });
});

test('dead and inbox without --config use the inbox of the serve that runs, and say so; without one they say where they looked', {
  tags: ['long'],
}, async () => {
  const world = await newWorld();
  const dead = (...argv: string[]) => svc(world, ['webhooks', 'dead', ...argv, '--json']);
  const inbox = (...argv: string[]) => svc(world, ['webhooks', 'inbox', ...argv, '--json']);
  const idsIn = (text: string) => JSON.parse(text).map(({ id }: { id: string }) => id);
  const config = `listen: { port: 0 }
inbox: elsewhere
retry: { attempts: 1, pause: 5ms }
sinks: [{ name: app, http: { url: "http://127.0.0.1:1/" } }]
`;
  const served = await serving(world, config);
  for (const id of ['a', 'b', 'c']) await deliver(served.url, body(id));
  await served.until(() => served.said().split('is a dead letter of app').length === 4);
  const about = `This is the inbox of the svc webhooks serve that runs with ${served.file}.\n`;
  const [listed, shown, all] = [await dead('list'), await dead('show', 'a'), await inbox('list')];
  expect([idsIn(listed.stdout), listed.stderr]).toEqual([['a', 'b', 'c'], about]);
  expect([JSON.parse(shown.stdout).id, shown.stderr]).toEqual(['a', about]);
  expect([idsIn(all.stdout), all.stderr]).toEqual([['c', 'b', 'a'], about]);
  expect(JSON.parse((await dead('drop', 'c', '--yes')).stdout)).toEqual({ dropped: 1 });
  const { stdout } = await served.end();
  // The one that was given up was a dead letter of this run too.
  expect(JSON.parse(stdout).sinks).toEqual([expect.objectContaining({ delivered: 0, dead: 3, waiting: 0 })]);

  const none = await dead('list');
  const place = join(world.folder, 'state', 'webhooks', 'serve-default');
  expect([none.stdout, none.stderr]).toEqual([
    '[]\n',
    `Looked in ${place}: no svc webhooks serve of this profile runs with this state folder. For another inbox: --config FILE\n`,
  ]);
  const ofListen = 'This is the inbox of svc webhooks listen. For that of serve: --config FILE';
  expect((await inbox('list')).stderr).toBe(`${ofListen}\n`);
  for (const words of [
    ['show', 'a'],
    ['replay', 'a'],
    ['replay', '--last', '1'],
  ]) {
    const ran = await inbox(...words);
    expect([ran.exitCode, JSON.parse(ran.stderr.split('\n').at(-2) ?? '').error.hint]).toEqual([
      3,
      expect.stringContaining(ofListen),
    ]);
  }
});

test('a dead letter of a sink that is not named any more is not sent again, and the names there are are told', async () => {
  const world = await newWorld();
  const app = await startApp(0, () => 500);
  endings.push(() => app.close());
  const config = (...names: string[]) =>
    `listen: { port: 0 }\ninbox: inbox\nretry: { attempts: 1 }\nsinks:\n${names.map((name) => `  - { name: ${name}, http: { url: "${app.url}" } }\n`).join('')}`;
  const served = await serving(world, config('old', 'app'));
  endings.push(() => served.end());
  await deliver(served.url, body('a'));
  await served.until(() => served.said().split('is a dead letter of').length === 3);
  served.reload(config('app', 'new'));
  await served.until(() => served.said().includes('was read again: 2 sinks.'));
  const retry = (...argv: string[]) =>
    svc(world, ['webhooks', 'dead', 'retry', ...argv, '--config', served.file, '--json']);
  const refused = await retry('a', '--sink', 'old');
  expect([refused.exitCode, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain('The configuration does not name old any more');
  expect(refused.stderr).toContain('Sinks: app, new.');
  const some = await retry('a');
  expect([JSON.parse(some.stdout), some.stderr]).toEqual([
    { retried: 1 },
    'The configuration does not name old any more, so 1 dead letter stayed. Sinks: app, new.\n',
  ]);
});

test('inbox list says what waits for which sink, also before its first turn', async () => {
  const world = await newWorld();
  const app = await startApp(0, () => 500);
  endings.push(() => app.close());
  const config = `listen: { port: 0 }
inbox: inbox
sinks:
  - { name: app, http: { url: "${app.url}" } }
  - { name: archive, file: { path: a.jsonl } }
`;
  const served = await serving(world, config);
  await deliver(served.url, body('a'));
  await served.until(() => served.said().includes('app does not take a'));
  await deliver(served.url, body('b'));
  await served.until(async () => readFileSync(join(world.folder, 'a.jsonl'), 'utf8').includes('"b"'));
  await served.end();
  const ran = await svc(world, ['webhooks', 'inbox', 'list', '--json', '--config', served.file]);
  expect(JSON.parse(ran.stdout).map(({ id, forward }: { id: string; forward: object }) => [id, forward])).toEqual([
    ['b', expect.objectContaining({ to: 'app', state: 'waiting', tries: 0 })],
    ['a', expect.objectContaining({ to: 'app', state: 'waiting', tries: expect.any(Number) })],
  ]);
  expect(ran.stderr).toBe('2 events wait for app: svc webhooks serve delivers what waits for a sink, in order.\n');
  // What is not listed waits as well.
  const short = await svc(world, ['webhooks', 'inbox', 'list', '--json', '--limit', '1', '--config', served.file]);
  expect([JSON.parse(short.stdout).length, short.stderr]).toEqual([1, ran.stderr]);
  const shown = await svc(world, ['webhooks', 'inbox', 'show', 'a', '--config', served.file], { columns: 100 });
  expect(shown.stdout).toMatch(/to archive: delivered in \d+ ms/u);
});

test('where two serves run, dead asks for --config', async () => {
  const world = await newWorld();
  const one = await serving(world, 'listen: { port: 0 }\ninbox: one\nsinks: [{ name: a, file: { path: a.jsonl } }]\n');
  const silence = await announce(join(world.folder, 'state'), { config: '/etc/other.yaml' });
  endings.push(() => one.end(), silence);
  const ran = await svc(world, ['webhooks', 'dead', 'list']);
  expect([ran.exitCode, ran.stderr]).toEqual([
    2,
    expect.stringContaining('More than one svc webhooks serve runs, so --config FILE is needed.'),
  ]);
});

test.each(['retry', 'drop'])(
  'dead %s without an id offers the dead letters on a terminal, and names them in a pipe',
  async (name) => {
    const world = await newWorld();
    const app = await startApp(0, () => 500);
    endings.push(() => app.close());
    const served = await serving(world, oneTryEach('app', app.url));
    endings.push(() => served.end());
    const argv = ['webhooks', 'dead', name, '--config', served.file];
    await deliver(served.url, body('a'));
    await served.until(() => served.said().includes('a is a dead letter of app'));
    const piped = await svc(world, argv);
    expect(piped).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/ID is required.*--all.*dead list/su) });
    const ran = await svc(world, argv, { columns: 80, answers: [enter, true] });
    expect([ran.exitCode, ran.stdout]).toEqual([0, expect.stringContaining('1 dead letter (a)')]);
  },
);

test('each dead letter is told, and the closing figures count each event once', async () => {
  const world = await newWorld();
  let status = 500;
  const app = await startApp(0, () => status);
  endings.push(() => app.close());
  const config = `listen: { port: 0 }
inbox: inbox
retry: { attempts: 1, pause: 5ms }
sinks: [{ name: app, http: { url: "${app.url}" } }]
`;
  const served = await serving(world, config);
  const ids = ['a', 'b', 'c', 'd', 'e'];
  for (const id of ids) await deliver(served.url, body(id));
  await served.until(() => app.got.length === 5);
  await served.until(() =>
    ids.every((id) => served.said().includes(`${id} is a dead letter of app after try 1: HTTP 500.`)),
  );
  status = 200;
  await svc(world, ['webhooks', 'dead', 'retry', ...ids.slice(0, 4)]);
  await served.until(() => app.got.length === 9);
  const { stdout } = await served.end();
  expect(JSON.parse(stdout)).toMatchObject({ accepted: 5, sinks: [{ delivered: 4, dead: 1, waiting: 0 }] });
});

test('what a sender chooses is no label in the metrics', async () => {
  const world = await newWorld();
  const app = await startApp();
  endings.push(() => app.close());
  const config = `listen: { port: 0 }\nadmin: { port: 0 }\ninbox: inbox\nsinks: [{ name: app, http: { url: "${app.url}" } }]\n`;
  const served = await serving(world, config);
  endings.push(() => served.end());
  for (const event of ['chosen', 'x"} 1\n', '__proto__']) {
    expect(await deliver(served.url, body(`evt_${event}`, { event, sinks: ['chosen'], to: 'chosen' }))).toBe(204);
  }
  await served.until(() => app.got.length === 3);
  const { text } = await get(`${served.admin}/metrics`);
  const labels = [...text.matchAll(/\{(.*?)\}/gu)].map(([, inside]) => inside);
  expect(new Set(labels)).toEqual(new Set(['sink="app"']));
  expect(text).not.toContain('chosen');
});
