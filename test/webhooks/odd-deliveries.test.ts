// @module-tag long
import { appendFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sign } from '../../src/api/signature.ts';
import { slotsFolder } from '../../src/webhooks/store/folder/slot.ts';
import { endAfterEach } from '../endings.ts';
import { svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';
import { listening, liveWorld, startApp } from './listening.ts';

const secret = 'sample-secret';
const env = { SVC_WEBHOOK_SECRET: secret };
const endings = endAfterEach();

/** Signed by the service, whatever it is. */
function deliver(url: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<number> {
  const bytes = Buffer.from(body as string);
  return new Promise((resolve, reject) => {
    const asking = request(
      url,
      {
        method: 'POST',
        headers: { 'x-svc-event': 'ticket.created', 'x-svc-signature': sign(secret, bytes), ...headers },
      },
      (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    asking.on('error', reject);
    asking.end(bytes);
  });
}

const deep = (levels: number, inside = '1') => '['.repeat(levels) + inside + ']'.repeat(levels);
const envelope = (id: string, data = '{}', event = 'ticket.created') =>
  `{"id":${JSON.stringify(id)},"event":${JSON.stringify(event)},"created_at":"2026-01-01T00:00:00Z","data":${data}}`;

const unreadable: readonly [string, string | Buffer][] = [
  ['a list, 20,000 levels deep', deep(20_000)],
  ['an envelope whose data is 20,000 levels deep', envelope('deep', deep(20_000))],
  [
    'an envelope whose data is objects, 20,000 levels deep',
    envelope('deep', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`),
  ],
  ['half a megabyte of open brackets', '['.repeat(500_000)],
  ['null', 'null'],
  ['a number', '42'],
  ['a text', '"evt_1"'],
  ['a list', '[{"id":"evt_1"}]'],
  ['nothing', ''],
  ['an object without an id', '{}'],
  ['an id that is a number', '{"id":7}'],
  ['an id that is an object', '{"id":{"__proto__":"x"}}'],
  ['an empty id', '{"id":""}'],
  ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0, 1, 0x7b])],
  ['JSON with U+0000', '{"id":"\0"}'],
];
const readable: readonly [string, string, string][] = [
  ['__proto__', '__proto__', envelope('__proto__')],
  ['constructor', 'constructor', envelope('constructor')],
  ['an id with everything in it', '../../etc/passwd\n\u0000\u001b[2J', envelope('../../etc/passwd\n\u0000\u001b[2J')],
  ['an id of half a megabyte', 'x'.repeat(500_000), envelope('x'.repeat(500_000))],
  ['half a surrogate pair as id', '\ud800', '{"id":"\\ud800","event":"ticket.created","data":{}}'],
  ['data that is null', 'null-data', envelope('null-data', 'null')],
  ['data that is a number', 'number-data', envelope('number-data', '1e400')],
  ['data that is a list', 'list-data', envelope('list-data', '[[],{}]')],
  ['data with __proto__', 'proto-data', envelope('proto-data', '{"__proto__":{"subject":"x"},"constructor":1}')],
  ['an event called __proto__', 'proto-event', envelope('proto-event', '{}', '__proto__')],
  ['an event called constructor', 'constructor-event', envelope('constructor-event', '{}', 'constructor')],
  ['150 levels', 'levels', envelope('levels', deep(150))],
  ['fields of the wrong kind', 'wrong', envelope('wrong', '{"ticket_number":{},"subject":[[]],"status":null}')],
];

const formats = [['--json'], [], ['--jq', '.id']];
/** What the next run knows does not depend on what this one printed. */
const startedAgain = inTurn(formats, 0, formats.length);

for (const format of formats) {
  const again = startedAgain.includes(format);
  const what = again
    ? 'odd deliveries are stored, shown and passed on, and the next run knows them'
    : 'odd deliveries are stored, shown and passed on';
  test(`${what} (${format.join(' ') || 'plain'})`, async () => {
    const made = await liveWorld();
    endings.push(() => made.sandbox.close());
    const app = await startApp();
    endings.push(() => app.close());
    const argv = [...format, '--forward-to', app.url];
    const first = await listening(made, argv, { env });
    for (const [what, body] of unreadable) expect(await deliver(first.url, body), what).toBe(204);
    for (const [what, , body] of readable) expect(await deliver(first.url, body), what).toBe(204);
    const all = unreadable.length + readable.length;
    await first.until(() => app.got.length === all);
    expect(new Set(app.got.map(({ body }) => body)).size).toBeGreaterThanOrEqual(all - 2);
    expect(await first.end()).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(`${unreadable.length} unreadable`),
    });

    if (!again) return;
    // Known again after a restart: answered, and dropped.
    const second = await listening(made, [...argv, '--inspect', '--inspect-port', '0'], { env });
    for (const [what, , body] of readable) expect(await deliver(second.url, body), what).toBe(204);
    await second.until(() => second.said.stderr.includes('Inspect'));
    const page = /Inspect the events at (\S+)/u.exec(second.said.stderr)?.[1] ?? '';
    const { origin, search } = new URL(page);
    // A URL holds neither half a megabyte nor half a pair.
    for (const [what, id] of readable.filter(([, one]) => one.length < 1000 && one !== '\ud800')) {
      const shown = await fetch(`${origin}/deliveries/${encodeURIComponent(id)}${search}`);
      expect(shown.status, what).toBe(200);
    }
    const ended = await second.end();
    expect(ended).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(`${readable.length} repeated`) });
    expect(app.got).toHaveLength(all);
  });
}

test('odd deliveries are listed, shown and replayed', async () => {
  const made = await liveWorld();
  endings.push(() => made.sandbox.close());
  const running = await listening(made, ['--json'], { env });
  for (const [, body] of unreadable) await deliver(running.url, body);
  for (const [, , body] of readable) await deliver(running.url, body);
  await running.end();
  const listed = await svc(made, ['webhooks', 'inbox', 'list', '--all', '--json']);
  expect(listed.exitCode).toBe(0);
  const ids: string[] = JSON.parse(listed.stdout).map(({ id }: { id: string }) => id);
  expect(ids).toHaveLength(unreadable.length + readable.length);
  for (const columns of [undefined, 80]) {
    expect((await svc(made, ['webhooks', 'inbox', 'list', '--all'], { columns })).exitCode).toBe(0);
    // On a terminal or in a pipe: every other one.
    for (const id of inTurn(ids, columns === undefined ? 0 : 1, 2)) {
      const shown = await svc(made, ['webhooks', 'inbox', 'show', id], { columns });
      expect(shown.exitCode, id.slice(0, 40)).toBe(0);
    }
  }
  const app = await startApp();
  endings.push(() => app.close());
  const replayed = await svc(made, ['webhooks', 'inbox', 'replay', ...ids, '--to', app.url]);
  expect(replayed.exitCode).toBe(0);
  expect(app.got).toHaveLength(ids.length);
});

test('an inbox that somebody wrote into is read: what was accepted is listed, shown and passed on', async () => {
  const made = await liveWorld();
  endings.push(() => made.sandbox.close());
  const app = await startApp();
  endings.push(() => app.close());
  const first = await listening(made, ['--json'], { env });
  await deliver(first.url, envelope('evt_1'));
  await first.end();
  const slot = join(slotsFolder(join(made.folder, 'state'), 'default'), '1');
  const damage = [
    'null',
    '7',
    '"text"',
    '[]',
    '{"id":"a"}',
    '{"id":7,"body":"x"}',
    '{"id":"b","event":5,"at":null,"headers":null,"to":7,"unreadable":{},"body":"bare"}',
    `{"id":"c","event":"ticket.created","at":"x","headers":{"a":1,"b":"ok"},"to":${JSON.stringify(app.url)},"body":"{}"}`,
    '{"id":"evt_1","outcome":{}}',
    '{"id":"evt_1","outcome":{"to":null,"at":5,"ms":"x","tries":[]}}',
    `{"id":"d","body":${JSON.stringify(deep(20_000))}}`,
    '{"limit":"x"}',
    deep(20_000),
    '{"id":"torn","bo',
  ];
  appendFileSync(join(slot, 'inbox.jsonl'), damage.join('\n'));
  const second = await listening(made, ['--json', '--forward-to', app.url], { env });
  await second.until(() => app.got.length === 1);
  expect((await second.end()).exitCode).toBe(0);
  const listed = await svc(made, ['webhooks', 'inbox', 'list', '--all', '--json']);
  const ids = JSON.parse(listed.stdout).map(({ id }: { id: string }) => id);
  expect(ids.sort()).toEqual(['b', 'c', 'd', 'evt_1']);
  for (const id of ids) expect((await svc(made, ['webhooks', 'inbox', 'show', id], { columns: 80 })).exitCode).toBe(0);
  expect((await svc(made, ['webhooks', 'inbox', 'replay', ...ids, '--to', app.url])).exitCode).toBe(0);
  expect(app.got).toHaveLength(5);
});

test('headers of any name are kept and passed on, and never crash', async () => {
  const made = await liveWorld();
  endings.push(() => made.sandbox.close());
  const app = await startApp();
  endings.push(() => app.close());
  const running = await listening(made, ['--json', '--forward-to', app.url], { env });
  const headers = Object.fromEntries([
    ['__proto__', 'x'],
    ['constructor', 'y'],
    ['x-latin', 'Zo\u00eb'],
    ['content-encoding', '__proto__'],
    ['set-cookie', 'a=1'],
  ]);
  expect(await deliver(running.url, envelope('evt_1'), headers)).toBe(204);
  await running.until(() => app.got.length === 1);
  expect(app.got[0]?.headers).toMatchObject({ constructor: 'y', 'content-encoding': '__proto__' });
  expect((await running.end()).exitCode).toBe(0);
  const shown = await svc(made, ['webhooks', 'inbox', 'show', 'evt_1'], { columns: 80, env: { NO_COLOR: '1' } });
  expect(shown).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('set-cookie: a=1') });
});

test('what the app answers with an error is marked as a failure, on a terminal', async () => {
  const made = await liveWorld();
  endings.push(() => made.sandbox.close());
  const app = await startApp(0, ({ body }) => (body.includes('good') ? 204 : 500));
  endings.push(() => app.close());
  const running = await listening(made, ['--forward-to', app.url], { env: { ...env, NO_COLOR: '1' }, columns: 120 });
  await deliver(running.url, envelope('bad'));
  await deliver(running.url, envelope('good'));
  await running.until(() => app.got.length === 2 && running.said.stdout.includes('204 in'));
  expect(running.said.stdout).toMatch(/bad +✗ 500 in \d+ ms/u);
  expect(running.said.stdout).toMatch(/good +✓ 204 in \d+ ms/u);
  await running.end();
});
