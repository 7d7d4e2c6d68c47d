import { expect } from 'vitest';
import { endAfterEach } from '../endings.ts';
import { svc } from '../svc.ts';
import { forBoth, newDatabase } from './keepers.ts';
import { startApp } from './listening.ts';
import { body, deliver, newWorld, serving } from './serving.ts';

const endings = endAfterEach();

forBoth(({ name, test }) => {
  test('the beginning of an id is enough where one dead letter begins so', async () => {
    const world = await newWorld();
    const app = await startApp(0, () => 500);
    endings.push(() => app.close());
    const config = `listen: { port: 0 }
inbox: "${name === 'Postgres' ? newDatabase() : 'inbox'}"
retry: { attempts: 1, pause: 5ms }
sinks:
  - { name: app, http: { url: "${app.url}" } }
`;
    const served = await serving(world, config);
    const dead = async (...argv: string[]) =>
      svc(world, ['webhooks', 'dead', ...argv, '--config', served.file, '--json']);
    for (const id of ['evt_abc', 'evt_abd', 'evt_x', 'evt_x1']) await deliver(served.url, body(id));
    await served.until(async () => JSON.parse((await dead('list')).stdout).length === 4);
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
      ['drop', 'evt_a', '--yes'],
    ]) {
      const ran = await dead(...argv);
      expect([ran.exitCode, ran.stdout]).toEqual([2, '']);
      expect(ran.stderr).toContain('2 dead letters have an id that begins with evt_a.');
    }
    expect((await dead('show', 'evt_b')).exitCode).toBe(3);
    expect(JSON.parse((await dead('drop', 'evt_abd', '--yes')).stdout)).toEqual({ dropped: 1 });
    expect(JSON.parse((await dead('show', 'evt_ab')).stdout)).toMatchObject({ id: 'evt_abc' });
    await served.end();
  });

  test('dead letters are listed, shown, retried and given up, while serve runs and while it does not', async () => {
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
    await served.until(async () => (await listed()).length === 4);
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
    await served.until(async () => (await listed()).length === 1);
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
