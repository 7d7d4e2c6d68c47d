import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sign } from '../../../src/api/signature.ts';
import { keepSecret } from '../../../src/webhooks/subscriptions/secrets.ts';
import { endAfterEach } from '../../endings.ts';
import { freePort } from '../../free-port.ts';
import { svc } from '../../svc.ts';
import { listening, liveWorld, startApp } from '../listening.ts';

const secret = 'sample-secret';
const signed = { SVC_WEBHOOK_SECRET: secret };
const endings = endAfterEach();

async function app(...about: Parameters<typeof startApp>) {
  const started = await startApp(...about);
  endings.push(() => started.close());
  return started;
}
async function world(env: Record<string, string> = {}) {
  const made = await liveWorld(env);
  endings.push(() => made.sandbox.close());
  return made;
}
async function listen(...about: Parameters<typeof listening>) {
  const started = await listening(...about);
  endings.push(() => started.end());
  return started;
}
const trigger = (made: Awaited<ReturnType<typeof world>>, event: string, url: string, ...more: string[]) =>
  svc(made, ['webhooks', 'trigger', event, '--to', url, ...more], { env: signed });

test('an event is shown in one line, forwarded byte for byte, and kept in the inbox', async () => {
  const [made, target] = [await world(), await app()];
  const running = await listen(made, ['--forward-to', target.url], { env: signed });
  expect(
    (await trigger(made, 'ticket.created', running.url, '--set', 'id=evt_1', '--set', 'data.subject=Hello')).exitCode,
  ).toBe(0);
  await running.until(() => running.said.stdout !== '');
  expect(running.said.stdout).toMatch(
    /^\S+Z\tticket\.created\tevt_1\tT-1512 Hello \(open, priority 2, email\)\taccepted\t200 in \d+ ms\n$/u,
  );
  const [got] = target.got;
  expect(got?.headers).toMatchObject({ 'x-svc-event': 'ticket.created', 'content-type': 'application/json' });
  expect(got?.headers['x-svc-signature']).toBe(sign(secret, Buffer.from(got?.body ?? '')));

  const ran = await running.end();
  expect(ran.exitCode).toBe(0);
  expect(ran.stderr).toContain('1 event received, 1 forwarded.');
  const shown = await svc(made, ['webhooks', 'inbox', 'show', 'evt_1', '--json']);
  expect(JSON.parse(shown.stdout)).toMatchObject({
    id: 'evt_1',
    event: 'ticket.created',
    verdict: 'accepted',
    body: got?.body,
    forwards: [{ to: target.url, status: 200, tries: 1 }],
  });
  // Where it is found, nobody needs to hear of another inbox.
  expect([shown.stderr, (await svc(made, ['webhooks', 'inbox', 'list'])).stderr]).toEqual(['', '']);
});

test('where room is short inbox list tells an app that failed an event from one that took it', async () => {
  const [made, target] = [await world(), await app(0, ({ body }) => (body.includes('evt_2') ? 500 : 204))];
  const running = await listen(made, ['--forward-to', target.url], { env: signed });
  for (const id of ['evt_1', 'evt_2']) await trigger(made, 'ticket.created', running.url, '--set', `id=${id}`);
  await running.until(() => /evt_2.*500 in/u.test(running.said.stdout));
  await running.end();
  const statesAt = async (columns?: number) => {
    const { stdout } = await svc(made, ['webhooks', 'inbox', 'list'], {
      env: { NO_COLOR: '1' },
      ...(columns && { columns }),
    });
    const rows = stdout.split('\n').filter((row) => row.includes('evt_'));
    return rows.map((row) => /answered(?: \d+)?/u.exec(row)?.[0]);
  };
  for (const columns of [60, 80, 200]) expect(await statesAt(columns)).toEqual(['answered 500', 'answered']);
  expect(await statesAt()).toEqual(['answered', 'answered']);
});

test('--json is one object a line: accepted, repeat, unreadable, rejected', async () => {
  const made = await world();
  const running = await listen(made, ['--json'], { env: signed });
  await trigger(made, 'feedback.created', running.url, '--set', 'id=evt_1');
  await trigger(made, 'feedback.created', running.url, '--set', 'id=evt_1');
  const file = join(made.folder, 'body.txt');
  writeFileSync(file, 'no json');
  await trigger(made, 'feedback.created', running.url, '--body', file);
  const rejected = await svc(made, ['webhooks', 'trigger', 'feedback.created', '--to', running.url], {
    env: { SVC_WEBHOOK_SECRET: 'another' },
  });
  expect(rejected.exitCode).toBe(1);
  await running.until(() => running.lines().length === 4);
  expect(running.lines()).toMatchObject([
    { kind: 'event', event: 'feedback.created', id: 'evt_1', verdict: 'accepted', why: null, forward: null },
    { kind: 'event', id: 'evt_1', verdict: 'repeat' },
    { kind: 'event', verdict: 'unreadable', why: 'not JSON', data: null },
    { kind: 'event', verdict: 'rejected', why: 'no-match', id: null },
  ]);
  expect(running.lines()[0].data.title).toBe('Dark mode for the portal');
  const ran = await running.end();
  expect(ran.stderr).toContain('1 event received, 1 unreadable, 1 repeated, 1 rejected.');
});

test.each([80, 120, 200])(
  'on a terminal of %i columns lines are aligned and fit, and no customer can move the cursor',
  async (columns) => {
    const made = await world();
    const running = await listen(made, [], { env: { ...signed, NO_COLOR: '1' }, columns });
    const evil = 'data.subject=\u001b[2J\u001b]0;title\u0007 \u202e very long '.concat('x'.repeat(200));
    for (const event of ['ticket.created', 'conversation.message_received', 'call.completed']) {
      await trigger(made, event, running.url, ...(event === 'ticket.created' ? ['--set', evil] : []));
    }
    await running.until(() => running.said.stdout.split('\n').length === 4);
    const lines = running.said.stdout.trimEnd().split('\n');
    expect(new Set(lines.map((line) => line.indexOf('✓'))).size).toBe(1);
    for (const line of lines) expect([...line].length).toBeLessThanOrEqual(columns);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(running.said.stdout).not.toMatch(/[\u001b\u0007\u202e]/u);
  },
);

test('--events shows and forwards only those, and --route sends one elsewhere; all of them are stored', async () => {
  const [made, main, other] = [await world(), await app(), await app()];
  const running = await listen(
    made,
    [
      '--json',
      '--forward-to',
      main.url,
      '--route',
      `feedback.created=${other.url}`,
      '--events',
      'ticket.created, feedback.created',
    ],
    { env: signed },
  );
  for (const event of ['ticket.created', 'call.completed', 'feedback.created']) {
    await trigger(made, event, running.url, '--set', `id=${event}`);
  }
  await running.until(() => running.lines().length === 2);
  expect(main.ids()).toEqual(['ticket.created']);
  expect(other.ids()).toEqual(['feedback.created']);
  await running.end();
  const list = JSON.parse((await svc(made, ['webhooks', 'inbox', 'list', '--json'])).stdout);
  expect(list.map(({ id }: { id: string }) => id)).toEqual(['feedback.created', 'call.completed', 'ticket.created']);
});

test('while the app is down events wait, and then arrive in order, each once', async () => {
  const made = await world();
  const port = await freePort();
  const running = await listen(made, ['--json', '--forward-to', `http://127.0.0.1:${port}/`], { env: signed });
  for (let n = 1; n <= 5; n++) await trigger(made, 'ticket.created', running.url, '--set', `id=evt_${n}`);
  await running.until(() => running.lines().length === 5);
  expect(running.lines().map(({ forward }) => forward.state)).toEqual(Array(5).fill('waiting'));
  const target = await app(port);
  await running.until(() => running.lines().length === 10);
  expect(target.ids()).toEqual(['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5']);
  expect(running.lines().slice(5)).toMatchObject(
    [1, 2, 3, 4, 5].map((n) => ({ kind: 'forward', id: `evt_${n}`, forward: { state: 'answered', status: 200 } })),
  );
});

test('what was not forwarded when svc ended is forwarded first by the next run', async () => {
  const made = await world();
  const port = await freePort();
  const first = await listen(made, ['--forward-to', `http://127.0.0.1:${port}/`], { env: signed });
  for (let n = 1; n <= 3; n++) await trigger(made, 'ticket.created', first.url, '--set', `id=evt_${n}`);
  expect((await first.end()).stderr).toContain('3 not forwarded yet');

  const idle = await listen(made, [], { env: signed });
  expect((await idle.end()).stderr).toContain('3 events of an earlier run still wait to be forwarded');

  const target = await app();
  const second = await listen(made, ['--forward-to', target.url], { env: signed });
  await trigger(made, 'ticket.created', second.url, '--set', 'id=evt_4');
  await second.until(() => target.got.length === 4);
  expect(target.ids()).toEqual(['evt_1', 'evt_2', 'evt_3', 'evt_4']);
  await second.end();
  const third = await listen(made, ['--forward-to', target.url], { env: signed });
  await trigger(made, 'ticket.created', third.url, '--set', 'id=evt_2');
  expect((await third.end()).stderr).toContain('0 events received, 1 repeated.');
  expect(target.got).toHaveLength(4);
});

test('a replay that the app took is not forwarded once more, while somebody listens and while nobody does', async () => {
  const made = await world();
  const port = await freePort();
  const first = await listen(made, ['--forward-to', `http://127.0.0.1:${port}/`], { env: signed });
  for (let n = 1; n <= 3; n++) await trigger(made, 'ticket.created', first.url, '--set', `id=evt_${n}`);
  expect((await first.end()).stderr).toContain('3 not forwarded yet');
  const [target, other] = [await app(port), await app()];

  const replay = (...argv: string[]) => svc(made, ['webhooks', 'inbox', 'replay', ...argv]);
  const elsewhere = await replay('evt_1', '--to', other.url);
  expect(elsewhere.stderr).toContain(`1 event still waits for http://127.0.0.1:${port}/: svc webhooks listen forwards`);
  expect(await replay('evt_1')).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('waits') });

  const idle = await listen(made, [], { env: signed });
  expect(await replay('evt_2')).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('waits') });
  await idle.end();
  const inbox = JSON.parse((await svc(made, ['webhooks', 'inbox', 'list', '--json'])).stdout);
  expect(inbox.map(({ forward }: { forward: { state: string } }) => forward.state).sort()).toEqual([
    ...['answered', 'answered', 'waiting'],
  ]);

  const last = await listen(made, ['--forward-to', target.url], { env: signed });
  await last.until(() => target.got.length === 3);
  expect((await last.end()).stderr).toContain('Forwarding 1 event of an earlier run first.');
  expect([target.ids(), other.ids()]).toEqual([['evt_1', 'evt_2', 'evt_3'], ['evt_1']]);
});

test('what the app answers is never the answer to the service', async () => {
  const [made, target] = [await world(), await app(0, () => 500)];
  const running = await listen(made, ['--forward-to', target.url], { env: signed });
  expect((await trigger(made, 'ticket.created', running.url)).exitCode).toBe(0);
  await running.until(() => running.said.stdout.includes('500 in'));
  const { stderr } = await running.end();
  expect(stderr).toContain('1 answered with an error by the app');
  expect(stderr).toContain('svc webhooks inbox replay --last N');
});

test('it subscribes --public-url to the events, receives what the service sends, and leaves nothing behind', async () => {
  const made = await world();
  const port = await freePort();
  const env = { SVC_ACCESS_TOKEN: made.token };
  const others = await svc(made, ['webhooks', 'create', 'feedback.created', 'https://example.com/hooks', '--json'], {
    env,
  });
  const url = `http://127.0.0.1:${port}/from/service`;
  const running = await listen(
    made,
    ['--port', String(port), '--json', '--public-url', url, '--events', 'ticket.created,feedback.created'],
    { env },
  );
  await running.until(() => running.said.stderr.includes('Subscribed'));
  const there = JSON.parse((await svc(made, ['webhooks', 'list', '--json'], { env })).stdout);
  expect(there).toHaveLength(3);
  expect(there).toContainEqual(expect.objectContaining({ event_type: 'ticket.created', target_url: url }));

  const ticket = await svc(made, ['tickets', 'create', '--subject', 'From the API', '--json'], { env });
  expect(ticket.exitCode).toBe(0);
  await made.control('emit', { event: 'feedback.created', data: { post_id: 1, title: 'More' }, duplicate: 2 });
  await made.control('emit', { event: 'ticket.created', data: { ticket_id: 1 }, bad_signature: true });
  await running.until(() => running.lines().length === 5);
  const verdicts = running.lines().map(({ event, verdict }) => `${event} ${verdict}`);
  expect(verdicts.sort()).toEqual(
    [
      'feedback.created accepted',
      'feedback.created repeat',
      'feedback.created repeat',
      'ticket.created accepted',
      'ticket.created rejected',
    ].sort(),
  );

  expect((await running.end()).exitCode).toBe(0);
  const left = JSON.parse((await svc(made, ['webhooks', 'list', '--json'], { env })).stdout);
  expect(left.map(({ id }: { id: number }) => id)).toEqual([JSON.parse(others.stdout).id]);
});

test('what the service could not deliver it delivers again, and a listener that came up meanwhile takes it', async () => {
  const made = await world();
  const port = await freePort();
  const env = { SVC_ACCESS_TOKEN: made.token };
  const created = await svc(made, ['webhooks', 'create', 'ticket.created', `http://127.0.0.1:${port}/`, '--json'], {
    env,
  });
  await made.control('emit', { event: 'ticket.created', data: { ticket_id: 7 } });
  const attempts = async () => {
    const { accounts, ...state } = await made.control('state');
    return JSON.stringify({ accounts, state }).match(/"refused"/gu)?.length ?? 0;
  };
  while ((await attempts()) === 0) await new Promise((resolve) => setImmediate(resolve));
  const running = await listen(made, ['--port', String(port), '--json'], {
    env: { SVC_WEBHOOK_SECRET: JSON.parse(created.stdout).signing_secret },
  });
  expect(running.lines()).toEqual([]);
  // "waiting about 10 seconds and then about one minute" (service.md#delivery-2).
  await made.control('clock', { advance_seconds: 15 });
  await running.until(() => running.lines().length === 1);
  expect(running.lines()[0]).toMatchObject({ event: 'ticket.created', verdict: 'accepted', data: { ticket_id: 7 } });
});

test('with a login the secrets are in the store while it listens, and gone afterwards; with one of the environment never', async () => {
  const { openStore } = await import('../../../src/auth/store-file.ts');
  const { store } = await import('../../../src/auth/credentials.ts');
  const made = await world();
  const folder = join(made.folder, 'config');
  const tokens = openStore({
    folder,
    clock: made.clock,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    warn: () => {},
  });
  const argv = ['--public-url', 'https://hooks.example.com/'];
  const fromEnvironment = await listen(made, argv, { env: { SVC_ACCESS_TOKEN: made.token } });
  await fromEnvironment.until(() => fromEnvironment.said.stderr.includes('Subscribed'));
  expect(await tokens.names('webhook/')).toEqual([]);
  await fromEnvironment.end();

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
  await keepSecret(tokens, 'default', 999, 'of another subscription');
  const running = await listen(made, argv);
  await running.until(() => running.said.stderr.includes('Subscribed'));
  expect(await tokens.names('webhook/default/')).toHaveLength(7);
  await running.end();
  expect(await tokens.names('webhook/default/')).toEqual(['webhook/default/999']);
});

test.each([
  [['--public-url', 'https://example.com/'], { SVC_API_KEY: 'key_acme' }, 4],
  [['--tunnel', 'no-such-program {port}'], { SVC_API_KEY: 'key_acme' }, 4],
  [['--public-url', 'https://example.com/'], {}, 4],
  [['--public-url', 'http://example.com/'], { SVC_ACCESS_TOKEN: 'x' }, 2],
  [['--public-url', 'https://example.com/', '--tunnel', 'x'], { SVC_ACCESS_TOKEN: 'x' }, 2],
  [[], {}, 2],
  [['--secret-stdin'], {}, 2],
  [['--events', 'ticket.deleted'], signed, 2],
  [['--route', 'ticket.created'], signed, 2],
  [['--route', 'ticket.created=http://a/', '--route', 'ticket.created=http://b/'], signed, 2],
  [['--forward-to', 'ftp://example.com'], signed, 2],
  [['--path', 'hooks'], signed, 2],
  [['--port', '70000'], signed, 2],
] as const)('%j with %j ends with %i before anything starts', async (argv, env, exitCode) => {
  const made = await world();
  const ran = await svc(made, ['webhooks', 'listen', ...argv], { env });
  expect(ran.exitCode).toBe(exitCode);
  expect(ran.stdout).toBe('');
  expect(ran.stderr).not.toContain('Listening');
  expect(made.sent).toEqual([]);
});

test('secrets come from standard input too, one a line', async () => {
  const made = await world();
  const running = await listen(made, ['--json', '--secret-stdin'], { stdin: `other\r\n${secret}\n\n` });
  await trigger(made, 'ticket.created', running.url);
  await running.until(() => running.lines().length === 1);
  expect(running.lines()[0].verdict).toBe('accepted');
});

test('a tunnel is opened last, its URL subscribed, and its death told', { tags: ['long'] }, async () => {
  const made = await world();
  const script = join(made.folder, 'tunnel.mjs');
  // A tunnel of this machine: the receiver itself. It ends when it is asked to.
  writeFileSync(
    script,
    `import { existsSync } from 'node:fs';
     console.log('your url is http://127.0.0.1:' + process.argv[2] + '/');
     setInterval(() => { if (existsSync(${JSON.stringify(join(made.folder, 'die'))})) process.exit(7); }, 20);`,
  );
  const env = { SVC_ACCESS_TOKEN: made.token };
  const running = await listen(made, ['--json', '--tunnel', `${process.execPath} ${script} {port}`], { env });
  await running.until(() => running.said.stderr.includes('Subscribed'));
  await made.control('emit', { event: 'ticket.created', data: { ticket_id: 1 } });
  await running.until(() => running.lines().length === 1);
  expect(running.lines()[0]).toMatchObject({ event: 'ticket.created', verdict: 'accepted' });
  writeFileSync(join(made.folder, 'die'), '');
  await running.until(() => running.said.stderr.includes('The tunnel is gone'));
  expect(running.said.stderr).toContain('exit 7');
  expect((await running.end()).exitCode).toBe(0);
  expect(JSON.parse((await svc(made, ['webhooks', 'list', '--json'], { env })).stdout)).toEqual([]);
});

test('two at once each keep what they receive', async () => {
  const made = await world();
  const first = await listen(made, [], { env: signed });
  const second = await listen(made, [], { env: signed });
  await trigger(made, 'ticket.created', first.url, '--set', 'id=one');
  await trigger(made, 'ticket.created', second.url, '--set', 'id=two');
  const list = async () => {
    const { stdout } = await svc(made, ['webhooks', 'inbox', 'list', '--json']);
    return JSON.parse(stdout).map(({ id }: { id: string }) => id);
  };
  expect(await list()).toEqual(['two', 'one']);
  const purge = await svc(made, ['webhooks', 'inbox', 'purge', '--yes']);
  expect(purge).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('listen is running') });
  await first.end();
  await second.end();
  expect(await list()).toEqual(['two', 'one']);
});

test('a state folder that cannot be used is said plainly', async () => {
  const made = await world();
  mkdirSync(join(made.folder, 'state'));
  writeFileSync(join(made.folder, 'state', 'webhooks'), 'a file where the folder should be');
  const ran = await svc(made, ['webhooks', 'listen', '--port', '0'], { env: signed });
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain('inbox');
});

test('without a tunnel and a public URL the first line says that nothing arrives by itself', async () => {
  const world = await liveWorld({ SVC_WEBHOOK_SECRET: 'sample' });
  const running = await listening(world, []);
  await running.end();
  expect(running.said.stderr).toMatch(
    /^There is no tunnel and no public URL, .*\n.*svc webhooks listen --tunnel cloudflared\nListening on /u,
  );
  // The line that opens one is the same command, with what was said of it.
  const forwarding = await listening(world, ['--forward-to', 'http://localhost:3999/h', '--path', '/hooks']);
  await forwarding.end();
  expect(forwarding.said.stderr).toContain(
    'svc webhooks listen --path /hooks --forward-to http://localhost:3999/h --tunnel cloudflared\n',
  );
  const others = ['--events', 'ticket.created', '--filter', '.data', '--inspect-port', '0', '--inspect'];
  const inspected = await listening(world, others, { openBrowser: async () => {} });
  await inspected.end();
  expect(inspected.said.stderr).toContain(`svc webhooks listen ${others.join(' ')} --tunnel cloudflared\n`);
});

test('a service on this machine, such as a sandbox, can deliver without a tunnel', async () => {
  const world = await liveWorld({ SVC_WEBHOOK_SECRET: 'sample', SVC_BASE_URL: 'http://127.0.0.1:4010' });
  const running = await listening(world, []);
  await running.end();
  expect(running.said.stderr).toMatch(/^There is no tunnel and no public URL, so only a service on this machine can/u);
  expect(running.said.stderr).not.toContain('--tunnel');
});

test('--inspect opens the page for somebody who sits there, and prints its address all the same', async () => {
  const world = await liveWorld({ SVC_WEBHOOK_SECRET: 'sample' });
  const opened: string[] = [];
  const openBrowser = async (url: URL) => {
    opened.push(url.href);
  };
  const inspect = async (argv: readonly string[], columns?: number) => {
    const running = await listening(world, ['--inspect', '--inspect-port', '0', ...argv], { openBrowser, columns });
    await running.until(() => running.said.stderr.includes('Inspect the events at '));
    await running.end();
    return /Inspect the events at (\S+)/u.exec(running.said.stderr)?.[1];
  };
  const address = await inspect([], 80);
  expect(opened).toEqual([address]);
  await inspect(['--no-input'], 80);
  await inspect([]);
  expect(opened).toHaveLength(1);
});
