import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sign } from '../../src/api/signature.ts';
import { createSandbox } from '../../src/sandbox/app.ts';
import { serve } from '../../src/sandbox/server.ts';
import { slots, slotsFolder } from '../../src/webhooks/store/folder/slot.ts';
import { receivedIn } from '../../src/webhooks/store/folder/view.ts';
import { type Built, buildSvc } from '../built.ts';
import { endAfterEach } from '../endings.ts';
import { freePort } from '../free-port.ts';
import { draws, inTurn } from '../thorough.ts';
import { startApp } from './listening.ts';

const secret = 'sample-secret';
/** What makes it die: the real tool, and a watch on what it calls of Node. */
const victim = join(import.meta.dirname, 'victim.cjs');
let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

const endings = endAfterEach();

type Fault = { readonly fault: string; readonly nth: number };
type Running = { readonly child: ChildProcess; readonly gone: Promise<unknown>; readonly said: () => string };

function start(state: string, port: number, to: string): Promise<Running> {
  return run(state, ['--port', String(port), '--forward-to', to], 'Listening on');
}

async function run(state: string, flags: string[], ready: string, fault?: Fault, more = {}): Promise<Running> {
  const argv = ['--require', victim, built.script, 'webhooks', 'listen', ...flags];
  const env = {
    PATH: process.env.PATH,
    SVC_STATE_DIR: state,
    SVC_CONFIG_DIR: state,
    SVC_TOKEN_STORE: 'file',
    SVC_WEBHOOK_SECRET: secret,
    ...(fault && { VICTIM: JSON.stringify(fault) }),
    ...more,
  };
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const gone = once(child, 'exit');
  endings.push(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', () => said.includes(ready) && resolve());
    child.once('exit', () => (fault ? resolve() : reject(new Error(`It did not start: ${said}`))));
  });
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

/** From then on it dies at this instant. */
async function arm({ child }: Running, fault: Fault): Promise<void> {
  child.send(fault);
  await once(child, 'message');
}

const inboxOf = async (state: string) =>
  (await receivedIn(await slots(slotsFolder(state, 'default')), ({ id }) => id)).seen;
const inboxIds = async (state: string): Promise<string[]> => (await inboxOf(state)).map(({ value }) => value);

async function happens(ready: () => boolean | Promise<boolean>): Promise<void> {
  for (const began = performance.now(); performance.now() < began + 60_000; await sleep(10)) if (await ready()) return;
}

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
/** For the first and for the third time; one of the two, in turn, comes first. */
const killed: readonly Fault[] = faults.flatMap((fault, at) =>
  (at % 2 === 0 ? [1, 3] : [3, 1]).map((nth) => ({ fault, nth })),
);

test('killed at each instant of an event: nothing that was answered is lost, nothing is doubled', {
  tags: ['long'],
}, async () => {
  const state = await mkdtemp(join(tmpdir(), 'svc-killed-'));
  const [port, app] = [await freePort(), await startApp()];
  endings.push(() => app.close());
  let running = await start(state, port, app.url);
  const all: string[] = [];
  for (const fault of inTurn(killed, 0, 2)) {
    const what = `killed when ${fault.fault}, for the ${fault.nth}. time`;
    const before = app.ids().length;
    await arm(running, fault);
    const ids = [1, 2, 3, 4, 5].map((n) => `evt_${fault.fault}_${fault.nth}_${n}`);
    all.push(...ids);
    const answered: string[] = [];
    const unanswered: string[] = [];
    for (const id of ids) ((await deliver(port, id)) === 204 ? answered : unanswered).push(id);
    await happens(() => running.child.signalCode !== null);
    expect(running.child.signalCode, what).toBe('SIGKILL');
    // What was answered is in the inbox, at the very instant of the kill.
    expect(await inboxIds(state), what).toEqual(expect.arrayContaining(answered));

    // The start that puts right what this one left is the next one to be killed.
    running = await start(state, port, app.url);
    // A connection that failed is tried again by the service (service.md#delivery-2).
    for (const id of unanswered) expect(await deliver(port, id), what).toBe(204);
    await happens(() => new Set(app.ids()).size >= all.length);
    expect([...new Set(app.ids())].sort(), what).toEqual([...all].sort());
    // Nor does what is known to be forwarded wait for anything.
    await happens(async () => (await inboxOf(state)).every(({ outcomes }) => outcomes.length > 0));
    expect((await inboxIds(state)).sort(), what).toEqual([...all].sort());
    // At most the one in flight at the kill came to the app twice, which it tells by the id.
    expect(app.ids().length - before, what).toBeLessThanOrEqual(ids.length + 1);
  }
  running.child.kill('SIGTERM');
  expect(await running.gone).toEqual([0, null]);
  expect((await inboxIds(state)).sort()).toEqual([...all].sort());
});

test('killed again and again under load, nothing that was answered is lost, and each arrives in the end', {
  tags: ['long'],
}, async () => {
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
  const senders = Array.from({ length: 4 }, sender);
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
  await happens(() => missing().length === 0);
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
  { tags: ['long'] },
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
    const first = await run(state, ['--port', '0', '--public-url', url], 'Subscribed', { fault, nth }, env);
    if (fault === 'none') first.child.kill('SIGKILL');
    await first.gone;
    expect(await there()).toHaveLength(1 + left);
    const second = await run(state, ['--port', '0'], 'Listening on', undefined, env);
    expect(await there()).toEqual([other.id]);
    second.child.kill('SIGTERM');
    expect(await second.gone).toEqual([0, null]);
  },
);
