// `svc webhooks listen` (verify, store durably, answer) against a bare node:http server that only verifies (product.md,
// section 12: at least 0.35); bodies of 1 KB, 16 connections. Needs `npm run build`. Both are processes of their own, and
// rounds alternate, so that both meet the same machine. Every delivery has an id of its own: repeats would not be
// stored.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, tell } from './tell.js';

const [, self, role] = process.argv;
const secret = 'sample-secret';
const connections = 16;
const deliveries = 12_000;
const rounds = 9;
let ids = 0;

if (role === 'bare') await serveBare();
else await measure();

async function serveBare() {
  const { createServer } = await import('node:http');
  const { timingSafeEqual } = await import('node:crypto');
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const right = createHmac('sha256', secret).update(Buffer.concat(chunks)).digest();
      const given = Buffer.from(request.headers['x-svc-signature'], 'hex');
      response.writeHead(timingSafeEqual(right, given) ? 204 : 401).end();
    });
  });
  server.listen(0, '127.0.0.1', () =>
    process.stderr.write(`Listening on http://127.0.0.1:${server.address().port}/\n`),
  );
}

async function measure() {
  const state = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const bin = fileURLToPath(new URL('../bin/svc.js', import.meta.url));
  const env = { ...process.env, SVC_STATE_DIR: state, SVC_CONFIG_DIR: state, SVC_TOKEN_STORE: 'file' };
  const svc = await start([bin, 'webhooks', 'listen', '--port', '0'], { ...env, SVC_WEBHOOK_SECRET: secret });
  const bare = await start([self, 'bare'], env);
  try {
    await rate(svc.port, 2_000);
    await rate(bare.port, 2_000);
    const ratios = [];
    const best = { svc: 0, bare: 0 };
    for (let round = 0; round < rounds; round++) {
      const figures = { bare: await rate(bare.port, deliveries), svc: await rate(svc.port, deliveries) };
      ratios.push(figures.svc / figures.bare);
      best.svc = Math.max(best.svc, figures.svc);
      best.bare = Math.max(best.bare, figures.bare);
    }
    const value = median(ratios);
    const detail = `${Math.round(best.svc)} a second against ${Math.round(best.bare)}`;
    tell([{ what: 'webhook receiver / bare node:http that verifies', value, atLeast: 0.35, detail }]);
  } finally {
    svc.child.kill('SIGKILL');
    bare.child.kill('SIGKILL');
    rmSync(state, { recursive: true, force: true });
  }
}

function start(args, env) {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  return new Promise((started) => {
    child.stderr.on('data', (text) => {
      const found = /127\.0\.0\.1:(\d+)/u.exec(text);
      if (found) started({ child, port: Number(found[1]) });
      else process.stderr.write(text);
    });
  });
}

function delivery() {
  const id = `evt_${process.pid}_${++ids}`;
  const envelope = { event: 'ticket.created', id, created_at: '2026-01-02T03:04:05+00:00', data: { text: '' } };
  envelope.data.text = 'x'.repeat(1024 - JSON.stringify(envelope).length);
  const body = JSON.stringify(envelope);
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const head = `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nx-svc-event: ticket.created\r\nx-svc-signature: ${signature}\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.from(head + body);
}

/** Deliveries a second over raw keep-alive sockets: an HTTP client would be slower than either server. */
async function rate(port, count) {
  const waiting = Array.from({ length: count }, delivery);
  const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => new Promise((ready) => socket.once('connect', ready))));
  const started = performance.now();
  await Promise.all(sockets.map((socket) => work(socket, waiting)));
  const seconds = (performance.now() - started) / 1000;
  for (const socket of sockets) socket.destroy();
  return count / seconds;
}

function work(socket, waiting) {
  return new Promise((done, failed) => {
    let text = '';
    socket.on('error', failed);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!text.includes('\r\n\r\n')) return;
      if (!text.startsWith('HTTP/1.1 204')) return failed(new Error(text));
      text = '';
      next();
    });
    function next() {
      const request = waiting.pop();
      if (request) socket.write(request);
      else done();
    }
    next();
  });
}
