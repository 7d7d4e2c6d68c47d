// @module-tag long
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect } from 'vitest';
import { openInboxAdmin } from '../../src/webhooks/store/inbox-admin.ts';
import { deadIn } from '../../src/webhooks/store/line.ts';
import { type Built, buildSvc } from '../built.ts';
import { freePort } from '../free-port.ts';
import { withPostgres } from '../mirror/postgres-server.ts';
import { real, whereIs } from '../real-component.ts';
import { draws } from '../thorough.ts';
import { type NatsServer, startNats } from './nats-server.ts';
import { startBalancer, startService } from './night-service.ts';
import { ownPostgres, type PostgresServer } from './own-postgres.ts';

/** `bench/night.js` asks for a whole night. */
const isWhole = process.env.SVC_NIGHT_EVENTS !== undefined;
const total = Number(process.env.SVC_NIGHT_EVENTS ?? draws(800, 1_500));
const outages = Number(process.env.SVC_NIGHT_OUTAGES ?? 1);
/** The sandbox keeps the last 10,000 deliveries. */
const wave = 5_000;

let built: Built;
let server: PostgresServer | undefined;
let bus: NatsServer | undefined;
/** The names are those of the accounts and of their profiles' variables. */
const accounts = ['acme', 'globex'] as const;
const children = new Set<ChildProcess>();
beforeAll(async () => {
  built = await buildSvc();
  server = await ownPostgres();
  if (whereIs('nats-server') !== undefined) bus = await startNats();
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await bus?.stop();
});

/** One event in 32, for ids end in hexadecimal: so many that some surely are of each account. */
const isRefused = (id: string): boolean => /[0-7]7$/u.test(id);

/** An app that goes away and comes back, refuses some events for good, and de-duplicates on the id. */
async function startApp() {
  const got = new Set<string>();
  let server: Server;
  let port = 0;
  let requests = 0;
  const open = async () => {
    server = createServer((incoming, response) => {
      let text = '';
      incoming.on('data', (chunk) => {
        text += chunk;
      });
      incoming.on('end', () => {
        const { id: own } = JSON.parse(text) as { id: string };
        const id = `${incoming.headers['x-svc-account']}/${own}`;
        requests++;
        if (isRefused(id)) response.writeHead(500).end();
        else {
          got.add(id);
          // Now and then the answer is lost, and the event comes once more.
          if (requests % 97 === 0) incoming.socket.destroy();
          else response.writeHead(204).end();
        }
      });
    });
    await new Promise<void>((ready) => server.listen(port, '127.0.0.1', ready));
    ({ port } = server.address() as AddressInfo);
  };
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await open();
  return { got, open, close, url: `http://127.0.0.1:${port}/`, requests: () => requests };
}

/** As docs/webhooks.md tells a reader: an instance that was killed may have cut off its last line. */
function wholeLines(text: string): { id: string; account: string }[] {
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

const accountOf = (id: string): string => id.slice(0, id.indexOf('/'));

/** What is in the stream, with the account that its subject names. */
async function idsIn(url: string): Promise<string[]> {
  const connection = await connect({ servers: [url.replace('nats://', '')] });
  try {
    const consumer = await jetstream(connection).consumers.get('SVC');
    const { num_pending: all } = await consumer.info(true);
    const ids: string[] = [];
    while (ids.length < all) {
      for await (const message of await consumer.fetch({ max_messages: 1000, expires: 2_000 })) {
        const [, account] = message.subject.split('.');
        ids.push(`${account}/${message.json<{ id: string }>().id}`);
      }
    }
    return ids;
  } finally {
    await connection.close();
  }
}

type Instance = {
  readonly port: number;
  readonly child: ChildProcess;
  readonly gone: Promise<unknown>;
  readonly said: () => string;
};

async function startInstance(
  folder: string,
  port: number,
  secrets: Readonly<Record<string, string>>,
): Promise<Instance> {
  const env = {
    PATH: process.env.PATH,
    SVC_STATE_DIR: folder,
    SVC_CONFIG_DIR: folder,
    SVC_TOKEN_STORE: 'file',
    ...secrets,
  };
  const argv = [built.script, 'webhooks', 'serve', '--config', join(folder, `${port}.yaml`), '--json'];
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  const gone = once(child, 'exit').then(() => children.delete(child));
  let said = '';
  child.stdout?.resume();
  await new Promise<void>((ready, failed) => {
    child.stderr?.on('data', (text) => {
      said += text;
      if (said.includes('Listening on')) ready();
    });
    child.once('exit', () => failed(new Error(said)));
  });
  return { port, child, gone, said: () => said };
}

withPostgres(real('nats-server'))(
  'through outages of app, database and instances, every accepted event is in every sink or among its dead letters',
  async () => {
    const pg = server as PostgresServer;
    pg.sql('postgres', 'CREATE DATABASE night STRATEGY FILE_COPY');
    const nats = bus as NatsServer;
    const app = await startApp();
    const folder = mkdtempSync(join(tmpdir(), 'svc-night-'));
    const ports = [await freePort(), await freePort()];
    for (const port of ports) {
      writeFileSync(
        join(folder, `${port}.yaml`),
        `listen: { port: ${port} }
inbox: "${pg.url('night')}"
retry: { attempts: 7, pause: 2ms }
keep: 1000000
accounts:
  - { name: acme, path: /hooks/acme, secrets: { env: [ACME] } }
  - { name: globex, path: /hooks/globex, secrets: { env: [GLOBEX] } }
sinks:
  - { name: app, concurrency: 8, http: { url: "${app.url}" } }
  - { name: archive, file: { path: archive.jsonl } }
  - { name: bus, timeout: 2s, nats: { servers: ["${nats.url}"], subject: "svc.{account}.{event}", stream: { name: SVC, create: true } } }
`,
      );
    }
    const balancer = await startBalancer(ports);
    const services = await Promise.all(accounts.map((name) => startService(`${balancer.url}hooks/${name}`)));
    const secrets = Object.fromEntries(accounts.map((name, at) => [name.toUpperCase(), services[at]?.secret ?? '']));
    const instances = await Promise.all(ports.map((port) => startInstance(folder, port, secrets)));
    const accepted = new Set<string>();
    let sent = 0;
    let isOut = true;
    const sending = (async () => {
      while (sent < total) {
        for (const end = Math.min(total, sent + wave); sent < end; sent++) {
          await services[sent % services.length]?.createTicket(`Ticket ${sent + 1}`);
          if (sent % 20 === 0) await sleep(1);
        }
        // Who waits out an outage by the sandbox's clock uses up the three attempts.
        while (isOut) await sleep(20);
        for (const [at, service] of services.entries())
          for (const { status, envelope_id } of await service.settled())
            if (status === 'delivered') accepted.add(`${accounts[at]}/${envelope_id}`);
      }
    })();
    for (let outage = 0; outage < outages; outage++) {
      await sleep(150);
      isOut = true;
      // The one that has the app's queue, so that the other must take it over.
      const holder = pg.sql('night', "SELECT holder FROM svc_webhooks.sinks WHERE name = 'acme/app'").split(' ')[0];
      const which = instances[1]?.child.pid === Number(holder) ? 1 : 0;
      const victim = instances[which] as Instance;
      victim.child.kill('SIGKILL');
      await victim.gone;
      // The whole night waits until the lease of the one that is gone runs out.
      if (!isWhole) pg.sql('night', "UPDATE svc_webhooks.sinks SET held_until = now() - interval '1 second'");
      await app.close();
      await nats.end(outage % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
      await sleep(150);
      await app.open();
      await nats.start();
      await pg.crash();
      await sleep(300);
      await pg.start();
      instances[which] = await startInstance(folder, victim.port, secrets);
      isOut = false;
      if (outages > 1 && sent < total) await sleep(12_000);
    }
    await sending;
    for (const service of services) await service.close();
    balancer.close();

    const count = () => Number(pg.sql('night', "SELECT count(*) FROM svc_webhooks.deliveries WHERE state = 'waiting'"));
    for (let waited = 0; count() > 0; waited += 250) {
      if (waited > 600_000) throw new Error(`${count()} still wait.`);
      await sleep(250);
    }
    // Each ends well, and by itself.
    for (const { child, gone, said } of instances) {
      child.kill('SIGTERM');
      await gone;
      expect(child.exitCode).toBe(0);
      expect(said()).not.toContain('Warning');
    }
    const admin = await openInboxAdmin(
      { env: {}, clock: { now: () => new Date(), ticks: () => 0, sleep: () => sleep(1) } },
      { url: pg.url('night') },
    );
    const { seen } = await admin.newest(({ id }) => id, {});
    await admin.close();
    const dead = new Set(seen.flatMap(({ value, outcomes }) => deadIn(outcomes).map(({ to }) => `${value} ${to}`)));
    const archive = wholeLines(readFileSync(join(folder, 'archive.jsonl'), 'utf8'));
    const archived = new Set(archive.map(({ id, account }) => `${account}/${id}`));
    const streamed = await idsIn(nats.url);
    await app.close();

    for (const [sink, got] of [
      ['app', app.got],
      ['archive', archived],
      ['bus', new Set(streamed)],
    ] as const) {
      const isDead = (id: string) => dead.has(`${id} ${accountOf(id)}/${sink}`);
      expect([...accepted].filter((id) => !got.has(id) && !isDead(id))).toEqual([]);
      // Nothing that nobody sent, and nothing of one account under the other's name.
      const known = new Set(seen.map(({ value }) => value));
      expect([...got].filter((id) => !known.has(id))).toEqual([]);
    }
    // The server has dropped what came twice.
    expect(streamed.length).toBe(new Set(streamed).size);
    // No id was taken twice, whichever instance it came to.
    expect(seen.length).toBe(new Set(seen.map(({ value }) => value)).size);
    for (const name of accounts)
      expect([...dead].some((one) => isRefused(one.replace(` ${name}/app`, '')) && one.endsWith(` ${name}/app`))).toBe(
        true,
      );
    expect(accepted.size).toBeGreaterThan(total * 0.9);
    const told = `sent ${sent}, accepted ${accepted.size}; app: ${app.got.size} taken in ${app.requests()} requests, ${dead.size} dead; archive: ${archived.size} in ${archive.length} lines; stream: ${streamed.length}`;
    if (isWhole) process.stdout.write(`${told}\n`);
  },
  isWhole ? 1_500_000 : undefined,
);
