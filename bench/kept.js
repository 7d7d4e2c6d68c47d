// The inbox in a folder with many events kept: how long `svc webhooks serve` takes to start, its memory, and what commands take.
// A million of them by default; another number as the first word, and `small` for events of 300 bytes.
// The first start makes the index, as after an update; the next one has it. Minutes, so `npm run bench` leaves it out:
// `node bench/kept.js 100000`. Needs `npm run build`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rate, secret, start } from './deliveries.js';
import { tell } from './tell.js';

const [count = 1_000_000] = process.argv.filter((word) => /^\d+$/u.test(word)).map(Number);
const isSmall = process.argv.includes('small');
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

/** Seconds of the processor that it has used. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function measured(starting) {
  const began = performance.now();
  const value = await starting();
  const { pid } = value.child;
  return { value, s: (performance.now() - began) / 1000, mb: peak(pid), cpu: cpuOf(pid) };
}

async function command(...words) {
  const began = performance.now();
  const child = spawn(process.execPath, [bin, 'webhooks', 'inbox', ...words, '--config', config, '--json'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let mb = 0;
  const looking = setInterval(() => {
    try {
      mb = Math.max(mb, peak(child.pid) || 0);
    } catch {
      // It is over.
    }
  }, 20);
  const [code] = await once(child, 'exit');
  clearInterval(looking);
  if (code !== 0) throw new Error(`inbox ${words[0]} ended with ${code}.`);
  return { s: (performance.now() - began) / 1000, mb };
}

try {
  // One event, taken: its lines are the pattern of the rest.
  const one = await serve();
  await rate(one.port, 1);
  await new Promise((over) => setTimeout(over, 500));
  await end(one);
  const [name] = readdirSync(join(folder, 'inbox')).filter((one) => one.endsWith('.jsonl'));
  const path = join(folder, 'inbox', name);
  const [about, arrival, outcome] = readFileSync(path, 'utf8').replaceAll('\0', '').split('\n');
  const { id } = JSON.parse(arrival);
  const short = {
    ...JSON.parse(arrival),
    headers: {},
    body: JSON.stringify({ id, event: 'ticket.created', data: {} }),
  };
  const pattern = `${isSmall ? JSON.stringify(short) : arrival}\n${outcome}\n`.split(id);
  const file = createWriteStream(path, { highWaterMark: 1 << 22 });
  file.write(`${about}\n`);
  const atOnce = 1_000;
  for (let n = 0; n < count; n += atOnce) {
    let text = '';
    for (let one = n; one < Math.min(count, n + atOnce); one++) text += pattern.join(`${id}_${one}`);
    if (!file.write(text)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');

  const first = await measured(serve);
  await end(first.value);
  const again = await measured(serve);
  const many = again.value;
  const perSecond = await rate(many.port, 2_000);
  const list = await command('list');
  const show = await command('show', `${id}_${Math.floor(count / 2)}`);
  many.child.kill('SIGKILL');
  await once(many.child, 'exit');
  const killed = await measured(serve);
  await end(killed.value);
  const kept = count.toLocaleString('en');
  tell([
    { what: `first start of serve, ${kept} kept`, value: first.s, unit: 's' },
    { what: 'its processor', value: first.cpu, unit: 's' },
    { what: 'its memory', value: first.mb, unit: 'MB' },
    { what: 'next start', value: again.s, unit: 's' },
    { what: 'its processor', value: again.cpu, unit: 's' },
    { what: 'its memory', value: again.mb, unit: 'MB' },
    { what: 'start after a kill', value: killed.s, unit: 's' },
    { what: 'deliveries a second', value: perSecond, unit: '/s' },
    { what: 'inbox list', value: list.s, unit: 's' },
    { what: 'its memory', value: list.mb, unit: 'MB' },
    { what: 'inbox show of a whole id', value: show.s, unit: 's' },
    { what: 'its memory', value: show.mb, unit: 'MB' },
  ]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
