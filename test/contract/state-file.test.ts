import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openSandbox, type Running } from '../../src/sandbox/open.ts';
import { type Built, buildSvc } from '../built.ts';
import { inTurn } from '../thorough.ts';

// `--state FILE` keeps everything (records, tokens, subscriptions) through SIGKILL. A process is killed where it is at work;
// what only reads a file afterwards, or one that was made by hand, is a sandbox in this process, without its start.

let svc: Built;
let file: string;
const running = new Set<ChildProcess>();
const opened = new Set<Running>();

beforeAll(async () => {
  svc = await buildSvc();
});
afterAll(() => svc.remove());
beforeEach(({ task }) => {
  file = join(svc.folder, `${task.id}.state`);
});
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  for (const sandbox of opened) await sandbox.close();
  opened.clear();
});

function spawnSandbox(flags: readonly string[]) {
  const child = spawn(process.execPath, [svc.script, 'sandbox', 'start', '--port', '0', '--json', ...flags], {
    env: { PATH: process.env.PATH, HOME: svc.folder, TMPDIR: svc.folder },
  });
  running.add(child);
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return { code, signal, stderr };
  });
  return { child, ended };
}

async function start(...flags: string[]) {
  const { child, ended } = spawnSandbox(['--state', file, '--rate-limit', 'off', ...flags]);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [line] = (await Promise.race([
    once(lines, 'line'),
    ended.then(({ stderr }) => Promise.reject(new Error(stderr))),
  ])) as [string];
  const send = sendTo(JSON.parse(line).base_url);
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  const stop = async () => {
    child.kill('SIGTERM');
    return ended;
  };
  return { send, kill, stop };
}

const openFile = (state: string, seed?: string) =>
  openSandbox({ port: 0, state, rate_limit: 'off', ...(seed !== undefined && { seed }) }, () => {});

async function open(seed?: string) {
  const sandbox = await openFile(file, seed);
  opened.add(sandbox);
  return { send: sendTo(sandbox.address.base_url) };
}

/** The file as a kill at this moment would leave it. */
function cutOff(): void {
  const left = `${file}.left`;
  copyFileSync(file, left);
  file = left;
}

const sendTo =
  (base: string) =>
  async (request: string, body?: unknown, token = 'key_acme') => {
    const [method = '', path = ''] = request.split(' ');
    const response = await fetch(base + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: what came back is what is being judged
    return { status: response.status, body: (await response.json()) as any };
  };

const email = (n: number) => `p${n}@example.com`;

test('records, tokens, subscriptions, modules and the clock are there after SIGKILL', { tags: ['long'] }, async () => {
  const first = await start('--seed', 'empty');
  const contact = { name: '😀 Ada', last_name: 'Lovelace', email: 'ada@example.com', phone: '+12025550101' };
  const { contacts } = (await first.send('POST /contacts/create', contact)).body;
  await first.send('POST /tickets', { subject: 'Printer', contact_id: contacts.contact_id });
  const { body: pair } = await first.send('POST /_sandbox/tokens', { account_id: 1, scopes: ['webhooks:manage'] });
  const hook = { event_type: 'ticket.created', target_url: 'https://hooks.example.com/svc' };
  const made = (await first.send('POST /oauth-platform/webhooks', hook, pair.access_token)).body;
  await first.send('POST /_sandbox/modules', { account_id: 1, roadmap: false });
  await first.send('POST /_sandbox/clock', { advance_seconds: 1800 });
  const before = (await first.send('GET /_sandbox/state')).body;
  await first.kill();

  const second = await open();
  expect((await second.send('GET /_sandbox/state')).body).toEqual(before);
  expect((await second.send('GET /contacts')).body.contacts).toMatchObject([contact]);
  const { body } = await second.send('GET /oauth-platform/webhooks', undefined, pair.access_token);
  expect(body.webhooks).toMatchObject([{ id: made.id, ...hook }]);
  expect((await second.send('GET /roadmap')).status).toBe(403);
  // A connection made after the restart is a new one, and sees nothing of the others.
  const { body: later } = await second.send('POST /_sandbox/tokens', { account_id: 1, scopes: ['webhooks:manage'] });
  expect((await second.send('GET /oauth-platform/webhooks', undefined, later.access_token)).body.webhooks).toEqual([]);
  // The clock still runs half an hour ahead: the token has as much less to live.
  await second.send('POST /_sandbox/clock', { advance_seconds: 1801 });
  expect((await second.send('GET /oauth-platform/webhooks', undefined, pair.access_token)).status).toBe(401);
});

test('whatever was answered is there, however it was cut off', { tags: ['long'] }, async () => {
  let answered = 0;
  for (let round = 0; round < 2; round++) {
    const sandbox = await start('--seed', 'empty');
    const kept = (await sandbox.send('GET /contacts?per_page=100')).body.meta.total;
    expect(kept).toBeGreaterThanOrEqual(answered);
    answered = kept;
    let sent = 0;
    const writer = async () => {
      for (;;) {
        try {
          const { status } = await sandbox.send('POST /platform/contacts/sync', {
            contacts: [{ email: `${round}-${sent++}@example.com`, name: '😀' }],
          });
          if (status === 200) answered++;
        } catch {
          return;
        }
      }
    };
    const writers = Promise.all(Array.from({ length: 8 }, writer));
    while (answered < kept + 40) await new Promise((resolve) => setImmediate(resolve));
    await sandbox.kill();
    await writers;
  }
  const last = await open();
  expect((await last.send('GET /contacts')).body.meta.total).toBeGreaterThanOrEqual(answered);
});

test('SIGTERM is the normal end, and the state is there afterwards', { tags: ['long'] }, async () => {
  const first = await start('--seed', 'empty');
  await first.send('POST /platform/contacts/sync', { contacts: [{ email: email(1) }] });
  expect(await first.stop()).toMatchObject({ code: 0 });
  const second = await open();
  expect((await second.send('GET /contacts')).body.meta.total).toBe(1);
});

test('a reset is kept too', async () => {
  const first = await open('empty');
  await first.send('POST /platform/contacts/sync', { contacts: [{ email: email(1) }] });
  await first.send('POST /_sandbox/reset', {});
  await first.send('POST /platform/contacts/sync', {
    contacts: [{ email: email(2), name: '😀' }, { email: email(3) }],
  });
  cutOff();
  const second = await open();
  const { contacts } = (await second.send('GET /contacts')).body;
  expect(contacts.map((c: { email: string }) => c.email)).toEqual([email(3), email(2)]);
});

test('a damaged file is a clear error and is left as it is', async () => {
  const sandbox = await open('empty');
  for (let n = 0; n < 5; n++) await sandbox.send('POST /platform/contacts/sync', { contacts: [{ email: email(n) }] });
  cutOff();
  const good = readFileSync(file);
  const damages: Record<string, Buffer> = {
    'a flipped byte': Buffer.from(good.map((byte, at) => (at === good.length >> 1 ? byte ^ 1 : byte))),
    'half of it': good.subarray(0, good.length >> 1),
    'another format': Buffer.from('{"accounts": []}\n'),
    'no text at all': Buffer.from([0, 255, 254, 1, 2, 3]),
    'a missing head': good.subarray(10),
  };
  const files = Object.entries(damages).map(([what, bytes], at) => ({ what, bytes, damaged: `${file}.${at}` }));
  for (const { damaged, bytes } of files) writeFileSync(damaged, bytes);
  for (const { what, damaged } of files) {
    const refusal = { kind: 'failed', message: expect.stringContaining(damaged) };
    await expect(openFile(damaged), what).rejects.toMatchObject(refusal);
  }
  await Promise.all(
    inTurn(files, 0, files.length).map(async ({ what, damaged }) => {
      const { code, stderr } = await spawnSandbox(['--state', damaged]).ended;
      expect([what, code, stderr]).toEqual([what, 1, expect.stringContaining(damaged)]);
      expect(stderr, what).not.toMatch(/\n\s+at /u);
    }),
  );
  for (const { what, bytes, damaged } of files) expect(readFileSync(damaged).equals(bytes), what).toBe(true);
});

test('what a crash tore off at the end was answered to nobody and is dropped', async () => {
  const sandbox = await open('empty');
  await sandbox.send('POST /platform/contacts/sync', { contacts: [{ email: email(1) }] });
  cutOff();
  writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from('0badcafe [["contacts",99,{"contact')]));
  const again = await open();
  expect((await again.send('GET /contacts')).body.meta.total).toBe(1);
  await again.send('POST /platform/contacts/sync', { contacts: [{ email: email(2) }] });
  cutOff();
  const third = await open();
  expect((await third.send('GET /contacts')).body.meta.total).toBe(2);
});

test('a folder in the place of the file is a clear error', async () => {
  const refusal = { kind: 'failed', message: expect.stringContaining(svc.folder) };
  await expect(openFile(svc.folder)).rejects.toMatchObject(refusal);
});

test('of two sandboxes on one file the second refuses', { tags: ['long'] }, async () => {
  const first = await start('--seed', 'empty');
  await expect(openFile(file)).rejects.toMatchObject({ kind: 'failed', message: expect.stringContaining(file) });
  expect((await first.send('GET /contacts')).status).toBe(200);
  await first.kill();
});

test('a copy of the file is a sandbox of its own', async () => {
  const first = await open('empty');
  await first.send('POST /platform/contacts/sync', { contacts: [{ email: email(1) }] });
  const made = file;
  cutOff();
  rmSync(made);
  const second = await open();
  expect((await second.send('GET /contacts')).body.meta.total).toBe(1);
});
