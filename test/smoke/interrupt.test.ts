// @module-tag long
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';
import { until } from './processes.ts';

let built: Built;
let server: Server;
let base: string;
let arrived: () => void = () => {};
/** How the server behaves: never answers, answers 429, or cuts every connection. */
let answer: 'silence' | 'wait' | 'cut' = 'silence';

beforeAll(async () => {
  built = await buildSvc();
  server = createServer((_, response) => {
    if (answer === 'wait') response.writeHead(429, { 'retry-after': '60' }).end('{"error":"Too many requests"}');
    if (answer === 'cut') response.socket?.resetAndDestroy();
    arrived();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await built.remove();
});

async function interrupted(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP', argv: string[], name: string) {
  const reached = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const run = execa(process.execPath, [built.script, ...argv], {
    reject: false,
    env: {
      SVC_BASE_URL: base,
      SVC_API_KEY: 'any',
      SVC_CONFIG_DIR: `${built.folder}/${name}/config`,
      SVC_STATE_DIR: `${built.folder}/${name}/state`,
    },
  });
  await reached;
  // The wait has begun once it is written down for other processes; otherwise the request's arrival is enough.
  const limits = `${built.folder}/${name}/state/limits`;
  while (answer === 'wait' && !(await readdir(limits).catch(() => [])).some((file) => file.endsWith('.json'))) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  run.kill(signal);
  return run;
}

describe('Ctrl-C', () => {
  test('during a read: 130', async () => {
    answer = 'silence';
    const ran = await interrupted('SIGINT', ['contacts', 'list'], 'read');
    expect(ran).toMatchObject({ exitCode: 130, stdout: '' });
    expect(ran.stderr).toContain('Error: Interrupted.');
  });

  test('during a write: 130, and what is known of it', async () => {
    answer = 'silence';
    const ran = await interrupted('SIGINT', ['tickets', 'note', '7', '--body', 'x'], 'write');
    expect(ran.exitCode).toBe(130);
    expect(ran.stderr).toContain('The note may or may not have been added');
  });

  test('between two attempts of a write whose answer was lost: 130, and that it may have worked', async () => {
    answer = 'cut';
    const ran = await interrupted('SIGINT', ['tickets', 'update', '7', '--priority', '4'], 'cut');
    expect(ran.exitCode).toBe(130);
    expect(ran.stderr).toContain('The ticket may or may not have been changed');
  });

  test('while a rate limit is waited out: 130, the request was not sent again', async () => {
    answer = 'wait';
    const ran = await interrupted('SIGINT', ['tickets', 'note', '7', '--body', 'x'], 'limit');
    expect(ran.exitCode).toBe(130);
    expect(ran.stderr).toContain('was not sent');
  });
});

test.each([
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s in the middle of a write says what is known of it: %i', async (signal, exitCode) => {
  answer = 'silence';
  const ran = await interrupted(signal, ['tickets', 'note', '7', '--body', 'x'], signal);
  expect(ran.exitCode).toBe(exitCode);
  expect(ran.stderr).toContain('Interrupted. The note may or may not have been added');
});

test('a process that was stopped for longer than --timeout reads the answer that waits for it: exit 0', async () => {
  let respond: (() => void) | undefined;
  let stop = () => {};
  const slow = createServer(async (request, response) => {
    for await (const _ of request);
    stop();
    respond = () => {
      // More than a socket takes at once, so that several reads are needed.
      const note = { id: 1, body: 'x', created_at: '2026-03-01T12:00:00Z', added_later: 'x'.repeat(300_000) };
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ note }));
    };
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  try {
    const run = execa(process.execPath, [built.script, 'tickets', 'note', '7', '--body', 'x', '--timeout', '3'], {
      reject: false,
      env: {
        SVC_BASE_URL: `http://127.0.0.1:${(slow.address() as AddressInfo).port}`,
        SVC_API_KEY: 'any',
        SVC_CONFIG_DIR: `${built.folder}/stopped/config`,
        SVC_STATE_DIR: `${built.folder}/stopped/state`,
      },
    });
    // At once: the time that it waits has begun.
    stop = () => void run.kill('SIGSTOP');
    await until(() => respond !== undefined);
    await until(() => readFileSync(`/proc/${run.pid}/stat`, 'utf8').includes(') T '));
    respond?.();
    await sleep(3500);
    run.kill('SIGCONT');
    expect(await run).toMatchObject({ exitCode: 0 });
  } finally {
    slow.closeAllConnections();
    slow.close();
  }
});

test.each([
  ['when it comes', 'block();'],
  ['a moment later', 'setTimeout(block, 20);'],
])('a stop that arrives twice is one, also where svc is busy %s', async (_, then) => {
  // The second one arrives at once, and is heard after longer than nobody presses twice.
  const script = `
const { nodeContext, runToItsEnd } = require('./dist/main.cjs');
const ctx = nodeContext();
const block = () => {
  process.kill(process.pid, 'SIGTERM');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
};
const finished = new Promise((resolve) => ctx.signal.addEventListener('abort', () => {
  ${then}
  setTimeout(resolve, 500, 7);
}));
runToItsEnd(finished, ctx);
process.kill(process.pid, 'SIGINT');
setTimeout(() => {}, 500);`;
  const ran = await execa(process.execPath, ['-e', script], { cwd: join(built.script, '..', '..'), reject: false });
  expect(ran.exitCode, ran.stderr).toBe(7);
});

test('SIGTERM is 143', async () => {
  answer = 'silence';
  const ran = await interrupted('SIGTERM', ['contacts', 'list'], 'term');
  expect(ran.exitCode).toBe(143);
});

test('a process that was told to wait tells the others on the same token, and no others', async () => {
  answer = 'wait';
  const env = (key: string) => ({
    SVC_BASE_URL: base,
    SVC_API_KEY: key,
    SVC_CONFIG_DIR: `${built.folder}/shared/config`,
    SVC_STATE_DIR: `${built.folder}/shared/state`,
  });
  let requests = 0;
  arrived = () => requests++;
  const run = (key: string) =>
    execa(process.execPath, [built.script, 'contacts', 'list', '--max-wait', '5'], { reject: false, env: env(key) });
  expect((await run('one')).exitCode).toBe(7);
  expect(requests).toBe(1);
  expect((await run('one')).exitCode).toBe(7);
  expect(requests).toBe(1);
  expect((await run('other')).exitCode).toBe(7);
  expect(requests).toBe(2);
});
