// Every write is recorded before it leaves, by whichever way of using svc, and what became of it after.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { getAccount } from '../../src/api/account.ts';
import { operations } from '../../src/api/index.ts';
import { defineOperation, type Operation } from '../../src/api/operation.ts';
import { addTicketNote } from '../../src/api/tickets.ts';
import { comingFrom } from '../../src/audit/origin.ts';
import { type Entry, entriesIn, filesOf } from '../../src/audit/read.ts';
import { runFile } from '../../src/bulk/command/file.ts';
import { fromOperation } from '../../src/command/from-operation.ts';
import { rowOf } from '../../src/command/row.ts';
import type { Context, Exchange } from '../../src/context.ts';
import { toolsOf } from '../../src/derive/mcp-tools.ts';
import { call, connect } from '../../src/http/call/call.ts';
import { exchange as exchangeOf } from '../../src/http/send/attempt.ts';
import { fromDerived } from '../../src/mcp/from-operation.ts';
import { hexDigestOf } from '../../src/text/digest.ts';
import { settings as bare, screen } from '../cli/fake-context.ts';
import { hook, lines } from '../http/command-lines.ts';
import { connected } from '../mcp/connected.ts';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { createWorld, svc, virtualClock, type World } from '../svc.ts';

const auditIn = (world: Pick<World, 'folder'>) => join(world.folder, 'state', 'audit');
const nameOf = 'service.test-environment';
const recorded = (world: Pick<World, 'folder'>) => entriesIn(join(auditIn(world), nameOf));
const textOf = (world: Pick<World, 'folder'>) =>
  filesOf(join(auditIn(world), nameOf))
    .map((file) => readFileSync(file, 'utf8'))
    .join('');

async function worldOf(id: string): Promise<SandboxWorld> {
  const world = sandboxWorld({ seed: few, rateLimit: 'off' });
  const tokens = (await world.control('POST', 'tokens', { account_id: 1, scopes: ['webhooks:manage'] })) as {
    access_token: string;
  };
  const env = {
    ...world.env,
    SVC_API_KEY: 'key_acme',
    SVC_M2M_TOKEN: 'm2m_sandbox',
    SVC_ACCESS_TOKEN: tokens.access_token,
  };
  if (id === 'deleteWebhook') {
    const headers = { authorization: `Bearer ${tokens.access_token}`, 'content-type': 'application/json' };
    await world.sandbox.handle({
      method: 'POST',
      url: '/oauth-platform/webhooks',
      headers,
      body: JSON.stringify(hook),
    });
  }
  return { ...world, env };
}

describe.each(Object.entries(operations))('%s', (id, operation: Operation) => {
  const { argv, stdin } = lines[id as keyof typeof lines];
  if (operation.safety === 'read') {
    test('is read without a look at the record', async () => {
      const world = await worldOf(id);
      expect((await svc(world, argv, { stdin })).exitCode).toBe(0);
      expect(existsSync(auditIn(world))).toBe(false);
    });
    return;
  }
  test('is in the record when it leaves, with what became of it once it is over, and no word of its body', async () => {
    const world = await worldOf(id);
    const left: string[] = [];
    const exchange: Exchange = (request) => {
      if (request.method !== 'GET') {
        const last = textOf(world).trimEnd().split('\n').at(-1) ?? '{}';
        const { outcome, digest, path } = JSON.parse(last);
        expect({ outcome, digest }).toEqual({ outcome: 'sent', digest: hexDigestOf(String(request.body ?? '')) });
        expect(request.url).toContain(path);
        left.push(request.method);
      }
      return world.exchange(request);
    };
    const ran = await svc({ ...world, exchange }, [...argv, '--yes'], { stdin });
    expect(ran.exitCode).toBe(0);
    const entries = await recorded(world);
    expect(entries.map(({ method }) => method)).toEqual(left);
    const face = argv[0] === 'api' ? 'api' : 'cli';
    const own = entries.find((entry) => entry.operation === id);
    expect(own).toMatchObject({
      face,
      outcome: 'done',
      command: argv[0] === 'api' ? 'api' : argv.slice(0, 2).join(' '),
    });
    expect(own?.record?.kind).toBeDefined();
    expect(textOf(world)).not.toContain('"body"');
    expect(textOf(world)).not.toMatch(/key_acme|sandbox_|Umbra|ada@example/u);
  });
  test('is not recorded where it is only shown', async () => {
    const world = await worldOf(id);
    await svc(world, [...argv, '--dry-run'], { stdin });
    expect(existsSync(auditIn(world))).toBe(false);
  });
});

/** An operation that no table has. */
const pin = defineOperation({
  ...addTicketNote,
  id: 'pinTicket',
  path: '/tickets/{id}/pins',
  summary: 'Pin a ticket',
  command: ['tickets', 'pin'],
});

describe('an operation that is added to a copy of the table', () => {
  const pinned: Exchange = async ({ url }) => ({
    status: url.endsWith('/platform/account') ? 200 : 201,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(
      url.endsWith('/platform/account') ? { account_id: 1, name: 'Acme' } : { note: { id: 1, body: 'x' } },
    ),
  });
  const ofFolder = (folder: string, more: Partial<Context> = {}): Context => ({
    ...screen({ env: { SVC_API_KEY: 'key_acme' } }).ctx,
    files: { config: folder, state: join(folder, 'state') },
    tokens: {
      read: async () => undefined,
      names: async () => [],
      update: async () => undefined,
      where: async () => 'file',
    },
    exchange: pinned,
    ...more,
  });
  const settings = { ...bare, baseUrl: 'https://service.test', yes: true };
  const fresh = () => mkdtempSync(join(tmpdir(), 'svc-audit-'));
  const theEntry = async (folder: string): Promise<Entry | undefined> => (await recorded({ folder }))[0];
  const whole = {
    operation: 'pinTicket',
    outcome: 'done',
    record: { kind: 'tickets', id: 8 },
    path: '/tickets/8/pins',
  };

  test('is recorded as a command', async () => {
    const folder = fresh();
    const command = fromOperation('pin', pin, { examples: [], text: 'body' });
    await command.run(ofFolder(folder), { args: { id: 8 }, flags: { body: 'x' }, settings });
    expect(await theEntry(folder)).toMatchObject({ ...whole, face: 'cli' });
  });
  test('is recorded from a file', async () => {
    const folder = fresh();
    const file = join(folder, 'rows.csv');
    writeFileSync(file, 'id,body\n8,x\n');
    const row = rowOf(pin);
    if (!row) throw new Error('It writes.');
    const flags = { from: file, map: [], id_map: [], map_value: [], set: {} };
    await runFile(ofFolder(folder), {
      words: 'tickets pin',
      row,
      args: {},
      flags,
      settings,
      idsInCopy: async () => undefined,
    });
    expect(await theEntry(folder)).toMatchObject({ ...whole, face: 'bulk' });
  });
  test('is recorded as a tool of an assistant', async () => {
    const folder = fresh();
    const [derived] = toolsOf({ maySend: true }, { pin });
    if (!derived) throw new Error('It is a tool.');
    const service = await connect(comingFrom(ofFolder(folder), { face: 'mcp', command: derived.name }), settings);
    const grant = { write: true, send: true, webhooks: false, draftSends: false, only: undefined, toolsets: undefined };
    const input = { id: 8, body: 'x' };
    await fromDerived(derived, grant).run({ service, input, boundary: '', tell: () => {} });
    expect(await theEntry(folder)).toMatchObject({ ...whole, face: 'mcp', command: 'pinTicket' });
  });
  test('is recorded by its path alone, as svc api sends it', async () => {
    const world = createWorld(pinned);
    expect((await svc(world, ['api', '/tickets/8/pins?key=s3cret', '-f', 'body=x'])).exitCode).toBe(0);
    const [entry] = await recorded(world);
    expect(entry).toMatchObject({
      operation: null,
      path: '/tickets/8/pins',
      face: 'api',
      outcome: 'done',
      record: null,
    });
    expect(textOf(world)).not.toContain('s3cret');
  });
  test('cannot go past the record', async () => {
    const service = await connect(ofFolder(fresh()), settings);
    const wire = { method: 'POST', path: '/tickets/8/pins' };
    const bearer = await service.session.bearer(pin);
    await expect(exchangeOf(service, { bearer, wire, number: 1 })).rejects.toThrow('without being recorded');
  });
  test('does not leave where the record cannot be written', async () => {
    const folder = fresh();
    writeFileSync(join(folder, 'state'), '');
    let sent = 0;
    const exchange: Exchange = async (request) => {
      sent++;
      return pinned(request);
    };
    const service = await connect(ofFolder(folder, { exchange }), settings);
    const sending = call(service, pin, { params: { id: 8 }, body: { body: 'x' } });
    await expect(sending).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/cannot be recorded, so it was not sent/u),
    });
    expect(sent).toBe(0);
  });
  test('and keeps nobody waiting where one request goes at a time after a refusal', async () => {
    const folder = fresh();
    writeFileSync(join(folder, 'state'), '');
    let reads = 0;
    const exchange: Exchange = async (request) =>
      request.method === 'GET' && reads++ === 0
        ? { status: 429, headers: { 'retry-after': '1' }, body: '{"error":"Too many requests"}' }
        : pinned(request);
    const service = await connect(ofFolder(folder, { exchange, clock: virtualClock() }), settings);
    await call(service, getAccount, {});
    for (let time = 0; time < 2; time++) {
      const sending = call(service, pin, { params: { id: 8 }, body: { body: 'x' } });
      await expect(sending).rejects.toMatchObject({ message: expect.stringContaining('it was not sent') });
    }
  });
});

test('an assistant’s write has its program beside it', async () => {
  const world = await worldOf('');
  const { client, end } = await connected({ ...world, env: { ...world.env, SVC_ACCESS_TOKEN: '' } }, ['--allow-write']);
  await client.callTool({ name: 'addTicketNote', arguments: { id: 8, body: 'Seen' } });
  await end();
  const [entry] = await recorded(world);
  expect(entry).toMatchObject({
    face: 'mcp',
    command: 'addTicketNote',
    outcome: 'done',
    who: { client: 'test 1.0.0' },
  });
});

const note = ['tickets', 'note', '8', '--body', 'Hello'];
const answers = (...endings: Awaited<ReturnType<Exchange>>[]): World => {
  let count = 0;
  return createWorld(async () => endings[Math.min(count++, endings.length - 1)] ?? (endings[0] as never));
};
const said = (status: number, json: object) => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(json),
});
const done = said(201, { note: { id: 1, body: 'Hello' } });
const lost = (when: 'before-sending' | 'after-sending') =>
  ({ lost: when, reason: 'reset', detail: 'It broke.' }) as const;

test('attempts of one request are one entry', async () => {
  const world = answers(said(429, { error: 'Slow down' }), lost('before-sending'), done);
  expect((await svc(world, note)).exitCode).toBe(0);
  expect((await recorded(world)).map(({ outcome, status }) => [outcome, status])).toEqual([['done', 201]]);
  expect(textOf(world).split('\n')).toHaveLength(3);
});

test('exit 9 is unknown, a refusal is refused with its status, and what never left is refused without one', async () => {
  const endings = [
    [lost('after-sending'), 9, 'unknown', null],
    [said(422, { message: 'Invalid', errors: { body: ['is bad'] } }), 6, 'refused', 422],
    [lost('before-sending'), 10, 'refused', null],
  ] as const;
  for (const [ending, code, outcome, status] of endings) {
    const world = answers(ending);
    expect((await svc(world, note)).exitCode).toBe(code);
    expect((await recorded(world)).map((one) => [one.outcome, one.status])).toEqual([[outcome, status]]);
  }
});

test('with audit full the body is kept, and with off nothing is', async () => {
  const world = answers(done);
  await svc(world, ['config', 'set', 'audit', 'full']);
  await svc(world, note);
  expect((await svc(world, ['audit', 'show', '1', '--json'])).stdout).toContain('"body": "{\\"body\\":\\"Hello\\"}"');
  const other = answers(done);
  await svc(other, ['config', 'set', 'audit', 'off']);
  rmSync(auditIn(other), { recursive: true });
  writeFileSync(auditIn(other), 'no folder');
  expect((await svc(other, note)).exitCode).toBe(0);
  expect((await svc(other, ['config', 'set', 'audit', 'loud'])).exitCode).toBe(2);
});

test.each([
  [['tickets', 'create', '--from', 'FILE', '--yes'], 'subject,description\nA,a\nB,b\n'],
  [['contacts', 'sync', 'FILE'], 'email,name\na@example.com,Ada\n'],
])('where the record cannot be written %s sends nothing and ends with exit 1', async (argv, text) => {
  const world = await worldOf('');
  await mkdir(join(world.folder, 'state'), { recursive: true });
  writeFileSync(auditIn(world), 'no folder');
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, text);
  const { exitCode, stderr } = await svc(
    world,
    argv.map((word) => (word === 'FILE' ? file : word)),
  );
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/cannot be recorded/u) });
  expect(world.sent.filter((line) => !line.startsWith('GET'))).toEqual([]);
});
