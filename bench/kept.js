// The inbox in a folder with many events kept: how long `svc webhooks serve` takes to start, its memory, and `inbox list`.
// A million of them by default; another number as the first word. Minutes, so `npm run bench` leaves it out:
// `node bench/kept.js 100000`. Needs `npm run build`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rate, secret, start } from './deliveries.js';
import { tell } from './tell.js';

const count = Number(process.argv.find((word) => /^\d+$/u.test(word)) ?? 1_000_000);
const folder = mkdtempSync(join(tmpdir(), 'svc-kept-'));
const bin = fileURLToPath(new URL('../bin/svc.js', import.meta.url));
const env = {
  ...process.env,
  ...{ SVC_STATE_DIR: folder, SVC_CONFIG_DIR: folder, SVC_TOKEN_STORE: 'file', SVC_WEBHOOK_SECRET: secret },
};
const config = join(folder, 'svc-webhooks.yaml');
writeFileSync(
  config,
  'listen: { port: 0 }\ninbox: inbox\nkeep: 10000000\nsinks: [{ name: archive, file: { path: archive.jsonl } }]\n',
);
const serve = () => start([bin, 'webhooks', 'serve', '--config', config], env);
const end = async ({ child }) => {
  child.kill('SIGTERM');
  await once(child, 'exit');
};

/** MB that a process has had at most. */
const peak = (pid) => Number(/VmHWM:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

try {
  // One event, taken: its lines are the pattern of the rest.
  const first = await serve();
  await rate(first.port, 1);
  await new Promise((over) => setTimeout(over, 500));
  await end(first);
  const [name] = readdirSync(join(folder, 'inbox')).filter((one) => one.endsWith('.jsonl'));
  const path = join(folder, 'inbox', name);
  const [about, arrival, outcome] = readFileSync(path, 'utf8').replaceAll('\0', '').split('\n');
  const { id } = JSON.parse(arrival);
  const file = createWriteStream(path);
  file.write(`${about}\n`);
  for (let n = 0; n < count; n++) {
    const own = `${id}_${n}`;
    const text = `${arrival.replaceAll(id, own)}\n${outcome.replaceAll(id, own)}\n`;
    if (!file.write(text)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');

  let began = performance.now();
  const many = await serve();
  const startMs = performance.now() - began;
  const served = peak(many.child.pid);
  const perSecond = await rate(many.port, 2_000);
  began = performance.now();
  const list = spawn(process.execPath, [bin, 'webhooks', 'inbox', 'list', '--config', config, '--json'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let listed = 0;
  const looking = setInterval(() => {
    try {
      listed = Math.max(listed, peak(list.pid) || 0);
    } catch {
      // It is over.
    }
  }, 20);
  const [code] = await once(list, 'exit');
  clearInterval(looking);
  const listMs = performance.now() - began;
  if (code !== 0) throw new Error(`inbox list ended with ${code}.`);
  await end(many);
  const kept = count.toLocaleString('en');
  tell([
    { what: `start of serve, ${kept} kept`, value: startMs / 1000, unit: 's' },
    { what: 'its memory', value: served, unit: 'MB' },
    { what: 'deliveries a second', value: perSecond, unit: '/s' },
    { what: 'inbox list', value: listMs / 1000, unit: 's' },
    { what: 'its memory', value: listed, unit: 'MB' },
  ]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
