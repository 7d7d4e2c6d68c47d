// `tickets create --from` 10,000 rows, limits off, journal and record of writes and all, against a bare script of node:http with 4
// connections that sends the same bodies (target: at least 0.5), and against svc with `audit off` (at least 0.97). Needs `npm run build`; rounds alternate.
// Both are processes of their own, measured from their start to their end, each against a sandbox that has just begun:
// a client that has run before would be the faster for it. The sandbox is a third process: where fewer than three cores
// are free, what svc does beside its requests is taken from the sandbox too.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, tell } from './tell.js';

const [, self, role, address] = process.argv;
const rows = 10_000;
const connections = 4;
const rounds = 3;
const svc = join(import.meta.dirname, '..', 'bin', 'svc.js');
const ticket = (i) => ({ subject: `Ticket ${i}`, description: 'It stops at row 200.', priority: i % 5 });

if (role === 'alone') await sendAll(address);
else await measure();

async function measure() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const file = join(folder, 'tickets.csv');
  const lines = Array.from({ length: rows }, (_, i) => Object.values(ticket(i)).join(','));
  await writeFile(file, `subject,description,priority\n${lines.join('\n')}\n`);

  const without = join(folder, 'without');
  await mkdir(without);
  await writeFile(join(without, 'config.json'), '{"audit":"off"}');
  const ratios = [];
  const recordRatios = [];
  let best = { svc: 0, alone: 0 };
  try {
    for (let round = 0; round < rounds; round++) {
      const figures = {
        alone: await inSandbox(alone),
        svc: await inSandbox((base) => bySvc(base, folder, file)),
        unrecorded: await inSandbox((base) => bySvc(base, without, file)),
      };
      recordRatios.push(figures.svc / figures.unrecorded);
      ratios.push(figures.svc / figures.alone);
      best = { svc: Math.max(best.svc, figures.svc), alone: Math.max(best.alone, figures.alone) };
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  tell([
    {
      what: 'tickets create --from 10,000 / bare node:http',
      value: median(ratios),
      atLeast: 0.5,
      detail: `${Math.round(best.svc)} rows a second against ${Math.round(best.alone)}`,
    },
    { what: 'tickets create --from with the record of writes / without', value: median(recordRatios), atLeast: 0.97 },
  ]);
}

/** Rows a second, in a sandbox of its own. */
async function inSandbox(work) {
  const options = ['--port', '0', '--seed', 'empty', '--rate-limit', 'off', '--json'];
  const child = spawn(process.execPath, [svc, 'sandbox', 'start', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let told = '';
    while (!told.trimEnd().endsWith('}')) told += (await once(child.stdout, 'data'))[0];
    const { base_url } = JSON.parse(told);
    const began = performance.now();
    await work(base_url);
    return rows / ((performance.now() - began) / 1000);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'close');
  }
}

async function bySvc(base, folder, file) {
  const child = spawn(process.execPath, [svc, 'tickets', 'create', '--from', file, '--restart', '--yes', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, SVC_BASE_URL: base, SVC_API_KEY: 'key_acme', SVC_CONFIG_DIR: folder, SVC_STATE_DIR: folder },
  });
  let printed = '';
  child.stdout.on('data', (bytes) => {
    printed += bytes;
  });
  await once(child, 'close');
  if (JSON.parse(printed).done !== rows) throw new Error(`Not all rows are done: ${printed}`);
}

async function alone(base) {
  const child = spawn(process.execPath, [self, 'alone', base], { stdio: 'inherit' });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error('Not all rows are done.');
}

/** As a script of one's own would do it: Node's client, no journal, no checks. */
async function sendAll(base) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let next = 0;
  const send = (body) =>
    new Promise((done, failed) => {
      const headers = {
        authorization: 'Bearer key_acme',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      };
      const sent = request(`${base}/tickets`, { method: 'POST', agent, headers }, (response) => {
        response.resume().once('end', done);
      });
      sent.once('error', failed).end(body);
    });
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next < rows) await send(JSON.stringify(ticket(next++)));
    }),
  );
  agent.destroy();
}
