import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';

// `--state FILE` keeps everything (records, tokens, subscriptions) through SIGKILL.

let svc: Built;
let file: string;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  svc = await buildSvc();
});
afterAll(() => svc.remove());
beforeEach(({ task }) => {
  file = join(svc.folder, `${task.id}.state`);
});
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
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
  const { base_url } = JSON.parse(line);
  const send = async (request: string, body?: unknown, token = 'key_acme') => {
    const [method = '', path = ''] = request.split(' ');
    const response = await fetch(base_url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: what came back is what is being judged
    return { status: response.status, body: (await response.json()) as any };
  };
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

const email = (n: number) => `p${n}@example.com`;

test('records, tokens, subscriptions, modules and the clock are there after SIGKILL', async () => {
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

  const second = await start();
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
  await second.kill();
});

test('whatever was answered is there, however it was cut off', async () => {
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
  const last = await start();
  expect((await last.send('GET /contacts')).body.meta.total).toBeGreaterThanOrEqual(answered);
  await last.kill();
});

test('SIGTERM is the normal end, and the state is there afterwards', async () => {
  const first = await start('--seed', 'empty');
  await first.send('POST /platform/contacts/sync', { contacts: [{ email: email(1) }] });
  expect(await first.stop()).toMatchObject({ code: 0 });
  const second = await start();
  expect((await second.send('GET /contacts')).body.meta.total).toBe(1);
  await second.kill();
});

test('a reset is kept too', async () => {
  const first = await start('--seed', 'empty');
  await first.send('POST /platform/contacts/sync', { contacts: [{ email: email(1) }] });
  await first.send('POST /_sandbox/reset', {});
  await first.send('POST /platform/contacts/sync', {
    contacts: [{ email: email(2), name: '😀' }, { email: email(3) }],
  });
  await first.kill();
  const second = await start();
  const { contacts } = (await second.send('GET /contacts')).body;
  expect(contacts.map((c: { email: string }) => c.email)).toEqual([email(3), email(2)]);
  await second.kill();
});

test('a damaged file is a clear error and is left as it is', async () => {
  const sandbox = await start('--seed', 'empty');
  for (let n = 0; n < 5; n++) await sandbox.send('POST /platform/contacts/sync', { contacts: [{ email: email(n) }] });
  await sandbox.kill();
  const good = readFileSync(file);
  const damages: Record<string, Buffer> = {
    'a flipped byte': Buffer.from(good.map((byte, at) => (at === good.length >> 1 ? byte ^ 1 : byte))),
    'half of it': good.subarray(0, good.length >> 1),
    'another format': Buffer.from('{"accounts": []}\n'),
    'no text at all': Buffer.from([0, 255, 254, 1, 2, 3]),
    'a missing head': good.subarray(10),
  };
  await Promise.all(
    Object.entries(damages).map(async ([what, bytes], at) => {
      const damaged = `${file}.${at}`;
      writeFileSync(damaged, bytes);
      const { code, stderr } = await spawnSandbox(['--state', damaged]).ended;
      expect([what, code, stderr]).toEqual([what, 1, expect.stringContaining(damaged)]);
      expect(stderr, what).not.toMatch(/\n\s+at /u);
      expect(readFileSync(damaged).equals(bytes), what).toBe(true);
    }),
  );
});

test('what a crash tore off at the end was answered to nobody and is dropped', async () => {
  const sandbox = await start('--seed', 'empty');
  await sandbox.send('POST /platform/contacts/sync', { contacts: [{ email: email(1) }] });
  await sandbox.kill();
  writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from('0badcafe [["contacts",99,{"contact')]));
  const again = await start();
  expect((await again.send('GET /contacts')).body.meta.total).toBe(1);
  await again.send('POST /platform/contacts/sync', { contacts: [{ email: email(2) }] });
  await again.kill();
  const third = await start();
  expect((await third.send('GET /contacts')).body.meta.total).toBe(2);
  await third.kill();
});

test('a folder in the place of the file is a clear error', async () => {
  const { code, stderr } = await spawnSandbox(['--state', svc.folder]).ended;
  expect([code, stderr]).toEqual([1, expect.stringContaining(svc.folder)]);
});

test('of two sandboxes on one file the second refuses', async () => {
  const first = await start('--seed', 'empty');
  const { code, stderr } = await spawnSandbox(['--state', file]).ended;
  expect([code, stderr]).toEqual([1, expect.stringContaining(file)]);
  expect((await first.send('GET /contacts')).status).toBe(200);
  await first.kill();
});

test('a copy of the file is a sandbox of its own', async () => {
  const first = await start('--seed', 'empty');
  await first.send('POST /platform/contacts/sync', { contacts: [{ email: email(1) }] });
  const copy = `${file}.copy`;
  copyFileSync(file, copy);
  await first.kill();
  rmSync(file);
  file = copy;
  const second = await start();
  expect((await second.send('GET /contacts')).body.meta.total).toBe(1);
  await second.kill();
});
