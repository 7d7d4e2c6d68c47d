// `GET /contacts/{id}` of the sandbox against a bare node:http server that answers the same bytes (target: at
// least 0.5). Needs `npm run build`. Both servers are processes of their own, and rounds alternate, so
// that both meet the same machine.
import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { median, tell } from './tell.js';

const [, self, role, bytes] = process.argv;
const path = '/contacts/1';
const head = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer key_acme\r\n\r\n`;
const connections = 16;
const roundMs = 1500;
const rounds = 5;

if (role === 'bare') serveBare();
else await measure();

async function serveBare() {
  const { createServer } = await import('node:http');
  const { headers, body } = JSON.parse(Buffer.from(bytes, 'base64').toString());
  const server = createServer((_, response) => {
    response.writeHead(200, headers);
    response.end(body);
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`));
}

async function measure() {
  const bin = fileURLToPath(new URL('../bin/svc.js', import.meta.url));
  const sandbox = await start([bin, 'sandbox', 'start', '--port', '0', '--rate-limit', 'off', '--json']);
  const { headers, body } = await once(sandbox.port);
  const bare = await start([self, 'bare', Buffer.from(JSON.stringify({ headers, body })).toString('base64')]);
  const ratios = [];
  let best = { sandbox: 0, bare: 0 };
  await rate(sandbox.port, 500);
  await rate(bare.port, 500);
  for (let round = 0; round < rounds; round++) {
    const figures = { bare: await rate(bare.port, roundMs), sandbox: await rate(sandbox.port, roundMs) };
    ratios.push(figures.sandbox / figures.bare);
    best = { sandbox: Math.max(best.sandbox, figures.sandbox), bare: Math.max(best.bare, figures.bare) };
  }
  sandbox.child.kill();
  bare.child.kill();
  const value = median(ratios);
  const detail = `${Math.round(best.sandbox)} a second against ${Math.round(best.bare)}`;
  tell([{ what: 'sandbox GET /contacts/{id} / bare node:http', value, atLeast: 0.5, detail }]);
}

function start(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((started) => {
    child.stdout.once('data', (line) => started({ child, port: JSON.parse(line).port }));
  });
}

function once(port) {
  return new Promise((done) => {
    request({ port, host: '127.0.0.1', path, headers: { authorization: 'Bearer key_acme' } }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => done({ headers: response.headers, body: Buffer.concat(chunks).toString() }));
    }).end();
  });
}

/** Answers a second over raw keep-alive sockets: an HTTP client would be slower than either server. */
async function rate(port, ms) {
  const size = await sizeOfAnswer(port);
  let answers = 0;
  const started = performance.now();
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(port, '127.0.0.1');
      let received = 0;
      socket.on('data', (chunk) => {
        received += chunk.length;
        while (received >= size) {
          received -= size;
          answers++;
          socket.write(head);
        }
      });
      await new Promise((connected) => socket.once('connect', connected));
      socket.write(head);
      return socket;
    }),
  );
  await new Promise((over) => setTimeout(over, ms));
  const perSecond = answers / ((performance.now() - started) / 1000);
  for (const socket of sockets) socket.destroy();
  return perSecond;
}

/** All answers have the same length: one record, and a date of constant width. */
function sizeOfAnswer(port) {
  return new Promise((known) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(head));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/iu.exec(text)?.[1]);
      if (end < 0 || text.length < end + 4 + length) return;
      socket.destroy();
      known(end + 4 + length);
    });
  });
}
