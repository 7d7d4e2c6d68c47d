// `svc webhooks serve` to Postgres: verify, store once over all instances, answer (target: at least 3,000 a
// second), with one sink that takes what comes. To compare with: a bare node:http server that verifies and stores in the
// same PostgreSQL, a batch a statement, with no sink, no queue and no look at what others do. Sender, server and database
// share the machine's cores, so events a second say as much of the machine as of svc. And the same spread over two instances, where nothing may be
// lost or doubled. Needs `npm run build` and Debian's PostgreSQL.
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { rate, secret, start } from './deliveries.js';
import { median, tell } from './tell.js';

const [, self, role, database] = process.argv;
if (role === 'bare') {
  await serveBare();
  await new Promise(() => {});
}

const deliveries = 8_000;
const rounds = 5;
const versions = '/usr/lib/postgresql';
const [newest] = readdirSync(versions).sort((a, b) => Number(b) - Number(a));
const programs = join(versions, newest, 'bin');

// The server refuses to run as root.
const idOf = (flag) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
const as = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
const folder = mkdtempSync('/tmp/svc-pg-');
if (as.uid !== undefined) chownSync(folder, as.uid, as.gid);
const options = { ...as, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' } };
const data = join(folder, 'data');
execFileSync(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'svc', '-E', 'UTF8'], options);
const server = spawn(join(programs, 'postgres'), ['-D', data, '-k', folder, '-c', 'listen_addresses='], {
  ...options,
  stdio: ['ignore', 'ignore', 'pipe'],
});
const state = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const instances = [];
try {
  await new Promise((ready) => server.stderr.on('data', (text) => String(text).includes('ready to accept') && ready()));
  const inbox = `postgres:///postgres?host=${folder}&user=svc`;
  const config = join(state, 'svc-webhooks.yaml');
  writeFileSync(
    config,
    `listen: { port: 0 }\ninbox: "${inbox}"\nkeep: 10000000\nsinks: [{ name: archive, file: { path: archive.jsonl } }]\n`,
  );
  const bin = fileURLToPath(new URL('../bin/svc.js', import.meta.url));
  const env = { ...process.env, SVC_STATE_DIR: state, SVC_CONFIG_DIR: state, SVC_TOKEN_STORE: 'file' };
  const instance = async () => {
    const started = await start([bin, 'webhooks', 'serve', '--config', config], { ...env, SVC_WEBHOOK_SECRET: secret });
    instances.push(started);
    return started;
  };
  const first = await instance();
  const bare = await start([self, 'bare', folder], env);
  instances.push(bare);
  await rate(first.port, 2_000);
  await rate(bare.port, 2_000);
  const alone = [];
  const ratios = [];
  for (let round = 0; round < rounds; round++) {
    const [most, own] = [await rate(bare.port, deliveries), await rate(first.port, deliveries)];
    alone.push(own);
    ratios.push(own / most);
  }
  const second = await instance();
  const both = [];
  for (let round = 0; round < 3; round++) {
    const began = performance.now();
    await Promise.all([rate(first.port, deliveries / 2), rate(second.port, deliveries / 2)]);
    both.push((deliveries / (performance.now() - began)) * 1000);
  }
  const sql = (text) =>
    execFileSync(join(programs, 'psql'), ['-h', folder, '-U', 'svc', '-d', 'postgres', '-Atqc', text], options);
  const stored = Number(sql('SELECT count(*) FROM svc_webhooks.inbox'));
  const sent = 2_000 + (rounds + 3) * deliveries;
  tell([
    { what: 'webhooks serve / bare node:http that stores too', value: median(ratios) },
    { what: 'webhooks serve to Postgres', value: median(alone), unit: 'events/s', atLeast: 3_000 },
    { what: 'webhooks serve to Postgres, two instances', value: median(both), unit: 'events/s' },
    { what: 'webhooks serve, lost or doubled', value: Math.abs(sent - stored), unit: 'events', atMost: 0 },
  ]);
} finally {
  for (const { child } of instances) child.kill('SIGKILL');
  server.kill('SIGQUIT');
  await new Promise((ended) => server.once('exit', ended));
  for (const path of [folder, state]) rmSync(path, { recursive: true, force: true });
}

async function serveBare() {
  const { createHmac, timingSafeEqual } = await import('node:crypto');
  const { createServer } = await import('node:http');
  const client = new pg.Client({ host: database, user: 'svc', database: 'postgres' });
  await client.connect();
  await client.query('CREATE TABLE bare (key text PRIMARY KEY, body bytea)');
  let waiting = [];
  let isStoring = false;
  const store = async () => {
    if (isStoring) return;
    isStoring = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const values = [batch.map(({ key }) => key), batch.map(({ body }) => body)];
      const text = 'INSERT INTO bare SELECT * FROM unnest($1::text[], $2::bytea[]) ON CONFLICT DO NOTHING';
      await client.query({ name: 'store', text, values });
      for (const { response } of batch) response.writeHead(204).end();
    }
    isStoring = false;
  };
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const right = createHmac('sha256', secret).update(body).digest();
      if (!timingSafeEqual(right, Buffer.from(request.headers['x-svc-signature'], 'hex'))) {
        response.writeHead(401).end();
        return;
      }
      waiting.push({ key: JSON.parse(body).id, body, response });
      void store();
    });
  });
  server.listen(0, '127.0.0.1', () =>
    process.stderr.write(`Listening on http://127.0.0.1:${server.address().port}/\n`),
  );
}
