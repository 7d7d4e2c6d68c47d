import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { webhookData, webhookEvents } from '../../src/api/webhooks.ts';
import { openStore } from '../../src/auth/store-file.ts';
import { claimSlot, slotsFolder } from '../../src/webhooks/store/folder/slot.ts';
import { endAfterEach } from '../endings.ts';
import { svc } from '../svc.ts';
import { liveWorld, startApp } from './listening.ts';

const secret = 'sample-secret';
const env = { SVC_WEBHOOK_SECRET: secret };
const endings = endAfterEach();
async function world() {
  const made = await liveWorld();
  endings.push(() => made.sandbox.close());
  return made;
}
async function app(...about: Parameters<typeof startApp>) {
  const started = await startApp(...about);
  endings.push(() => started.close());
  return started;
}
const hmac = (body: string, key = secret) => createHmac('sha256', key).update(body).digest('hex');

test.each(webhookEvents)('trigger %s sends what the document describes, signed', async (event) => {
  const [made, target] = [await world(), await app()];
  const ran = await svc(made, ['webhooks', 'trigger', event, '--to', target.url, '--json'], { env });
  expect(ran.exitCode).toBe(0);
  const [got] = target.got;
  const body = got?.body ?? '';
  expect(got?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-svc-event': event,
    'x-svc-signature': hmac(body),
  });
  const envelope = v.parse(
    v.looseObject({
      event: v.string(),
      id: v.string(),
      created_at: v.string(),
      data: v.record(v.string(), v.unknown()),
    }),
    JSON.parse(body),
  );
  expect(envelope.event).toBe(event);
  expect(envelope.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/u);
  v.parse(webhookData[event], envelope.data);
  expect(Object.keys(envelope.data).sort()).toEqual(Object.keys(webhookData[event].entries).sort());
  expect(JSON.parse(ran.stdout)).toMatchObject({ event, id: envelope.id, to: target.url, status: 200 });
});

test('--set changes fields by their kind, and makes new ones', async () => {
  const [made, target] = [await world(), await app()];
  const set = [
    'data.subject=42',
    'data.priority=4',
    'data.contact_id=null',
    'data.extra.deep=[1]',
    'id=evt_mine',
    'data.__proto__.x=1',
  ];
  const argv = set.flatMap((one) => ['--set', one]);
  expect(
    (await svc(made, ['webhooks', 'trigger', 'ticket.created', '--to', target.url, ...argv], { env })).exitCode,
  ).toBe(0);
  const envelope = JSON.parse(target.got[0]?.body ?? '');
  expect(envelope).toMatchObject({
    id: 'evt_mine',
    data: { subject: '42', priority: 4, contact_id: null, extra: { deep: [1] } },
  });
  expect(Object.hasOwn(envelope.data, '__proto__')).toBe(true);
  expect(({} as { x?: number }).x).toBeUndefined();
});

test('--set of a field that the event does not have says so, with the one that was meant', async () => {
  const [made, target] = [await world(), await app()];
  const set = ['data.subjct=typo', 'data.prioritty=4', 'subject=Hello', 'data.extra.deep=1', 'data.status=new', 'id=a'];
  const argv = set.flatMap((one) => ['--set', one]);
  const ran = await svc(made, ['webhooks', 'trigger', 'ticket.created', '--to', target.url, ...argv], { env });
  expect(ran.exitCode).toBe(0);
  const told = (path: string) => `ticket.created has no field ${path}; the sample was sent with it.`;
  expect(ran.stderr.trimEnd().split('\n')).toEqual([
    `${told('data.subjct')} Did you mean data.subject?`,
    `${told('data.prioritty')} Did you mean data.priority?`,
    `${told('subject')} Did you mean data.subject?`,
    told('data.extra.deep'),
  ]);
  expect(JSON.parse(target.got[0]?.body ?? '')).toMatchObject({ subject: 'Hello', data: { subjct: 'typo' } });
});

test('--body sends the very bytes of a file', async () => {
  const [made, target] = [await world(), await app()];
  const file = join(made.folder, 'body');
  writeFileSync(file, ' {"id" : "x"}\r\n');
  await svc(made, ['webhooks', 'trigger', 'ticket.created', '--to', target.url, '--body', file], { env });
  expect(target.got[0]).toMatchObject({
    body: ' {"id" : "x"}\r\n',
    headers: { 'x-svc-signature': hmac(' {"id" : "x"}\r\n') },
  });
});

test.each([
  ['an unknown event', ['ticket.deleted'], env, 2],
  ['no secret', ['ticket.created'], {}, 2],
  ['--set beside --body', ['ticket.created', '--body', '-', '--set', 'id=1'], env, 2],
  ['secret and body both from standard input', ['ticket.created', '--secret-stdin', '--body', '-'], {}, 2],
  ['a field inside a plain value', ['ticket.created', '--set', 'data.subject.x=1'], env, 2],
  ['nobody listening', ['ticket.created', '--to', 'http://127.0.0.1:1/'], env, 10],
] as const)('trigger with %s ends with its exit code', async (_, argv, given, exitCode) => {
  const made = await world();
  expect((await svc(made, ['webhooks', 'trigger', ...argv], { env: given })).exitCode).toBe(exitCode);
});

test('a receiver that refuses makes trigger fail', async () => {
  const [made, target] = [await world(), await app(0, () => 401)];
  const ran = await svc(made, ['webhooks', 'trigger', 'ticket.created', '--to', target.url], { env });
  expect(ran).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/answered 401\.\nIt may have another signing secret: .*SVC_WEBHOOK_SECRET/u),
  });
});

test('sign and verify agree, with the secret from either place', async () => {
  const made = await world();
  const file = join(made.folder, 'body.json');
  writeFileSync(file, '{"id":"evt_1"}');
  const signed = await svc(made, ['webhooks', 'sign', '--body', file], { stdin: `${secret}\n`, env: {} });
  expect(signed.exitCode).toBe(2);
  const fromStdin = await svc(made, ['webhooks', 'sign', '--secret-stdin', '--body', file], { stdin: `${secret}\n` });
  const fromEnv = await svc(made, ['webhooks', 'sign'], { env, stdin: '{"id":"evt_1"}' });
  expect(fromStdin).toMatchObject({ exitCode: 0, stdout: `${hmac('{"id":"evt_1"}')}\n` });
  expect(fromEnv.stdout).toBe(fromStdin.stdout);
  const signature = fromEnv.stdout.trim();
  const valid = await svc(made, ['webhooks', 'verify', '--signature', signature, '--body', file, '--json'], { env });
  expect(valid.exitCode).toBe(0);
  expect(JSON.parse(valid.stdout)).toEqual({ valid: true, why: null });
  const several = { stdin: `other\n${secret}\n` };
  const any = await svc(
    made,
    ['webhooks', 'verify', '--secret-stdin', '--signature', signature, '--body', file],
    several,
  );
  expect(any).toMatchObject({ exitCode: 0, stdout: 'Valid.\n' });
  const wrong = await svc(made, ['webhooks', 'verify', '--signature', signature, '--body', '-'], {
    env,
    stdin: '{"id":"evt_1"}\n',
  });
  expect(wrong).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('Not valid. The body was changed') });
});

test.each([
  ['verify', '--signature', 'a', '--secret-stdin'],
  ['verify', '--signature', 'a', '--secret-stdin', '--body', '-'],
  ['sign', '--secret-stdin'],
])('webhooks %s: secret and body cannot both come from standard input', async (...argv) => {
  const ran = await svc(await world(), ['webhooks', ...argv], { stdin: 'x' });
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('both come from standard input') });
});

test('create shows the secret once and stores it; trigger signs with it; delete forgets it', async () => {
  const [made, target] = [await world(), await app()];
  const tokens = openStore({
    folder: join(made.folder, 'config'),
    clock: made.clock,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    warn: () => {},
  });
  const { store } = await import('../../src/auth/credentials.ts');
  await store(
    tokens,
    { profile: 'default', kind: 'oauth' },
    {
      base_url: 'https://service.test',
      auth_url: 'https://service.test',
      client_id: 'sandbox_cli',
      access_token: made.token,
      issued_at: new Date().toISOString(),
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      scopes: ['webhooks:manage'],
    },
  );
  const ran = await svc(made, ['webhooks', 'create', 'ticket.created', 'https://example.com/hooks', '--json']);
  expect(ran.exitCode).toBe(0);
  const record = JSON.parse(ran.stdout);
  expect(record).toMatchObject({ event_type: 'ticket.created', target_url: 'https://example.com/hooks' });
  expect(await tokens.read(`webhook/default/${record.id}`)).toBe(record.signing_secret);
  await svc(made, ['webhooks', 'trigger', 'ticket.created', '--to', target.url]);
  expect(target.got[0]?.headers['x-svc-signature']).toBe(hmac(target.got[0]?.body ?? '', record.signing_secret));
  expect((await svc(made, ['webhooks', 'delete', String(record.id), '--yes'])).exitCode).toBe(0);
  expect(await tokens.names('webhook/')).toEqual([]);
});

test.each([
  [['ticket.created', 'http://example.com/'], 2],
  [['ticket.created', 'ftp://example.com/'], 2],
  [['ticket.created', 'example.com'], 2],
  [['ticket.deleted', 'https://example.com/'], 2],
  [['ticket.created'], 2],
])('create %j is refused before anything is sent', async (argv, exitCode) => {
  const made = await world();
  const before = made.sent.length;
  const ran = await svc(made, ['webhooks', 'create', ...argv], { env: { SVC_ACCESS_TOKEN: made.token } });
  expect(ran.exitCode).toBe(exitCode);
  expect(made.sent).toHaveLength(before);
});

test('an API key cannot manage webhooks: exit 4 with the command that helps', async () => {
  const ran = await svc(await world(), ['webhooks', 'create', 'ticket.created', 'https://example.com/'], {
    env: { SVC_API_KEY: 'key_acme' },
  });
  expect(ran).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('svc login') });
});

async function filled(count: number) {
  const made = await world();
  const slot = await claimSlot(slotsFolder(join(made.folder, 'state'), 'default'), { limit: 1000 });
  for (let n = 1; n <= count; n++) {
    const event = n % 2 === 0 ? 'ticket.created' : 'feedback.created';
    await slot.inbox.add({
      id: `evt_${n}`,
      event,
      at: new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString(),
      headers: { 'x-svc-event': event, 'x-svc-signature': 'a'.repeat(64), host: 'hooks.example.com' },
      body: Buffer.from(
        JSON.stringify({ event, id: `evt_${n}`, created_at: '', data: { title: 'Über\u001b[2J', subject: 'S' } }),
      ),
    });
  }
  await slot.leave();
  return made;
}

test('inbox list is newest first, 50 unless told otherwise, and filters by event', async () => {
  const made = await filled(60);
  const list = async (...argv: string[]) => {
    const ran = await svc(made, ['webhooks', 'inbox', 'list', '--json', ...argv]);
    return { ids: JSON.parse(ran.stdout).map(({ id }: { id: string }) => id) as string[], stderr: ran.stderr };
  };
  const first = await list();
  expect(first.ids).toHaveLength(50);
  expect(first.ids[0]).toBe('evt_60');
  expect(first.stderr).toContain('Showing 50 of 60');
  expect((await list('--all')).ids).toHaveLength(60);
  expect((await list('--limit', '3', '--event', 'ticket.created')).ids).toEqual(['evt_60', 'evt_58', 'evt_56']);
  expect((await svc(made, ['webhooks', 'inbox', 'list', '--all', '--limit', '2'])).exitCode).toBe(2);
  const plain = await svc(made, ['webhooks', 'inbox', 'list', '--limit', '1']);
  expect(plain.stdout).not.toContain('\u001b');
  expect((await svc(await world(), ['webhooks', 'inbox', 'list', '--json'])).stdout).toBe('[]\n');
});

test('where room is short inbox list has the whole id and what became of the event', async () => {
  const made = await world();
  const slot = await claimSlot(slotsFolder(join(made.folder, 'state'), 'default'), { limit: 1000 });
  const [at, event] = [new Date(0).toISOString(), 'ticket.status_changed'];
  const ids = [`evt_${'0123456789ab'.repeat(3)}`, `rebuilt:contact.updated:${'1'.repeat(64)}`];
  for (const [n, id] of ids.entries()) {
    const body = Buffer.from(JSON.stringify({ event, id, data: {} }));
    await slot.inbox.add({ id, event, at, headers: {}, body, ...(n === 0 && { to: 'http://127.0.0.1:1' }) });
  }
  await slot.leave();
  for (const columns of [60, 80, 100]) {
    const { stdout } = await svc(made, ['webhooks', 'inbox', 'list'], { columns, env: { NO_COLOR: '1' } });
    // Without its state one that failed looks like one that waits.
    expect(stdout).toMatch(/^(?:Received +)?(?:Event +)?ID .*Forwarding/u);
    for (const id of ids) expect(stdout.split(/\s+/u)).toContain(id);
    if (columns >= 80) expect(stdout).toContain('Event');
  }
});

test.each([
  [['conversation.message_received', 'ticket.created'], undefined],
  [['ticket.created', 'ticket.created'], 'http://127.0.0.1:1'],
])(
  'at 80 columns inbox list has when each of %j came, and leaves out what is the same of all first',
  async (events, to) => {
    const made = await world();
    const slot = await claimSlot(slotsFolder(join(made.folder, 'state'), 'default'), { limit: 1000 });
    for (const [n, event] of events.entries()) {
      const id = `evt_${String(n).repeat(24)}`;
      const at = new Date(Date.UTC(2026, 0, 1, 9, n)).toISOString();
      const body = Buffer.from(JSON.stringify({ event, id, data: {} }));
      await slot.inbox.add({ id, event, at, headers: {}, body, ...(n === 0 && to && { to }) });
    }
    await slot.leave();
    const { stdout } = await svc(made, ['webhooks', 'inbox', 'list'], { columns: 80, env: { NO_COLOR: '1' } });
    expect(stdout).toMatch(/^Received +Event +ID/u);
    for (const time of ['2026-01-01 09:00', '2026-01-01 09:01']) expect(stdout).toContain(time);
    if (to !== undefined) expect(stdout).toContain('waiting');
  },
);

test('inbox show takes an id or its beginning, and makes customer text harmless', async () => {
  const made = await filled(12);
  const shown = await svc(made, ['webhooks', 'inbox', 'show', 'evt_7'], { columns: 100, env: { NO_COLOR: '1' } });
  expect(shown.stdout).toContain('feedback.created');
  expect(shown.stdout).toContain('x-svc-signature: aaaa');
  expect(shown.stdout).not.toContain('\u001b');
  expect((await svc(made, ['webhooks', 'inbox', 'show', 'evt_12', '--json'])).exitCode).toBe(0);
  expect((await svc(made, ['webhooks', 'inbox', 'show', 'evt_1', '--json'])).exitCode).toBe(0);
  expect((await svc(made, ['webhooks', 'inbox', 'show', 'evt_'])).exitCode).toBe(2);
  expect((await svc(made, ['webhooks', 'inbox', 'show', 'nothing'])).exitCode).toBe(3);
});

test('replay sends the stored bytes with their headers, in the order asked for', async () => {
  const [made, target] = [await filled(3), await app(0, ({ body }) => (body.includes('evt_2') ? 500 : 200))];
  const ran = await svc(made, ['webhooks', 'inbox', 'replay', 'evt_3', 'evt_1', '--to', target.url, '--json']);
  expect(ran.exitCode).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject([
    { id: 'evt_3', status: 200 },
    { id: 'evt_1', status: 200 },
  ]);
  expect(target.ids()).toEqual(['evt_3', 'evt_1']);
  expect(target.got[0]?.headers).toMatchObject({ 'x-svc-signature': 'a'.repeat(64), host: new URL(target.url).host });
  const partly = await svc(made, ['webhooks', 'inbox', 'replay', 'evt_1', 'evt_2', '--to', target.url]);
  expect(partly).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('1 of 2') });
  // On a terminal there is a list to choose from, the newest first.
  const before = target.got.length;
  const asked = await svc(made, ['webhooks', 'inbox', 'replay', '--to', target.url], {
    columns: 80,
    answers: ['evt_2'],
  });
  expect([asked.exitCode, target.got.length]).toEqual([8, before + 1]);
  expect((await svc(made, ['webhooks', 'inbox', 'replay', 'evt_1'])).exitCode).toBe(2);
  expect((await svc(made, ['webhooks', 'inbox', 'replay', 'evt_1', 'evt_99', '--to', target.url])).exitCode).toBe(3);
  expect(target.got).toHaveLength(5);
});

test('replay of an event that is named twice, by its id or the beginning of it, sends it once', async () => {
  const [made, target] = [await filled(1), await app()];
  const ids = ['evt_1', 'evt_', 'evt_1', 'evt'];
  const ran = await svc(made, ['webhooks', 'inbox', 'replay', ...ids, '--to', target.url, '--json']);
  expect(JSON.parse(ran.stdout)).toMatchObject([{ id: 'evt_1', status: 200 }]);
  expect(target.ids()).toEqual(['evt_1']);
  await svc(made, ['webhooks', 'inbox', 'replay', 'evt_', 'evt', '--to', target.url]);
  expect(target.ids()).toEqual(['evt_1', 'evt_1']);
});

test('replay --last sends the newest again, the oldest of them first', async () => {
  const [made, target] = [await filled(12), await app()];
  const replay = (...words: string[]) => svc(made, ['webhooks', 'inbox', 'replay', '--to', target.url, ...words]);
  expect(await replay('--last', '3')).toMatchObject({ exitCode: 0 });
  expect(target.ids()).toEqual(['evt_10', 'evt_11', 'evt_12']);
  expect(await replay('--last', '99')).toMatchObject({ exitCode: 0 });
  expect(target.got).toHaveLength(15);
  for (const words of [
    ['--last', '0'],
    ['--last', '2', 'evt_1'],
  ])
    expect(await replay(...words)).toMatchObject({ exitCode: 2, stdout: '' });
  const none = await svc(await world(), ['webhooks', 'inbox', 'replay', '--last', '1', '--json']);
  expect(none).toMatchObject({ exitCode: 3, stdout: '', stderr: expect.stringContaining('No events received yet.') });
  expect(none.stderr).toContain('To receive some: svc webhooks listen');
  expect(target.got).toHaveLength(15);
});

test('replay --last leaves out, by name, what was never meant for anything', async () => {
  const [made, target] = [await world(), await app()];
  const slot = await claimSlot(slotsFolder(join(made.folder, 'state'), 'default'), { limit: 1000 });
  const at = new Date(0).toISOString();
  const event = (id: string, to: object) =>
    slot.inbox.add({ id, event: 'ticket.created', at, headers: {}, body: Buffer.from(`{"id":"${id}"}`), ...to });
  await event('evt_1', { to: target.url });
  await event('evt_2', {});
  await event('evt_3', { to: target.url });
  await slot.leave();
  const ran = await svc(made, ['webhooks', 'inbox', 'replay', '--last', '3']);
  expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Left out: evt_2 was never forwarded') });
  expect(target.ids()).toEqual(['evt_1', 'evt_3']);
  // Whoever names such an event hears so before anything is sent.
  const none = await svc(made, ['webhooks', 'inbox', 'replay', 'evt_2', 'evt_3']);
  expect([none.exitCode, target.got.length]).toEqual([2, 2]);
});

test('purge asks, and then leaves nothing', async () => {
  const made = await filled(3);
  const list = async () => JSON.parse((await svc(made, ['webhooks', 'inbox', 'list', '--json'])).stdout).length;
  const unasked = await svc(made, ['webhooks', 'inbox', 'purge']);
  expect([unasked.exitCode, unasked.stderr]).toEqual([2, expect.stringMatching(/of svc webhooks listen/u)]);
  expect((await svc(made, ['webhooks', 'inbox', 'purge'], { columns: 80, answers: [false] })).exitCode).toBe(1);
  expect(await list()).toBe(3);
  const ran = await svc(made, ['webhooks', 'inbox', 'purge', '--yes', '--json']);
  expect(JSON.parse(ran.stdout)).toEqual({ deleted: 3 });
  expect(await list()).toBe(0);
});

test('inbox replay without an id, where nothing was received, says that there is nothing to choose from', async () => {
  const ran = await svc(await world(), ['webhooks', 'inbox', 'replay'], { columns: 80, answers: [] });
  expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
  expect(ran.stderr).toContain('The list is empty: svc webhooks inbox list');
});
