// Loaded into a real svc by `node --require`: once its parent has armed it, by a message, it dies by SIGKILL at one instant.
// Only what it calls of Node is watched, since nothing in svc knows of tests.
const fs = require('node:fs');
const http = require('node:http');

let fault;
let left = 0;

function arm({ fault: instant, nth }) {
  fault = instant;
  left = nth;
}

function dieAt(instant) {
  if (instant !== fault || --left > 0) return;
  process.kill(process.pid, 'SIGKILL');
  // The signal comes at once, but not before the next instruction.
  for (;;);
}

if (process.env.VICTIM) arm(JSON.parse(process.env.VICTIM));
process.on('message', (order) => {
  arm(order);
  process.send('armed');
});
process.channel?.unref();

const { writeSync } = fs;
/** What the last write held. Lines that come together are one write, so it may hold both. */
let isArrival = false;
let isOutcome = false;
fs.writeSync = (fd, bytes, offset, length, position) => {
  isArrival = Buffer.from(bytes).includes('x-svc-signature');
  isOutcome = Buffer.from(bytes).includes('"outcome":');
  if (isArrival) dieAt('verified');
  if (isArrival && fault === 'half-written' && left === 1) writeSync(fd, bytes, offset, length >> 1, position);
  if (isArrival) dieAt('half-written');
  return writeSync(fd, bytes, offset, length, position);
};

const { open } = fs.promises;
fs.promises.open = async (...args) => {
  const file = await open(...args);
  if (!String(args[0]).endsWith('inbox.jsonl')) return file;
  const datasync = file.datasync.bind(file);
  file.datasync = async () => {
    if (isArrival) dieAt('written');
    await datasync();
    if (isArrival) dieAt('stored');
    if (isOutcome) dieAt('settled');
  };
  return file;
};

const { end } = http.ServerResponse.prototype;
http.ServerResponse.prototype.end = function (...args) {
  if (this.statusCode === 204) this.once('finish', () => setImmediate(() => dieAt('answered')));
  return end.apply(this, args);
};

const { request } = http;
http.request = (options, answered) => {
  dieAt('forwarding');
  return request(options, (answer) => {
    // Before svc itself is told of the end.
    answer.once('end', () => dieAt('forwarded'));
    answered(answer);
  });
};
