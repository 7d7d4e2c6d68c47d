// `tickets create --from` 10,000 rows, limits off, journal and all, against the sandbox alone over 4 raw connections
// that send the same bodies (product.md, section 12: at least 0.5). Needs `npm run build`; rounds alternate.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, tell } from './tell.js';

const rows = 10_000;
const connections = 4;
const rounds = 3;
const svc = join(import.meta.dirname, '..', 'bin', 'svc.js');
const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
const file = join(folder, 'tickets.csv');
const ticket = (i) => ({ subject: `Ticket ${i}`, description: 'It stops at row 200.', priority: i % 5 });
const lines = Array.from({ length: rows }, (_, i) => Object.values(ticket(i)).join(','));
await writeFile(file, `subject,description,priority\n${lines.join('\n')}\n`);

const ratios = [];
let best = { svc: 0, alone: 0 };
try {
  for (let round = 0; round < rounds; round++) {
    const figures = { alone: await inSandbox(alone), svc: await inSandbox(bySvc) };
    ratios.push(figures.svc / figures.alone);
    best = { svc: Math.max(best.svc, figures.svc), alone: Math.max(best.alone, figures.alone) };
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
tell([
  {
    what: 'tickets create --from 10,000 / sandbox alone',
    value: median(ratios),
    atLeast: 0.5,
    detail: `${Math.round(best.svc)} rows a second against ${Math.round(best.alone)}`,
  },
]);

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

async function bySvc(base) {
  const child = spawn(process.execPath, [svc, 'tickets', 'create', '--from', file, '--restart', '--json'], {
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

/** Raw keep-alive sockets: an HTTP client would be slower than the server. */
async function alone(base) {
  let next = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(Number(new URL(base).port), '127.0.0.1');
      let text = '';
      const send = () => {
        if (next === rows) return socket.end();
        const body = JSON.stringify(ticket(next++));
        const head = 'POST /tickets HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer key_acme\r\n';
        socket.write(`${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      };
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        const end = text.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/iu.exec(text)?.[1]);
        if (end < 0 || text.length < end + 4 + length) return;
        text = text.slice(end + 4 + length);
        send();
      });
      socket.once('connect', send);
      await once(socket, 'close');
    }),
  );
}
