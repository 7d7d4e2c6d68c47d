import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rolldown } from 'rolldown';
import { beforeAll, expect, test } from 'vitest';
import { sign } from '../../src/api/signature.ts';
import { createSandbox } from '../../src/sandbox/app.ts';
import { serve } from '../../src/sandbox/server.ts';
import { slots, slotsFolder } from '../../src/webhooks/store/folder/slot.ts';
import { receivedIn } from '../../src/webhooks/store/folder/view.ts';
import { endAfterEach } from '../endings.ts';
import { freePort } from '../free-port.ts';
import { draws, inTurn } from '../thorough.ts';
import { startApp } from './listening.ts';

const secret = 'sample-secret';
let victim: string;
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-victim-'));
  const bundle = await rolldown({
    input: { victim: 'test/webhooks/victim.ts' },
    platform: 'node',
    external: [/^node:/u, '@napi-rs/keyring'],
    // The inspector's page is not looked at here.
    plugins: [{ name: 'no-page', load: (id) => (id.endsWith('?raw') ? 'export default ""' : null) }],
  });
  await bundle.write({ dir: folder, format: 'es', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' });
  victim = join(folder, 'victim.mjs');
});

const endings = endAfterEach();

type Running = { readonly child: ChildProcess; readonly gone: Promise<unknown>; readonly said: () => string };

function start(state: string, port: number, to: string, fault = 'none', nth = 1): Promise<Running> {
  return run(state, ['--port', String(port), '--forward-to', to], 'Listening on', fault, nth);
}

async function run(
  state: string,
  flags: string[],
  ready: string,
  fault: string,
  nth: number,
  more = {},
): Promise<Running> {
  const argv = [victim, fault, String(nth), 'webhooks', 'listen', ...flags];
  const env = {
    PATH: process.env.PATH,
    SVC_STATE_DIR: state,
    SVC_CONFIG_DIR: state,
    SVC_TOKEN_STORE: 'file',
    SVC_WEBHOOK_SECRET: secret,
    ...more,
  };
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const gone = once(child, 'exit');
  endings.push(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  while (!said.includes(ready)) {
    if (child.exitCode !== null || child.signalCode !== null) {
      if (fault !== 'none') break;
      throw new Error(`It did not start: ${said}`);
    }
    await sleep(5);
  }
  return { child, gone, said: () => said };
}

/** One attempt of the service: the status, or undefined where the connection failed. */
function deliver(port: number, id: string): Promise<number | undefined> {
  const body = Buffer.from(
    JSON.stringify({ event: 'ticket.created', id, created_at: '', data: { text: 'x'.repeat(900) } }),
  );
  const headers = {
    'content-type': 'application/json',
    'x-svc-event': 'ticket.created',
    'x-svc-signature': sign(secret, body),
  };
  return new Promise((resolve) => {
    const sending = request({ host: '127.0.0.1', port, method: 'POST', agent: false, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sending.on('error', () => resolve(undefined));
    sending.end(body);
  });
}

const inboxIds = async (state: string): Promise<string[]> =>
  (await receivedIn(await slots(slotsFolder(state, 'default')), ({ id }) => id)).seen.map(({ value }) => value);

const faults = [
  'verified',
  'half-written',
  'written',
  'stored',
  'answered',
  'forwarding',
  'forwarded',
  'settled',
] as const;
const killed = faults.flatMap((fault) => [1, 3].map((nth) => [fault, nth] as const));

test.each(inTurn(killed, 0, 2))(
  'killed when %s, for the %ith time: nothing that was answered is lost, nothing is doubled',
  async (fault, nth) => {
    const state = await mkdtemp(join(tmpdir(), 'svc-killed-'));
    const [port, app] = [await freePort(), await startApp()];
    endings.push(() => app.close());
    const first = await start(state, port, app.url, fault, nth);
    const answered: string[] = [];
    const unanswered: string[] = [];
    for (let n = 1; n <= 5; n++) {
      const id = `evt_${n}`;
      const status = await deliver(port, id);
      (status === 204 ? answered : unanswered).push(id);
    }
    await Promise.race([first.gone, sleep(15_000)]);
    expect(first.child.signalCode).toBe('SIGKILL');
    // What was answered is in the inbox, at the very instant of the kill.
    expect(await inboxIds(state)).toEqual(expect.arrayContaining(answered));

    const second = await start(state, port, app.url);
    // A connection that failed is tried again by the service (service.md#delivery-2).
    for (const id of unanswered) expect(await deliver(port, id)).toBe(204);
    const all = ['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5'];
    for (let waited = 0; new Set(app.ids()).size < all.length && waited < 60_000; waited += 10) await sleep(10);
    expect([...new Set(app.ids())].sort()).toEqual(all);
    // At most the one in flight at the kill came to the app twice, which it tells by the id.
    expect(app.ids().length).toBeLessThanOrEqual(all.length + 1);
    second.child.kill('SIGTERM');
    expect(await second.gone).toEqual([0, null]);
    expect((await inboxIds(state)).sort()).toEqual(all);
  },
);

test('killed again and again under load, nothing that was answered is lost, and each arrives in the end', async () => {
  const state = await mkdtemp(join(tmpdir(), 'svc-killed-'));
  const [port, app] = [await freePort(), await startApp()];
  endings.push(() => app.close());
  const answered = new Set<string>();
  let running = await start(state, port, app.url);
  let sending = true;
  let ids = 0;
  const sender = async () => {
    while (sending) {
      const id = `evt_${++ids}`;
      for (let attempt = 0; attempt < 3; attempt++) {
        const status = await deliver(port, id);
        if (status === 204) answered.add(id);
        if (status !== undefined) break;
        await sleep(20);
      }
    }
  };
  const senders = Array.from({ length: 8 }, sender);
  for (let round = 0; round < draws(3, 6); round++) {
    // However slow the machine is, each round has something to lose.
    for (const before = answered.size; answered.size < before + 10; ) await sleep(5);
    await sleep(10 + 37 * round);
    running.child.kill('SIGKILL');
    await running.gone;
    const inbox = new Set(await inboxIds(state));
    expect([...answered].filter((id) => !inbox.has(id))).toEqual([]);
    running = await start(state, port, app.url);
  }
  sending = false;
  await Promise.all(senders);
  const missing = () => {
    const there = new Set(app.ids());
    return [...answered].filter((id) => !there.has(id));
  };
  for (let waited = 0; missing().length > 0 && waited < 60_000; waited += 20) await sleep(20);
  expect(missing()).toEqual([]);
  expect(answered.size).toBeGreaterThanOrEqual(draws(30, 60));
  // Forwarding is one at a time, so each kill can double one at most.
  expect(app.ids().length - new Set(app.ids()).size).toBeLessThanOrEqual(6);
});

test.each([
  ['none', 1, 6],
  ['forwarding', 8, 2],
  ['forwarded', 8, 3],
] as const)(
  'killed (%s %i) with subscriptions at the service, the next start removes its %i, and nobody else’s',
  async (fault, nth, left) => {
    const sandbox = createSandbox({ seed: 'demo', rateLimit: 'off' });
    const served = await serve(sandbox, 0);
    endings.push(async () => {
      await served.close();
      await sandbox.close();
    });
    const base = `http://127.0.0.1:${served.port}`;
    const ask = async (method: string, path: string, body: object | undefined, token?: string) => {
      const headers = {
        host: '127.0.0.1',
        'content-type': 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
      };
      return JSON.parse(
        (await sandbox.handle({ method, url: path, headers, body: body && JSON.stringify(body) })).body,
      );
    };
    const { access_token: token } = await ask('POST', '/_sandbox/tokens', {
      account_id: 1,
      scopes: ['webhooks:manage'],
    });
    const url = 'https://hooks.example.com/in';
    const other = await ask(
      'POST',
      '/oauth-platform/webhooks',
      { event_type: 'ticket.created', target_url: url },
      token,
    );
    const there = async () =>
      (await ask('GET', '/oauth-platform/webhooks', undefined, token)).webhooks.map(
        ({ id }: { id: number }) => id,
      ) as number[];

    const state = await mkdtemp(join(tmpdir(), 'svc-killed-'));
    const env = { SVC_BASE_URL: base, SVC_ACCESS_TOKEN: token };
    const first = await run(state, ['--port', '0', '--public-url', url], 'Subscribed', fault, nth, env);
    if (fault === 'none') first.child.kill('SIGKILL');
    await first.gone;
    expect(await there()).toHaveLength(1 + left);
    const second = await run(state, ['--port', '0'], 'Listening on', 'none', 1, env);
    expect(await there()).toEqual([other.id]);
    second.child.kill('SIGTERM');
    expect(await second.gone).toEqual([0, null]);
  },
);
