// `svc webhooks listen` (verify, store durably, answer) against a bare node:http server that only verifies (target: at
// least 0.35); bodies of 1 KB, 16 connections. Needs `npm run build`. Both are processes of their own, and
// rounds alternate, so that both meet the same machine. Every delivery has an id of its own: repeats would not be
// stored.
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rate, secret, start } from './deliveries.js';
import { median, tell } from './tell.js';

const [, self, role] = process.argv;
const deliveries = 12_000;
const rounds = 9;

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
