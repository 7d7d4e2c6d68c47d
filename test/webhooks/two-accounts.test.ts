/** The inbox of `listen` where its profile is logged in to one account and then to another. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/auth/store-file.ts';
import { tryLock } from '../../src/disk/lock/lock.ts';
import { slotsFolder } from '../../src/webhooks/store/folder/slot.ts';
import { encodeLine } from '../../src/webhooks/store/line.ts';
import { startsFor } from '../../src/webhooks/store/listen-inbox.ts';
import { keepSecret } from '../../src/webhooks/subscriptions/secrets.ts';
import { endAfterEach } from '../endings.ts';
import { freePort } from '../free-port.ts';
import { svc } from '../svc.ts';
import { listening, liveWorld, startApp } from './listening.ts';

const endings = endAfterEach();
const noKey = { SVC_API_KEY: undefined, SVC_WEBHOOK_SECRET: 'sample-secret' };
type World = Awaited<ReturnType<typeof liveWorld>>;

async function world() {
  const made = await liveWorld();
  endings.push(() => made.sandbox.close());
  return made;
}

async function app() {
  const started = await startApp();
  endings.push(() => started.close());
  return started;
}

async function listen(made: World, argv: readonly string[], env: object = noKey) {
  const running = await listening(made, argv, { env: env as typeof noKey });
  endings.push(() => running.end());
  return running;
}

const login = (made: World, key: string) => svc(made, ['login', '--with-api-key'], { stdin: key, env: noKey });
const relogin = async (made: World, key: string) => {
  await svc(made, ['logout'], { env: noKey });
  expect((await login(made, key)).exitCode).toBe(0);
};

/** An event of Acme that no app has taken yet. */
async function oneWaits(made: World, env: object = noKey, event = 'contact.created') {
  const running = await listen(made, ['--forward-to', `http://127.0.0.1:${await freePort()}/`], env);
  const argv = ['webhooks', 'trigger', event, '--to', running.url, '--set', 'id=evt_acme'];
  expect((await svc(made, argv, { env: noKey })).exitCode).toBe(0);
  await running.until(() => running.said.stdout.includes('evt_acme'));
  await running.end();
}

const kept = '1 event of account 1 (1 not forwarded yet) is left alone: this login is of account 2.';

test.each([
  ['a saved login', async (made: World) => relogin(made, 'key_globex'), noKey, noKey],
  [
    'a key of the environment',
    async () => {},
    { ...noKey, SVC_API_KEY: 'key_acme' },
    { ...noKey, SVC_API_KEY: 'key_globex' },
  ],
])(
  "an event of an account never goes to the app of another one's login: %s",
  { tags: ['long'] },
  async (_, change, before, after) => {
    const [made, target] = [await world(), await app()];
    if (before === noKey) await login(made, 'key_acme');
    await oneWaits(made, before);
    await change(made);

    const other = await listen(made, ['--forward-to', target.url], after);
    await svc(made, ['webhooks', 'trigger', 'ticket.created', '--to', other.url, '--set', 'id=evt_globex'], {
      env: noKey,
    });
    await other.until(() => target.got.length > 0);
    const ended = await other.end();
    expect(target.ids()).toEqual(['evt_globex']);
    expect(ended.stderr).toContain(kept);
    expect(ended.stderr).not.toContain('of an earlier run first');

    const list = await svc(made, ['webhooks', 'inbox', 'list'], { env: after });
    expect(list.stdout).toContain('evt_globex');
    expect(list.stdout).not.toContain('evt_acme');
    expect(list.stderr).toContain(kept);
    for (const argv of [['show'], ['replay', '--to', target.url]]) {
      const ran = await svc(made, ['webhooks', 'inbox', ...argv, 'evt_acme'], { env: after });
      expect(ran).toMatchObject({ exitCode: 3, stdout: '' });
      expect(ran.stderr).toContain('evt_acme is an event of account 1');
    }
    expect(target.got).toHaveLength(1);

    if (after === noKey) await relogin(made, 'key_acme');
    const again = await listen(made, ['--forward-to', target.url], before);
    await again.until(() => target.got.length === 2);
    expect(target.ids()).toEqual(['evt_globex', 'evt_acme']);
  },
);

/** The inbox of an older svc, or of a listener without a login: a1 and a2 are of Acme, b1 and b2 of Globex. */
function keptBefore(made: World, to: string, ids = ['a1', 'a2', 'b1', 'b2'], others: object = {}) {
  const folder = join(slotsFolder(join(made.folder, 'state'), 'default'), '1');
  mkdirSync(folder, { recursive: true });
  const data: Record<string, object> = {
    a1: { account_id: 1 },
    a2: { contact_id: 5 },
    b1: { account_id: 2 },
    b2: { account_id: 2 },
  };
  const lines = ids.map((id, at) =>
    encodeLine({
      kind: 'arrival',
      arrival: {
        id,
        event: 'ticket.created',
        at: new Date(Date.UTC(2026, 0, 2, 3, 4, at)).toISOString(),
        headers: {},
        body: Buffer.from(JSON.stringify({ id, event: 'ticket.created', data: data[id] ?? others })),
        to,
      },
    }),
  );
  const done = { to, at: '2026-01-02T03:04:09.000Z', status: 200, ms: 1, tries: 1 };
  if (ids.includes('b2')) lines.push(encodeLine({ kind: 'outcome', id: 'b2', outcome: done }));
  writeFileSync(join(folder, 'inbox.jsonl'), lines.join(''));
  return folder;
}

test('what an older svc kept of several accounts is told apart by the accounts that the events name', async () => {
  const [made, target] = [await world(), await app()];
  keptBefore(made, target.url);
  await login(made, 'key_globex');
  const other = await listen(made, ['--forward-to', target.url]);
  await other.until(() => target.got.length > 0);
  expect((await other.end()).stderr).toContain('2 events of account 1 (2 not forwarded yet) are left alone');
  expect(target.ids()).toEqual(['b1']);
  await relogin(made, 'key_acme');
  const own = await listen(made, ['--forward-to', target.url]);
  await own.until(() => target.got.length === 3);
  expect(target.ids()).toEqual(['b1', 'a1', 'a2']);
});

test('without a login nothing of an account is shown, and purge deletes all of it and says whose', async () => {
  const made = await world();
  await login(made, 'key_acme');
  await oneWaits(made);
  const left = await svc(made, ['logout'], { env: noKey });
  expect(left.stderr).toContain(
    'Of Acme this stays on this machine: 1 webhook event, 1 not forwarded yet (to delete them: svc webhooks inbox purge).',
  );
  const list = await svc(made, ['webhooks', 'inbox', 'list'], { env: noKey });
  expect(list.stdout).toBe('');
  expect(list.stderr).toContain(
    'is left alone: svc does not know whose this login is. To get at it, log this profile in to account 1 again, or use a key of it.',
  );
  const purged = await svc(made, ['webhooks', 'inbox', 'purge', '--yes'], { env: noKey });
  expect(purged).toMatchObject({
    stdout: 'deleted\t1\n',
    stderr: 'This deleted events of another login, too (1 of account 1).\n',
  });
  expect((await svc(made, ['webhooks', 'inbox', 'list'], { env: noKey })).stderr).not.toContain('account 1');
});

test('what an earlier login is still sent is not taken for the app of another account', async () => {
  const [made, target] = [await world(), await app()];
  const stored = { SVC_API_KEY: undefined };
  await login(made, 'key_globex');
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
  const tokens = openStore({ folder: join(made.folder, 'config'), clock: made.clock, random, warn: () => {} });
  await keepSecret(tokens, 'default', 14, 'sample-secret');
  const running = await listen(made, ['--json', '--forward-to', target.url], stored);
  const trigger = (...more: string[]) =>
    svc(made, ['webhooks', 'trigger', 'ticket.created', '--to', running.url, ...more], { env: stored });
  expect((await trigger('--set', 'data.account_id=1')).stderr).toContain('The receiver answered 401.');
  // A sample is of the account that is logged in.
  expect((await trigger('--set', 'id=evt_own')).exitCode).toBe(0);
  await running.until(() => target.got.length > 0);
  await running.end();
  expect(target.ids()).toEqual(['evt_own']);
  expect(running.lines()[0]).toMatchObject({ verdict: 'rejected', why: 'other-account', id: null });
  // Whoever gives the secret means what it signs.
  const given = await listen(made, ['--forward-to', target.url]);
  const argv = ['webhooks', 'trigger', 'ticket.created', '--to', given.url, '--set', 'data.account_id=1'];
  expect((await svc(made, argv, { env: noKey })).exitCode).toBe(0);
});

test('logout --all names commands that delete what stays, each once', async () => {
  const made = await world();
  const ofGx = { ...noKey, SVC_PROFILE: 'gx' };
  await login(made, 'key_acme');
  await svc(made, ['login', '--with-api-key'], { stdin: 'key_acme', env: ofGx });
  await oneWaits(made, ofGx);
  expect((await svc(made, ['mirror', 'pull', '--only', 'lists'], { env: noKey })).exitCode).toBe(0);
  const left = await svc(made, ['logout', '--all', '--yes'], { env: noKey });
  const commands = [...left.stderr.matchAll(/: svc ((?:-p \S+ )?(?:mirror|webhooks) [^)]+)\)/gu)].map(
    ([, line]) => line,
  );
  const file = join(made.folder, 'state/mirror.db');
  expect(commands).toEqual([`mirror forget --db ${file}`, '-p gx webhooks inbox purge']);
  expect(left.stderr.match(/Of Acme this stays/gu)).toHaveLength(1);
  const done = await Promise.all(commands.map((line = '') => svc(made, [...line.split(' '), '--yes'], { env: noKey })));
  expect(done).toEqual([
    expect.objectContaining({ exitCode: 0, stderr: expect.stringContaining(`Deleted ${file}`) }),
    expect.objectContaining({ exitCode: 0, stdout: 'deleted\t1\n' }),
  ]);
});

const inbox = (made: World, argv: readonly string[], env: object = noKey) =>
  svc(made, ['webhooks', 'inbox', ...argv], { env: env as typeof noKey });

const listedIds = async (made: World, env: object = noKey) =>
  JSON.parse((await inbox(made, ['list', '--json'], env)).stdout).map(({ id }: { id: string }) => id);

test('whoever reads an old inbox of several accounts sees its own alone, also while another sorts it, and moves nothing', async () => {
  const [made, target] = [await world(), await app()];
  const folder = keptBefore(made, target.url);
  const before = readFileSync(join(folder, 'inbox.jsonl'), 'utf8');
  await login(made, 'key_globex');
  const held = await tryLock(join(folder, 'lock'), { what: 'the inbox', hint: '' });
  const all = await Promise.all([1, 2, 3].map(() => listedIds(made)));
  expect(all).toEqual([1, 2, 3].map(() => ['b2', 'b1']));
  for (const id of ['a1', 'a2'])
    expect(await inbox(made, ['replay', id, '--to', target.url])).toMatchObject({ exitCode: 3 });
  await held?.release();
  expect(await listedIds(made)).toEqual(['b2', 'b1']);
  expect(target.got).toEqual([]);
  expect(readFileSync(join(folder, 'inbox.jsonl'), 'utf8')).toBe(before);
  expect(existsSync(join(folder, 'account.json'))).toBe(false);
});

test('purge deletes what it says, also of an old inbox of several accounts', async () => {
  const made = await world();
  keptBefore(made, 'http://127.0.0.1:9/');
  await login(made, 'key_globex');
  const purged = await inbox(made, ['purge', '--yes']);
  expect(purged).toMatchObject({
    stdout: 'deleted\t4\n',
    stderr: 'This deleted events of another login, too (2 of account 1).\n',
  });
  await relogin(made, 'key_acme');
  expect(await listedIds(made)).toEqual([]);
});

test('a look with a key takes nothing from a listener without a login', async () => {
  const [made, target] = [await world(), await app()];
  await oneWaits(made, noKey, 'ticket.created');
  expect(await listedIds(made, { ...noKey, SVC_API_KEY: 'key_acme' })).toEqual(['evt_acme']);
  const again = await listen(made, ['--forward-to', target.url]);
  await again.until(() => target.got.length > 0);
  expect(target.ids()).toEqual(['evt_acme']);
});

const acme = { ...noKey, SVC_API_KEY: 'key_acme' };
const globex = { ...noKey, SVC_API_KEY: 'key_globex' };

/** The same machine while nobody reaches the service. */
const away = (made: World): World => ({
  ...made,
  exchange: async (request) =>
    request.url.startsWith('https://service.test')
      ? { lost: 'before-sending', reason: 'refused', detail: 'Nobody is there.' }
      : made.exchange(request),
});

test('with a key whose account svc has asked once, what waits is listed and forwarded while the service is away', async () => {
  const [made, target] = [await world(), await app()];
  await oneWaits(made, acme);
  expect(await listedIds(away(made), acme)).toEqual(['evt_acme']);
  const again = await listen(away(made), ['--forward-to', target.url], acme);
  await again.until(() => target.got.length > 0);
  expect(target.ids()).toEqual(['evt_acme']);
  const files = readdirSync(join(made.folder, 'state'), { recursive: true, withFileTypes: true });
  const texts = files
    .filter((file) => file.isFile())
    .map((file) => file.name + readFileSync(join(file.parentPath, file.name), 'utf8'));
  expect(texts.join('\n')).not.toContain('key_acme');
});

test('what may be of another account than that of a key that svc cannot ask about is not sent, and its absence is exit 10', {
  tags: ['long'],
}, async () => {
  const [made, target] = [await world(), await app()];
  await oneWaits(made, acme);
  const why = 'svc cannot ask now whose this login is.';
  for (const argv of [['list'], ['show', 'evt_acme'], ['replay', 'evt_acme', '--to', target.url]]) {
    const ran = await inbox(away(made), argv, globex);
    expect(ran).toMatchObject({ exitCode: 10, stdout: '' });
    expect(ran.stderr).toContain(why);
    expect(ran.stderr).not.toContain('log this profile in');
  }
  const other = await listen(away(made), ['--forward-to', target.url], globex);
  const argv = ['webhooks', 'trigger', 'contact.created', '--to', other.url, '--set', 'id=evt_new'];
  await svc(made, argv, { env: noKey });
  await other.until(() => target.got.length > 0);
  expect((await other.end()).stderr).toContain(why);
  expect(target.ids()).toEqual(['evt_new']);
});

test.each([
  ['all that is there is of one account', ['a1', 'a2'], ['a2', 'a1']],
  ['no event tells an account', ['a2'], ['a2']],
])(
  'without the service, what no login has received is a key’s own where %s',
  { tags: ['long'] },
  async (_, ids, listed) => {
    const made = await world();
    keptBefore(made, 'http://127.0.0.1:9/', ids);
    expect(await listedIds(away(made), acme)).toEqual(listed);
  },
);

test('without the service, nothing of an inbox of several accounts is sent to the app of a key', {
  tags: ['long'],
}, async () => {
  const [made, target] = [await world(), await app()];
  keptBefore(made, target.url);
  expect(await inbox(away(made), ['list'], acme)).toMatchObject({ exitCode: 10, stdout: '' });
  const running = await listen(away(made), ['--forward-to', target.url], acme);
  expect((await running.end()).stderr).toContain('2 events of account 2 (1 not forwarded yet) are left alone');
  expect(target.got).toEqual([]);
});

test('starts of searches stay with their account when another one comes, and those of an older svc with the first', async () => {
  const made = await world();
  const root = slotsFolder(join(made.folder, 'state'), 'default');
  mkdirSync(root, { recursive: true });
  const old = new Date('2026-01-02T00:00:00.000Z');
  writeFileSync(join(root, 'searches.json'), JSON.stringify({ 'ticket.created': old.toISOString() }));
  // Until somebody has received, whoever searches is the first.
  expect((await (await startsFor(root, made.clock, 2)).read()).size).toBe(1);
  mkdirSync(join(root, '1'));
  writeFileSync(join(root, '1', 'account.json'), '{"account_id":1}');
  const [first, second] = [await startsFor(root, made.clock, 1), await startsFor(root, made.clock, 2)];
  expect([...(await first.read())]).toEqual([['ticket.created', old]]);
  expect((await second.read()).size).toBe(0);
  await second.keep(new Map([['ticket.created', new Date('2026-02-02T00:00:00.000Z')]]));
  await first.keep(new Map([['feedback.created', new Date('2026-03-02T00:00:00.000Z')]]));
  expect(JSON.parse(readFileSync(join(root, 'searches.json'), 'utf8'))).toEqual({
    '1/ticket.created': '2026-01-02T00:00:00.000Z',
    '1/feedback.created': '2026-03-02T00:00:00.000Z',
    '2/ticket.created': '2026-02-02T00:00:00.000Z',
  });
  await first.forget(new Map([['ticket.created', old]]));
  expect([...(await first.read()).keys()]).toEqual(['feedback.created']);
});

/** All that this process has read so far. */
const bytesRead = () => Number(/^rchar: (\d+)$/mu.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

test.skipIf(process.platform !== 'linux')(
  'a list looks once at what is of another account, to count it and what waits of it',
  { tags: ['long'] },
  async () => {
    const made = await world();
    const ids = Array.from({ length: 40 }, (_, at) => `evt_${at}`);
    const folder = keptBefore(made, 'http://127.0.0.1:9/', ids, { account_id: 1, text: 'x'.repeat(100_000) });
    writeFileSync(join(folder, 'account.json'), '{"account_id":1}');
    await login(made, 'key_globex');
    await inbox(made, ['list']);
    const before = bytesRead();
    expect((await inbox(made, ['list'])).stderr).toContain('40 events of account 1 (40 not forwarded yet)');
    // One look reads a file without an index from its beginning, for its limit, and then from its end.
    expect(bytesRead() - before).toBeLessThan(2.5 * statSync(join(folder, 'inbox.jsonl')).size);
  },
);
