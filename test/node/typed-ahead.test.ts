// @module-tag long
/** Keys that were typed before a question was on the screen: on a real terminal, with a service that takes its time. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { dropTypedAhead } from '../../src/node/typed-ahead.ts';
import { type Built, buildSvc } from '../built.ts';
import { startOnTerminal } from '../pty.ts';

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

let running: ReturnType<typeof startOnTerminal>[] = [];
afterEach(() => {
  for (const one of running) one.kill();
  running = [];
});

const node = process.execPath;

/** The next answers to such requests take that long. */
const slow = (fault: object) => {
  const body = JSON.stringify({ action: 'delay', ms: 6_000, times: 1, ...fault });
  return `fetch(process.env.SVC_BASE_URL + '/_sandbox/faults', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '${body}' })`;
};

/** Commands on a terminal beside a sandbox of their own; the last says how it ended. */
function beside(...commands: string[]) {
  const script = `svc() { ${node} ${built.script} "$@"; }; ${commands.join('; ')}; echo "ended $?"; svc drafts list --all`;
  const pty = startOnTerminal(
    [node, built.script, 'sandbox', 'exec', '--rate-limit', 'off', '--', 'sh', '-c', script],
    { columns: 100, rows: 60, cwd: built.folder, env: { HOME: built.folder, NO_COLOR: '1' } },
  );
  running.push(pty);
  return pty;
}

const fault = (what: object) => `${node} -e "${slow(what).replaceAll('"', '\\"')}"`;
const waits = /Waiting for/u;

test('they approve no draft that was not shown', async () => {
  const pty = beside(
    'svc tickets reply 8 --body First --draft; svc tickets reply 25 --body Second --draft',
    fault({ method: 'POST' }),
    'clear; svc drafts approve 1 2',
  );
  await pty.shows('Leave it');
  // Down to "Send it".
  pty.type('\x1b[B\r');
  await pty.shows(waits);
  pty.type('\x1b[B\r');
  await pty.shows(/Second[\s\S]*Leave it/u);
  await new Promise((resolve) => setTimeout(resolve, 500));
  pty.type('\r');
  await pty.shows(/ended \d/u);
  await pty.shows(/^2 +waiting +reply/mu);
  expect(pty.lines().join('\n')).toMatch(/^1 +sent +reply/mu);
});

const asking = ['export SVC_SENDS=ask', fault({ method: 'GET' }), 'svc tickets reply 25 --body zz'];

test('they send nothing where each send is asked', async () => {
  const pty = beside(...asking);
  await pty.shows(waits);
  pty.type('y\r');
  await pty.shows('Send this?');
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(pty.lines().join('\n')).not.toMatch(/Send this\? .*Yes/u);
  pty.type('n\r');
  await pty.shows('Declined. Nothing was sent.');
});

test('what is typed while the question is there answers it', async () => {
  const pty = beside(...asking);
  await pty.shows('Send this?');
  pty.type('y\r');
  await pty.shows('ended 0');
});

test('nor do they cut a hold short', async () => {
  const pty = beside('svc config set hold 60', fault({ method: 'GET' }), 'svc tickets reply 25 --body zz');
  await pty.shows(waits);
  pty.type('\r');
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
