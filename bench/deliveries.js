// Deliveries of 1 KB, signed, each with an id of its own: repeats would not be stored. Used by receiver.js, serve.js and lanes.js.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { connect } from 'node:net';

export const secret = 'sample-secret';
const connections = 16;
let ids = 0;

/** A process that says on which port it listens. */
export function start(args, env) {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  return new Promise((started) => {
    child.stderr.on('data', (text) => {
      const found = /127\.0\.0\.1:(\d+)/u.exec(text);
      if (found) started({ child, port: Number(found[1]) });
      else process.stderr.write(text);
    });
  });
}

/** @param {object} data What names its record, if anything does. */
function delivery(data) {
  const id = `evt_${process.pid}_${++ids}`;
  const envelope = {
    event: 'ticket.created',
    id,
    created_at: '2026-01-02T03:04:05+00:00',
    data: { ...data, text: '' },
  };
  envelope.data.text = 'x'.repeat(1024 - JSON.stringify(envelope).length);
  const body = JSON.stringify(envelope);
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const head = `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nx-svc-event: ticket.created\r\nx-svc-signature: ${signature}\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.from(head + body);
}

/** Deliveries a second over raw keep-alive sockets: an HTTP client would be slower than the server. */
export async function rate(port, count, dataOf = (_n) => ({})) {
  const waiting = Array.from({ length: count }, (_, n) => delivery(dataOf(n)));
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
