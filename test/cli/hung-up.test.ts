// @module-tag long
// A terminal that is closed while svc asks: svc ends as after SIGHUP, and no text is lost.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { spawn } from '@lydell/node-pty';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';
import { type Built, buildSvc } from '../built.ts';

let built: Built;
let server: Server;
let env: Record<string, string>;

beforeAll(async () => {
  built = await buildSvc();
  server = await serve(createSandbox({ seed: 'demo', rateLimit: 'off' }), 0);
  const home = mkdtempSync(join(built.folder, 'home-'));
  env = {
    ...{ PATH: process.env.PATH ?? '', HOME: home, TERM: 'xterm-256color', NO_COLOR: '1' },
    ...{ SVC_CONFIG_DIR: join(home, 'config'), SVC_STATE_DIR: join(home, 'state'), SVC_TOKEN_STORE: 'file' },
    ...{ SVC_BASE_URL: `http://127.0.0.1:${server.port}`, SVC_API_KEY: 'key_acme' },
  };
});
afterAll(async () => {
  await server.close();
  built.remove();
});

/** Closes the terminal once it shows `shown`. The shell that tells the exit code outlives it. */
async function closedAt(shown: string, argv: string): Promise<string> {
  const told = join(mkdtempSync(join(built.folder, 'told-')), 'code');
  const line = `trap : HUP; ${process.execPath} ${built.script} ${argv}; echo $? > ${told}`;
  const pty = spawn('/bin/sh', ['-c', line], { cols: 200, rows: 40, env });
  let screen = '';
  pty.onData((text) => {
    screen += text;
    // Not in its types: it closes our end, as a window does.
    if (screen.includes(shown)) Reflect.apply(Reflect.get(pty, 'destroy'), pty, []);
  });
  await expect.poll(() => existsSync(told) && readFileSync(told, 'utf8')).toMatch(/\n$/u);
  return readFileSync(told, 'utf8').trim();
}

const drafts = async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [built.script, 'drafts', 'list', '--json'], { env });
  return JSON.parse(stdout) as readonly { readonly body: string }[];
};

test('in a hold it keeps the text as a draft', async () => {
  const ended = await closedAt('Sending in', 'tickets reply 8 --body Kept --hold 60 --yes');
  expect(ended).toBe('129');
  expect((await drafts()).map(({ body }) => body)).toEqual(['Kept']);
});

test('at a question it ends with the exit code of a hangup', async () => {
  const ended = await closedAt('Delete contact list', 'lists delete 1');
  expect(ended).toBe('129');
});
