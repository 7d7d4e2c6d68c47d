// The order of rows for one record, where twice is once: what is late, or was on its way when svc ended, overwrites nothing.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Exchange, HttpRequest } from '../../src/context.ts';
import { buildSvc } from '../built.ts';
import { endAfterEach } from '../endings.ts';
import { lateWorld, unsettledEndings } from '../http/late-service.ts';
import { asksAccount, type SandboxWorld, sandboxWorld, wholeAccount } from '../sandbox-world.ts';
import { createWorld, svc, virtualClock } from '../svc.ts';
import { inTurn } from '../thorough.ts';
import { runOrKill } from './killing.ts';

const endings = endAfterEach();

const isPatch = ({ method }: HttpRequest) => method === 'PATCH';
const timeOut = unsettledEndings['a time-out'] ?? { status: 504, headers: {}, body: '' };

async function priorityOf(world: SandboxWorld, id: number): Promise<unknown> {
  const { tickets } = (await world.control('GET', 'state')) as { tickets: { id: number; priority: number }[] };
  return tickets.find((ticket) => ticket.id === id)?.priority;
}

function fileOf(world: SandboxWorld, priorities: readonly number[]): string {
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, `id,priority\n${priorities.map((priority) => `7,${priority}\n`).join('')}`);
  return file;
}

test('an update that arrives late overwrites no later row for the same record', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const late = lateWorld(world, { isMeant: isPatch, ending: timeOut, afterMs: 4000 });
  const ran = await svc(late, ['tickets', 'update', '--from', fileOf(world, [1, 2, 3]), '--json']);
  expect(ran).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(ran.stdout)).toMatchObject({ done: 3, unsent: 0 });
  await late.settle();
  expect(await priorityOf(world, 7)).toBe(3);
});

test('nobody waits where the later row says the same, or is about another record', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const late = lateWorld(world, { isMeant: isPatch, ending: timeOut, afterMs: 4000 });
  const began = world.clock.ticks();
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, 'id,priority\n7,1\n7,1\n8,2\n');
  const ran = await svc(late, ['tickets', 'update', '--from', file, '--json', '--concurrency', '1']);
  expect(ran).toMatchObject({ exitCode: 0 });
  expect(world.clock.ticks() - began).toBeLessThan(4000);
  await late.settle();
  expect(await priorityOf(world, 7)).toBe(1);
});

test('Ctrl-C while a row waits: the next run still waits, and the last row stands', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const late = lateWorld(world, { isMeant: isPatch, ending: timeOut, afterMs: 20_000 });
  const argv = ['tickets', 'update', '--from', fileOf(world, [1, 2, 3]), '--json'];
  const interrupt = new AbortController();
  const progress = (text: string | undefined) => {
    if (text?.startsWith('An earlier request for the same record may still arrive')) interrupt.abort('SIGINT');
  };
  const first = await svc(late, argv, { signal: interrupt.signal, progress });
  expect(first.exitCode).toBe(130);
  expect(JSON.parse(first.stdout)).toMatchObject({ done: 1, unsent: 2 });
  const second = await svc(late, argv);
  expect(second).toMatchObject({ exitCode: 0 });
  await late.settle();
  expect(await priorityOf(world, 7)).toBe(3);
});

test('a record that does not hold the last row after all makes it unknown: exit 9', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const late = lateWorld(world, { isMeant: isPatch, ending: timeOut });
  let patches = 0;
  let last: HttpRequest | undefined;
  const exchange: typeof world.exchange = async (request) => {
    // The last row is sent twice too, so that a copy of it may still arrive when the run ends.
    if (isPatch(request) && ++patches === 3) return timeOut;
    if (isPatch(request) && patches === 4) last = request;
    // What was on its way for longer than anybody waits arrives behind the last row.
    if (last && request.method === 'GET') await world.exchange({ ...last, body: '{"priority":1}' });
    return late.exchange(request);
  };
  const ran = await svc({ ...world, exchange }, ['tickets', 'update', '--from', fileOf(world, [1, 2]), '--json']);
  expect(ran.exitCode).toBe(9);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    done: 1,
    unknown: 1,
    errors: [{ line: 3, error: expect.stringContaining('then the record was changed again') }],
  });
  // The next run sends it again.
  const next = await svc(world, ['tickets', 'update', '--from', join(world.folder, 'rows.csv'), '--json']);
  expect(next.exitCode).toBe(0);
  expect(await priorityOf(world, 7)).toBe(2);
});

test('after a power cut a row waits for whatever the run before may have sent for its record', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const argv = ['tickets', 'update', '--from', fileOf(world, [1, 2]), '--json', '--concurrency', '1'];
  const refuses = { lost: 'before-sending', reason: 'refused', detail: 'It refuses connections.' } as const;
  await svc(
    { ...world, exchange: async (request) => (asksAccount(request) ? world.exchange(request) : refuses) },
    argv,
  );
  const folder = join(world.folder, 'state', 'bulk');
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.jsonl'))) {
    const text = readFileSync(join(folder, name), 'utf8').replaceAll(/"boot":"[^"]*"/gu, `"boot":"${'0'.repeat(32)}"`);
    writeFileSync(join(folder, name), text);
  }
  const began = world.clock.ticks();
  expect(await svc(world, argv)).toMatchObject({ exitCode: 0 });
  expect(world.clock.ticks() - began).toBeGreaterThanOrEqual(30_000);
  expect(await priorityOf(world, 7)).toBe(2);
});

test('SIGKILL with an update in flight: the values go up, and the last row stands', { tags: ['long'] }, async () => {
  const values: number[] = [];
  let child: ChildProcess | undefined;
  let isHeld = true;
  const server = createServer((request, answer) => {
    let text = '';
    request.on('data', (piece) => {
      text += piece;
    });
    request.on('end', async () => {
      const ticket = { id: 7, ticket_number: 'T-7', subject: 'S', priority: values.at(-1) ?? 0 };
      if (request.method === 'PATCH') {
        const { priority } = JSON.parse(text) as { priority: number };
        if (priority === 2 && isHeld) {
          isHeld = false;
          const gone = new Promise((resolve) => child?.once('exit', resolve));
          child?.kill('SIGKILL');
          await gone;
          // The network had it all the time: it arrives while the next run is at work.
          setTimeout(() => values.push(priority), 1000);
          return;
        }
        values.push(priority);
        ticket.priority = priority;
      }
      answer.setHeader('content-type', 'application/json');
      answer.end(request.url === '/platform/account' ? wholeAccount : JSON.stringify({ ticket }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endings.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const file = join(folder, 'rows.csv');
  writeFileSync(file, 'id,priority\n7,1\n7,2\n7,3\n7,4\n');
  const { port } = server.address() as AddressInfo;
  const built = await buildSvc();
  endings.push(built.remove);
  const start = () =>
    new Promise<number | null>((resolve) => {
      child = spawn(process.execPath, [built.script, 'tickets', 'update', '--from', file, '--settle', '3'], {
        env: {
          ...process.env,
          SVC_BASE_URL: `http://127.0.0.1:${port}`,
          SVC_API_KEY: 'key_acme',
          SVC_STATE_DIR: join(folder, 'state'),
          SVC_CONFIG_DIR: join(folder, 'config'),
        },
        stdio: 'ignore',
      });
      child.once('exit', resolve);
    });
  expect(await start()).toBeNull();
  expect(await start()).toBe(0);
  expect(values).toEqual([...values].sort((a, b) => a - b));
  expect(values.at(-1)).toBe(4);
  expect(values.filter((value) => value === 2)).toHaveLength(2);
});

type Next = {
  readonly what: string;
  readonly first: readonly string[];
  readonly next: readonly string[];
  /** What `first.csv` says before the second one. */
  readonly changed?: string;
  /** All that the service has done in the end. */
  readonly bodies: readonly object[];
};

const update = ['tickets', 'update', '--from'];
const nexts: readonly Next[] = [
  {
    what: 'an update in flight: a run of another file waits for it, too',
    first: [...update, 'first.csv'],
    next: [...update, 'next.csv'],
    bodies: [{ priority: 1 }, { priority: 2 }],
  },
  {
    what: 'a close in flight: a reopen of the same ticket waits for it',
    first: ['tickets', 'close', '--from', 'first.csv'],
    next: ['tickets', 'reopen', '--from', 'first.csv'],
    bodies: [{ status: 'closed' }, { status: 'open' }],
  },
  {
    what: 'an update in flight: --restart with changed rows waits for it, too',
    first: [...update, 'first.csv'],
    next: [...update, 'first.csv', '--restart'],
    changed: 'id,priority\n7,3\n',
    bodies: [{ priority: 1 }, { priority: 3 }],
  },
];

function putRows(folder: string): void {
  writeFileSync(join(folder, 'first.csv'), 'id,priority\n7,1\n');
  writeFileSync(join(folder, 'next.csv'), 'id,priority\n7,2\n');
}

/** Kills a run in a real process with its request in flight, and starts the next command while the network still has it. */
async function killedAsProcess({ first, next, changed }: Next) {
  const bodies: Record<string, unknown>[] = [];
  let child: ChildProcess | undefined;
  let isHeld = true;
  const server = createServer((request, answer) => {
    let text = '';
    request.on('data', (piece) => {
      text += piece;
    });
    request.on('end', async () => {
      const isWrite = request.method === 'PATCH';
      const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      if (isWrite && isHeld) {
        isHeld = false;
        const gone = new Promise((resolve) => child?.once('exit', resolve));
        child?.kill('SIGKILL');
        await gone;
        setTimeout(() => bodies.push(body), 1000);
        return;
      }
      if (isWrite) bodies.push(body);
      const ticket = { id: 7, ticket_number: 'T-7', subject: 'S', status: 'open', ...Object.assign({}, ...bodies) };
      answer.setHeader('content-type', 'application/json');
      answer.end(request.url === '/platform/account' ? wholeAccount : JSON.stringify({ ticket }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endings.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  putRows(folder);
  const { port } = server.address() as AddressInfo;
  const built = await buildSvc();
  endings.push(built.remove);
  const start = (argv: readonly string[]) =>
    new Promise<number | null>((resolve) => {
      child = spawn(process.execPath, [built.script, ...argv, '--settle', '3', '--yes'], {
        cwd: folder,
        env: {
          ...process.env,
          SVC_BASE_URL: `http://127.0.0.1:${port}`,
          SVC_API_KEY: 'key_acme',
          SVC_STATE_DIR: join(folder, 'state'),
          SVC_CONFIG_DIR: join(folder, 'config'),
        },
        stdio: 'ignore',
      });
      child.once('exit', resolve);
    });
  expect(await start(first)).toBeNull();
  if (changed !== undefined) writeFileSync(join(folder, 'first.csv'), changed);
  expect(await start(next)).toBe(0);
  return bodies;
}

/** The same in this process: the run is gone with its first write, which the network has for one more second. */
async function killedHere({ first, next, changed }: Next) {
  const clock = virtualClock();
  const bodies: Record<string, unknown>[] = [];
  let late: { readonly at: number; readonly body: Record<string, unknown> } | undefined;
  const arrive = () => {
    if (!late || clock.ticks() < late.at) return;
    bodies.push(late.body);
    late = undefined;
  };
  let isHeld = true;
  const exchange: Exchange = async (request) => {
    arrive();
    const body = request.body === undefined ? {} : (JSON.parse(String(request.body)) as Record<string, unknown>);
    if (isPatch(request) && isHeld) {
      isHeld = false;
      late = { at: clock.ticks() + 1000, body };
    } else if (isPatch(request)) bodies.push(body);
    const ticket = { id: 7, ticket_number: 'T-7', subject: 'S', status: 'open', ...Object.assign({}, ...bodies) };
    const text = asksAccount(request) ? wholeAccount : JSON.stringify({ ticket });
    return { status: 200, headers: { 'content-type': 'application/json' }, body: text };
  };
  const world = createWorld(exchange, { clock });
  const rows = mkdtempSync(join(tmpdir(), 'svc-test-'));
  putRows(rows);
  const argvOf = (words: readonly string[]) => [
    ...words.map((word) => (word.endsWith('.csv') ? join(rows, word) : word)),
    ...['--settle', '3', '--yes'],
  ];
  // Behind the question whose account it is.
  const { ran, next: left } = await runOrKill(world, argvOf(first), { at: 1, heard: true });
  expect([ran, isHeld]).toEqual([undefined, false]);
  if (changed !== undefined) writeFileSync(join(rows, 'first.csv'), changed);
  const again = await svc(left, argvOf(next));
  expect(again.exitCode, again.stderr).toBe(0);
  clock.advance(60_000);
  arrive();
  return bodies;
}

test.each(nexts.map((one) => [one.what, one] as const))('killed with %s', { tags: ['long'] }, async (_, one) => {
  expect(await killedHere(one)).toEqual(one.bodies);
});

const asProcesses = inTurn(nexts, 0, nexts.length).map((one) => [one.what, one] as const);
test.each(asProcesses)('SIGKILL with %s', { tags: ['long'] }, async (_, one) => {
  expect(await killedAsProcess(one)).toEqual(one.bodies);
});
