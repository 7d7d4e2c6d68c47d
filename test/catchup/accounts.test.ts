// @module-tag long
/** Catching up for several accounts in one inbox: each with its own login, into its own queues. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { endAfterEach } from '../endings.ts';
import { svc } from '../svc.ts';
import { liveWorld, startApp } from '../webhooks/listening.ts';
import { body, deliver, serving } from '../webhooks/serving.ts';
import { forBoth, newDatabase, withServer } from '../webhooks/stores.ts';

withServer();
const endings = endAfterEach();
// The key in the environment is Acme's: no other account's records may be read with it.
const env = { ACME: 'acme-secret', GLOBEX: 'globex-secret', SVC_API_KEY: 'key_acme' };

async function setting(inbox: string) {
  const [world, app] = [await liveWorld(), await startApp()];
  endings.push(
    () => world.sandbox.close(),
    () => app.close(),
  );
  for (const name of ['acme', 'globex']) {
    const argv = ['login', '--with-api-key', '--insecure-storage', '--profile', name];
    expect((await svc(world, argv, { stdin: `key_${name}\n` })).exitCode).toBe(0);
  }
  const config = `listen: { port: 0 }
inbox: "${inbox}"
accounts:
  - { name: acme, path: /hooks/acme, profile: acme, secrets: { env: [ACME] } }
  - { name: globex, path: /hooks/globex, profile: globex, secrets: { env: [GLOBEX] } }
  - { name: initech, path: /hooks/initech, secrets: { env: [INITECH] } }
sinks: [{ name: app, events: [ticket.created], http: { url: "${app.url}" } }]
`;
  const file = join(world.folder, 'svc-webhooks.yaml');
  writeFileSync(file, config);
  const miss = async (profile: string, subject: string) => {
    const argv = ['-p', profile, 'tickets', 'create', '--subject', subject, '--json'];
    return JSON.parse((await svc(world, argv)).stdout);
  };
  const catchUp = (...argv: string[]) =>
    svc(world, ['webhooks', 'catch-up', '--config', file, '--json', '--events', 'ticket.created', ...argv], { env });
  return { world, app, config, miss, catchUp };
}

type App = Awaited<ReturnType<typeof startApp>>;
const gotOf = ({ got }: App): string[] =>
  got.map(({ headers, body: text }) => `${headers['x-svc-account']} ${JSON.parse(text).data.subject}`).sort();

forBoth(({ name, test: both }) => {
  both('each account is caught up with its own login, and what another one had says nothing about it', async () => {
    const inbox = name === 'Postgres' ? newDatabase() : 'inbox';
    const { world, app, config, miss, catchUp } = await setting(inbox);
    await miss('acme', 'Missed by Acme');
    await miss('globex', 'Missed by Globex');
    await world.control('clock', { advance_seconds: 125 });
    const since = ['--since', new Date(Date.now() - 3_600_000).toISOString()];

    const unnamed = await catchUp(...since);
    expect([unnamed.exitCode, unnamed.stderr]).toEqual([2, expect.stringContaining('--account NAME is needed')]);
    const without = await catchUp(...since, '--account', 'initech');
    expect([without.exitCode, without.stderr]).toEqual([2, expect.stringContaining('initech has no profile')]);

    const dry = await catchUp(...since, '--account', 'globex', '--dry-run');
    expect([dry.stdout, dry.stderr]).toEqual([expect.stringContaining('Missed by Globex'), expect.anything()]);
    expect(dry.stdout).not.toContain('Acme');
    const ran = await Promise.all([
      catchUp(...since, '--account', 'globex'),
      catchUp(...since, '--account', 'globex'),
      catchUp(...since, '--account', 'acme'),
    ]);
    expect(ran.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    const served = await serving(world, config, { env: { ...env, INITECH: 'x' } });
    endings.push(() => served.end());
    await served.until(() => app.got.length === 2);
    expect(gotOf(app)).toEqual(['acme Missed by Acme', 'globex Missed by Globex']);
    expect(JSON.parse((await catchUp(...since, '--account', 'globex')).stdout)).toMatchObject({ rebuilt: 0 });
  });

  both('serve --catch-up looks for what each account with a profile missed, from its own last event on', async () => {
    const inbox = name === 'Postgres' ? newDatabase() : 'inbox';
    const { world, app, config, miss } = await setting(inbox);
    const started = { env: { ...env, INITECH: 'x' } };
    const first = await serving(world, config, started);
    for (const [account, key] of [
      ['acme', env.ACME],
      ['globex', env.GLOBEX],
    ] as const) {
      const own = first.url.replace('/hooks/acme', `/hooks/${account}`);
      const about = { created_at: new Date().toISOString(), data: { ticket_id: 1, subject: 'Came' } };
      expect(await deliver(own, body('real', about), key)).toBe(204);
    }
    await first.until(() => app.got.length === 2);
    await first.end();
    await miss('globex', 'Missed by Globex');
    await world.control('clock', { advance_seconds: 125 });
    const served = await serving(world, config, started, ['--catch-up']);
    endings.push(() => served.end());
    await served.until(() => app.got.length === 3);
    expect(gotOf(app)).toEqual(['acme Came', 'globex Came', 'globex Missed by Globex']);
    expect(served.said()).toContain('initech has no profile, so what never arrived there cannot be rebuilt.');
  });
});
