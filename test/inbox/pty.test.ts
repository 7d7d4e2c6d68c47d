/** The built inbox on a real terminal: whatever ends it, the terminal is as it was, and no text is gone. */
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { KeptFile } from '../../src/context.ts';
import { throughTempFile } from '../../src/disk/draft/temp-file.ts';
import { leftInEditors } from '../../src/disk/draft/unsent.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';
import { seedRows } from '../../src/sandbox/store/seed.ts';
import { type Built, buildSvc } from '../built.ts';
import { inThisProcess } from '../itself.ts';
import { startOnTerminal } from '../pty.ts';

let built: Built;
/** What the service of all of them is: each begins with a new account, behind the same address, so that one copy is that of each. */
let sandbox: Sandbox;
let server: Server;
/** The configuration and the state of somebody who has pulled the account. */
let pulled: string;
const demo = seedRows('demo', new Date());
const newAccount = () => createSandbox({ seed: demo, rateLimit: 'off' });

beforeAll(async () => {
  built = await buildSvc();
  sandbox = newAccount();
  server = await serve({ ...sandbox, handle: (asked) => sandbox.handle(asked) }, 0);
  pulled = await mkdtemp(join(tmpdir(), 'svc-pulled-'));
  expect(await inThisProcess({ argv: ['mirror', 'pull'], env: envIn(pulled) })).toMatchObject({ exitCode: 0 });
});
afterAll(() => server.close());

const envIn = (folder: string) => ({
  SVC_BASE_URL: `http://127.0.0.1:${server.port}`,
  SVC_API_KEY: 'key_acme',
  SVC_CONFIG_DIR: join(folder, 'config'),
  SVC_STATE_DIR: join(folder, 'state'),
  SVC_TOKEN_STORE: 'file',
});

let running: ReturnType<typeof startOnTerminal>[] = [];
afterEach(() => {
  for (const one of running) one.kill();
  running = [];
});

const reactionMs = 700;

const node = process.execPath;

/** What is told of an editor that a signal ended, wherever its lines end. */
const saved = (signal: string) =>
  new RegExp(`saved is draft 1\\.[\\s\\S]*was\\s+ended\\s+by\\s+${signal},\\s+so\\s+nothing\\s+was\\s+sent\\.`, 'u');

const onScreen = { command: 'svc inbox', first: /waiting {2}\d+[\s\S]*Ben Castro/u };
const inLines = { command: 'svc inbox --linear', first: /^T-1005: .* q end >/mu };

/** A shell with a copy of the account, with that editor, in which the inbox is begun; every request meets `fault`. */
async function shell(editor: string, fault?: object, { command, first } = onScreen) {
  const [columns, rows] = [100, 30];
  const folder = await mkdtemp(join(tmpdir(), 'svc-inbox-'));
  await cp(pulled, folder, { recursive: true });
  sandbox = newAccount();
  if (fault) await failing(fault);
  const program = join(folder, 'editor.sh');
  await writeFile(program, `#!/bin/sh\n${editor}\n`, { mode: 0o755 });
  const pty = startOnTerminal(['bash', '--norc', '--noprofile', '-i'], {
    cwd: folder,
    columns,
    rows,
    env: { PS1: 'prompt> ', HISTFILE: '', HOME: folder, TMPDIR: folder, EDITOR: program, ...envIn(folder) },
  });
  running.push(pty);
  await pty.shows('prompt>');
  pty.type(`svc() { ${node} ${built.script} "$@"; }; stty -a > before; clear; ${command}\r`);
  await pty.shows(first);
  // Before a row was seen no key is for it.
  if (first === onScreen.first) await wait(reactionMs);
  return {
    ...pty,
    /** What svc says of its drafts once the inbox has ended. */
    async drafts(...more: string[]): Promise<unknown[]> {
      const ran = await inThisProcess({ argv: ['drafts', 'list', '--json', ...more], env: envIn(folder) });
      return JSON.parse(ran.stdout);
    },
    async isAsItWas() {
      await pty.shows('prompt>');
      pty.type('stty -a > after; echo noted\r');
      await pty.shows(/^noted/mu);
      const [before, after] = await Promise.all(
        ['before', 'after'].map((name) => readFile(join(folder, name), 'utf8')),
      );
      expect(after).toBe(before);
      expect(pty.modes()).toMatchObject({ isOther: false, mouseTrackingMode: 'none', wraparoundMode: true });
    },
    async says(command: string, what: string | RegExp) {
      pty.type(`${command}\r`);
      await pty.shows(what);
    },
  };
}

const reply = 'printf "It is fixed.\\n" | cat - "$1" > "$1.new" && cat "$1.new" > "$1"';
/** An editor that writes a reply, after that was set beside the inbox. */
const replying = (...set: string[]) =>
  `${[node, built.script, 'config', 'set', ...set].join(' ')} > /dev/null 2>&1; ${reply}`;

/** Makes coming requests fail. */
async function failing(fault: object) {
  const headers = { host: '127.0.0.1', 'content-type': 'application/json' };
  const asked = { method: 'POST', url: '/_sandbox/faults', headers, body: JSON.stringify(fault) };
  expect((await sandbox.handle(asked)).status).toBeLessThan(300);
}

test('a reply by the editor, then q: sent, and the terminal is as it was', { tags: ['long'] }, async () => {
  const pty = await shell(reply);
  await pty.press('r', 'Sent: a reply to T-1005');
  pty.type('q');
  await pty.isAsItWas();
  await pty.says('svc drafts list --all --json --jq ".[].state"', /^sent$/mu);
});

test('a service that takes its time draws nothing into the screen', { tags: ['long'] }, async () => {
  const pty = await shell('true', { action: 'delay', ms: 700, times: 8 });
  await pty.press('R', 'The copy is up to date.');
  // What a spinner is made of.
  expect(pty.bytes().split('\x1b[?1049h').at(-1)).not.toMatch(/[\u2800-\u28ff]/u);
  pty.type('q');
  await pty.isAsItWas();
});

test('nor over the question of --linear, which waits for a line', { tags: ['long'] }, async () => {
  const pty = await shell('true', { action: 'delay', ms: 700, times: 8 }, inLines);
  // What goes on beside the question takes that long, and a spinner would be there after less than a second.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(pty.bytes().split('q end > ').at(-1)).toBe('');
  pty.type('q\r');
  await pty.isAsItWas();
});

test('a mode that is set beside a running inbox holds there', { tags: ['long'] }, async () => {
  const pty = await shell(replying('sends', 'draft'));
  await pty.press('r', /✎ /u);
  pty.type('q');
  await pty.isAsItWas();
  expect(await pty.drafts('--all')).toMatchObject([{ state: 'waiting' }]);
});

test('so does a hold; while it is asked whether to end, what is held waits', { tags: ['long'] }, async () => {
  const pty = await shell(replying('hold', '10'));
  await pty.press('r', /leaves in \d+ s/u);
  await pty.press('q', 'End now?');
  await pty.shows('leaves in 3 s');
  pty.type('y');
  await pty.isAsItWas();
  expect(await pty.drafts('--all')).toMatchObject([{ state: 'waiting' }]);
});

test('q once more ends it while a reply is on its way, and nothing is called sent', { tags: ['long'] }, async () => {
  const pty = await shell(reply, { method: 'POST', path: '/tickets', action: 'delay', ms: 300_000 });
  await pty.press('r', /Reply to T-1005 …/u);
  await pty.press('q', 'q again ends now');
  pty.type('q');
  await pty.isAsItWas();
  expect(await pty.drafts('--all')).toMatchObject([{ state: expect.stringMatching(/^(?:unknown|waiting)$/u) }]);
});

test('Ctrl-Z and fg bring it back; SIGTERM ends it', async () => {
  const pty = await shell('true');
  await pty.press('\x1a', /Stopped/u);
  expect(pty.modes().isOther).toBe(false);
  await pty.press('fg\r', /waiting {2}\d+[\s\S]*Ben Castro/u);
  await pty.press('j', /^> (?!Ben)/mu);
  execFileSync('pkill', ['-TERM', '-P', String(pty.pid)]);
  await pty.isAsItWas();
});

test('an editor that is killed: what it had saved is a draft, and the inbox goes on', { tags: ['long'] }, async () => {
  const pty = await shell('printf "Half of it.\\n" > "$1"; kill -9 $$');
  await pty.press('r', saved('SIGKILL'));
  await pty.press('j', /^> (?!Ben)/mu);
  pty.type('q');
  await pty.isAsItWas();
  expect(await pty.drafts()).toMatchObject([{ body: expect.stringMatching(/^Half of it\.$/mu) }]);
});

test('svc itself is killed while the editor is open: what was saved is in a file that the next inbox names, and drafts list', {
  tags: ['long'],
}, async () => {
  const pty = await shell('printf "Half of it.\\n" > "$1"; kill -9 $PPID');
  await pty.press('r', /prompt>/u);
  pty.type('reset\r');
  await pty.says('clear; svc drafts list', /svc was killed[\s\S]*unsent/u);
  await pty.says('clear; svc inbox', /waiting {2}\d+[\s\S]*svc was killed/u);
  await pty.press('q', /prompt>/u);
  await pty.says('clear; find . -path "*/unsent/*" -name "text.md" -exec cat {} \\;', /^Half of it\./mu);
});

test('nor is a text lost where svc is killed between its editor and the draft', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-state-'));
  const files = { state: folder };
  const edited = async (kept?: (file: KeptFile) => void) =>
    throughTempFile('Before', 'text.md', { files, kept }, async (path) => writeFile(path, 'After'));
  let file: KeptFile | undefined;
  await edited((one) => {
    file = one;
  });
  const [name = ''] = await readdir(join(folder, 'unsent'));
  expect(await readFile(join(folder, 'unsent', name, 'text.md'), 'utf8')).toBe('After');
  // While it runs it is no text that anybody left.
  expect(await leftInEditors(files)).toEqual([]);
  await file?.remove();
  await edited();
  expect(await readdir(join(folder, 'unsent'))).toEqual([]);
});

test('a terminal that is closed while the editor is open, told of twice: what it had saved is a draft', {
  tags: ['long'],
}, async () => {
  const pty = await shell('printf "Half of it.\\n" > "$1"; kill -HUP $PPID; sleep 0.05; kill -HUP $PPID; sleep 60');
  await pty.press('r', /prompt>/u);
  await pty.isAsItWas();
  expect(await pty.drafts()).toMatchObject([{ body: expect.stringMatching(/^Half of it\.$/mu) }]);
});

test('--linear: after Ctrl-Z and fg it asks again, and goes on with what is typed', { tags: ['long'] }, async () => {
  const pty = await shell('true', undefined, inLines);
  await pty.press('2\r', /T-1007 {2}Thank you![\s\S]*^T-1007: .*q end >/mu);
  for (const number of ['3', '4']) {
    await pty.press('\x1a', /Stopped/u);
    pty.type('clear\r');
    await pty.hides(/Stopped/u);
    await pty.press('fg\r', /q end >/u);
    await pty.press(`${number}\r`, new RegExp(`^T-100${Number(number) + 5}: .*q end >`, 'mu'));
  }
  pty.type('q\r');
  await pty.isAsItWas();
});

test('--linear: what was typed before anything was said is no answer', { tags: ['long'] }, async () => {
  const pty = await shell('true', undefined, { ...inLines, command: `${inLines.command}\re` });
  await pty.press('2\r', /T-1007 {2}Thank you!/u);
  await pty.press('q\r', /prompt>/u);
  expect(pty.bytes()).not.toContain('is resolved');
});

test('--linear: stopped before it has said anything, it begins after fg', { tags: ['long'] }, async () => {
  // Stopped as by Ctrl-Z, in the moment in which it starts.
  const stop = 'if (require("worker_threads").isMainThread) process.kill(process.pid, "SIGTSTP")';
  const pty = await shell('true', undefined, {
    command: `echo '${stop}' > stop.cjs; NODE_OPTIONS="--require ./stop.cjs" svc inbox --linear`,
    first: /Stopped[\s\S]*^prompt>/mu,
  });
  await pty.press('fg\r', inLines.first);
  await pty.press('2\r', /T-1007 {2}Thank you!/u);
  pty.type('q\r');
  await pty.isAsItWas();
});

test('--linear: stopped in the moment in which it asks, it asks again after fg', { tags: ['long'] }, async () => {
  const stop = `if (require("worker_threads").isMainThread) {
    const { write } = process.stdout;
    process.stdout.write = function (text, ...rest) {
      const isWritten = write.call(this, text, ...rest);
      if (/T-1007: .*q end >/u.test(text)) {
        process.stdout.write = write;
        process.kill(process.pid, "SIGTSTP");
      }
      return isWritten;
    };
  }`;
  const pty = await shell('true', undefined, {
    command: `echo '${stop.replaceAll(/\n\s*/gu, ' ')}' > stop.cjs; NODE_OPTIONS="--require ./stop.cjs" svc inbox --linear`,
    first: inLines.first,
  });
  await pty.press('2\r', /Stopped/u);
  pty.type('clear\r');
  await pty.hides(/Stopped/u);
  await pty.press('fg\r', /^T-1007: .*q end >/mu);
  pty.type('q\r');
  await pty.isAsItWas();
});

test('--linear: an editor that a signal ended: what it had saved is a draft, and the signal is named', {
  tags: ['long'],
}, async () => {
  const pty = await shell('printf "Half of it.\\n" > "$1"; kill -TERM $$', undefined, inLines);
  await pty.press('r\r', saved('SIGTERM'));
  pty.type('q\r');
  await pty.isAsItWas();
  expect(await pty.drafts()).toMatchObject([{ body: expect.stringMatching(/^Half of it\.$/mu) }]);
});

test('an editor that saved far too much: nothing is read, and the file that is kept is named', {
  tags: ['long'],
}, async () => {
  const pty = await shell('printf "A text." > "$1"; truncate -s 50G "$1"');
  await pty.press('r', /What the editor saved is 51200\.0 MB long[\s\S]*kept[\s\S]*in[\s\S]*unsent/u);
  await pty.press('j', /^> (?!Ben)/mu);
  pty.type('q');
  await pty.isAsItWas();
  await pty.says('clear; find . -path "*/unsent/*" -exec head -c 7 {} \\;', /^A text\./mu);
  expect(await pty.drafts()).toEqual([]);
});
