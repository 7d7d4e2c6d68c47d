// @module-tag long
// Lanes of a real `serve` with a real app: so many at once, and what a kill does to the order.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { type Built, buildSvc } from '../../built.ts';
import { endAfterEach } from '../../endings.ts';
import { freePort } from '../../free-port.ts';
import { firstsByLane, inOrder } from '../lanes-world.ts';
import { deliver, secret } from '../serving.ts';

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
const endings = endAfterEach();
const answerMs = 30;

/** An app that takes 30 ms for each event, and nothing before it is open. It refuses each `refuses`th attempt. */
async function slowApp(refuses = Number.POSITIVE_INFINITY) {
  const got: { readonly id: string; readonly lane: string }[] = [];
  const here: string[] = [];
  const broken: string[] = [];
  let [calls, most] = [0, 0];
  let open = () => {};
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  const server = createServer(async (request, response) => {
    const { id, data } = JSON.parse(await text(request));
    const lane = String(data.conversation_id);
    if (here.includes(lane)) broken.push(id);
    here.push(lane);
    most = Math.max(most, here.length);
    const isRefused = ++calls % refuses === 0;
    await isOpen;
    await sleep(answerMs);
    here.splice(here.indexOf(lane), 1);
    if (!isRefused) got.push({ id, lane });
    response.writeHead(isRefused ? 500 : 200).end();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  endings.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    got,
    broken,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    most: () => most,
    open: () => open(),
  };
}

async function serve(folder: string, port: number, url: string) {
  const config = join(folder, 'c.yaml');
  writeFileSync(
    config,
    `listen: { port: ${port} }\ninbox: inbox\nretry: { attempts: 20, pause: 50ms }\nsinks: [{ name: app, concurrency: 16, http: { url: "${url}" } }]\n`,
  );
  const env = {
    PATH: process.env.PATH,
    SVC_STATE_DIR: folder,
    SVC_CONFIG_DIR: folder,
    SVC_TOKEN_STORE: 'file',
    SVC_WEBHOOK_SECRET: secret,
  };
  const argv = [built.script, 'webhooks', 'serve', '--config', config, '--json'];
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const gone = once(child, 'exit');
  const out = text(child.stdout);
  endings.push(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  let said = '';
  await new Promise<void>((ready, failed) => {
    child.stderr.on('data', (chunk) => {
      said += chunk;
      if (said.includes('Listening on')) ready();
    });
    child.once('exit', () => failed(new Error(said)));
  });
  return { child, gone, out, said: () => said };
}

const message = (n: number, conversation: number): string =>
  JSON.stringify({
    event: 'conversation.message_received',
    id: `evt_${n}`,
    created_at: '2026-01-02T03:04:05+00:00',
    data: { conversation_id: conversation, message_id: n },
  });

async function until(ready: () => boolean, said: () => unknown): Promise<void> {
  for (const end = performance.now() + 60_000; !ready(); await sleep(2))
    if (performance.now() > end) throw new Error(`It never happened: ${JSON.stringify(said())}`);
}

test('an app has 16 events at once and never two of one record, and each record goes in order', async () => {
  const app = await slowApp();
  const port = await freePort();
  const { child, gone, out, said } = await serve(mkdtempSync(join(tmpdir(), 'svc-lanes-')), port, app.url);
  const all = 320;
  for (let n = 0; n < all; n++) expect(await deliver(`http://127.0.0.1:${port}/`, message(n, n % 40))).toBe(204);
  // How many times faster that is, bench/lanes.js measures.
  await until(
    () => app.most() === 16,
    () => app.most(),
  );
  app.open();
  await until(
    () => app.got.length === all,
    () => app.got.length,
  );
  expect(app.most()).toBe(16);
  expect(app.broken).toEqual([]);
  for (const ids of firstsByLane(app).values()) expect(ids).toSatisfy(inOrder);
  child.kill('SIGTERM');
  expect(await gone).toEqual([0, null]);
  expect(said()).not.toContain('Warning');
  expect(JSON.parse(await out).sinks).toMatchObject([{ delivered: all, waiting: 0, dead: 0 }]);
});

test('killed while 16 records are at the app, and started again: nothing is lost, and each record is in order', async () => {
  const app = await slowApp(7);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'svc-lanes-'));
  let running = await serve(folder, port, app.url);
  const all = 300;
  const sending = (async () => {
    for (let n = 0; n < all; ) {
      // What got no answer is sent again, as the service does.
      if ((await deliver(`http://127.0.0.1:${port}/`, message(n, (n * 7) % 23))) === 204) n++;
      else await sleep(20);
    }
  })();
  await until(
    () => app.most() > 8,
    () => app.most(),
  );
  app.open();
  const seen = () => new Set(app.got.map(({ id }) => id));
  for (const enough of [40, 120]) {
    await until(() => seen().size >= enough, seen);
    running.child.kill('SIGKILL');
    expect(await running.gone).toEqual([null, 'SIGKILL']);
    expect(seen().size).toBeLessThan(all);
    running = await serve(folder, port, app.url);
  }
  await sending;
  await until(
    () => seen().size === all,
    () => app.got.length,
  );
  for (const ids of firstsByLane(app).values()) expect(ids).toSatisfy(inOrder);
  // What was under way, and what ended in the tenth of a second before it.
  expect(app.got.length - all).toBeLessThanOrEqual(2 * (16 + 25 + 16));
  running.child.kill('SIGTERM');
  expect(await running.gone).toEqual([0, null]);
  expect(JSON.parse(await running.out).sinks).toMatchObject([{ waiting: 0, dead: 0 }]);
});
