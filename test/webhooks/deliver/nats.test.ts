// The NATS sink, against a real nats-server: acknowledged, once each, through kills of the server.
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, nkeys } from '@nats-io/transport-node';
import { afterEach, expect, test } from 'vitest';
import { messageId, natsSink, subjectOf, subjectsOf } from '../../../src/webhooks/deliver/nats.ts';
import type { Sink } from '../../../src/webhooks/deliver/sink.ts';
import { buildSvc } from '../../built.ts';
import { selfSigned } from '../../certificate.ts';
import { freePort } from '../../free-port.ts';
import { real } from '../../real-component.ts';
import { startNats } from '../nats-server.ts';
import { body, deliver, secret } from '../serving.ts';

const cleaning: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleaning.splice(0).reverse()) await clean();
});

async function natsServer(config?: string) {
  const server = await startNats(config);
  cleaning.push(() => server.stop());
  return server;
}

const event = (id: string, name: string | null = 'ticket.created') => ({
  id,
  event: name,
  at: '2026-11-20T12:00:00.000Z',
  headers: {},
  body: Buffer.from(JSON.stringify({ id, event: name })),
});

const usual = { timeoutMs: 20_000, repeatsMs: 24 * 3_600_000, notice: () => {} };

const sinkTo = (url: string, create: boolean, more: { timeoutMs?: number } = {}): Sink => {
  const sink = natsSink({
    name: 'bus',
    servers: [url],
    subject: 'svc.{event}',
    stream: { name: 'SVC', create },
    ...usual,
    ...more,
  });
  cleaning.push(async () => sink.close?.());
  return sink;
};

const never = new AbortController().signal;

async function countIn(url: string): Promise<number> {
  const connection = await connect({ servers: [url.replace('nats://', '')] });
  try {
    const { streams } = await jetstreamManager(connection);
    return (await streams.info('SVC')).state.messages;
  } finally {
    await connection.close();
  }
}

test('an unknown name is one token, and no id breaks out of its header', () => {
  expect(subjectOf('svc.{event}', 'ticket.created')).toBe('svc.ticket.created');
  expect(subjectOf('svc.{event}', 'a.>.*')).toBe('svc.a____');
  expect(subjectOf('svc.{event}', null)).toBe('svc.unknown');
  expect(subjectOf('svc.{event}', '')).toBe('svc.unknown');
  expect(subjectsOf('svc.{event}')).toBe('svc.>');
  expect(subjectsOf('svc.all')).toBe('svc.all');
  expect(messageId('evt_1')).toBe('evt_1');
  expect(messageId('a\r\nNats-Rollup: all')).toMatch(/^~[\w-]{43}$/u);
  expect(messageId('\ud800')).not.toBe(messageId('\ud801'));
});

test('a server that is not there is a refusal', async () => {
  const sink = sinkTo(`nats://127.0.0.1:${await freePort()}`, true);
  expect(await sink.send([event('evt_1')], never)).toMatchObject({ how: 'refused' });
});

real('nats-server')('a missing stream is refused by its name until it is there', async () => {
  const { url } = await natsServer();
  expect(await sinkTo(url, false).send([event('evt_1')], never)).toMatchObject({
    how: 'refused',
    error: 'nobody takes svc.ticket.created: the stream SVC for it is not there, or JetStream is off',
  });
  expect(await sinkTo(url, true).send([event('evt_1')], never)).toEqual({ how: 'taken' });
  expect(await sinkTo(url, false).send([event('evt_1')], never)).toEqual({ how: 'taken' });
  expect(await countIn(url)).toBe(1);
});

real('nats-server')(
  'each event is once in the stream, though the server is killed and restarted',
  { tags: ['long'] },
  async () => {
    const { url, start, end } = await natsServer();
    // What the server had in hand when it was killed is given up soon, and sent again.
    const sink = sinkTo(url, true, { timeoutMs: 2_000 });
    const ids = Array.from({ length: 400 }, (_, at) => `evt_${at}`);
    let sent = 0;
    const load = (async () => {
      for (const id of ids) {
        while ((await sink.send([event(id)], never)).how !== 'taken');
        // A lost answer: it comes once more.
        if (sent % 7 === 0) await sink.send([event(id)], never);
        sent++;
      }
    })();
    for (const [at, signal] of [
      [100, 'SIGKILL'],
      [200, 'SIGTERM'],
      [300, 'SIGKILL'],
    ] as const) {
      while (sent < at) await new Promise(setImmediate);
      await end(signal);
      await start();
    }
    await load;
    expect(await countIn(url)).toBe(ids.length);
  },
);

real('nats-server')(
  'a stream that knows a repeat for a shorter time than svc tries again is told once, where it can be read',
  { tags: ['long'] },
  async () => {
    const rights = '{ publish: { deny: "$JS.API.STREAM.>" } }';
    const users = `users: [{ user: all, password: all }, { user: few, password: few, permissions: ${rights} }]`;
    const makeIn = async ({ url }: { url: string }, login = {}) => {
      const connection = await connect({ servers: [url.replace('nats://', '')], ...login });
      cleaning.push(() => connection.close());
      const { streams } = await jetstreamManager(connection);
      await streams.add({ name: 'SVC', subjects: ['svc.>'], duplicate_window: 120 * 1e9 });
      return streams;
    };
    const open = await natsServer();
    const closed = await natsServer(`authorization { ${users} }\nno_auth_user: few\n`);
    const streams = await makeIn(open);
    await makeIn(closed, { user: 'all', pass: 'all' });
    const said = async (server: string, stream: { stream?: { name: string; create: boolean } }) => {
      const texts: string[] = [];
      const notice = (text: string) => void texts.push(text);
      const about = { name: 'bus', servers: [server], subject: 'svc.{event}', ...stream, ...usual, notice };
      const sink = natsSink(about);
      for (const id of ['evt_1', 'evt_2']) expect(await sink.send([event(id)], never)).toEqual({ how: 'taken' });
      await sink.close?.();
      return texts;
    };
    const told =
      'bus: the stream SVC knows a repeat for 2m only, and svc tries an event again for 24h: after a lost acknowledgement it may be there twice. To change that: nats stream edit SVC --dupe-window=24h';
    expect(await said(open.url, {})).toEqual([told]);
    expect(await said(open.url, { stream: { name: 'SVC', create: false } })).toEqual([told]);
    expect(await said(closed.url, {})).toEqual([]);
    const { config } = await streams.info('SVC');
    await streams.update('SVC', { ...config, duplicate_window: 24 * 3_600 * 1e9 });
    expect(await said(open.url, {})).toEqual([]);
  },
);

/** A server whose one user has to sign, and the file that user signs with. */
function signedIn(): { readonly config: string; readonly credentials: string } {
  const [operator, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()];
  const system = nkeys.createAccount();
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = (by: typeof operator, of: typeof operator, nats: object) => {
    const claims = { jti: 'one', iat: 1, iss: by.getPublicKey(), sub: of.getPublicKey(), name: 'test', nats };
    const signed = `${encoded({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encoded(claims)}`;
    return `${signed}.${Buffer.from(by.sign(Buffer.from(signed))).toString('base64url')}`;
  };
  const all = { subs: -1, data: -1, payload: -1 };
  const limits = { ...all, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const streams = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const owned = token(operator, account, { type: 'account', version: 2, limits: { ...limits, ...streams } });
  const systems = token(operator, system, { type: 'account', version: 2, limits });
  const config = `operator: "${token(operator, operator, { type: 'operator', version: 2 })}"
resolver: MEMORY
system_account: ${system.getPublicKey()}
resolver_preload: { ${account.getPublicKey()}: "${owned}", ${system.getPublicKey()}: "${systems}" }
`;
  const own = token(account, user, { type: 'user', version: 2, ...all });
  const seed = Buffer.from(user.getSeed()).toString();
  const credentials = `-----BEGIN NATS USER JWT-----
${own}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`;
  return { config, credentials };
}

real('nats-server')(
  'with its credentials it is let in; without them, or with others, it is refused',
  { tags: ['long'] },
  async () => {
    const { config, credentials } = signedIn();
    const { url } = await natsServer(config);
    const folder = mkdtempSync(join(tmpdir(), 'svc-creds-'));
    const files = { own: join(folder, 'own.creds'), others: join(folder, 'others.creds') };
    writeFileSync(files.own, credentials);
    writeFileSync(files.others, signedIn().credentials);
    const answers: unknown[] = [];
    for (const path of [files.own, files.others, join(folder, 'missing.creds'), undefined]) {
      const about = { name: 'bus', servers: [url], subject: 'svc.{event}', stream: { name: 'SVC', create: true } };
      const sink = natsSink({ ...about, ...usual, ...(path !== undefined && { credentials: path }) });
      cleaning.push(async () => sink.close?.());
      answers.push(await sink.send([event('evt_1')], never));
    }
    const refused = (error: RegExp) => ({ how: 'refused', error: expect.stringMatching(error) });
    expect(answers).toEqual([
      { how: 'taken' },
      refused(/authorization/iu),
      refused(/missing\.creds is not there/u),
      refused(/authorization/iu),
    ]);
  },
);

real('nats-server', 'openssl')(
  'a certificate that nobody vouches for is refused, and one that is known is taken',
  { tags: ['long'] },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-nats-tls-'));
    const { key, cert } = selfSigned();
    const files = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') };
    writeFileSync(files.key, key);
    writeFileSync(files.cert, cert);
    const { url } = await natsServer(`tls { cert_file: "${files.cert}", key_file: "${files.key}" }\n`);
    const secured = url.replace('nats://127.0.0.1', 'tls://localhost');
    expect(await sinkTo(secured, true).send([event('evt_1')], never)).toEqual({
      how: 'refused',
      error: expect.stringMatching(/certificate/iu),
    });
    // Node reads what it trusts when it starts.
    const built = await buildSvc();
    cleaning.push(() => built.remove());
    const config = join(folder, 'svc.yaml');
    writeFileSync(
      config,
      `listen: { port: 0 }\ninbox: inbox\nsecrets: { store: false, env: [OWN] }\nsinks: [{ name: bus, nats: { servers: ["${secured}"], subject: svc.all, stream: { name: SVC, create: true } } }]\n`,
    );
    const child = spawn(process.execPath, [built.script, 'webhooks', 'serve', '--config', config, '--json'], {
      env: {
        ...{ PATH: process.env.PATH, SVC_STATE_DIR: folder, SVC_CONFIG_DIR: folder },
        ...{ OWN: secret, NODE_EXTRA_CA_CERTS: files.cert },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    const listening = new Promise<string>((ready, failed) => {
      child.stderr.on('data', (piece) => {
        said += piece;
        const [, at] = /Listening on (\S+),/u.exec(said) ?? [];
        if (at !== undefined) ready(at);
      });
      child.once('exit', () => failed(new Error(said)));
    });
    expect(await deliver(await listening, body('evt_1'))).toBe(204);
    const over = text(child.stdout);
    // It drains before it ends.
    child.kill('SIGTERM');
    expect(JSON.parse(await over)).toMatchObject({ sinks: [{ name: 'bus', delivered: 1 }] });
  },
);

real('nats-server')('an event that is larger than the server takes is told with the setting that says so', async () => {
  const { url } = await natsServer('max_payload: 1KB\n');
  const sink = sinkTo(url, true);
  const large = { ...event('large'), body: Buffer.alloc(2_000, 'x') };
  const answer = await sink.send([large], new AbortController().signal);
  expect(answer).toMatchObject({ how: 'refused', error: expect.stringContaining('raise max_payload') });
  expect(await sink.send([event('small')], new AbortController().signal)).toEqual({ how: 'taken' });
});
