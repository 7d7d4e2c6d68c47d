// @module-tag long
// Where files run out: idle connections keep nobody out, starve no program, and end neither serve nor listen.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { beforeAll, expect, test } from 'vitest';
import { connectionsAtMost } from '../../src/webhooks/receive/listening.ts';
import { type Built, buildSvc } from '../built.ts';
import { endAfterEach } from '../endings.ts';
import { endings as receivers } from './receiving.ts';
import { body, deliver, secret } from './serving.ts';

const endings = endAfterEach(receivers);
let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});

/** svc with at most 100 open files. */
async function startCrowded(argv: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-crowded-'));
  writeFileSync(
    join(folder, 'c.yaml'),
    'listen: { port: 0 }\nadmin: { port: 0 }\ninbox: inbox\nsinks:\n  - { name: crm, exec: { command: [sh, -c, "cat >> crm"] } }\n',
  );
  const env = { PATH: process.env.PATH, SVC_STATE_DIR: folder, SVC_CONFIG_DIR: folder, SVC_TOKEN_STORE: 'file' };
  const child = spawn('sh', ['-c', 'ulimit -n 100; exec "$@"', 'sh', process.execPath, built.script, ...argv], {
    cwd: folder,
    env: { ...env, SVC_WEBHOOK_SECRET: secret },
  });
  const gone = once(child, 'exit');
  endings.push(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.resume();
  await new Promise<void>((ready, failed) => {
    child.stderr.on('data', (text) => {
      said += text;
      if (said.includes('Listening on')) ready();
    });
    child.once('exit', () => failed(new Error(said)));
  });
  const [, url = ''] = /Listening on (http:\/\/[^/]+\/)/u.exec(said) ?? [];
  return { child, gone, folder, url, said: () => said };
}

/** Connections that send nothing, and that are made again as they are closed. */
function crowd(url: string, count: number): void {
  let isOver = false;
  const open = () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {}).on('close', () => setTimeout(() => isOver || open(), 50));
    endings.push(() => socket.destroy());
  };
  for (let n = 0; n < count; n++) open();
  endings.push(() => {
    isOver = true;
  });
}

test('with more idle connections than files, serve takes deliveries and its program gets them', async () => {
  const { child, gone, folder, url, said } = await startCrowded(['webhooks', 'serve', '--config', 'c.yaml', '--json']);
  crowd(url, 200);
  const ids = Array.from({ length: 10 }, (_, n) => `evt_${n}`);
  for (const id of ids) {
    // A connection that fails is tried again, as the service does.
    for (let tries = 0; tries < 500 && (await deliver(url, body(id))) !== 204; tries++) await sleep(20);
  }
  const got = () => {
    try {
      return readFileSync(join(folder, 'crm'), 'utf8').trim().split('\n');
    } catch {
      return [];
    }
  };
  for (let waited = 0; got().length < ids.length && waited < 60_000; waited += 20) await sleep(20);
  expect(got().map((line) => JSON.parse(line).id)).toEqual(ids);
  expect(said()).not.toContain('does not take');
  child.kill('SIGTERM');
  expect(await gone).toEqual([0, null]);
});

test('with more idle connections than files, listen takes deliveries and ends well', async () => {
  const { child, gone, url } = await startCrowded(['webhooks', 'listen', '--port', '0']);
  crowd(url, 200);
  let status: number | undefined;
  for (let tries = 0; tries < 500 && status !== 204; tries++) status = await deliver(url, body('evt_1'));
  expect(status).toBe(204);
  child.kill('SIGTERM');
  expect(await gone).toEqual([0, null]);
});

test('a program that cannot be started, since no file is left, has not taken the event, and svc goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-no-files-'));
  const bundle = await rolldown({ input: 'test/webhooks/no-files.ts', platform: 'node' });
  await bundle.write({ dir: folder, format: 'es', entryFileNames: '[name].mjs' });
  const command = 'ulimit -n 100; exec "$@"';
  const argv = ['-c', command, 'sh', process.execPath, join(folder, 'no-files.mjs')];
  const { stdout } = await promisify(execFile)('sh', argv);
  expect(JSON.parse(stdout)).toEqual([
    { how: 'taken' },
    { how: 'refused', error: 'the program cat could not be started: spawn cat EMFILE' },
    { how: 'taken' },
  ]);
});

test('a system that gives few files has fewer connections', () => {
  expect([20, 100, 256, 1024, 1_000_000].map((files) => connectionsAtMost(512, files))).toEqual([8, 18, 96, 480, 512]);
  expect(connectionsAtMost(4, 1024)).toBe(4);
});
