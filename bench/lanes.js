// `svc webhooks serve` with an app that takes 30 ms for each event: one after the other, and with `concurrency: 16` (target: at
// least 450 a second; 533 is what 16 at once can reach). Needs `npm run build`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rate, secret, start } from './deliveries.js';
import { median, tell } from './tell.js';

const answerMs = 30;
const records = 500;
const least = 450;
const bin = fileURLToPath(new URL('../bin/svc.js', import.meta.url));

let got = 0;
let seen = () => {};
const app = createServer((request, response) => {
  request.resume();
  setTimeout(() => {
    response.end();
    got++;
    seen();
  }, answerMs);
});
await new Promise((ready) => app.listen(0, '127.0.0.1', ready));

const until = (count) =>
  new Promise((reached) => {
    seen = () => got >= count && reached();
    seen();
  });

/** Events a second, from the first to the last that the app answers: what came before is in the inbox by then. */
async function delivered(concurrency, count) {
  const state = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const config = join(state, 'svc-webhooks.yaml');
  const url = `http://127.0.0.1:${app.address().port}/`;
  writeFileSync(
    config,
    `listen: { port: 0 }\ninbox: inbox\nsinks: [{ name: app, concurrency: ${concurrency}, http: { url: "${url}" } }]\n`,
  );
  const env = { ...process.env, SVC_STATE_DIR: state, SVC_CONFIG_DIR: state, SVC_TOKEN_STORE: 'file' };
  const argv = [bin, 'webhooks', 'serve', '--config', config];
  const { child, port } = await start(argv, { ...env, SVC_WEBHOOK_SECRET: secret });
  try {
    got = 0;
    const first = until(1);
    const sent = rate(port, count, (n) => ({ ticket_id: n % records }));
    await first;
    const began = performance.now();
    await until(count);
    await sent;
    return ((count - 1) / (performance.now() - began)) * 1000;
  } finally {
    child.kill('SIGKILL');
    await new Promise((ended) => child.once('exit', ended));
    rmSync(state, { recursive: true, force: true });
  }
}

const one = await delivered(1, 100);
const lanes = [];
for (let round = 0; round < 3; round++) lanes.push(await delivered(16, 3_000));
app.close();
app.closeAllConnections();
tell([
  { what: 'webhooks serve, app of 30 ms, one by one', value: one, unit: 'events/s' },
  {
    what: 'webhooks serve, app of 30 ms, 16 lanes',
    value: median(lanes),
    unit: 'events/s',
    atLeast: least,
    detail: `${(median(lanes) / least).toFixed(2)} × the target`,
  },
]);
