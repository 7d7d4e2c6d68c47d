// @module-tag long
/** Keys that were typed before a question was on the screen: on a real terminal, with a service that takes its time. */
import { mkdtempSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { dropTypedAhead } from '../../src/node/typed-ahead.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';
import { type Built, buildSvc } from '../built.ts';
import { startOnTerminal } from '../pty.ts';

let built: Built;
let sandbox: Sandbox;
let server: Server;
/** By which method requests wait for `answer`, after which all are answered. */
let held: string | undefined;
let answered: Promise<void>;
let answer: () => void;

beforeAll(async () => {
  built = await buildSvc();
  const handle: Sandbox['handle'] = async (asked) => {
    if (asked.method === held) await answered;
    return sandbox.handle(asked);
  };
  server = await serve({ ...createSandbox({ seed: 'demo', rateLimit: 'off' }), handle }, 0);
});
afterAll(async () => {
  await server.close();
  await built.remove();
});

beforeEach(() => {
  sandbox = createSandbox({ seed: 'demo', rateLimit: 'off' });
  held = undefined;
  answered = new Promise((resolve) => {
    answer = resolve;
  });
});

let running: ReturnType<typeof startOnTerminal>[] = [];
afterEach(() => {
  answer();
  for (const one of running) one.kill();
  running = [];
});

/** Commands on a terminal, with folders of their own; the last says how it ended. */
function beside(...commands: string[]) {
  const home = mkdtempSync(join(built.folder, 'home-'));
  const script = `svc() { ${process.execPath} ${built.script} "$@"; }; ${commands.join('; ')}; echo "ended $?"; svc drafts list --all`;
  const pty = startOnTerminal(['sh', '-c', script], {
    ...{ columns: 100, rows: 60, cwd: home },
    env: {
      ...{ HOME: home, NO_COLOR: '1', SVC_TOKEN_STORE: 'file', SVC_API_KEY: 'key_acme' },
      SVC_BASE_URL: `http://127.0.0.1:${server.port}`,
    },
  });
  running.push(pty);
  return {
    ...pty,
    /** While svc waits for the service, which answers once the terminal has the keys. */
    async typeAhead(keys: string) {
      await pty.shows(/Waiting for/u);
      const before = pty.bytes().length;
      pty.type(keys);
      await expect.poll(() => pty.bytes().slice(before)).toContain('\r\n');
      answer();
    },
  };
}

test('they approve no draft that was not shown', async () => {
  const pty = beside(
    'svc tickets reply 8 --body First --draft; svc tickets reply 25 --body Second --draft',
    'clear; svc drafts approve 1 2',
  );
  held = 'POST';
  await pty.shows('Leave it');
  // Down to "Send it".
  pty.type('\x1b[B\r');
  await pty.typeAhead('\x1b[B\r');
  await pty.shows(/Second[\s\S]*Leave it/u);
  await new Promise((resolve) => setTimeout(resolve, 500));
  pty.type('\r');
  await pty.shows(/ended \d/u);
  await pty.shows(/^2 +waiting +reply/mu);
  expect(pty.lines().join('\n')).toMatch(/^1 +sent +reply/mu);
});

const asking = 'export SVC_SENDS=ask; svc tickets reply 25 --body zz';

test('they send nothing where each send is asked', async () => {
  held = 'GET';
  const pty = beside(asking);
  await pty.typeAhead('y\r');
  await pty.shows('Send this?');
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(pty.lines().join('\n')).not.toMatch(/Send this\? .*Yes/u);
  pty.type('n\r');
  await pty.shows('Declined. Nothing was sent.');
});

test('what is typed while the question is there answers it', async () => {
  const pty = beside(asking);
  await pty.shows('Send this?');
  pty.type('y\r');
  await pty.shows('ended 0');
});

test('nor do they cut a hold short', async () => {
  held = 'GET';
  const pty = beside('svc config set hold 60', 'svc tickets reply 25 --body zz');
  await pty.typeAhead('\r');
  await pty.shows(/Sending in 5\d s/u);
  pty.type('\x03');
  await pty.shows('ended 130');
});

test('nor do they answer a question of the inbox by lines', async () => {
  const editor = join(built.folder, 'editor.sh');
  await writeFile(editor, '#!/bin/sh\nsleep 1\necho Fixed > "$1"\n', { mode: 0o755 });
  const pty = beside(
    `export EDITOR=${editor} SVC_SENDS=ask`,
    'svc mirror pull --quiet > pulled',
    'clear; svc inbox --linear',
  );
  await pty.shows(/q end >/u);
  pty.type('r\ry\r');
  await pty.shows(/Return: .* >\s*$/u);
  await new Promise((resolve) => setTimeout(resolve, 500));
  pty.type('\r');
  await pty.shows(/q end >\s*$/u);
  pty.type('q\r');
  await pty.shows('ended 0');
  await pty.shows(/^1 +waiting/mu);
});

test('Ctrl-C among them ends the command; of a pipe nothing is dropped', async () => {
  const typed = (isTTY: boolean) => Object.assign(new PassThrough(), { isTTY });
  let count = 0;
  const heard = () => void count++;
  process.on('SIGINT', heard);
  const [terminal, pipe] = [typed(true), typed(false)];
  for (const input of [terminal, pipe]) {
    input.write('y\x03\r');
    await dropTypedAhead(input);
  }
  process.off('SIGINT', heard);
  expect([count, terminal.read(), String(pipe.read())]).toEqual([1, null, 'y\x03\r']);
});
