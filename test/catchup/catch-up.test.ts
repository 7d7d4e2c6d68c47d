import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { sign } from '../../src/api/signature.ts';
import { webhookData, webhookEvents } from '../../src/api/webhooks.ts';
import { store } from '../../src/auth/credentials.ts';
import { openStore } from '../../src/auth/store-file.ts';
import { createMemory, rebuiltSince } from '../../src/catchup/rebuilt-since.ts';
import { Failure } from '../../src/errors.ts';
import { endAfterEach } from '../endings.ts';
import { few } from '../sandbox-world.ts';
import { svc, virtualClock } from '../svc.ts';
import { listening, liveWorld, startApp } from '../webhooks/listening.ts';
import { body, deliver, secret, serving } from '../webhooks/serving.ts';
import { forBoth, newDatabase } from '../webhooks/stores.ts';

const env = { SVC_WEBHOOK_SECRET: secret, SVC_API_KEY: 'key_acme' };
const endings = endAfterEach();
async function setting(seed: Parameters<typeof liveWorld>[1] = few) {
  const [world, app] = [await liveWorld({}, seed), await startApp()];
  endings.push(
    () => world.sandbox.close(),
    () => app.close(),
  );
  const catchUp = (...argv: string[]) => svc(world, ['webhooks', 'catch-up', '--json', ...argv], { env });
  // What is missed has happened two minutes ago: the service has given up on it.
  const miss = async (subject = 'Missed') => {
    const argv = ['tickets', 'create', '--subject', subject, '--json'];
    const made = JSON.parse((await svc(world, argv, { env })).stdout);
    await world.control('clock', { advance_seconds: 125 });
    return made;
  };
  return { world, app, catchUp, miss };
}
const ofAll = ['--since', '2000-01-01'];

test('a dry run without anything to rebuild knows its fields all the same', async () => {
  const { catchUp } = await setting();
  const ahead = ['--dry-run', '--since', '1m'];
  const strange = await catchUp(...ahead, '--fields', 'nope');
  expect(strange).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('Fields: id, event,') });
  expect(await catchUp(...ahead, '--fields', 'id,data.ticket')).toMatchObject({ exitCode: 0, stdout: '[]\n' });
});

test('every event is rebuilt from its record as the service documents it, in order, signed, and sent once', {
  tags: ['long'],
}, async () => {
  const { app, catchUp } = await setting();
  const ran = await catchUp(...ofAll, '--to', app.url);
  expect(ran.exitCode).toBe(0);
  const envelopes = app.got.map((got) => JSON.parse(got.body));
  expect(JSON.parse(ran.stdout)).toMatchObject({ rebuilt: envelopes.length, sent: envelopes.length, failed: 0 });
  expect(new Set(envelopes.map(({ event }) => event))).toEqual(new Set(webhookEvents));
  for (const { headers, body: text } of app.got) {
    expect(headers).toMatchObject({ 'x-svc-rebuilt': '1', 'x-svc-signature': sign(secret, Buffer.from(text)) });
    const { event, id, created_at, data } = JSON.parse(text);
    expect(headers['x-svc-event']).toBe(event);
    expect(id).toMatch(new RegExp(`^rebuilt:${event.replace('.', '\\.')}:\\d+$`, 'u'));
    expect(created_at).toMatch(/\+00:00$/u);
    const entries = webhookData[event as keyof typeof webhookData].entries;
    expect(Object.keys(data).sort()).toEqual(Object.keys(entries).sort());
    const whole = event === 'call.completed' ? { ...data, ended_reason: '' } : data;
    if (event === 'call.completed') expect(data.ended_reason).toBeNull();
    expect(v.safeParse(webhookData[event as keyof typeof webhookData], whole).issues).toBeUndefined();
  }
  const times = envelopes.map(({ created_at }) => Date.parse(created_at));
  expect(times).toEqual([...times].sort((a, b) => a - b));
  const published = envelopes.find(({ event }) => event === 'changelog.published');
  expect(Date.parse(published.created_at)).toBe(Date.parse(published.data.published_at));

  const [one, other] = await Promise.all([catchUp(...ofAll, '--to', app.url), catchUp(...ofAll, '--to', app.url)]);
  expect([one.exitCode, other.exitCode]).toEqual([0, 0]);
  expect(app.got).toHaveLength(envelopes.length);
});

test('of one moment the events of a kind come in the order of their ids', async () => {
  const made = (id: number, created_at: string) => ({ id, created_at });
  const moment = '2026-03-01T12:00:00+00:00';
  const { rebuilt } = await rebuiltSince({
    starts: new Map([
      ['ticket.created', new Date(0)],
      ['feedback.created', new Date(0)],
    ]),
    held: new Set(),
    accountId: async () => 1,
    serviceNow: () => new Date('2026-03-02T00:00:00Z'),
    onUnread: (_, error) => expect.unreachable(String(error)),
    records: async function* (event) {
      yield made(event === 'ticket.created' ? 11 : 8, moment);
      yield made(9, moment);
      yield made(100, '2026-03-01T11:59:59+00:00');
      yield made(10, moment);
    },
  });
  expect(rebuilt.map(({ key }) => key)).toEqual([
    'ticket.created:100',
    'feedback.created:100',
    'ticket.created:9',
    'ticket.created:10',
    'ticket.created:11',
    'feedback.created:8',
    'feedback.created:9',
    'feedback.created:10',
  ]);
});

test.each([
  { what: 'is refused', answer: { status: 422, body: '{"message":"No."}' } },
  { what: 'fails', answer: { status: 500, body: '{"message":"Sorry."}' } },
  { what: 'is no JSON', answer: { status: 200, body: '<html>' } },
  { what: 'holds no messages', answer: 'without messages' },
  { what: 'never comes', answer: { lost: 'after-sending', reason: 'timeout', detail: 'No answer.' } },
  { what: 'is not there', answer: { status: 404, body: '{"message":"Not found."}' } },
] as const)('a conversation whose answer $what keeps no other event back, and is told', async ({ answer }) => {
  const { world, app } = await setting();
  const conversations = JSON.parse(
    (await svc(world, ['conversations', 'list', '--all', '--json'], { env })).stdout,
  ) as readonly { id: number }[];
  const [first] = [...conversations].sort((a, b) => a.id - b.id);
  const broken = {
    ...world,
    exchange: async (asked: Parameters<typeof world.exchange>[0]) => {
      const real = await world.exchange(asked);
      if (!asked.url.endsWith(`/conversations/${first?.id}`) || !('status' in real)) return real;
      if (typeof answer === 'object') return 'status' in answer ? { ...real, ...answer } : answer;
      const { messages: _, ...conversation } = JSON.parse(real.body).conversation;
      return { ...real, body: JSON.stringify({ conversation }) };
    },
  };
  const argv = ['webhooks', 'catch-up', '--json', ...ofAll, '--to', app.url];
  const ran = await svc(broken, argv, { env: { ...env, ...untilOver } });
  expect(`${ran.stderr}\nexit ${ran.exitCode}`).toMatch(/exit 8$/u);
  expect(JSON.parse(ran.stdout)).toMatchObject({ not_readable: ['conversation.message_received'] });
  expect(ran.stderr).toContain('conversation.message_received cannot be rebuilt: 1 record could not be read: ');
  const sent = new Set(app.ids());
  await svc(world, argv, { env });
  const rest = app.got.slice(sent.size).map((got) => JSON.parse(got.body));
  expect(rest.length).toBeGreaterThan(0);
  for (const { data } of rest) expect(data).toMatchObject({ conversation_id: first?.id });
});

test.each([
  { what: 'all but one are gone', status: 404, asked: 'all' },
  { what: 'five in a row fail, and three others', status: 500, asked: 8 },
] as const)('where $what, svc asks for $asked conversations', async ({ status, asked }) => {
  const { world, app } = await setting('demo');
  const all = JSON.parse((await svc(world, ['conversations', 'list', '--all', '--json'], { env })).stdout) as unknown[];
  expect(all.length).toBeGreaterThan(6);
  const ids = new Set<string>();
  const broken = {
    ...world,
    exchange: async (request: Parameters<typeof world.exchange>[0]) => {
      const real = await world.exchange(request);
      const [, id] = /\/conversations\/(\d+)$/u.exec(request.url) ?? [];
      if (id === undefined || !('status' in real)) return real;
      ids.add(id);
      return ids.size < all.length ? { ...real, status, body: '{"message":"Sorry."}' } : real;
    },
  };
  const argv = [
    'webhooks',
    'catch-up',
    '--json',
    ...ofAll,
    '--to',
    app.url,
    '--events',
    'conversation.message_received',
  ];
  const ran = await svc(broken, argv, { env: { ...env, ...untilOver } });
  expect(ran.exitCode).toBe(8);
  expect(ids.size).toBe(asked === 'all' ? all.length : asked);
  expect(ran.stderr.includes('svc did not ask for the others.')).toBe(asked !== 'all');
});

/** A world in which conversations fail, and which of them were asked for. */
async function conversationsFail() {
  const { world, app } = await setting('demo');
  const listed = JSON.parse((await svc(world, ['conversations', 'list', '--all', '--json'], { env })).stdout);
  const ids = (listed as readonly { readonly id: number }[]).map(({ id }) => id);
  const broken = new Set<number>();
  const asked: number[] = [];
  const failing: typeof world = {
    ...world,
    exchange: async (request) => {
      const answer = await world.exchange(request);
      const id = Number(/\/conversations\/(\d+)$/u.exec(request.url)?.[1]);
      if (!('status' in answer) || !ids.includes(id)) return answer;
      asked.push(id);
      return broken.has(id) ? { ...answer, status: 500, body: '{"message":"Sorry."}' } : answer;
    },
  };
  const told = () => new Set(app.got.map((got) => JSON.parse(got.body).data.conversation_id));
  const argv = [
    ...['webhooks', 'catch-up', '--json', ...ofAll, '--to', app.url],
    ...['--events', 'conversation.message_received'],
  ];
  const search = (from = failing) => svc(from, argv, { env: { ...env, ...untilOver } });
  return { world, failing, app, ids, broken, asked, told, search };
}

test('conversations behind five that fail for good are read, however often five fail in a row', async () => {
  const { ids, broken, asked, told, search } = await conversationsFail();
  for (const id of [...ids.slice(0, 5), ...ids.slice(-5)]) broken.add(id);
  const ran = await search();
  expect(ran.exitCode).toBe(8);
  expect(ran.stderr).toContain('10 records could not be read: ');
  expect(ran.stderr).not.toContain('svc did not ask for the others.');
  expect([...new Set(asked)].sort()).toEqual([...ids].sort());
  const first = told();
  broken.clear();
  expect((await search()).exitCode).toBe(0);
  expect(first.size).toBeGreaterThan(0);
  for (const id of ids.slice(5, -5)) expect(first.has(id)).toBe(told().has(id));
});

test('one that can be read among many that cannot is found by a later search', { tags: ['long'] }, async () => {
  const { failing, ids, broken, asked, search } = await conversationsFail();
  const [only] = ids.slice(-3);
  for (const id of ids) if (id !== only) broken.add(id);
  const found: boolean[] = [];
  for (let at = 0; at < ids.length; at++) {
    asked.length = 0;
    const now = new Date(1_900_000_000_000 + at);
    await search({ ...failing, clock: { ...failing.clock, now: () => now } });
    found.push(asked.includes(Number(only)));
    // The one that is read gives the service another chance.
    expect(new Set(asked).size).toBeLessThanOrEqual(found.at(-1) ? 16 : 8);
  }
  expect(new Set(found)).toEqual(new Set([true, false]));
});

test.each([
  { statuses: [404], again: false },
  { statuses: [404, 403], again: false },
  { statuses: [404, 500], again: true },
])('a search of listen that met $statuses is made again: $again', { tags: ['long'] }, async ({ statuses, again }) => {
  const { failing, app, ids, broken } = await conversationsFail();
  const options = { env: { ...env, ...untilOver } };
  const listener = await listening(failing, ['--forward-to', app.url], options);
  expect(await deliver(listener.url, body('evt_1', { created_at: '2001-01-01T00:00:00+00:00' }))).toBe(204);
  await listener.until(() => app.got.length === 1);
  await listener.end();
  const some = ids.slice(0, statuses.length);
  for (const id of some) broken.add(id);
  const odd: typeof failing = {
    ...failing,
    exchange: async (asked) => {
      const answer = await failing.exchange(asked);
      const status = statuses[some.indexOf(Number(asked.url.split('/conversations/')[1]))];
      return status === undefined || !('status' in answer) ? answer : { ...answer, status };
    },
  };
  const events = ['--events', 'conversation.message_received'];
  const second = await listening(odd, ['--forward-to', app.url, '--catch-up', ...events], options);
  endings.push(() => second.end());
  await second.until(() => second.said.stderr.includes('that never arrived.'));
  // Its end waits for the search, and so for what that says of another one.
  expect((await second.end()).stderr.includes('svc tries again in')).toBe(again);
});

test('where exactly five fail and there are no others, svc does not say that it left some out', async () => {
  const { world, failing, broken, search } = await conversationsFail();
  const short = {
    ...failing,
    exchange: async (request: Parameters<typeof world.exchange>[0]) => {
      const answer = await failing.exchange(request);
      if (!/\/conversations\?/u.test(request.url) || !('status' in answer)) return answer;
      const body = JSON.parse(answer.body);
      const conversations = body.conversations.slice(0, 5);
      for (const { id } of conversations) broken.add(id);
      return { ...answer, body: JSON.stringify({ conversations, meta: { current_page: 1, last_page: 1, total: 5 } }) };
    },
  };
  const ran = await search(short);
  expect(ran.stderr).toContain('5 records could not be read: ');
  expect(ran.stderr).not.toContain('svc did not ask for the others.');
});

test('a search that is made again reads only what changed or could not be read, and finds what is new', {
  tags: ['long'],
}, async () => {
  const { world, failing, app, ids, broken, asked, told } = await conversationsFail();
  const [first, other] = ids.slice(-2);
  broken.add(Number(first));
  const options = { env: { ...env, ...untilOver } };
  const listener = await listening(world, ['--forward-to', app.url], options);
  expect(await deliver(listener.url, body('evt_1', { created_at: '2001-01-01T00:00:00+00:00' }))).toBe(204);
  await listener.until(() => app.got.length === 1);
  await listener.end();
  const searches: number[][] = [];
  const seen: typeof world = {
    ...failing,
    clock: {
      ...failing.clock,
      sleep: async (ms, signal) => {
        if (ms < 10_000) return failing.clock.sleep(ms, signal);
        searches.push(asked.splice(0));
        const customer = { kind: 'customer_message', account_id: 1, conversation_id: other, body: 'New' };
        if (searches.length === 2) await world.control('act', customer);
        if (searches.length === 3) broken.clear();
      },
    },
  };
  const events = ['--events', 'conversation.message_received'];
  const second = await listening(seen, ['--forward-to', app.url, '--catch-up', ...events], options);
  endings.push(() => second.end());
  await second.until(() => told().has(first) && app.got.some((got) => got.body.includes('"body":"New"')));
  expect([...new Set(searches[0])].sort()).toEqual([...ids].sort());
  expect(new Set(searches[1])).toEqual(new Set([first]));
  expect(new Set(searches[2])).toEqual(new Set([first, other]));
  // Where something happened just now the list may not tell of what comes next.
  expect(asked).toContain(other);
});

test('twice at once sends nothing twice', async () => {
  const { app, catchUp } = await setting();
  await Promise.all([catchUp(...ofAll, '--to', app.url), catchUp(...ofAll, '--to', app.url)]);
  expect(app.ids()).toHaveLength(new Set(app.ids()).size);
  expect(app.ids().length).toBeGreaterThan(10);
});

test('what the inbox holds is not rebuilt, and without --since it begins at the last event received', {
  tags: ['long'],
}, async () => {
  const { world, app, catchUp, miss } = await setting();
  expect((await catchUp()).stderr).toContain('Give --since');
  const tickets = JSON.parse((await svc(world, ['tickets', 'list', '--all', '--json'], { env })).stdout);
  const [newest] = [...tickets].sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  const listener = await listening(world, ['--forward-to', app.url], { env });
  const text = body('evt_real', { created_at: newest.created_at, data: { ticket_id: newest.id } });
  expect(await deliver(listener.url, text)).toBe(204);
  await listener.until(() => app.got.length === 1);
  const created = await miss();
  const ran = await catchUp('--events', 'ticket.created');
  expect(ran.exitCode).toBe(0);
  await listener.until(() => app.ids().includes(`rebuilt:ticket.created:${created.id}`));
  expect(app.ids()).not.toContain(`rebuilt:ticket.created:${newest.id}`);
  const before = app.got.length;
  expect(JSON.parse((await catchUp('--events', 'ticket.created')).stdout).sent).toBe(0);
  await listener.end();
  expect(app.got).toHaveLength(before);
});

test('without a listener they wait in the inbox for the next one, which forwards them', {
  tags: ['long'],
}, async () => {
  const { world, app, catchUp } = await setting();
  const { sent } = JSON.parse((await catchUp(...ofAll, '--events', 'feedback.created')).stdout);
  expect(sent).toBeGreaterThan(0);
  const listener = await listening(world, ['--forward-to', app.url], { env });
  await listener.until(() => app.got.length === sent);
  await listener.end();
  expect(JSON.parse((await catchUp(...ofAll, '--events', 'feedback.created')).stdout)).toMatchObject({
    rebuilt: 0,
    sent: 0,
  });
});

test('listen --catch-up rebuilds what came while nobody listened', async () => {
  const { world, app, miss } = await setting();
  const first = await listening(world, [], { env });
  await deliver(first.url, body('evt_1', { created_at: new Date().toISOString() }));
  await first.end();
  const missed = await miss();
  const second = await listening(world, ['--forward-to', app.url, '--catch-up'], { env });
  await second.until(() => app.ids().includes(`rebuilt:ticket.created:${missed.id}`));
  await second.end();
});

test('listen --catch-up signs with the secrets that its own subscription has just brought', async () => {
  const { world, app, miss } = await setting();
  const first = await listening(world, [], { env });
  await deliver(first.url, body('evt_1', { created_at: new Date().toISOString() }));
  await first.end();
  const missed = await miss();
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
  const tokens = openStore({ folder: join(world.folder, 'config'), clock: world.clock, random, warn: () => {} });
  const scopes = ['webhooks:manage', 'tickets:read'];
  const { access_token } = await world.control('tokens', { account_id: 1, scopes });
  const login = {
    base_url: 'https://service.test',
    auth_url: 'https://service.test',
    client_id: 'sandbox_cli',
    access_token: String(access_token),
    // Without it svc could not tell that the first event is of its account.
    account_id: 1,
    issued_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    scopes,
  };
  await store(tokens, { profile: 'default', kind: 'oauth' }, login);
  const argv = ['--public-url', 'https://hooks.example.com/', '--events', 'ticket.created', '--forward-to', app.url];
  const second = await listening(world, [...argv, '--catch-up'], {});
  await second.until(() => app.ids().includes(`rebuilt:ticket.created:${missed.id}`));
  expect((await second.end()).stderr).not.toContain('could not be rebuilt');
});

test('without --config it does not reach into the inbox of a serve of another profile', {
  tags: ['long'],
}, async () => {
  const { world, catchUp, miss } = await setting();
  const config = 'listen: { port: 0 }\ninbox: inbox\nsinks: [{ name: a, file: { path: a.jsonl } }]\n';
  const served = await serving(world, config);
  await miss();
  const other = ['--profile', 'other'];
  const ran = await catchUp(...ofAll, '--events', 'ticket.created', ...other);
  expect([ran.exitCode, ran.stderr]).toEqual([0, expect.not.stringContaining(served.file)]);
  const inbox = async (...argv: string[]) =>
    JSON.parse((await svc(world, ['webhooks', 'inbox', 'list', '--json', ...argv], { env })).stdout).length;
  expect([await inbox(), (await inbox(...other)) > 0]).toEqual([0, true]);
  // That of its own profile it still finds.
  expect((await catchUp(...ofAll, '--events', 'ticket.created')).stderr).toContain(served.file);
  expect(await inbox()).toBeGreaterThan(0);
  await served.end();
});

test('from the copy of the account it takes a few requests, and finds what is newer too', {
  tags: ['long'],
}, async () => {
  const { world, app, catchUp, miss } = await setting();
  expect((await svc(world, ['mirror', 'pull'], { env })).exitCode).toBe(0);
  const missed = await miss();
  await catchUp(...ofAll, '--to', app.url);
  const withCopy = new Set(app.ids());
  expect(withCopy).toContain(`rebuilt:ticket.created:${missed.id}`);
  const other = await startApp();
  endings.push(() => other.close());
  await svc(
    { ...world, folder: `${world.folder}-without-copy` },
    ['webhooks', 'catch-up', ...ofAll, '--to', other.url],
    { env },
  );
  expect(withCopy).toEqual(new Set(other.ids()));
});

/** Of two that store the same at once: their sums add up, and each event is counted as sent by one of them. */
function expectOneCount(ran: readonly { readonly stdout: string }[]): void {
  const sums = ran.map(({ stdout }) => JSON.parse(stdout));
  for (const { rebuilt, sent, repeated, failed } of sums) expect(sent + repeated + failed).toBe(rebuilt);
  const most = Math.max(...sums.map(({ rebuilt }) => rebuilt));
  expect(most).toBeGreaterThan(0);
  expect(sums.reduce((sum, { sent }) => sum + sent, 0)).toBe(most);
}

forBoth(({ name, test: both }) => {
  both('with --config they go to the sinks of serve, once', { tags: ['long'] }, async () => {
    const { world, app, catchUp } = await setting();
    const inbox = name === 'Postgres' ? newDatabase() : 'inbox';
    const config = `listen: { port: 0 }\ninbox: "${inbox}"\nsinks:\n  - { name: app, events: [feedback.created, ticket.created], http: { url: "${app.url}" } }\n`;
    const file = join(world.folder, 'svc-webhooks.yaml');
    writeFileSync(file, config);
    const { sent } = JSON.parse((await catchUp(...ofAll, '--config', file, '--events', 'feedback.created')).stdout);
    const served = await serving(world, config, { env });
    endings.push(() => served.end());
    await served.until(() => app.got.length === sent);
    const twice = await Promise.all([catchUp(...ofAll, '--config', file), catchUp(...ofAll, '--config', file)]);
    expect(twice.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expectOneCount(twice);
    await served.until(() => app.got.length > sent);
    await served.end();
    expect(app.ids()).toHaveLength(new Set(app.ids()).size);
  });
});

test('an app that is away is given up after three events, and the rest is told and counted as failed', async () => {
  const { world, app } = await setting();
  await app.close();
  // The pauses between the tries take no time.
  const quick = { ...world, clock: virtualClock(new Date().toISOString()) };
  const ran = await svc(quick, ['webhooks', 'catch-up', '--json', ...ofAll, '--to', app.url], { env });
  const { rebuilt, sent, failed } = JSON.parse(ran.stdout);
  expect({ exitCode: ran.exitCode, sent, failed }).toEqual({ exitCode: 8, sent: 0, failed: rebuilt });
  const last = ran.stderr.trimEnd().split('\n').at(-1) ?? '';
  expect(JSON.parse(last).error.message).toBe(`${rebuilt} events did not arrive.`);
  expect(ran.stderr.match(/was not taken/gu)).toHaveLength(3);
  expect(ran.stderr).toContain(`${rebuilt - 3} more events were not tried. Run the same command again to go on.`);
});

test('Ctrl-C between two events is 130, with the sum', async () => {
  const world = await liveWorld({}, few);
  const end = new AbortController();
  const app = await startApp(0, () => {
    if (app.got.length >= 2) end.abort('SIGINT');
    return 200;
  });
  endings.push(
    () => world.sandbox.close(),
    () => app.close(),
  );
  const argv = ['webhooks', 'catch-up', '--json', ...ofAll, '--to', app.url];
  const ran = await svc(world, argv, { env, signal: end.signal });
  const { rebuilt, sent, failed } = JSON.parse(ran.stdout);
  expect(ran.exitCode).toBe(130);
  expect(sent + failed).toBe(rebuilt);
  expect(failed).toBeGreaterThan(0);
});

test.each(['SIGINT', 'SIGTERM'])(
  '%s while the app takes its time: what it took is remembered, and nothing comes twice',
  { tags: ['long'] },
  async (signal) => {
    const { world, app, catchUp } = await setting();
    await app.close();
    const end = new AbortController();
    const got: string[] = [];
    const slow = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        got.push(JSON.parse(text).id);
        if (got.length === 3) end.abort(signal);
        // Far enough behind the signal that whoever gives up on it has done so.
        setTimeout(() => response.writeHead(204).end(), got.length === 3 ? 300 : 0);
      });
    });
    await new Promise<void>((ready) => slow.listen(0, '127.0.0.1', ready));
    endings.push(() => slow.close());
    const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`;
    const first = await svc(world, ['webhooks', 'catch-up', '--json', ...ofAll, '--to', url], {
      env,
      signal: end.signal,
    });
    const { rebuilt, sent, failed } = JSON.parse(first.stdout);
    expect(first.exitCode).toBe(signal === 'SIGINT' ? 130 : 143);
    expect([sent, failed]).toEqual([3, rebuilt - 3]);
    expect(first.stderr).not.toContain('taken');
    expect(first.stderr).toContain(`${rebuilt - 3} more events were not tried. Run the same command again to go on.`);
    const second = await catchUp(...ofAll, '--to', url);
    expect(JSON.parse(second.stdout)).toMatchObject({ sent: rebuilt - 3, failed: 0 });
    expect(got).toHaveLength(rebuilt);
    expect(new Set(got).size).toBe(rebuilt);
  },
);

/** The sandbox's clock goes with the waits of svc, and what `meanwhile` does happens in the first of them. */
const waitingWorld = (world: Awaited<ReturnType<typeof setting>>['world'], meanwhile = async () => {}) => {
  const waits: number[] = [];
  const clock = {
    ...world.clock,
    sleep: async (ms: number, signal?: AbortSignal) => {
      if (ms < 10_000) return world.clock.sleep(ms, signal);
      waits.push(ms);
      if (waits.length === 1) await meanwhile();
      await world.control('clock', { advance_seconds: Math.ceil(ms / 1000) });
    },
  };
  return { waits, world: { ...world, clock } };
};

const ticketEvent = (id: string, { id: ticket_id, created_at }: { id: number; created_at: string }) =>
  body(id, { created_at, data: { ticket_id } });

test('what the service may still be sending is not rebuilt before it has given up, and then only what did not come', async () => {
  const { world, app } = await setting();
  const create = async (subject: string) =>
    JSON.parse((await svc(world, ['tickets', 'create', '--subject', subject, '--json'], { env })).stdout);
  const listener = await listening(world, ['--forward-to', app.url], { env });
  const [late, lost] = [await create('Late'), await create('Lost')];
  const waiting = waitingWorld(world, async () => {
    expect(app.got).toEqual([]);
    expect(await deliver(listener.url, ticketEvent('evt_late', late))).toBe(204);
  });
  const argv = ['webhooks', 'catch-up', '--json', '--since', '1h', '--events', 'ticket.created'];
  const dry = await svc(world, [...argv, '--dry-run'], { env });
  const ran = await svc(waiting.world, argv, { env });
  expect(dry.stderr).toContain('2 more events happened less than two minutes ago: the service may still send them.');
  expect(ran.stderr).toContain(
    '2 more events happened less than two minutes ago, and the service may still send them.',
  );
  expect(waiting.waits).toHaveLength(1);
  expect(waiting.waits[0]).toBeLessThanOrEqual(120_000);
  expect(JSON.parse(ran.stdout)).toMatchObject({ rebuilt: 1, sent: 1, failed: 0 });
  await listener.until(() => app.got.length === 2);
  expect(app.ids()).toEqual(['evt_late', `rebuilt:ticket.created:${lost.id}`]);
  // The service's own retry of what was rebuilt is marked, and goes nowhere.
  expect(await deliver(listener.url, ticketEvent('evt_lost', lost))).toBe(204);
  await listener.end();
  expect(app.got).toHaveLength(2);
  expect(listener.said.stdout).toContain('repeat');
});

test.each(['serve', 'listen'])(
  '%s --catch-up looks again for what was too young, and drops the live event of what it rebuilt',
  async (command) => {
    const { world, app } = await setting();
    const config = `listen: { port: 0 }\ninbox: inbox\nsinks:\n  - { name: app, http: { url: "${app.url}" } }\n`;
    const start = (of: typeof world, ...argv: string[]) =>
      command === 'serve'
        ? serving(of, config, { env }, argv)
        : listening(of, ['--forward-to', app.url, ...argv], { env });
    const first = await start(world);
    await deliver(first.url, body('evt_1', { created_at: new Date().toISOString() }));
    await first.until(() => app.got.length === 1);
    await first.end();
    const argv = ['tickets', 'create', '--subject', 'Missed', '--json'];
    const missed = JSON.parse((await svc(world, argv, { env })).stdout);
    const waiting = waitingWorld(world);
    const second = await start(waiting.world, '--catch-up');
    endings.push(() => second.end());
    await second.until(() => app.ids().includes(`rebuilt:ticket.created:${missed.id}`));
    expect(waiting.waits).toHaveLength(1);
    expect(await deliver(second.url, ticketEvent('evt_2', missed))).toBe(204);
    expect(await deliver(second.url, body('evt_3', { data: { ticket_id: 99_999 } }))).toBe(204);
    await second.until(() => app.ids().includes('evt_3'));
    expect(app.ids()).not.toContain('evt_2');
  },
);

const noTickets = [{ method: 'GET', path: '/tickets', action: 'status', status: 500, times: 1000 }];
const untilOver = { SVC_MAX_WAIT: '0' };

/** An event came, then one was missed, and then a receiver began whose search fails, while another event came. */
test.each(['serve', 'listen'])(
  '%s --catch-up asks again by itself for a conversation that failed',
  {
    tags: ['long'],
  },
  async (command) => {
    const { world, app } = await setting();
    const list = JSON.parse(
      (await svc(world, ['conversations', 'list', '--all', '--json'], { env })).stdout,
    ) as readonly {
      readonly id: number;
      readonly last_message_at: string;
    }[];
    const [newest] = [...list].sort((a, b) => b.last_message_at.localeCompare(a.last_message_at));
    const config = `listen: { port: 0 }\ninbox: inbox\nsinks:\n  - { name: app, http: { url: "${app.url}" } }\n`;
    const options = { env: { ...env, ...untilOver } };
    const start = (...argv: string[]) =>
      command === 'serve'
        ? serving(world, config, options, argv)
        : listening(world, ['--forward-to', app.url, ...argv], options);
    const first = await start();
    expect(await deliver(first.url, body('evt_1', { created_at: '2001-01-01T00:00:00+00:00' }))).toBe(204);
    await first.until(() => app.got.length === 1);
    await first.end();
    const path = `/conversations/${newest?.id}`;
    await world.control('faults', [{ method: 'GET', path, action: 'status', status: 500, times: 1 }]);
    const second = await start('--catch-up');
    endings.push(() => second.end());
    const isOfIt = ({ body: text }: { readonly body: string }) => {
      const { event, data } = JSON.parse(text);
      return event === 'conversation.message_received' && data.conversation_id === newest?.id;
    };
    await second.until(() => app.got.some(isOfIt));
  },
);

test('where only the first of two looks cannot read a conversation, the start stays, and what happened there is told later', {
  tags: ['long'],
}, async () => {
  const { world: real, app } = await setting();
  let aheadMs = 0;
  const world = { ...real, clock: { ...real.clock, now: () => new Date(Date.now() + aheadMs) } };
  const step = async (seconds: number) => {
    await world.control('clock', { advance_seconds: seconds });
    aheadMs += seconds * 1000;
  };
  const options = { env: { ...env, ...untilOver } };
  const [chat] = JSON.parse((await svc(world, ['conversations', 'list', '--all', '--json'], { env })).stdout);
  await step(3600);
  const first = await listening(world, ['--forward-to', app.url], options);
  expect(await deliver(first.url, body('evt_1', { created_at: world.clock.now().toISOString() }))).toBe(204);
  await first.until(() => app.got.length === 1);
  await first.end();
  await step(3600);
  await svc(world, ['tickets', 'create', '--subject', 'Young', '--json'], { env });
  await step(30);
  await world.control('act', { kind: 'customer_message', account_id: 1, conversation_id: chat.id, body: 'Help' });
  let isFirst = true;
  const broken: typeof world = {
    ...world,
    exchange: async (asked) => {
      const answer = await world.exchange(asked);
      const fails = isFirst && /\/conversations\/\d+$/u.test(asked.url) && 'status' in answer;
      return fails ? { ...answer, status: 500, body: '{"message":"Sorry."}' } : answer;
    },
    clock: {
      ...world.clock,
      sleep: async (ms, signal) => {
        if (ms < 10_000) return world.clock.sleep(ms, signal);
        isFirst = false;
        await step(Math.ceil(ms / 1000));
      },
    },
  };
  expect((await svc(broken, ['webhooks', 'catch-up', '--json'], options)).exitCode).toBe(8);
  await step(900);
  const second = await listening(world, ['--forward-to', app.url], options);
  expect(await deliver(second.url, body('evt_2', { created_at: world.clock.now().toISOString() }))).toBe(204);
  await second.until(() => app.ids().includes('evt_2'));
  await second.end();
  await svc(world, ['webhooks', 'catch-up', '--json', '--to', app.url], options);
  expect(app.got.map((got) => JSON.parse(got.body).event)).toContain('conversation.message_received');
});

async function failedSearch(command: 'serve' | 'listen', inbox: string) {
  const { world, app, catchUp, miss } = await setting();
  const config = `listen: { port: 0 }\ninbox: "${inbox}"\nsinks:\n  - { name: app, http: { url: "${app.url}" } }\n`;
  let aheadMs = -3_600_000;
  const clock = { ...world.clock, now: () => new Date(Date.now() + aheadMs) };
  const start = (...argv: string[]) =>
    command === 'serve'
      ? serving({ ...world, clock }, config, { env: { ...env, ...untilOver } }, argv)
      : listening({ ...world, clock }, ['--forward-to', app.url, ...argv], { env: { ...env, ...untilOver } });
  const said = (from: Awaited<ReturnType<typeof start>>) =>
    typeof from.said === 'function' ? from.said() : from.said.stderr;
  const first = await start();
  expect(await deliver(first.url, body('evt_1', { created_at: new Date().toISOString() }))).toBe(204);
  await first.until(() => app.got.length === 1);
  await first.end();
  const missed = await miss();
  await world.control('clock', { advance_seconds: 3_600 });
  await world.control('faults', noTickets);
  aheadMs = 3_725_000;
  const second = await start('--catch-up');
  const created_at = clock.now().toISOString();
  expect(await deliver(second.url, body('evt_2', { created_at, data: { ticket_id: 99_999 } }))).toBe(204);
  await second.until(() => said(second).includes('could not be rebuilt'));
  expect(said(second)).toMatch(/svc tries again in 10 s, and begins at 20\d\d-\S+Z then too/u);
  await second.end();
  await world.sandbox.handle({ method: 'DELETE', url: '/_sandbox/faults', headers: { host: '127.0.0.1' } });
  return { world, app, catchUp, start, key: `rebuilt:ticket.created:${missed.id}` };
}

forBoth(({ name, test: both }) => {
  both(
    'a search that failed begins at the same event at the next start, whatever came since',
    { tags: ['long'] },
    async () => {
      const inbox = name === 'Postgres' ? newDatabase() : 'inbox';
      const { app, start, key, world, catchUp } = await failedSearch('serve', inbox);
      const third = await start('--catch-up');
      endings.push(() => third.end());
      await third.until(() => app.ids().includes(key));
      // Once it is over, the next one begins later.
      await third.end();
      const file = join(world.folder, 'svc-webhooks.yaml');
      const after = JSON.parse((await catchUp('--config', file, '--events', 'ticket.created')).stdout);
      expect(Date.parse(after.since)).toBeGreaterThan(Date.now() + 3_000_000);
    },
  );
});

test.each(['listen', 'catch-up'])('after a search of listen that failed, %s begins at the same event', async (next) => {
  const { app, start, key, catchUp } = await failedSearch('listen', 'inbox');
  if (next === 'catch-up') expect((await catchUp('--events', 'ticket.created')).exitCode).toBe(0);
  const third = await start(...(next === 'listen' ? ['--catch-up'] : []));
  endings.push(() => third.end());
  await third.until(() => app.ids().includes(key));
});

test('nothing is accepted before the start of the search is stored', async () => {
  const steps: string[] = [];
  let isThere = false;
  const { accepting } = await import('../../src/webhooks/serve/catch-up.ts');
  const store = { has: () => false, add: async () => void steps.push('add') } as never;
  const missed = {
    async begin() {
      steps.push('begin');
      if (!isThere) throw new Failure('network', 'The database is not there.');
    },
    async *search() {},
    since: () => undefined,
  };
  const gate = await accepting(store, [{ missed }]);
  await expect(gate.add({} as never)).rejects.toThrow('not there');
  isThere = true;
  await Promise.all([gate.add({} as never), gate.add({} as never)]);
  expect(steps).toEqual(['begin', 'begin', 'begin', 'add', 'add']);
});

test('--dry-run needs no signing secret; without one the run itself says what helps, also after a listener with a tunnel', async () => {
  const { world, catchUp } = await setting();
  const without = (...argv: string[]) =>
    svc(world, ['webhooks', 'catch-up', '--json', ...ofAll, ...argv], { env: { SVC_API_KEY: 'key_acme' } });
  const dry = await without('--dry-run');
  expect([dry.exitCode, dry.stdout]).toEqual([0, (await catchUp(...ofAll, '--dry-run')).stdout]);
  const real = await without();
  expect(real).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('No signing secret is known') });
  for (const said of [
    'Set SVC_WEBHOOK_SECRET to what',
    'svc webhooks create',
    'listen with --tunnel or --public-url end',
  ])
    expect(real.stderr).toContain(said);
});

test('--dry-run counts and lists what would be rebuilt, and neither sends nor stores it', async () => {
  const { world, app, catchUp } = await setting();
  const dry = await catchUp(...ofAll, '--dry-run');
  const again = await catchUp(...ofAll, '--dry-run', '--to', app.url);
  const listed = JSON.parse(dry.stdout);
  expect([dry.exitCode, again.stdout, app.got]).toEqual([0, dry.stdout, []]);
  expect(dry.stderr).toContain(`${listed.length} events since `);
  expect(dry.stderr).toContain('would be rebuilt. Nothing was sent or stored.');
  expect(JSON.parse((await svc(world, ['webhooks', 'inbox', 'list', '--json'], { env })).stdout)).toEqual([]);
  const ran = JSON.parse((await catchUp(...ofAll, '--to', app.url)).stdout);
  expect(ran.sent).toBe(listed.length);
  expect(listed.map(({ id }: { id: string }) => id)).toEqual(app.ids());
  const none = await svc(world, ['webhooks', 'catch-up', '--since', '1s', '--dry-run'], { env, columns: 100 });
  expect(none.stderr.match(/would be rebuilt/gu)).toHaveLength(1);
});

test('the sums add up: each event counts once, by what became of it in the end, over both looks', {
  tags: ['long'],
}, async () => {
  const { world, app, catchUp, miss } = await setting();
  const [old, refused] = [await miss('Old'), await miss('Refused')];
  const young = JSON.parse((await svc(world, ['tickets', 'create', '--subject', 'Young', '--json'], { env })).stdout);
  // An app that refuses one event for as long as svc has not looked again.
  let isOpen = false;
  const picky = await startApp(0, ({ body: text }) =>
    isOpen || !text.includes(`"ticket_id":${refused.id},`) ? 200 : 500,
  );
  endings.push(() => picky.close());
  const waiting = waitingWorld(world, async () => {
    isOpen = true;
  });
  const argv = ['webhooks', 'catch-up', '--json', '--since', '1h', '--events', 'ticket.created', '--to', picky.url];
  const first = await svc(waiting.world, argv, { env });
  expect(JSON.parse(first.stdout)).toMatchObject({ rebuilt: 3, sent: 3, repeated: 0, failed: 0 });
  expect(first.exitCode).toBe(0);
  const key = ({ id }: { id: number }) => `rebuilt:ticket.created:${id}`;
  expect(picky.ids()).toEqual([key(old), key(refused), key(refused), key(young)]);

  const dry = await svc(world, [...argv, '--dry-run'], { env });
  expect([dry.stdout, dry.stderr]).toEqual(['[]\n', expect.stringContaining('0 events since ')]);
  const again = await svc(world, argv, { env });
  expect(JSON.parse(again.stdout)).toMatchObject({ rebuilt: 3, sent: 0, repeated: 3, failed: 0 });
  const both = await Promise.all([catchUp(...ofAll, '--to', app.url), catchUp(...ofAll, '--to', app.url)]);
  for (const { stdout } of both) {
    const { rebuilt, sent, repeated, failed } = JSON.parse(stdout);
    expect(sent + repeated + failed).toBe(rebuilt);
  }
  expect(both.reduce((sum, { stdout }) => sum + JSON.parse(stdout).sent, 0)).toBe(app.got.length);
});

test('two that store the same at once count each event once between them', async () => {
  const { catchUp } = await setting();
  const both = await Promise.all([catchUp(...ofAll), catchUp(...ofAll)]);
  expectOneCount(both);
});

test('Ctrl-C in the wait for young events ends it at once, with 130 and what was not looked at', async () => {
  const { world, catchUp, miss } = await setting();
  await miss('Old');
  await svc(world, ['tickets', 'create', '--subject', 'Young', '--json'], { env });
  const end = new AbortController();
  const waits: number[] = [];
  const sleep = (ms: number, signal?: AbortSignal) => {
    if (ms < 10_000) return world.clock.sleep(ms, signal);
    waits.push(ms);
    return new Promise<void>((resolve) => {
      signal?.addEventListener('abort', () => resolve());
      end.abort('SIGINT');
    });
  };
  const argv = ['webhooks', 'catch-up', '--json', '--since', '1h', '--events', 'ticket.created'];
  const ran = await svc({ ...world, clock: { ...world.clock, sleep } }, argv, { env, signal: end.signal });
  expect([ran.exitCode, waits.length]).toEqual([130, 1]);
  expect(ran.stderr).toContain('1 more event happened less than two minutes ago, and the service may still send it.');
  expect(ran.stderr).toContain('svc did not look again for 1 event. Run the same command again.');
  expect(JSON.parse(ran.stdout)).toMatchObject({ rebuilt: 1, sent: 1, repeated: 0, failed: 0 });
  // Where nothing is young there is no wait.
  await world.control('clock', { advance_seconds: 125 });
  const next = await catchUp('--since', '1h', '--events', 'ticket.created');
  expect(JSON.parse(next.stdout)).toMatchObject({ rebuilt: 1, sent: 1 });
  expect(next.stderr).not.toContain('looks again');
});

test('a young event that comes both from the copy of the account and from the service counts once', async () => {
  const created_at = '2026-01-02T03:04:05Z';
  const { rebuilt, young } = await rebuiltSince({
    starts: new Map([['ticket.created', new Date('2026-01-02T00:00:00Z')]]),
    async *records() {
      yield* [1, 2, 1, 2].map((id) => ({ id, created_at }));
    },
    accountId: async () => 1,
    held: new Set<string>(),
    serviceNow: () => new Date('2026-01-02T03:04:15Z'),
    onUnread: () => {},
  });
  expect([rebuilt, young.count, young.forMs]).toEqual([[], 2, 110_000]);
});

test('what waits for the next listener is listed as waiting, and a replay of it asks for --to', async () => {
  const { world, app, catchUp } = await setting();
  await catchUp(...ofAll, '--events', 'feedback.created');
  const [one] = JSON.parse((await svc(world, ['webhooks', 'inbox', 'list', '--json'], { env })).stdout);
  expect(one.forward).toMatchObject({ to: null, state: 'waiting' });
  const replay = (...argv: string[]) => svc(world, ['webhooks', 'inbox', 'replay', one.id, ...argv], { env });
  const refused = await replay();
  expect([refused.exitCode, refused.stderr]).toEqual([
    2,
    expect.stringContaining('was never forwarded, so --to URL is needed.'),
  ]);
  expect((await replay('--to', app.url)).exitCode).toBe(0);
  expect(app.ids()).toEqual([one.id]);
});

test('without --config it goes to the listen that runs, else to the serve that runs, and says where it looked', {
  tags: ['long'],
}, async () => {
  const { world, app, catchUp, miss } = await setting();
  const none = await catchUp('--dry-run');
  expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining('svc cannot tell where to begin')]);
  const listener = join(world.folder, 'state', 'webhooks', 'profile-default');
  expect(none.stderr).toContain(`Looked in ${listener}, the inbox of svc webhooks listen.`);
  const config = `listen: { port: 0 }\ninbox: inbox\nsinks: [{ name: app, http: { url: "${app.url}" } }]\n`;
  const served = await serving(world, config);
  endings.push(() => served.end());
  await miss('To serve');
  const toServe = await catchUp('--since', '1h', '--events', 'ticket.created');
  expect(JSON.parse(toServe.stdout)).toMatchObject({ sent: 1 });
  expect(toServe.stderr).toContain(`This is the inbox of the svc webhooks serve that runs with ${served.file}.`);
  await served.until(() => app.got.length === 1);
  const running = await listening(world, ['--json'], { env });
  endings.push(() => running.end());
  const toListen = await catchUp('--since', '1h', '--events', 'ticket.created');
  expect(toListen.stderr).toContain(`Looked in ${listener}, the inbox of svc webhooks listen.`);
  await running.until(() => running.lines().length === JSON.parse(toListen.stdout).sent);
});

test('what the inbox took is called queued, and the way to pass it on names serve where none runs', async () => {
  const { world, app, catchUp, miss } = await setting();
  const config = `listen: { port: 0 }\ninbox: inbox\nsinks: [{ name: app, http: { url: "${app.url}" } }]\n`;
  const file = join(world.folder, 'svc-webhooks.yaml');
  writeFileSync(file, config);
  await miss();
  const since = ['--since', '1h', '--events', 'ticket.created', '--config', file];
  const shown = await svc(world, ['webhooks', 'catch-up', ...since], { env });
  expect(shown.stdout).toMatch(/^since\t\S+\nrebuilt\t1\nqueued\t1\nrepeated\t0\nfailed\t0\n/u);
  expect(shown.stderr).toContain(`They wait in the inbox. To pass them on, start: svc webhooks serve --config ${file}`);
  expect(app.got).toEqual([]);
  const served = await serving(world, config);
  endings.push(() => served.end());
  await served.until(() => app.got.length === 1);
  await miss('Another');
  const running = await catchUp(...since);
  expect(JSON.parse(running.stdout)).toMatchObject({ rebuilt: 1, sent: 1, queued: 1 });
  expect(running.stderr).toContain('svc webhooks serve passes them on.');
  await miss('A third');
  const direct = await catchUp('--since', '1h', '--events', 'ticket.created', '--to', app.url);
  expect(JSON.parse(direct.stdout)).toMatchObject({ queued: 0 });
});

forBoth(({ name, test: both }) => {
  both(
    'a sample keeps no event back of the record whose number it bears, and is no repeat of it',
    { tags: ['long'] },
    async () => {
      const inbox = name === 'Postgres' ? newDatabase() : 'inbox';
      const { world, app, miss } = await setting();
      const config = `listen: { port: 0 }
inbox: "${inbox}"
sinks: [{ name: app, http: { url: "${app.url}" } }]
`;
      const served = await serving(world, config, { env });
      endings.push(() => served.end());
      const trigger = (id: number) =>
        svc(world, ['webhooks', 'trigger', 'ticket.created', '--to', served.url, '--set', `data.ticket_id=${id}`], {
          env,
        });
      const catchUp = (...argv: string[]) =>
        svc(world, ['webhooks', 'catch-up', '--config', served.file, '--events', 'ticket.created', '--json', ...argv], {
          env,
        });
      const one = await miss('Missed before the sample');
      const since = JSON.parse(
        (await svc(world, ['tickets', 'get', String(one.id), '--json'], { env })).stdout,
      ).created_at;
      expect((await trigger(one.id)).exitCode).toBe(0);
      expect(JSON.parse((await catchUp('--since', since)).stdout)).toMatchObject({ sent: 1, repeated: 0 });
      await served.until(() => app.ids().includes(`rebuilt:ticket.created:${one.id}`));
      // The other way round: the sample of an event that was rebuilt is no repeat of it.
      const before = app.ids().length;
      expect((await trigger(one.id)).exitCode).toBe(0);
      await served.until(() => app.ids().length > before);
      expect(app.ids().at(-1)).toMatch(/^evt_sample_/u);
    },
  );
});

test('the search begins at the last event, whatever samples came since, and at the first sample without any', () => {
  const seen = (...all: readonly [id: string, at: string][]) => {
    const memory = createMemory();
    for (const [id, at] of all) {
      memory.see({ id, event: 'ticket.created', at, headers: {}, body: Buffer.from(body(id, { created_at: at })) });
    }
    return memory.latest()?.toISOString();
  };
  const [first, real, last] = ['2026-03-01T10:00:00.000Z', '2026-03-01T11:00:00.000Z', '2026-03-01T12:00:00.000Z'];
  expect(seen(['evt_sample_a', first], ['evt_1', real], ['evt_sample_b', last])).toBe('2026-03-01T10:55:00.000Z');
  expect(seen(['evt_sample_a', first], ['evt_sample_b', last])).toBe('2026-03-01T09:55:00.000Z');
  expect(seen()).toBeUndefined();
});
