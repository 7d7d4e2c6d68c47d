// `svc webhooks serve` to Postgres: verify, store once over all instances, answer (target: at least 3,000 a
// second), with one sink that takes what comes; and the same spread over two instances, where nothing may be lost or doubled.
// Needs `npm run build` and Debian's PostgreSQL.
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rate, secret, start } from './deliveries.js';
import { median, tell } from './tell.js';

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
  await rate(first.port, 2_000);
  const alone = [];
  for (let round = 0; round < rounds; round++) alone.push(await rate(first.port, deliveries));
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
