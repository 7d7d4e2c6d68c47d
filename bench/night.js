// A night of `svc webhooks serve`: 50,000 events of two accounts to two instances with one Postgres, with outages of the
// app, NATS, the database and the instances by turns. The app has lanes, and beside it are a file and a stream. Of each account and
// sink, every accepted event must have been taken or be a dead letter.
// The test of the same name does it in small. About two minutes, so `npm run bench` leaves it out: `node bench/night.js`.
import { spawnSync } from 'node:child_process';

const { status } = spawnSync('npx', ['vitest', 'run', 'test/webhooks/night.test.ts'], {
  stdio: 'inherit',
  env: { SVC_NIGHT_OUTAGES: '8', ...process.env, SVC_NIGHT_EVENTS: process.env.SVC_NIGHT_EVENTS ?? '50000' },
});
process.exitCode = status ?? 1;
